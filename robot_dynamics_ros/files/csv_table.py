# SPDX-License-Identifier: Apache-2.0
"""CSV files with a time column and one column per joint: ``t, q_<joint>, qd_<joint>, ...``."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import TableError
from robot_dynamics_ros.files.bounds import one_line, read_bounded

#: A larger file is refused [bytes].
MAXIMUM_SIZE = 256 * 2**20


@dataclass(frozen=True, eq=False)
class CsvTable:
    """
    Named columns of equal length.

    :param source: path, for messages.
    :param columns: numbers (N,) by name; empty cells are NaN.
    """

    source: str
    columns: Mapping[str, Array]

    def time(self) -> Array:
        """
        Return the column ``t`` [s].

        :raises TableError: missing, not finite or not strictly increasing.
        """
        if 't' not in self.columns:
            raise TableError(f"{self.source}: no column 't'; columns are {self._names()}")
        t = self.columns['t']
        wrong = np.flatnonzero(~(np.diff(t) > 0.0)) + 1
        if not np.all(np.isfinite(t)) or wrong.size:
            line = int(wrong[0]) + 2 if wrong.size else int(np.flatnonzero(~np.isfinite(t))[0]) + 2
            raise TableError(f'{self.source}:{line}: time must be finite and increase from line '
                             'to line')
        return t

    def joints(self, prefix: str, joint_names: Sequence[str]) -> Array | None:
        """
        Return the columns ``<prefix>_<joint>`` (N, n); None when there is none of them.

        :raises TableError: some joints have the column and some do not.
        """
        wanted = [f'{prefix}_{name}' for name in joint_names]
        missing = [name for name in wanted if name not in self.columns]
        if len(missing) == len(wanted):
            return None
        if missing:
            raise TableError(f'{self.source}: column {missing[0]} is missing; columns are '
                             f'{self._names()}')
        return np.column_stack([self.columns[name] for name in wanted])

    def required_joints(self, prefix: str, joint_names: Sequence[str]) -> Array:
        """Return the columns of all joints (N, n); refuse a table without them."""
        values = self.joints(prefix, joint_names)
        if values is None:
            raise TableError(f'{self.source}: columns {prefix}_{joint_names[0]} ... are missing; '
                             f'columns are {self._names()}')
        return values

    def _names(self) -> str:
        return one_line(', '.join(self.columns), 1000)


def read_csv_table(path: str | Path) -> CsvTable:
    """
    Read a CSV file with one header line.

    :raises TableError: naming file and line: missing, empty, ragged or not numbers.
    """
    path = Path(path)
    content = read_bounded(path, MAXIMUM_SIZE, TableError)
    try:
        text = io.StringIO(content.decode('utf-8-sig'), newline='')
        rows = [row for row in csv.reader(text) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(f'{path}: cannot be read: {one_line(error)}') from None
    if len(rows) < 2:
        raise TableError(f'{path}: no samples; expected a header and at least one line')
    header = [name.strip() for name in rows[0]]
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise TableError(f'{path}:1: column {one_line(min(repeated))} occurs twice')
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise TableError(f'{path}:{line}: {len(row)} cells, the header has {len(header)}')
    try:
        # cell by cell: as text every cell would take the memory of the longest one
        values = np.array([[float(cell.strip() or 'nan') for cell in row] for row in rows[1:]])
    except ValueError as error:
        raise TableError(f'{path}: {one_line(error)}; all cells below the header must be '
                         'numbers') from None
    return CsvTable(path.name, dict(zip(header, values.T)))


def write_csv_table(path: str | Path, columns: Mapping[str, Array]) -> None:
    """
    Write named columns of equal length, with enough digits to read them back exactly.

    :raises TableError: the file cannot be written.
    """
    try:
        with Path(path).open('w', newline='') as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(np.column_stack(list(columns.values())).tolist())
    except OSError as error:
        raise TableError(f'{path}: cannot be written: {error.strerror}') from None
