# SPDX-License-Identifier: Apache-2.0
"""Limits of positions and velocities, and trajectories that leave them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Velocity that is taken for joints without velocity limit [rad/s, m/s].
FREE_VELOCITY = 1.0
#: Distance beyond a position limit that is rounding, not intent [rad, m].
POSITION_TOLERANCE = 1e-3
#: Part of a velocity limit by which it may be passed, for the same reason.
VELOCITY_TOLERANCE = 0.01
#: Number of times at which the curve of a trajectory with fewer points is looked at, too.
SAMPLES = 2048


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """
    Where joints may be and how quickly they may move.

    :param joint_names: n names.
    :param positions: (2, n) lower and upper [rad, m]; infinite = none.
    :param velocities: (n,) largest velocity [rad/s, m/s]; NaN = none.
    """

    joint_names: tuple[str, ...]
    positions: Array
    velocities: Array

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        freeze(self, 'positions', 'velocities')

    def check(self, trajectory: Trajectory) -> None:
        """
        Refuse a trajectory that leaves the limits.

        All waypoints are looked at, the mean velocity between two of them, and the curve between
        the points where these are few.

        :param trajectory: joints in the order of the limits.
        :raises TrajectoryError: a joint leaves its limits.
        """
        q = trajectory.positions
        self._check_positions(q)
        if len(trajectory) < SAMPLES:
            self._check_positions(trajectory.sample(_times(trajectory)).q)
        self.check_velocities(trajectory)

    def check_velocities(self, trajectory: Trajectory) -> None:
        """
        Refuse a trajectory that is too quick, as `check` does.

        :param trajectory: joints in the order of the limits.
        :raises TrajectoryError: a joint passes its velocity limit.
        """
        steps = np.diff(trajectory.positions, axis=0) / np.diff(trajectory.times)[:, None]
        curve = [trajectory.sample(_times(trajectory)).qd] if len(trajectory) < SAMPLES else []
        tables = [*curve, trajectory.velocities, steps]
        for table in tables:
            largest = np.max(np.abs(table), axis=0, initial=0.0, where=~np.isnan(table))
            for i in np.flatnonzero(largest > self.velocities * (1.0 + VELOCITY_TOLERANCE)):
                raise TrajectoryError(
                    f'joint {self.joint_names[i]}: velocity {largest[i]:.4g} rad/s or m/s is '
                    f'beyond its limit {self.velocities[i]:g}')

    def _check_positions(self, q: Array) -> None:
        lower, upper = self.positions
        lowest, highest = q.min(axis=0), q.max(axis=0)
        outside = ((lowest < lower - POSITION_TOLERANCE)
                   | (highest > upper + POSITION_TOLERANCE))
        for i in np.flatnonzero(outside):
            value = lowest[i] if lowest[i] < lower[i] - POSITION_TOLERANCE else highest[i]
            raise TrajectoryError(f'joint {self.joint_names[i]}: position {value:.4g} rad or m is '
                                  f'outside its limits {lower[i]:g} to {upper[i]:g}')


def _times(trajectory: Trajectory) -> Array:
    """Return times of the curve, the ends included."""
    return np.linspace(trajectory.times[0], trajectory.duration, SAMPLES)
