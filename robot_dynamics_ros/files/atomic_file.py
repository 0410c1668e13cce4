# SPDX-License-Identifier: Apache-2.0
"""Files that are whole at any time, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.bounds import one_line


def write_atomically(path: str | Path, content: bytes) -> None:
    """
    Write a file at once: a reader sees the old file or the new one, never a part.

    Only a file is replaced, never a device or a folder, whoever runs this.

    :param path: path of the file.
    :param content: all of it.
    :raises ParameterError: the file cannot be written.
    """
    target = Path(path)
    try:
        _refuse_special(target)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f'.{target.name}.')
        try:
            with os.fdopen(handle, 'wb') as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ParameterError(f'{one_line(path)}: cannot be written: '
                             f'{getattr(error, "strerror", error)}') from error


def set_aside(path: str | Path, suffix: str = '.damaged') -> Path:
    """
    Give a file another name, so that it is not overwritten, and return that name.

    :param path: path of the file.
    :param suffix: what is appended to its name.
    :raises ParameterError: there is no such file, or it cannot be renamed.
    """
    aside = Path(f'{path}{suffix}')
    try:
        _refuse_special(Path(path))
        _refuse_special(aside)
        os.replace(path, aside)
    except (OSError, ValueError) as error:
        raise ParameterError(f'{one_line(path)}: cannot be renamed: '
                             f'{getattr(error, "strerror", error)}') from error
    return aside


def _refuse_special(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, 'it is not a file')
