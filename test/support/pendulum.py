# SPDX-License-Identifier: Apache-2.0
"""A robot on paper: n pendulums that do not feel each other."""

import numpy as np


class Pendulums:
    """tau = inertia qdd + weight cos(q) + viscous qd, for any number of joints and samples."""

    inertia, weight, viscous = 2.0, 10.0, 0.5

    def torque_along(self, q, qd, qdd):
        """Return the torque: its friction has no history."""
        return self.torque(q, qd, qdd)

    def torque(self, q, qd, qdd):
        return self.inertia * qdd + self.gravity_torque(q) + self.friction_torque(qd)

    def gravity_torque(self, q):
        return self.weight * np.cos(q)

    def friction_torque(self, qd):
        return self.viscous * np.asarray(qd)

    def coriolis_torque(self, q, qd):
        return np.zeros_like(qd)

    def mass_matrix(self, q):
        return self.inertia * np.eye(np.shape(q)[-1])
