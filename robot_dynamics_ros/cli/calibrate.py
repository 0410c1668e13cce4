# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics calibrate``: drives a running calibration node from a terminal."""

from __future__ import annotations

import argparse
import select
import sys
from typing import Protocol, TextIO

from robot_dynamics_ros.errors import RobotDynamicsError

#: Exit code of a calibration that did not pass.
NOT_PASSED = 1
_HELP = 'Enter = next stage, s Enter = stop, q Enter = leave; Ctrl-C stops the robot and leaves'


class Client(Protocol):
    """What is needed of a calibration node."""

    status: str

    def call(self, word: str) -> tuple[bool, str]:
        """Return whether 'next' or 'stop' was done, and the answer."""

    def spin(self, seconds: float) -> None:
        """Receive for a while [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument('--node', metavar='NAME', default='/calibration',
                        help='name of the calibration node (default: %(default)s)')
    parser.add_argument('--patience', metavar='SECONDS', type=float, default=20.0,
                        help='longest wait for the node (default: %(default)s)')


def run(arguments: argparse.Namespace) -> int:
    """Show where the calibration is; confirm and stop it."""
    try:
        from robot_dynamics_ros.nodes.support.calibration_client import CalibrationClient
    except ImportError as error:
        raise RobotDynamicsError(f'this command needs ROS 2: {error}') from error
    with CalibrationClient(arguments.node) as client:
        client.wait(arguments.patience)
        return drive(client, sys.stdin)


def drive(client: Client, keyboard: TextIO) -> int:
    """
    Talk to a calibration until it is over or the person leaves.

    :param client: the calibration.
    :param keyboard: lines of the person.
    :returns: exit code.
    """
    print(_HELP)
    shown, listening = '', True
    try:
        while not client.status.startswith('DONE'):
            if client.status != shown:
                shown = client.status
                print(shown, flush=True)
            client.spin(0.1)
            if listening and _waits(keyboard):
                line = keyboard.readline()
                listening = line != ''  # the end of a file says nothing more
                if line.strip() == 'q':
                    return NOT_PASSED
                if listening:
                    _say(client, 'stop' if line.strip() == 's' else 'next')
    except KeyboardInterrupt:
        _say(client, 'stop')
        raise
    print(client.status)
    return NOT_PASSED if 'NOT ' in client.status else 0


def _waits(keyboard: TextIO) -> bool:
    """Return whether a line can be read without waiting."""
    try:
        return bool(select.select([keyboard], [], [], 0.0)[0])
    except (OSError, ValueError):  # a file or a text: it can always be read
        return True


def _say(client: Client, word: str) -> None:
    done, answer = client.call(word)
    print(f'{word}{"" if done else " refused"}{f": {answer}" if answer else ""}', flush=True)
