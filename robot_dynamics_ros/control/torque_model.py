# SPDX-License-Identifier: Apache-2.0
"""What control needs of a compiled model."""

from __future__ import annotations

from typing import Protocol

from robot_dynamics_ros.arrays import Array


class TorqueModel(Protocol):
    """
    The part of a compiled Model that turns motion into torque.

    q, qd, qdd are (n,) or (N, n) [rad, m and their time derivatives]; torques have the same shape
    [N m, N].
    """

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque of the whole model: rigid bodies, rotors, friction, offset."""

    def torque_along(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque along a motion from rest, (N, n), with the history of friction."""

    def gravity_torque(self, q: Array) -> Array:
        """Return the torque that carries the weight."""

    def friction_torque(self, qd: Array) -> Array:
        """Return the torque of friction and offset."""
