# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics payload``: what a robot carries, from a recording with the payload."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import yaml

from robot_dynamics_ros.chain.joints_file import carrier_of
from robot_dynamics_ros.cli.support.arguments import (
    RECORDING,
    add_recording_arguments,
    recorded_robot_from_arguments,
    recordings_from_arguments,
)
from robot_dynamics_ros.cli.support.output import write_file
from robot_dynamics_ros.cli.support.terminal import short, table
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters
from robot_dynamics_ros.estimation.payload.estimate import PayloadEstimate
from robot_dynamics_ros.estimation.payload.identify import identify_payload
from robot_dynamics_ros.estimation.payload.wording import (
    AXES,
    PLACES,
    joints_entry,
    service_call,
)

#: Exit code where mass or centre of mass may not be claimed.
NOT_IDENTIFIABLE = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument('recordings', metavar='RECORDING', nargs='+', type=Path,
                        help=f'recording with the payload: {RECORDING}')
    parser.add_argument('--parameters', metavar='parameters.yaml', required=True, type=Path,
                        help='parameters of the robot without payload, from robot-dynamics '
                        'identify')
    add_recording_arguments(parser)
    parser.add_argument('--payload-tip', metavar='LINK',
                        help='tip link that carries the payload (default: the only one)')
    parser.add_argument('-o', '--output', metavar='FILE.yaml', type=Path,
                        help='write the payload as an entry of joints.yaml')
    parser.add_argument('--json', action='store_true', help='print everything as JSON')


def run(arguments: argparse.Namespace) -> int:
    """Identify the payload, print it and write it."""
    chain, effort, *_ = recorded_robot_from_arguments(arguments, arguments.recordings)
    arm = read_parameters(arguments.parameters, chain)
    chain = carrier_of(chain, arguments.payload_tip, '--payload-tip NAME')
    recordings = recordings_from_arguments(arguments, chain, arguments.recordings)
    load = identify_payload(chain, arm, recordings, effort=effort)
    print(json.dumps(report(load), indent=2) if arguments.json else text_report(load))
    if load.known and arguments.output is not None:
        write_file(arguments.output,
                   yaml.safe_dump({'payload': joints_entry(load)}, sort_keys=False))
        if not arguments.json:
            print(f'\nWritten: {arguments.output}')
    return 0 if load.known else NOT_IDENTIFIABLE


def report(load: PayloadEstimate) -> dict[str, Any]:
    """Return the payload as plain data (SI units, tip frame, inertia about the centre of mass)."""
    return {
        'tip': load.tip, 'identified': load.known,
        'mass': {'value': load.mass, 'standard_deviation': load.mass_standard_deviation,
                 'identified': load.mass_known},
        'centre_of_mass': {'value': load.centre.tolist(),
                           'standard_deviation': load.centre_standard_deviations.tolist(),
                           'identified': list(load.centre_known)},
        'inertia': {'value': load.tensor.tolist(),
                    'standard_deviation': load.tensor_standard_deviations.tolist(),
                    'identified': load.tensor_known},
        'torque_error': {'without_load': load.error_without, 'with_load': load.error_with},
        'reasons': list(load.reasons), 'assumptions': list(load.assumptions)}


def text_report(load: PayloadEstimate) -> str:
    """Return the payload as text for a terminal, with the call that sets it in a running node."""
    rows = [_row('mass', 'kg', load.mass, load.mass_standard_deviation, load.mass_known)]
    rows += [_row(f'centre {axis}', 'm', *values) for axis, *values in zip(
        'xyz', load.centre, load.centre_standard_deviations, load.centre_known)]
    rows += [_row(f'inertia {axes}', 'kg m^2', load.tensor[place],
                  load.tensor_standard_deviations[place], load.tensor_known)
             for axes, place in zip(AXES, PLACES)]
    without, with_load = 100 * load.error_without, 100 * load.error_with
    lines = [f'Payload at {load.tip}; unexplained torque: {without:.1f} % without the payload, '
             f'{with_load:.1f} % with it',
             table(['', 'unit', 'value', 'standard deviation', ''], rows, align='<<>><')]
    lines += [f'Not identifiable: {reason}' for reason in load.reasons]
    lines += [f'Assumed: {each}' for each in load.assumptions]
    if load.known:
        lines += ['', 'To set it in a running node:', f'  {service_call(load)}']
    return '\n'.join(lines)


def _row(name: str, unit: str, value: float, deviation: float, known: bool) -> list[str]:
    return [name, unit, short(float(value)), f'{deviation:.2g}', '' if known else 'not determined']
