# SPDX-License-Identifier: Apache-2.0
"""Command-line arguments that choose a robot, one of its chains, and recordings of it."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.errors import ChainError, ParameterError

if TYPE_CHECKING:
    from robot_dynamics_ros.estimation.recordings.recording import Recording

#: What of a recording may be in degrees, as in estimation/recordings (which is slow to import).
DEGREES = ('all', 'positions', 'velocities')

#: What a robot may be, for help texts.
ROBOT = 'URDF file, or .xacro file with its arguments as NAME:=VALUE'

#: What a recording may be, for help texts.
RECORDING = ('rosbag2 folder, .db3, .mcap, .csv (t, q_<joint>, qd_<joint>, tau_<joint>) or .npz '
             '(t, q, qd, tau, joint_names)')


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ROBOT, --base, --tip, --gravity and --lock."""
    parser.add_argument('robot', metavar='ROBOT', help=ROBOT)
    add_chain_arguments(parser)


def add_chain_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --base, --tip, --gravity and --lock."""
    parser.add_argument('--base', metavar='LINK', help='base link (default: root of the URDF)')
    parser.add_argument('--tip', metavar='LINK',
                        help='tip link: only joints on the way to it move (default: all joints '
                        'move; robot-dynamics inspect lists sensible tips)')
    parser.add_argument('--tips', metavar='LINK,LINK', type=lambda text: text.split(','),
                        help='several tip links')
    parser.add_argument('--srdf', metavar='FILE', type=Path,
                        help='SRDF that contains the group of --group; excite also ignores its '
                        'disabled pairs')
    parser.add_argument('--group', metavar='NAME',
                        help='group of the SRDF: all other joints are frozen at zero')
    parser.add_argument('--gravity', metavar='X,Y,Z', type=_vector,
                        help='gravity in the frame of the base link [m/s^2] (default: 9.81 along '
                        '-z of the URDF root); write --gravity=0,0,-9.81')
    parser.add_argument('--lock', metavar='JOINT=VALUE', action='append', default=[],
                        type=_lock, help='freeze a joint, or all that match a pattern such as '
                        "'finger*', at a position [rad, m] (without =VALUE: 0); may be repeated")


def add_joints_argument(parser: argparse.ArgumentParser, purpose: str) -> None:
    """
    Add --joints and `add_limit_arguments`.

    :param parser: parser of the command.
    :param purpose: facts that the command takes from the file, for the help.
    """
    parser.add_argument('--joints', metavar='joints.yaml', type=Path, help=purpose)
    add_limit_arguments(parser)


def add_limit_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --effort-limit and --velocity-limit."""
    for kind, unit in (('effort', '[N m, N]'), ('velocity', '[rad/s, m/s]')):
        parser.add_argument(
            f'--{kind}-limit', metavar='[JOINT=]LIMIT', action='append', default=[],
            type=_limit, help=f'{kind} limit {unit} of one joint, or of all whose limit is '
            'unknown; may be repeated')


def add_parameters_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--parameters``: what `read_parameters` reads."""
    parser.add_argument('--parameters', metavar='parameters.yaml', type=Path,
                        help='identified parameters (default: those of the robot description)')


def chain_from_arguments(arguments: argparse.Namespace) -> Chain:
    """Return the chain of `robot_from_arguments`."""
    return robot_from_arguments(arguments).chain


def weighed_robot_from_arguments(arguments: argparse.Namespace) -> RecordedRobot:
    """
    Return the robot of `robot_from_arguments`, for commands whose results are torques.

    :raises ChainError: no moving link has mass or inertia, so that all torques would be zero.
    """
    robot = robot_from_arguments(arguments)
    chain = robot.chain
    if len(chain.massless_links) == len(chain):
        raise ChainError(
            f'{arguments.robot}: no moving link has mass or inertia, so every torque would be '
            'zero; add <inertial> to its links, or let robot-dynamics identify find its '
            'parameters')
    warn_of_massless_links(chain)
    return robot


def warn_of_massless_links(chain: Chain) -> None:
    """Name every link that moves without mass and inertia, on the standard error output."""
    for name in chain.massless_links:
        print(f'warning: {name} moves but has no mass and no inertia', file=sys.stderr)


def _vector(text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(word) for word in text.split(','))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form X,Y,Z") from None
    return x, y, z


def _limit(text: str) -> tuple[str | None, float]:
    name, separator, value = text.rpartition('=')
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if not 0.0 < limit < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number, nor of the form "
                                         'JOINT=LIMIT with one')
    return name if separator else None, limit


def with_limits(chain: Chain, arguments: argparse.Namespace) -> Chain:
    """Return the chain with the limits of --effort-limit and --velocity-limit."""
    joints = list(chain.joints)
    for kind in ('effort_limit', 'velocity_limit'):
        for name, limit in getattr(arguments, kind, ()):  # not every command has them
            if name is not None and name not in chain.joint_names:
                raise ChainError(f"--{kind.replace('_', '-')}: joint '{name}' is not on the "
                                 f'chain; its joints are {", ".join(chain.joint_names)}')
            joints = [replace(joint, **{kind: limit}) if joint.name == name or (
                name is None and math.isnan(getattr(joint, kind))) else joint
                for joint in joints]
    return replace(chain, joints=tuple(joints))


def _lock(text: str) -> tuple[str, float]:
    name, separator, value = text.rpartition('=')
    try:
        return (name, float(value)) if separator else (text, 0.0)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not of the form JOINT=VALUE, with a number in rad or m") from None


def add_recording_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `robot_from_arguments` and `recordings_from_arguments` need."""
    parser.add_argument('--urdf', metavar='ROBOT', dest='robot',
                        help=f'{ROBOT} (default: the robot_description in the recorded bag)')
    add_chain_arguments(parser)
    add_joints_argument(parser, 'what the efforts mean, coupling, limits, known payload')
    parser.add_argument('--topic', help='topic of the joint states in a bag')
    parser.add_argument('--wrench-topic', metavar='TOPIC',
                        help='topic of a force sensor at the tip in a bag '
                        '(geometry_msgs/WrenchStamped), in the tip frame; a known input')
    parser.add_argument('--degrees', nargs='?', const='all', choices=DEGREES,
                        help='quantities that the recording contains in degrees instead of '
                        'radians (default: none; without a word: all)')
    parser.add_argument('--rename', metavar='OLD=NEW', action='append', default=[], type=_pair,
                        help='replace a text in the recorded joint names by that of the URDF; '
                        'may be repeated')


class RecordedRobot(NamedTuple):
    """
    A robot with what its joints file says.

    :param chain: robot with the payload.
    :param effort: meaning of its efforts; None = joint torques.
    :param payload: known payload in the tip frame, part of the chain; None = none.
    :param stiffness: (n,) stiffness of its joints [N m/rad, N/m]; None = all are rigid.
    :param coulomb_velocity: velocity of the smooth sign [rad/s, m/s]; None = not given.
    :param payload_tip: tip link of the payload; None = the only one.
    """

    chain: Chain
    effort: EffortSemantics | None
    payload: Inertia | None
    stiffness: Array | None = None
    coulomb_velocity: float | None = None
    payload_tip: str | None = None


def robot_from_arguments(arguments: argparse.Namespace) -> RecordedRobot:
    """Return the robot that ROBOT, --base, --tip, --gravity, --lock and --joints describe."""
    from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf

    _choose_group(arguments)
    chain = chain_from_urdf(arguments.robot, base=arguments.base, tip=arguments.tip,
                            tips=getattr(arguments, 'tips', None),
                            gravity=arguments.gravity, locked=dict(arguments.lock))
    file: Path | None = getattr(arguments, 'joints', None)  # not every command has --joints
    if file is None:
        return RecordedRobot(with_limits(chain, arguments), None, None)
    joints = read_joints_file(file)
    stiffness = joints.stiffness(chain)
    return RecordedRobot(with_limits(joints.applied_to(chain), arguments),
                         joints.effort_semantics(chain), joints.payload,
                         stiffness if np.any(np.isfinite(stiffness)) else None,
                         joints.coulomb_velocity, joints.payload_tip)


def _choose_group(arguments: argparse.Namespace) -> None:
    """Turn --srdf and --group into --tips and --lock."""
    from robot_dynamics_ros.chain.urdf.srdf import group_of_srdf
    from robot_dynamics_ros.chain.urdf.tree import tree_from_urdf

    file, name = getattr(arguments, 'srdf', None), getattr(arguments, 'group', None)
    if name is None:
        return
    if file is None:
        raise ChainError('--group NAME needs --srdf FILE')
    group = group_of_srdf(file, name, tree_from_urdf(arguments.robot))
    arguments.lock = [*((joint, 0.0) for joint in group.locked), *arguments.lock]
    if arguments.tip is None and arguments.tips is None and group.tips:
        arguments.tips = list(group.tips)


def note_rigid_joints(robot: RecordedRobot, what: str) -> None:
    """
    Say on stderr that the stiffness of a joints file is not used.

    :param robot: robot of the command.
    :param what: what is made of rigid joints, for the sentence.
    """
    if robot.stiffness is not None:
        elastic = [name for name, stiffness in zip(robot.chain.joint_names, robot.stiffness)
                   if np.isfinite(stiffness)]
        print(f'note: {what} rigid joints; the stiffness of {", ".join(elastic)} is not used '
              '(the commands torque and simulate use it)', file=sys.stderr)


def recorded_robot_from_arguments(arguments: argparse.Namespace, paths: Sequence[Path]
                                  ) -> RecordedRobot:
    """
    Return the robot of `robot_from_arguments`; without --urdf the one that a recording holds.

    `arguments.robot` is then its text.

    :raises ParameterError: no recording holds a robot description.
    """
    from robot_dynamics_ros.estimation.recordings.files import read_description

    if arguments.robot is None:
        found = (text for text in map(read_description, paths) if text is not None)
        arguments.robot = next(found, None)
        if arguments.robot is None:
            raise ParameterError('--urdf is needed: no recording holds a robot_description (ros2 '
                                 'bag record /joint_states /robot_description)')
    return robot_from_arguments(arguments)


def recordings_from_arguments(arguments: argparse.Namespace, chain: Chain,
                              paths: Sequence[Path]) -> list[Recording]:
    """Return the recordings at some paths, joints in the order of the chain."""
    from robot_dynamics_ros.estimation.recordings.files import read_recording

    recordings = [read_recording(path, chain, topic=arguments.topic, rename=arguments.rename,
                                 wrench_topic=arguments.wrench_topic) for path in paths]
    if arguments.degrees is None:
        return recordings
    return [each.in_radians(chain, arguments.degrees) for each in recordings]


def _pair(text: str) -> tuple[str, str]:
    old, separator, new = text.partition('=')
    if not separator or not old:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form OLD=NEW")
    return old, new
