# SPDX-License-Identifier: Apache-2.0
"""Torques that are reported later or earlier than the positions they belong to, in a stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.effort import LONGEST_DELAY


class EffortDelay:
    """
    Brings positions and torques of a stream together again.

    Joint states wait until their torques are reported (or torques until their positions are), so
    the memory is as long as the delay.

    :param n: number of joints.
    :param delay: time by which torques are reported later than positions [s].
    """

    def __init__(self, n: int, delay: float) -> None:
        self._n, self._delay = n, delay
        self._times, self._torques = np.empty(0), np.empty((0, n))
        self._states = np.empty((0, 1 + 2 * n))  # time, position, velocity: those that wait

    def feed(self, t: Array, q: Array, qd: Array | None,
             torque: Array) -> tuple[Array, Array, Array | None, Array]:
        """
        Take N joint states; return those that are complete: t, q, qd and torque.

        Time must rise; where the clock is set back, what waits is dropped.

        :param t: (N,) time [s].
        :param q: (N, n) positions [rad, m].
        :param qd: (N, n) velocities [rad/s, m/s]; None = not measured.
        :param torque: (N, n) torques reported at these times [N m, N]; NaN = none.
        """
        if self._delay == 0.0:
            return t, q, qd, torque
        velocity = np.full_like(q, np.nan) if qd is None else qd
        good = self._rising(t)
        self._times = np.concatenate([self._times, t[good]])
        self._torques = np.concatenate([self._torques, torque[good]])
        self._states = np.concatenate([self._states, np.column_stack([t, q, velocity])[good]])
        newest = self._times[-1] if self._times.size else -np.inf
        count = int(np.sum(self._states[:, 0] + self._delay <= newest))
        done, self._states = self._states[:count], self._states[count:]
        times = done[:, 0]
        found = np.column_stack([np.interp(times + self._delay, self._times, column, left=np.nan)
                                 for column in self._torques.T]) if count else done[:, :self._n]
        if count:  # the next state needs none before its own time
            first = max(int(np.searchsorted(self._times, times[-1] + self._delay)) - 1, 0)
            self._times, self._torques = self._times[first:], self._torques[first:]
        return (times, done[:, 1:self._n + 1],
                None if qd is None else done[:, self._n + 1:], found)

    def _rising(self, t: Array) -> NDArray[np.intp]:
        """Return the indices of samples later than all before; forget them after a jump back."""
        last = self._times[-1] if self._times.size else -np.inf
        finite = np.isfinite(t)
        if np.any(finite) and np.min(t[finite]) < last - 2.0 * LONGEST_DELAY:
            self._times, self._torques, self._states = (self._times[:0], self._torques[:0],
                                                        self._states[:0])
            last = -np.inf
        known = np.where(finite, t, -np.inf)
        before = np.maximum.accumulate(np.concatenate([[last], known]))[:-1]
        return np.flatnonzero(finite & (known > before))
