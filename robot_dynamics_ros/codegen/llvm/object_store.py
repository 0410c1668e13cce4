# SPDX-License-Identifier: Apache-2.0
"""
Compiled code on disk, so that a robot is compiled once per user and not once per start.

Files are named by a hash of everything their content follows from. They are written under
another name and renamed, so that processes starting at the same time do not disturb each other.
A file is used only if it and its folder belong to this user and nobody else can write them, and
if its content has the hash it states. Where the folder cannot be used, nothing is stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

#: Environment variable: folder for compiled code; empty = keep nothing on disk.
FOLDER_VARIABLE = 'ROBOT_DYNAMICS_CACHE'

_FORMAT = b'robot_dynamics_ros object 1'


class ObjectStore:
    """
    Object files by key.

    :param folder: where they are; None = nowhere.
    """

    def __init__(self, folder: Path | None) -> None:
        """Look at nothing yet."""
        self.folder = folder

    @classmethod
    def of_user(cls) -> ObjectStore:
        """Return the store of this user: FOLDER_VARIABLE, or the cache folder of the desktop."""
        chosen = os.environ.get(FOLDER_VARIABLE)
        if chosen is not None:
            return cls(Path(chosen) if chosen else None)
        base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
        return cls(Path(base) / 'robot_dynamics_ros' if os.path.isabs(base) else None)

    def read(self, key: str) -> bytes | None:
        """Return what was stored under this key; None if there is nothing that can be trusted."""
        if self.folder is None:
            return None
        try:
            if not _only_ours(os.lstat(self.folder), stat.S_ISDIR):
                return None
            descriptor = os.open(self.folder / key, os.O_RDONLY | os.O_NOFOLLOW)
            with open(descriptor, 'rb') as file:
                if not _only_ours(os.fstat(descriptor), stat.S_ISREG):
                    return None
                content = file.read()
        except OSError:
            return None
        header, _, object_code = content.partition(b'\n')
        return object_code if header == _header(key, object_code) else None

    def write(self, key: str, object_code: bytes) -> None:
        """Store object code; without effect where that is not possible."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _only_ours(os.lstat(self.folder), stat.S_ISDIR):
                return
            descriptor, name = tempfile.mkstemp(dir=self.folder)
            try:
                with open(descriptor, 'wb') as file:
                    file.write(_header(key, object_code) + b'\n' + object_code)
                os.replace(name, self.folder / key)
            except OSError:
                os.unlink(name)
                raise


def _header(key: str, object_code: bytes) -> bytes:
    return b' '.join([_FORMAT, key.encode(), hashlib.sha256(object_code).hexdigest().encode()])


def _only_ours(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """Return whether something is of the kind, ours, and writable by nobody else."""
    return (is_kind(status.st_mode)
            and status.st_uid == os.geteuid()
            and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
