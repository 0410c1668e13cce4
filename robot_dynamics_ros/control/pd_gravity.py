# SPDX-License-Identifier: Apache-2.0
"""PD with the weight of the arm compensated: the simplest law that comes to rest at the goal."""

from __future__ import annotations

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.pid import PidGains
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.control.trajectory import TrajectorySample


def pd_gravity(model: TorqueModel, gains: PidGains, desired: TrajectorySample, q: Array,
               qd: Array) -> Array:
    """
    Return the torque (n,) [N m, N]: weight plus P and D of the error.

    :param model: the robot.
    :param gains: `p` and `d` are used.
    :param desired: the trajectory now, (n,) each.
    :param q: (n,) measured positions [rad, m].
    :param qd: (n,) measured velocities [rad/s, m/s].
    """
    return (model.gravity_torque(q) + gains.p * (desired.q - q)
            + gains.d * (desired.qd - qd))
