# SPDX-License-Identifier: Apache-2.0
"""Joint states as they come from a robot: any order, missing interfaces as NaN, old stamps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import StateError

#: A stamp older than the last one by more than this means that the clock was reset [s].
CLOCK_SET_BACK = 1.0
#: No joint measures a larger position or velocity [rad, m, rad/s, m/s]: not even one that has
#: turned for a day.
LARGEST_STATE = 1e6
#: No drive measures a larger effort, in whatever unit.
LARGEST_EFFORT = 1e9


@dataclass(frozen=True, eq=False)
class JointSample:
    """
    What the joints of a chain measured at one time.

    :param time: stamp of the message [s].
    :param received: time of receipt, on the clock of the receiver [s]: tells whether it is fresh
        even where the clock of the robot is another one.
    :param q: (n,) positions [rad, m], finite.
    :param qd: (n,) velocities [rad/s, m/s]; NaN = not measured.
    :param effort: (n,) efforts in the unit of the robot; NaN = not measured.
    """

    time: float
    received: float
    q: Array
    qd: Array
    effort: Array

    @property
    def qd_or_rest(self) -> Array:
        """Velocities (n,) with zero for those that are not measured."""
        return np.nan_to_num(self.qd)


class JointSamples(NamedTuple):
    """
    What the joints of a chain measured at N times.

    :param times: (N,) stamps [s], increasing.
    :param q: (N, n) positions [rad, m], finite.
    :param qd: (N, n) velocities [rad/s, m/s]; NaN = not measured.
    :param effort: (N, n) efforts in the unit of the robot; NaN = not measured.
    :param objections: reasons why messages were dropped, one text for each.
    """

    times: Array
    q: Array
    qd: Array
    effort: Array
    objections: tuple[str, ...]


class JointStateReader:
    """Turns named, unordered, imperfect joint states into samples of one chain."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        """
        Read the joints of a chain.

        :param joint_names: n names; the order of the samples.
        """
        self.joint_names = tuple(joint_names)
        self._columns: tuple[Sequence[str], list[int]] | None = None
        self._last_time = -np.inf

    def read(self, time: float, received: float, names: Sequence[str],
             position: Sequence[float], velocity: Sequence[float],
             effort: Sequence[float]) -> JointSample:
        """
        Return the sample in a message.

        :param time: stamp of the message [s]; 0 = none, the time of receipt is taken.
        :param received: clock time of receipt [s].
        :param names: names of the message, any order, other joints too.
        :param position: one per name, or empty.
        :param velocity: one per name, or empty.
        :param effort: one per name, or empty.
        :raises StateError: a joint or its position is missing or not possible, lists of different
            lengths, a stamp that is not later than the last one. The message is to be dropped.
        """
        time = time or received
        if not time > self._last_time:
            seen = self._last_time
            if time < seen - CLOCK_SET_BACK:
                self.restart()
            raise StateError(f'joint state with stamp {time:.9f} s, but {seen:.9f} s was already '
                             'seen; dropped')
        columns = self._columns_of(names)
        q, qd, tau = (self._pick(columns, len(names), field, values) for field, values in
                      (('position', position), ('velocity', velocity), ('effort', effort)))
        possible = np.abs(q) <= LARGEST_STATE
        if not possible.all():
            joint = int(np.argmin(possible))
            found = (f'the impossible position {q[joint]:g}' if np.isfinite(q[joint])
                     else 'no finite position')
            raise StateError(f'joint {self.joint_names[joint]}: the joint state has {found}; '
                             'dropped')
        self._last_time = time
        return JointSample(time, received, q, _or_missing(qd, LARGEST_STATE),
                           _or_missing(tau, LARGEST_EFFORT))

    def read_many(self, times: Sequence[float], received: float, names: Sequence[Sequence[str]],
                  positions: Sequence[Sequence[float]], velocities: Sequence[Sequence[float]],
                  efforts: Sequence[Sequence[float]]) -> JointSamples:
        """
        Return the samples in N messages, as `read` one after the other; quicker.

        :param times: N stamps [s]; 0 = none.
        :param received: clock time of receipt [s].
        :param names: names of each message.
        :param positions: positions of each message, as are `velocities` and `efforts`.
        """
        regular = self._read_regular(times, names, positions, velocities, efforts)
        if regular is not None:
            return regular
        samples, objections = [], []
        for k, time in enumerate(times):
            try:
                samples.append(self.read(time, received, names[k], positions[k], velocities[k],
                                         efforts[k]))
            except StateError as error:
                objections.append(str(error))
        shape = (len(samples), len(self.joint_names))
        q, qd, effort = (np.array([getattr(sample, field) for sample in samples]).reshape(shape)
                         for field in ('q', 'qd', 'effort'))
        return JointSamples(np.array([sample.time for sample in samples]), q, qd, effort,
                            tuple(objections))

    def _read_regular(self, times: Sequence[float], names: Sequence[Sequence[str]],
                      positions: Sequence[Sequence[float]],
                      velocities: Sequence[Sequence[float]],
                      efforts: Sequence[Sequence[float]]) -> JointSamples | None:
        """Return the samples of messages that are all alike and good, or None."""
        t = np.array(times)
        first = names[0]
        if (not np.all(np.diff(t, prepend=max(self._last_time, 0.0)) > 0.0)
                or self._missing(first) or any(each != first for each in names)):
            return None
        columns, length, tables = self._columns_of(first), len(first), []
        for rows in (positions, velocities, efforts):
            sizes = {len(row) for row in rows}
            if sizes == {length}:
                tables.append(np.array(rows, dtype=np.float64)[:, columns])
            elif sizes == {0}:
                tables.append(np.full((len(t), len(columns)), np.nan))
            else:
                return None
        q, qd, effort = tables
        if not (np.abs(q) <= LARGEST_STATE).all():
            return None
        self._last_time = float(t[-1])
        return JointSamples(t, q, _or_missing(qd, LARGEST_STATE),
                            _or_missing(effort, LARGEST_EFFORT), ())

    def names_any(self, names: Sequence[str]) -> bool:
        """Return whether a message names any of the joints."""
        return any(name in names for name in self.joint_names)

    def _missing(self, names: Sequence[str]) -> list[str]:
        return [name for name in self.joint_names if name not in names]

    def restart(self) -> None:
        """Accept any stamp next: the clock was set back."""
        self._last_time = -np.inf

    def _columns_of(self, names: Sequence[str]) -> list[int]:
        # a broadcaster keeps its order, so the last mapping almost always fits
        if self._columns is not None and self._columns[0] == names:
            return self._columns[1]
        if missing := self._missing(names):
            raise StateError(f'joint {", ".join(missing)}: not in the joint state; dropped')
        place = {name: column for column, name in enumerate(names)}
        columns = [place[name] for name in self.joint_names]
        self._columns = (list(names), columns)
        return columns

    @staticmethod
    def _pick(columns: list[int], length: int, field: str, values: Sequence[float]) -> Array:
        if not len(values):
            return np.full(len(columns), np.nan)
        if len(values) != length:
            raise StateError(f'the joint state has {length} names and {len(values)} values of '
                             f'{field}; dropped')
        return np.array([values[column] for column in columns], dtype=np.float64)


def _or_missing(values: Array, largest: float) -> Array:
    """Return values with NaN in place of those that cannot have been measured."""
    return np.where(np.abs(values) <= largest, values, np.nan)
