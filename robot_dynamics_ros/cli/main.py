# SPDX-License-Identifier: Apache-2.0
"""Entry point of the robot-dynamics command."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple, NoReturn

from robot_dynamics_ros import __version__
from robot_dynamics_ros.chain.urdf.xacro_file import XacroFile
from robot_dynamics_ros.cli.support.output import readers_may_leave
from robot_dynamics_ros.errors import RobotDynamicsError


class Command(NamedTuple):
    """
    One subcommand.

    :param name: word on the command line.
    :param module: module below robot_dynamics_ros with ``add_arguments(parser)`` and
        ``run(arguments) -> exit code``, imported when needed.
    :param text: one line of help.
    :param example: arguments that a user could give.
    """

    name: str
    module: str
    text: str
    example: str


COMMANDS = (
    Command('inspect', 'cli.inspect', 'show the chain of a robot, its parameters and findings',
            'robot.urdf --tip tool0 --lock finger_joint=0.02'),
    Command('view', 'cli.view', 'show a robot in the browser, with axes, inertias and weights',
            'robot.urdf --at shoulder=0.5 --screenshot robot.png'),
    Command('joints', 'cli.joints', 'write a joints.yaml to fill in: limits, efforts, friction',
            'robot.urdf --effort-limit 80 -o joints.yaml'),
    Command('demo', 'demo.learning', 'calibrate a simulated arm and use the result, over ROS 2',
            '--output output/demo'),
    Command('adaptive_demo', 'demo.adaptive',
            'learn a payload while controlling an arm, over ROS 2', ''),
    Command('torque', 'cli.torque',
            'compute torques along a trajectory, and show where they exceed limits',
            'robot.urdf --trajectory motion.csv --joints joints.yaml --plot torques.png'),
    Command('simulate', 'cli.simulate',
            'compare controllers on a simulated arm, including adaptive ones',
            'robot.urdf --controller pid --controller slotine_li --payload 2.0@4'),
    Command('excite', 'cli.excite', 'design a motion that reveals all parameters of a robot',
            'robot.urdf --joints joints.yaml --duration 20 -o excitation'),
    Command('calibrate', 'cli.calibrate', 'drive a running calibration node from a terminal',
            '--node /calibration'),
    Command('identify', 'cli.recordings.identify',
            'identify minimal parameters, rotors and friction from recordings',
            'recording.csv --urdf robot.urdf --joints joints.yaml -o identified'),
    Command('compare', 'cli.recordings.compare', 'show how two parameter files differ',
            'monday/parameters.yaml friday/parameters.yaml'),
    Command('payload', 'cli.recordings.payload',
            'identify the payload of a robot from a recording',
            'loaded.csv --urdf robot.urdf --parameters identified/parameters.yaml'),
    Command('gains', 'cli.recordings.gains',
            'find the torque per unit of effort with a payload of known mass',
            'unloaded.csv loaded.csv --urdf robot.urdf --mass 2.5 --com 0 0 0.06 -o joints.yaml'),
    Command('presets', 'cli.presets', 'list what drivers of known robots put into effort',
            'ur_driver_currents'),
    Command('convert', 'cli.recordings.convert',
            'convert a recording between rosbag2, CSV and npz',
            'bag_folder recording.csv --urdf robot.urdf'),
    Command('generate', 'cli.generate', 'write one function of a robot as stand-alone C or Python',
            'robot.urdf --function torque --language c -o torque.c'),
    Command('benchmark', 'cli.benchmark',
            'compare the speed of the generated models with Pinocchio', '--quick'),
)

#: Exit code for wrong input.
BAD_INPUT = 2


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments."""

    def error(self, message: str) -> NoReturn:
        """Print the message and end with the exit code for wrong input."""
        option = re.fullmatch(r'argument (?:.*/)?(--[\w-]+): expected one argument', message)
        if option is not None:  # words that begin with a minus are taken for options
            message += f'; a value that begins with a minus is written {option[1]}=-1,...'
        self.exit(BAD_INPUT, f'{self.prog}: {message}; see {self.prog} --help\n')


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run one subcommand and return its exit code; wrong input is one line and code 2.

    A reader that leaves (``| head``) changes nothing: files are written, and there is no error.
    """
    with readers_may_leave():
        return _run(sys.argv[1:] if arguments is None else arguments)


def _run(arguments: Sequence[str]) -> int:
    # read when numpy is loaded; for matrices as small as ours, threads only wait for each other
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    parser = _Parser(
        prog='robot-dynamics', description='Robot dynamics from a URDF: inspect, compute, '
        'identify, compare.')
    parser.add_argument('--version', action='version', version=f'%(prog)s {__version__}')
    subparsers = parser.add_subparsers(dest='command', metavar='COMMAND')
    words, xacro_arguments = _without_xacro_arguments(arguments)
    for name, module, text, example in COMMANDS:
        subparser = subparsers.add_parser(
            name, help=text, description=text[0].upper() + text[1:],
            epilog=f'example:\n  robot-dynamics {name} {example}'.rstrip(),
            formatter_class=argparse.RawDescriptionHelpFormatter)  # the example in one line
        if name in words[:1]:
            command = import_module(f'robot_dynamics_ros.{module}')
            command.add_arguments(subparser)
            subparser.set_defaults(run=command.run)
    parsed, unknown = parser.parse_known_args(words)
    if unknown:  # said by the command itself, for its own help lists what there is
        subparsers.choices.get(parsed.command, parser).error(
            f'unrecognized arguments: {" ".join(unknown)}')
    if parsed.command is None:
        parser.print_help()
        return 0
    if xacro_arguments:
        if getattr(parsed, 'robot', None) is None:
            names = ', '.join(xacro_arguments)
            parser.error(f'{parsed.command} takes no xacro arguments ({names})')
        parsed.robot = XacroFile(parsed.robot, xacro_arguments)
    try:
        return int(parsed.run(parsed))
    except RobotDynamicsError as error:
        print(f'robot-dynamics {parsed.command}: {error}', file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return 130


def _without_xacro_arguments(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the words without those of the form NAME:=VALUE, and these as a mapping."""
    found = {word: re.fullmatch(r'([A-Za-z_]\w*):=(.*)', word) for word in words}
    return ([word for word in words if found[word] is None],
            {match[1]: match[2] for match in found.values() if match is not None})


if __name__ == '__main__':
    sys.exit(main())
