# SPDX-License-Identifier: Apache-2.0
"""Motions that come to rest: along a trajectory that is running, or on the spot."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Pieces of a brake along a trajectory.
PIECES = 10


def brake_along(trajectory: Trajectory, elapsed: float, duration: float) -> Trajectory:
    """
    Return a trajectory with its time slowing down smoothly to a halt.

    :param trajectory: trajectory that is running.
    :param elapsed: time on it now [s].
    :param duration: time to come to rest [s], positive.
    """
    u = np.arange(PIECES + 1) / PIECES  # parts of the brake that are over
    # rate of the motion's time: 1 - 3 u^2 + 2 u^3, from 1 to 0 without a jerk at either end
    along = elapsed + duration * (u - u**3 + 0.5 * u**4)
    rate, rate_change = 1.0 - 3.0 * u**2 + 2.0 * u**3, 6.0 * (u**2 - u) / duration
    q, qd, qdd, _ = trajectory.sample(np.maximum(along, 0.0))
    over = along > trajectory.duration  # held, whatever the last point fills
    qd[over], qdd[over] = 0.0, 0.0
    return Trajectory(trajectory.joint_names, duration * u, q, rate[:, None] * qd,
                      rate[:, None]**2 * qdd + rate_change[:, None] * qd)


def brake_on_the_spot(joint_names: tuple[str, ...], q: Array, qd: Array, duration: float,
                      position_limits: Array) -> Trajectory:
    """
    Return a motion from a state to rest, for a controller that blends from its present state.

    :param joint_names: n names.
    :param q: (n,) present positions [rad, m].
    :param qd: (n,) present velocities [rad/s, m/s].
    :param duration: time to come to rest [s], positive.
    :param position_limits: (2, n) lower and upper [rad, m].
    """
    goal = np.clip(q + 0.5 * duration * qd, *position_limits)
    rest = np.zeros((1, q.size))
    return Trajectory(joint_names, np.array([duration]), goal[None], rest, rest)
