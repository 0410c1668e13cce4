# SPDX-License-Identifier: Apache-2.0
"""Bounds on what comes from outside: size of a file, size of a number, length of a message."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from robot_dynamics_ros.errors import RobotDynamicsError

#: A larger physical quantity is a mistake [SI units]; its products would overflow.
LARGEST_NUMBER = 1e15

#: Longest text from outside in a message.
_LONGEST = 200


def one_line(text: object, longest: int = _LONGEST) -> str:
    """
    Return text as it can stand in a message: one line, printable, not too long.

    :param text: anything that came from outside.
    :param longest: number of characters after which it is cut.
    """
    whole = str(text)
    line = ''.join(each if each.isprintable() else each.encode('unicode_escape').decode()
                   for each in whole[:longest])
    return line if len(whole) <= longest else f'{line}...'


def read_bounded(path: str | os.PathLike[str], largest: int,
                 error: type[RobotDynamicsError]) -> bytes:
    """
    Return what a file holds, if it is a file and not too large.

    A pipe or a device is refused: it may never end.

    :param path: path of the file.
    :param largest: largest size [bytes].
    :param error: class of the error to raise.
    :raises RobotDynamicsError: an `error` that names the file: not readable, or too large.
    """
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise error(f'{one_line(path)}: cannot be read: it is not a file')
        with Path(path).open('rb') as file:
            content = b'' if found.st_size > largest else file.read(largest + 1)
    except OSError as reason:
        raise error(f'{one_line(path)}: cannot be read: {reason.strerror}') from reason
    except ValueError as reason:  # a NUL in the path
        raise error(f'{one_line(path)}: cannot be read: {reason}') from reason
    size = max(found.st_size, len(content))
    if size > largest:
        raise error(f'{one_line(path)}: {size} bytes is more than the limit of {largest}')
    return content
