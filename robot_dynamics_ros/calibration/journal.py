# SPDX-License-Identifier: Apache-2.0
"""
The journal of a stage: joint states on disk while they come, whatever ends the program.

A bag is whole only after its end. So a stage that moves also writes lines of a CSV file, each
handed to the system at once; what is left of it is a recording like any other, without its last
line where that is not whole. When the stage is over, its bag takes the place of the journal.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TextIO

import numpy as np

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.atomic_file import write_atomically
from robot_dynamics_ros.motion.joint_state import JointSamples

#: Ending of a journal; what is before it is the name of the stage.
SUFFIX = '.part.csv'


class Journal:
    """Joint states of one stage, line by line."""

    def __init__(self, path: Path, joint_names: tuple[str, ...]) -> None:
        """
        Begin a journal; an older one of the same stage is replaced.

        :param path: path of the file.
        :param joint_names: joints of the samples, in their order.
        :raises ParameterError: it cannot be written.
        """
        self.path = path
        try:
            path.parent.mkdir(exist_ok=True)
            self._file: TextIO = path.open('w', encoding='utf-8')
            self._file.write(','.join(['t', *(f'{prefix}_{name}' for prefix in ('q', 'qd', 'tau')
                                              for name in joint_names)]) + '\n')
        except OSError as error:
            raise ParameterError(f'{path}: cannot be written: {error.strerror}') from error

    def add(self, samples: JointSamples) -> None:
        """
        Write joint states.

        :param samples: joint states with efforts in the unit of the robot.
        :raises ParameterError: they cannot be written; the disk is full, for example.
        """
        rows = np.column_stack([samples.times, samples.q, samples.qd, samples.effort]).tolist()
        try:
            self._file.writelines(','.join(map(repr, row)) + '\n' for row in rows)
            self._file.flush()  # what the system has survives the end of this program
        except OSError as error:
            raise ParameterError(f'{self.path}: cannot be written: {error.strerror}') from error

    def close(self) -> None:
        """End the journal, and remove it: its bag is written."""
        with suppress(OSError):  # the disk is full: nothing of it is needed any more
            self._file.close()
        self.path.unlink(missing_ok=True)


def journal_path(folder: Path, stage: str) -> Path:
    """Return the path of the journal of a stage in the folder of recordings."""
    return folder / (stage.replace(' ', '_') + SUFFIX)


def repaired(path: Path) -> bool:
    """
    Cut off a last line that is not whole; return whether joint states are left.

    :param path: path of a journal.
    :raises ParameterError: it cannot be read or written.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ParameterError(f'{path}: cannot be read: {error.strerror}') from error
    whole = content[:content.rfind(b'\n') + 1]
    if whole != content:
        write_atomically(path, whole)
    return whole.count(b'\n') > 1
