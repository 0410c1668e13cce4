# SPDX-License-Identifier: Apache-2.0
"""
Fourier series as joint trajectories that start and end at rest, without acceleration.

``q(t) = start + sum_k sine_k sin(k w t) + cosine_k (1 - cos(k w t))`` with ``w = 2 pi / duration``
begins and ends in `start`. Velocity and acceleration vanish there if ``sum_k k sine_k = 0`` and
``sum_k k^2 cosine_k = 0``: linear conditions, which `FourierBasis` eliminates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.errors import TrajectoryError

#: Fewer harmonics cannot start and end at rest and move in between.
FEWEST_HARMONICS = 2

#: Velocity and acceleration allowed at the ends, relative to the largest term of the series.
_AT_REST = 1e-9


class JointMotion(NamedTuple):
    """
    A motion at N times.

    :param q: (N, n) positions [rad, m].
    :param qd: (N, n) velocities [rad/s, m/s].
    :param qdd: (N, n) accelerations [rad/s^2, m/s^2].
    """

    q: Array
    qd: Array
    qdd: Array


@dataclass(frozen=True, eq=False)
class FourierTrajectory:
    """
    A periodic motion of n joints that starts and ends at rest.

    :param joint_names: names of the n joints.
    :param start: (n,) position at both ends [rad, m].
    :param duration: duration of one period [s].
    :param sine: (n, harmonics) coefficients of the sines [rad, m].
    :param cosine: (n, harmonics) coefficients of the cosines [rad, m].
    :raises TrajectoryError: wrong sizes, or not at rest at the ends.
    """

    joint_names: tuple[str, ...]
    start: Array
    duration: float
    sine: Array
    cosine: Array

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check the ends."""
        freeze(self, 'start', 'sine', 'cosine')
        n = len(self.joint_names)
        if (self.start.shape != (n,) or self.sine.ndim != 2 or len(self.sine) != n
                or self.sine.shape != self.cosine.shape):
            raise TrajectoryError(f'Fourier series: start {self.start.shape}, sine '
                                  f'{self.sine.shape} and cosine {self.cosine.shape} do not fit '
                                  f'{n} joints')
        k = np.arange(1, self.sine.shape[1] + 1)
        for values, power, what in ((self.sine, 1, 'velocity'), (self.cosine, 2, 'acceleration')):
            terms = values * k**power
            moving = np.abs(terms.sum(axis=1)) > _AT_REST * np.max(np.abs(terms), initial=0.0)
            if np.any(moving):
                joint = self.joint_names[int(np.flatnonzero(moving)[0])]
                raise TrajectoryError(f'joint {joint}: the {what} at the ends is not zero')

    def sample(self, times: ArrayLike) -> JointMotion:
        """
        Return the motion at N times.

        :param times: (N,) time from start [s]; the motion is periodic.
        """
        k = np.arange(1, self.sine.shape[1] + 1)
        w = 2.0 * np.pi / self.duration * k
        angle = np.asarray(times, dtype=np.float64)[:, None] * w
        s, c = np.sin(angle), np.cos(angle)
        return JointMotion(self.start + s @ self.sine.T + (1.0 - c) @ self.cosine.T,
                           (c * w) @ self.sine.T + (s * w) @ self.cosine.T,
                           (c * w**2) @ self.cosine.T - (s * w**2) @ self.sine.T)

    def knots(self) -> Array:
        """Return both ends [s]."""
        return np.array([0.0, self.duration])

    def largest_velocities(self, begin: Array, end: Array) -> Array:
        """
        Return upper bounds (M, n) of the velocities in M intervals [rad/s, m/s].

        :param begin: (M,) begin of each interval [s].
        :param end: (M,) its end [s].
        """
        w = 2.0 * np.pi / self.duration * np.arange(1, self.sine.shape[1] + 1)
        largest = np.hypot(self.sine, self.cosine) @ w**2
        return np.asarray(np.abs(self.sample(0.5 * (begin + end)).qd)
                          + 0.5 * (end - begin)[:, None] * largest)

    def times(self, rate: float) -> Array:
        """Return equally spaced times from 0 to `duration`, at least `rate` per second."""
        return np.linspace(0.0, self.duration, int(np.ceil(self.duration * rate - 1e-9)) + 1)


@dataclass(frozen=True, eq=False)
class FourierBasis:
    """
    All Fourier series at rest at both ends, by free coefficients of unit peak velocity.

    :param duration: duration of one period [s].
    :param harmonics: number of harmonics, at least 2.
    :raises TrajectoryError: too few harmonics, or a duration that is not positive.
    """

    duration: float
    harmonics: int

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (np.isfinite(self.duration) and self.duration > 0.0):
            raise TrajectoryError(f'the duration must be positive, got {self.duration} s')
        if self.harmonics < FEWEST_HARMONICS:
            raise TrajectoryError(f'{self.harmonics} harmonics cannot begin and end at rest; '
                                  f'take at least {FEWEST_HARMONICS}')

    @property
    def size(self) -> int:
        """Number of free coefficients of a joint."""
        return 2 * (self.harmonics - 1)

    @cached_property
    def _series(self) -> Array:
        """Sine and cosine terms (2 harmonics, size) of the free coefficients."""
        k = np.arange(1.0, self.harmonics + 1.0)
        blocks = [_orthogonal_to(k**power) for power in (1, 2)]
        zero = np.zeros_like(blocks[0])
        series = np.block([[blocks[0], zero], [zero, blocks[1]]])
        w = 2.0 * np.pi / self.duration * k
        angle = np.outer(np.linspace(0.0, self.duration, 40 * self.harmonics), w)
        velocities = np.hstack([w * np.cos(angle), w * np.sin(angle)]) @ series
        return np.asarray(series / np.max(np.abs(velocities), axis=0))

    def trajectory(self, joint_names: tuple[str, ...], start: Array,
                   coefficients: Array) -> FourierTrajectory:
        """
        Return the trajectory with given free coefficients.

        :param joint_names: names of the n joints.
        :param start: (n,) position at both ends [rad, m].
        :param coefficients: (n, size) free coefficients [rad/s, m/s].
        """
        series = coefficients @ self._series.T
        return FourierTrajectory(joint_names, start, self.duration, series[:, :self.harmonics],
                                 series[:, self.harmonics:])

    def sample(self, times: Array) -> tuple[Array, Array, Array]:
        """Return displacement, velocity and acceleration (N, size) of every unit coefficient."""
        names = tuple(str(i) for i in range(self.size))
        return self.trajectory(names, np.zeros(self.size), np.eye(self.size)).sample(times)


def _orthogonal_to(direction: Array) -> Array:
    """
    Return orthonormal columns (m, m - 1) that are orthogonal to a vector (m,) of positive numbers.

    They are those of a Householder reflection: one formula, so that every machine has the same
    unknowns and the same seed means the same motions (a singular value decomposition may turn
    them by any angle).
    """
    unit = direction / np.sqrt(np.sum(direction**2))
    mirror = unit.copy()
    mirror[0] += 1.0
    return np.asarray((np.eye(len(unit)) - np.outer(mirror, mirror) / mirror[0])[:, 1:])
