# SPDX-License-Identifier: Apache-2.0
"""Friction laws of a joint (Khalil & Dombre 9.26), elementwise over speeds."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.pose import Array


def sign_of(physics: JointPhysics, speed: Array) -> Array:
    """Return the sign of the speed, smooth within `coulomb_velocity`."""
    if physics.coulomb_velocity == 0.0:
        return np.sign(speed)
    return np.tanh(speed / physics.coulomb_velocity)


def dry_friction(physics: JointPhysics, speed: Array) -> Array:
    """
    Return Coulomb, static and Stribeck friction, without the viscous part [N m, N].

    :param physics: values per joint.
    :param speed: (..., n) [rad/s, m/s].
    """
    level: Array = physics.coulomb
    if physics.static is not None and physics.stribeck_velocity is not None:
        decay = np.exp(-np.square(speed / physics.stribeck_velocity))
        level = level + (physics.static - physics.coulomb) * decay
    return level * sign_of(physics, speed)
