# SPDX-License-Identifier: Apache-2.0
"""Entry point of the robot-dynamics command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from robot_dynamics_ros.errors import RobotDynamicsError

#: Subcommands: name, module below robot_dynamics_ros, one line of help. Each module has
#: ``add_arguments(parser)`` and ``run(arguments) -> exit code``, and is imported when needed.
COMMANDS = (
    ('inspect', 'cli.inspect', 'show the chain of a robot, its parameters and findings'),
    ('demo', 'demo.learning', 'learn what a simulated arm is while it works, over ROS 2'),
    ('adaptive_demo', 'demo.adaptive', 'learn a payload while controlling an arm, over ROS 2'),
    ('torque', 'cli.torque', 'torques along a trajectory, and where they exceed the limits'),
    ('simulate', 'cli.simulate', 'compare controllers on a simulated arm, adaptive ones too'),
    ('excite', 'cli.excite', 'design a motion that shows all parameters of a robot well'),
    ('identify', 'cli.identify', 'minimal parameters, rotors and friction from recordings'),
    ('compare', 'cli.compare', 'show how two parameter files differ'),
    ('payload', 'cli.payload', 'payload of a robot, from a recording with it'),
    ('gains', 'cli.gains', 'torque per unit of effort, from a payload of known mass'),
    ('presets', 'cli.presets', 'list what drivers of known robots put into effort'),
    ('convert', 'cli.convert', 'convert a recording between rosbag2, CSV and npz'),
    ('generate', 'cli.generate', 'write one function of a robot as stand-alone C or Python'),
    ('benchmark', 'cli.benchmark', 'time the generated models against Pinocchio'),
)

#: Exit code for wrong input.
BAD_INPUT = 2


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments."""

    def error(self, message: str) -> NoReturn:
        """Print the message and end with the exit code for wrong input."""
        self.exit(BAD_INPUT, f'{self.prog}: {message}; see {self.prog} --help\n')


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code; wrong input is one line and code 2."""
    # read when numpy is loaded; for matrices as small as ours, threads only wait for each other
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    parser = _Parser(
        prog='robot-dynamics', description='Robot dynamics from a URDF: inspect, compute, '
        'identify, compare.')
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name, module, text in COMMANDS:
        subparser = subparsers.add_parser(name, help=text, description=text[0].upper() + text[1:])
        if name in words[:1]:
            command = import_module(f'robot_dynamics_ros.{module}')
            command.add_arguments(subparser)
            subparser.set_defaults(run=command.run)
    parsed = parser.parse_args(words)
    try:
        return int(parsed.run(parsed))
    except RobotDynamicsError as error:
        print(f'robot-dynamics {parsed.command}: {error}', file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


if __name__ == '__main__':
    sys.exit(main())
