# SPDX-License-Identifier: Apache-2.0
"""A lively motion inside the limits of any arm, to show and measure tracking."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.motion.motion_limits import FREE_VELOCITY
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Reach of a joint without position limits, to either side [rad, m].
_FREE_REACH = 1.0


def middle_position(chain: Chain) -> Array:
    """Return the middle of the position limits (n,) [rad, m]; 0 where there are none."""
    lower, upper = chain.position_limits
    known = np.isfinite(lower) & np.isfinite(upper)
    return np.where(known, 0.5 * (np.where(known, lower, 0.0) + np.where(known, upper, 0.0)), 0.0)


def lively_motion(chain: Chain, *, duration: float = 6.0, rate: float = 10.0,
                  reach: float = 0.35, speed: float = 0.5) -> Trajectory:
    """
    Return waypoints with velocities and accelerations, at rest at both ends.

    Joint i swings as ``A sin^2(pi t / T) sin(2 pi k_i t / T)`` about the middle of its range, with
    another k for each joint.

    :param chain: the robot.
    :param duration: duration T [s].
    :param rate: number of waypoints per second [1/s].
    :param reach: largest part of the half range of positions to use.
    :param speed: largest part of the velocity limits to use.
    """
    lower, upper = chain.position_limits
    half = np.where(np.isfinite(upper - lower), 0.5 * (upper - lower), _FREE_REACH)
    fastest = np.nan_to_num(chain.velocity_limits, nan=FREE_VELOCITY)
    swings = 2 + np.arange(len(chain)) % 3
    base = 2.0 * np.pi / duration
    # the amplitude that keeps both; A k base bounds the velocity of such a swing
    amplitude = np.minimum(reach * half, speed * fastest / (swings * base))
    t = np.linspace(0.0, duration, round(duration * rate) + 1)[:, None]
    q, qd, qdd = np.zeros((3, t.size, len(chain)))
    # sin^2(b t / 2) sin(a t) = sin(a t) / 2 - (sin((a + b) t) + sin((a - b) t)) / 4
    for share, frequency in ((0.5, swings * base), (-0.25, (swings + 1) * base),
                             (-0.25, (swings - 1) * base)):
        q += share * np.sin(frequency * t)
        qd += share * frequency * np.cos(frequency * t)
        qdd -= share * frequency**2 * np.sin(frequency * t)
    for row in (0, -1):
        q[row], qd[row] = 0.0, 0.0  # at rest to the last digit
    return Trajectory(chain.joint_names, t[:, 0], middle_position(chain) + amplitude * q,
                      amplitude * qd, amplitude * qdd)


def approach(joint_names: tuple[str, ...], positions: ArrayLike, duration: float) -> Trajectory:
    """
    Return a smooth motion (minimum jerk) from one position to the next, at rest at each.

    :param joint_names: n names.
    :param positions: (N, n) [rad, m], the present one first.
    :param duration: duration of each part [s].
    """
    stops = np.asarray(positions, dtype=np.float64)
    rest = np.zeros_like(stops)
    times = duration * np.arange(len(stops), dtype=np.float64)
    return Trajectory(joint_names, times, stops, rest, rest)
