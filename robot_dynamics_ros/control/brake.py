# SPDX-License-Identifier: Apache-2.0
"""The shortest brake that the motors can make: along a trajectory, or on the spot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.motion.braking import PIECES, brake_along, brake_on_the_spot
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Times to come to rest that are tried, shortest first [s].
DURATIONS = (0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.2, 3.3)


def shortest_brake(model: TorqueModel, trajectory: Trajectory, elapsed: float,
                   limits: EffortLimits) -> Trajectory:
    """
    Return a trajectory that slows down to a halt as quickly as the effort limits allow.

    :param model: the robot.
    :param trajectory: trajectory that is running, joints in the order of the limits.
    :param elapsed: time on it now [s].
    :param limits: effort limits; they bound the deceleration.
    """
    return _shortest(model, lambda duration: brake_along(trajectory, elapsed, duration), limits)


def shortest_brake_on_the_spot(model: TorqueModel, q: Array, qd: Array, limits: EffortLimits,
                               position_limits: Array) -> Trajectory:
    """
    Return a motion from a state to rest, as short as the effort limits allow.

    :param model: the robot.
    :param q: (n,) present positions [rad, m].
    :param qd: (n,) present velocities [rad/s, m/s].
    :param limits: effort limits; they bound the deceleration.
    :param position_limits: (2, n) lower and upper [rad, m].
    """
    return _shortest(model, lambda duration: brake_on_the_spot(
        limits.joint_names, q, qd, duration, position_limits).with_start(0.0, q, qd), limits)


def _shortest(model: TorqueModel, brake: Callable[[float], Trajectory],
              limits: EffortLimits) -> Trajectory:
    """Return the shortest brake inside the limits, or the one that exceeds them least."""
    best, least = None, np.inf
    for duration in DURATIONS:
        tried = brake(duration)
        at = tried.sample(np.linspace(tried.times[0], tried.duration, 2 * PIECES + 1))
        load = np.max(np.abs(model.torque(at.q, at.qd, at.qdd)) / limits.values)
        if best is None or load < least:
            best, least = tried, load
        if load <= 1.0:
            break
    assert best is not None
    return best
