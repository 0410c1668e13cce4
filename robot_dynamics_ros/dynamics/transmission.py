# SPDX-License-Identifier: Apache-2.0
"""
Transmission between motors and joints: ``q = J q_motor`` with a constant matrix J.

A wrist whose motors sit in the forearm turns two joints with each of them; J has entries off its
diagonal then (Khalil & Dombre 9.3.7). Gear ratios are not in J: everything is on the joint side
of the gears, so that J is the identity where nothing is coupled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics


@dataclass(frozen=True, eq=False)
class Transmission:
    """
    Positions, speeds, accelerations and torques on both sides of a transmission.

    :param matrix: J (n, n).
    :param inverse: J^-1 (n, n).
    """

    matrix: Array
    inverse: Array

    @classmethod
    def of(cls, physics: JointPhysics) -> Transmission:
        """Return the transmission of joints; the identity where nothing is coupled."""
        if physics.coupling is None:
            identity = np.eye(len(physics))
            return cls(identity, identity)
        return cls(physics.coupling, np.asarray(np.linalg.inv(physics.coupling), np.float64))

    def joint_motion(self, motor_motion: Array) -> Array:
        """Return positions, speeds or accelerations (..., n) of the joints (9.31)."""
        return np.asarray(motor_motion @ self.matrix.T)

    def motor_motion(self, joint_motion: Array) -> Array:
        """Return positions, speeds or accelerations (..., n) of the motors."""
        return np.asarray(joint_motion @ self.inverse.T)

    def motor_torque(self, joint_torque: Array) -> Array:
        """Return the torque (..., n) of the motors that do the same work (9.33)."""
        return np.asarray(joint_torque @ self.matrix)

    def joint_torque(self, motor_torque: Array) -> Array:
        """Return the torque (..., n) of the joints that does the same work."""
        return np.asarray(motor_torque @ self.inverse)
