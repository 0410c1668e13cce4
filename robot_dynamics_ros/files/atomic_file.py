# SPDX-License-Identifier: Apache-2.0
"""Files that are whole at any time, whatever happens while they are written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from robot_dynamics_ros.errors import ParameterError


def write_atomically(path: str | Path, content: bytes) -> None:
    """
    Write a file at once: a reader sees the old file or the new one, never a part.

    :param path: path of the file.
    :param content: all of it.
    :raises ParameterError: the file cannot be written.
    """
    target = Path(path)
    if target.exists() and not target.is_file():  # a device such as /dev/null would be replaced
        raise ParameterError(f'{target}: cannot be written: it is not a regular file')
    try:
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
    except OSError as error:
        raise ParameterError(f'{target}: cannot be written: {error.strerror}') from error
