# SPDX-License-Identifier: Apache-2.0
"""How well a robot followed a trajectory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Tracking:
    """
    Errors of a motion.

    :param joint_names: n names.
    :param times: (N,) times from the start of the trajectory [s].
    :param errors: (N, n) errors, desired minus measured position [rad, m].
    """

    joint_names: tuple[str, ...]
    times: Array
    errors: Array

    @classmethod
    def of(cls, trajectory: Trajectory, times: ArrayLike, positions: ArrayLike) -> Tracking:
        """
        Compare measured positions with a trajectory, between its first and its last point.

        :param trajectory: trajectory asked for.
        :param times: (N,) times from the start of the trajectory [s].
        :param positions: (N, n) measured positions [rad, m], in the joint order of the trajectory.
        :raises TrajectoryError: nothing was measured during the trajectory.
        """
        t, q = np.asarray(times, dtype=np.float64), np.asarray(positions, dtype=np.float64)
        during = (t >= trajectory.times[0]) & (t <= trajectory.duration)
        if not np.any(during):
            raise TrajectoryError('no joint state was measured during the trajectory')
        errors = trajectory.sample(t[during]).q - q[during]
        return cls(trajectory.joint_names, read_only(t[during]), read_only(errors))

    @property
    def rms(self) -> Array:
        """Root mean square error of every joint (n,) [rad, m]."""
        return np.asarray(np.sqrt(np.mean(self.errors**2, axis=0)))

    @property
    def largest(self) -> Array:
        """Largest error of every joint (n,) [rad, m]."""
        return np.asarray(np.max(np.abs(self.errors), axis=0))

    @property
    def total_rms(self) -> float:
        """Root mean square error over all joints [rad, m]."""
        return self.rms_between(-np.inf, np.inf)

    def rms_between(self, begin: float, end: float) -> float:
        """
        Return the root mean square error over all joints in a span of time [rad, m].

        :param begin: first time of the span [s].
        :param end: time before which the span ends [s].
        """
        during = (self.times >= begin) & (self.times < end)
        return float(np.sqrt(np.mean(self.errors[during]**2)))
