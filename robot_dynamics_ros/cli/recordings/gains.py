# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics gains``: torque per unit of effort, from a payload of known mass."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.chain.joints_file import FORMAT, carrier_of
from robot_dynamics_ros.cli.support.arguments import (
    RECORDING,
    add_recording_arguments,
    recorded_robot_from_arguments,
    recordings_from_arguments,
)
from robot_dynamics_ros.cli.support.output import write_file
from robot_dynamics_ros.cli.support.terminal import short, table
from robot_dynamics_ros.errors import IdentificationError, ParameterError
from robot_dynamics_ros.estimation.payload.drive_gains import DriveGains, identify_drive_gains
from robot_dynamics_ros.files.bounds import one_line

#: Exit code where a gain may not be claimed.
NOT_IDENTIFIABLE = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument('unloaded', metavar='UNLOADED', type=Path,
                        help=f'recording without the payload: {RECORDING}')
    parser.add_argument('loaded', metavar='LOADED', type=Path,
                        help='recording of the same or a similar motion with the payload')
    add_recording_arguments(parser)
    parser.add_argument('--payload-tip', metavar='LINK',
                        help='tip link that carries the payload (default: the only one)')
    parser.add_argument('--mass', metavar='M', type=float, required=True,
                        help='mass of the payload [kg]')
    parser.add_argument('--com', metavar=('X', 'Y', 'Z'), nargs=3, type=float, required=True,
                        help='its centre of mass in the frame of the tip link [m]')
    parser.add_argument('--inertia', metavar=('XX', 'XY', 'XZ', 'YY', 'YZ', 'ZZ'), nargs=6,
                        type=float, default=[0.0] * 6,
                        help='its inertia about the centre of mass [kg m^2] (default: a point)')
    parser.add_argument('-o', '--output', metavar='joints.yaml', type=Path,
                        help='write the gains as a joints file')


def run(arguments: argparse.Namespace) -> int:
    """Identify the gains, print them and write them."""
    if arguments.output is not None and arguments.joints is not None and (
            arguments.output.resolve() == arguments.joints.resolve()):
        raise ParameterError(f'{arguments.output}: is the file given with --joints, whose other '
                             'entries would be lost; write another file and copy the gains')
    paths = [arguments.unloaded, arguments.loaded]
    chain, effort, *_ = recorded_robot_from_arguments(arguments, paths)
    xx, xy, xz, yy, yz, zz = arguments.inertia
    payload = payload_inertia(arguments.mass, arguments.com,
                              [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    chain = carrier_of(chain, arguments.payload_tip, '--payload-tip NAME')
    unloaded, loaded = recordings_from_arguments(arguments, chain, paths)
    try:
        gains = identify_drive_gains(chain, [unloaded], [loaded], payload, effort=effort)
    except IdentificationError as error:
        print(f'robot-dynamics gains: {error}', file=sys.stderr)
        return NOT_IDENTIFIABLE
    text = joints_text(chain, effort or EffortSemantics.torque(len(chain)), gains)
    print(gains_table(chain, gains))
    if arguments.output is not None:
        write_file(arguments.output, text)
    where = 'For joints.yaml' if arguments.output is None else f'Written: {arguments.output}'
    print(f'\n{where}\n\n{text}', end='')
    return NOT_IDENTIFIABLE if any(gains.reasons) else 0


def gains_table(chain: Chain, gains: DriveGains) -> str:
    """Return the gains as a table for a terminal."""
    rows = []
    for joint, gain, sigma, part, reason in zip(
            chain.joints, gains.gain.tolist(), gains.standard_deviations.tolist(),
            gains.relative_deviations.tolist(), gains.reasons):
        unit = 'N m' if joint.revolute else 'N'
        rows.append([joint.name, f'{unit} per unit', '-', '-', f'not identifiable: {reason}']
                    if reason else [joint.name, f'{unit} per unit', short(gain), f'{sigma:.2g}',
                                    f'{100 * part:.2g} %'])
    return table(['joint', 'unit', 'gain', 'standard deviation', ''], rows, align='<<>><')


def joints_text(chain: Chain, effort: EffortSemantics, gains: DriveGains) -> str:
    """
    Return the text of a joints file with the gains, and a comment for each that is not known.

    :param chain: robot.
    :param effort: meaning of the efforts, whose other entries are kept.
    :param gains: gains of the drives.
    """
    joints: dict[str, Any] = {}
    comments = []
    for j, name in enumerate(chain.joint_names):
        entry: dict[str, Any] = {}
        if effort.sign[j] < 0.0:
            entry['sign'] = -1
        if effort.offset[j] != 0.0:
            entry['offset'] = float(effort.offset[j])
        if effort.gravity_removed[j]:
            entry['gravity_removed'] = True
        if np.isfinite(gains.gain[j]):
            entry['gain'] = float(f'{gains.gain[j]:.6g}')
            entry['gain_deviation'] = float(f'{gains.relative_deviations[j]:.2g}')
        else:
            comments.append(f'# {one_line(name)}: gain is not identifiable: '
                            f'{gains.reasons[j]}\n')
        if entry:
            joints[name] = {'effort': entry}
    entries: str = yaml.safe_dump({'format': FORMAT, 'joints': joints}, sort_keys=False,
                                  default_flow_style=None)
    return ''.join(comments) + entries
