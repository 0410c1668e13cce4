# SPDX-License-Identifier: Apache-2.0
"""The shortest brake along a trajectory that the motors can make."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.motion.braking import brake_along
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
    for duration in DURATIONS:
        brake = brake_along(trajectory, elapsed, duration)
        torque = model.torque(brake.positions, brake.velocities, brake.accelerations)
        if np.all(np.abs(torque) <= limits.values):
            break
    return brake
