# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics convert``: recordings between rosbag2, CSV and npz."""

from __future__ import annotations

import argparse
from pathlib import Path

from robot_dynamics_ros.cli.support.arguments import (
    RECORDING,
    add_recording_arguments,
    recorded_robot_from_arguments,
    recordings_from_arguments,
)
from robot_dynamics_ros.estimation.recordings.files import read_description, write_recording


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument('recording', metavar='RECORDING', type=Path, help=RECORDING)
    parser.add_argument('output', metavar='OUTPUT', type=Path,
                        help='.csv, .npz, or a name without ending for a rosbag2 folder')
    add_recording_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read the joints of the robot, and write them as they are: efforts in the robot's unit."""
    chain = recorded_robot_from_arguments(arguments, [arguments.recording]).chain
    [recording] = recordings_from_arguments(arguments, chain, [arguments.recording])
    write_recording(arguments.output, recording, description=read_description(arguments.recording))
    duration = float(recording.t[-1] - recording.t[0])
    print(f'{len(recording)} samples of {len(chain)} joints over {duration:.1f} s: '
          f'{arguments.output}')
    return 0
