# SPDX-License-Identifier: Apache-2.0
"""Command-line arguments that choose a robot and recordings of it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.cli.robot_arguments import add_chain_arguments, chain_from_arguments
from robot_dynamics_ros.estimation.recordings.files import read_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording

#: What a recording may be, for help texts.
RECORDING = ('rosbag2 folder, .db3, .mcap, .csv (t, q_<joint>, qd_<joint>, tau_<joint>) or .npz '
             '(t, q, qd, tau, joint_names)')


def add_recording_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --urdf, the arguments of `add_chain_arguments`, --joints, --topic and --rename."""
    parser.add_argument('--urdf', metavar='ROBOT', dest='robot', required=True,
                        help='URDF (or .xacro) file')
    add_chain_arguments(parser)
    parser.add_argument('--joints', metavar='joints.yaml', type=Path,
                        help='what the efforts mean, coupling, limits, known payload')
    parser.add_argument('--topic', help='topic of the joint states in a bag')
    parser.add_argument('--rename', metavar='OLD=NEW', action='append', default=[], type=_pair,
                        help='text in the recorded joint names and what the URDF has instead; '
                        'may be repeated')


class RecordedRobot(NamedTuple):
    """
    A robot with what its joints file says.

    :param chain: with the payload.
    :param effort: what its efforts mean; None = joint torques.
    :param payload: known load in the tip frame, part of the chain; None = none.
    """

    chain: Chain
    effort: EffortSemantics | None
    payload: Inertia | None


def robot_from_arguments(arguments: argparse.Namespace) -> RecordedRobot:
    """Return the robot that the arguments of `add_recording_arguments` describe."""
    chain = chain_from_arguments(arguments)
    if arguments.joints is None:
        return RecordedRobot(chain, None, None)
    joints = read_joints_file(arguments.joints)
    return RecordedRobot(joints.applied_to(chain), joints.effort_semantics(chain), joints.payload)


def recordings_from_arguments(arguments: argparse.Namespace, chain: Chain,
                              paths: Sequence[Path]) -> list[Recording]:
    """Return the recordings at some paths, joints in the order of the chain."""
    return [read_recording(path, chain, topic=arguments.topic, rename=arguments.rename)
            for path in paths]


def _pair(text: str) -> tuple[str, str]:
    old, separator, new = text.partition('=')
    if not separator or not old:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form OLD=NEW")
    return old, new
