# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics generate``: one function of a robot as stand-alone source."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from robot_dynamics_ros.cli.support.arguments import (
    add_joints_argument,
    add_robot_arguments,
    chain_from_arguments,
)
from robot_dynamics_ros.cli.support.output import write_file
from robot_dynamics_ros.codegen.printers.standalone import FUNCTIONS, LANGUAGES, standalone_source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_robot_arguments(parser)
    parser.add_argument('--function', default='inverse_dynamics', metavar='NAME',
                        choices=FUNCTIONS, help=f'one of {", ".join(FUNCTIONS)}')
    parser.add_argument('--language', default='c', choices=LANGUAGES)
    add_joints_argument(parser, 'rotor inertia, friction, payload')
    parser.add_argument('-o', '--output', metavar='FILE', type=Path,
                        help='write to this file (default: print)')


def run(arguments: argparse.Namespace) -> int:
    """Write the source."""
    chain = chain_from_arguments(arguments)
    source = standalone_source(chain, arguments.function, arguments.language)
    if arguments.output is None:
        sys.stdout.write(source)
        return 0
    write_file(arguments.output, source)
    return 0
