# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics joints``: a joints.yaml to fill in, with what the URDF says and lacks."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort_presets import PRESETS
from robot_dynamics_ros.chain.joint import Joint
from robot_dynamics_ros.chain.joints_file import FORMAT
from robot_dynamics_ros.cli.support.arguments import (
    add_limit_arguments,
    add_robot_arguments,
    chain_from_arguments,
    with_limits,
)
from robot_dynamics_ros.cli.support.output import write_file

#: What stands behind a value that nobody knows.
_MISSING = 'MISSING'

_HEAD = """\
# What the URDF of {robot} lacks or cannot express. Every entry is optional: remove the "# "
# before those that you know. Units are SI: rad, m, s, kg, N m (N for sliding joints).
# Commands take this file with --joints, nodes and launch files with joints_file:=...
"""

_EFFORT = """\
# What the driver writes into "effort"; without an entry, the torque of the joint [N m].
# robot-dynamics presets lists known drivers.
{preset}
# A payload that is always mounted but not in the URDF, in the frame of {tip}:
# payload: {{mass: 1.5, centre_of_mass: [0, 0, 0.1], inertia: [0.01, 0, 0, 0.01, 0, 0.005]}}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_robot_arguments(parser)
    add_limit_arguments(parser)
    parser.add_argument('--preset', choices=list(PRESETS), metavar='NAME',
                        help='what efforts mean, one of those that robot-dynamics presets lists')
    parser.add_argument('-o', '--output', metavar='joints.yaml', type=Path,
                        help='write to this file (default: print)')


def run(arguments: argparse.Namespace) -> int:
    """Write the file and name what is missing on the standard error output."""
    without = argparse.Namespace(**(vars(arguments) | {'effort_limit': [], 'velocity_limit': []}))
    urdf = chain_from_arguments(without)
    chain = with_limits(urdf, arguments)
    text = joints_text(urdf, chain, arguments.preset)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_file(arguments.output, text)
    for what in missing(chain, arguments.preset):
        print(f'missing: {what}', file=sys.stderr)
    return 0


def missing(chain: Chain, preset: str | None = None) -> list[str]:
    """
    Return what a robot needs before it is moved and is not known, one sentence each.

    :param chain: robot with the limits that are known.
    :param preset: meaning of its efforts, one of PRESETS; None = torques.
    """
    found = []
    for kind, why in (('effort', 'nodes that command torques refuse to start without it'),
                      ('velocity', 'excite and the excitation node need it')):
        names = [joint.name for joint in chain.joints
                 if math.isnan(getattr(joint, f'{kind}_limit'))]
        if names:
            found.append(f'{kind} limit of {", ".join(names)} ({why})')
    names = [joint.name for joint in chain.joints
             if not joint.continuous and math.isinf(joint.lower)]
    if names:
        found.append(f'position limits of {", ".join(names)} (excite needs them)')
    if chain.massless_links:
        found.append(f'mass and inertia of {", ".join(chain.massless_links)} (in the URDF; '
                     'identify finds them)')
    if preset is not None and PRESETS[preset].gain is None:
        found.append(f'torque per {PRESETS[preset].unit} of every joint (effort: gain); with a '
                     'payload of known mass robot-dynamics gains finds it')
    return found


def joints_text(urdf: Chain, chain: Chain, preset: str | None = None) -> str:
    """
    Return a joints file with comments.

    :param urdf: robot as its URDF says.
    :param chain: the same robot with limits that were given beside it.
    :param preset: meaning of its efforts, one of PRESETS; None = torques.
    """
    chosen = '# preset: ur_driver_currents' if preset is None else f'preset: {preset}'
    lines = [_HEAD.format(robot=chain.robot) + f'format: {FORMAT}', '',
             _EFFORT.format(preset=chosen, tip=chain.tip), 'joints:']
    open_gain = preset is not None and PRESETS[preset].gain is None
    unit = 'N m' if preset is None else PRESETS[preset].unit
    physics = chain.joint_physics
    for i, (before, joint) in enumerate(zip(urdf.joints, chain.joints)):
        force, place = ('N m', 'rad') if joint.revolute else ('N', 'm')
        lines += [f'  {_name(joint.name)}:', '    limits:']
        lines += list(_limit_lines(before, joint, force, place))
        lines += [
            _line('    # rotor_inertia: 0.0', f'[{"kg m^2" if joint.revolute else "kg"}] rotor '
                  'inertia times gear ratio^2; or motor_inertia, gear_ratio'),
            _line(f'    # viscous: {physics.viscous[i]:g}', f'[{force} s/{place}] from the URDF; '
                  'identify finds it'),
            _line(f'    # coulomb: {physics.coulomb[i]:g}', f'[{force}] from the URDF; identify '
                  'finds it'),
            _line('    # effort: {gain: ?}', f'[{force} per {unit}] {_MISSING}') if open_gain
            else _line('    # effort: {gain: 1.0}', f'[{force} per {unit}], also sign, offset')]
    return '\n'.join(lines) + '\n'


def _limit_lines(before: Joint, joint: Joint, force: str, place: str) -> Iterator[str]:
    """Yield the limits of a joint: comments, except for those that were given."""
    for key, field, unit in (
            ('effort', 'effort_limit', force), ('velocity', 'velocity_limit', f'{place}/s'),
            ('lower', 'lower', place), ('upper', 'upper', place)):
        known, value = getattr(before, field), getattr(joint, field)
        if joint.continuous and key in ('lower', 'upper'):
            continue
        if not math.isfinite(value):
            yield _line(f'      # {key}: ?', f'[{unit}] {_MISSING}')
        elif value == known:
            yield _line(f'      # {key}: {value!r}', f'[{unit}] from the URDF')
        else:
            yield _line(f'      {key}: {value!r}', f'[{unit}] given')


def _line(entry: str, comment: str) -> str:
    return f'{entry:<28}  # {comment}'


def _name(name: str) -> str:
    """Return a name as a key of YAML, in quotes where it needs them."""
    return name if name.replace('_', 'a').isalnum() and name[0].isalpha() and name.lower() not in (
        'y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null') else json.dumps(name)
