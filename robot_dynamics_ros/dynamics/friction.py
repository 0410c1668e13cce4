# SPDX-License-Identifier: Apache-2.0
"""
Friction of a joint: Coulomb, static and viscous, with the Stribeck transition.

``F_c sign(qd) + F_v qd + (F_st - F_c) sign(qd) exp(-(qd / v_s)^2)`` (Khalil & Dombre 9.26 with
B = 2 and k = 1 / v_s^2). The law is written once over scalars; a scalar may also be an array of
joints, as in `dry_friction`.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.frames import Function
from robot_dynamics_ros.dynamics.vector import Scalar


def smooth_sign(speed: Scalar, coulomb_velocity: float, sign: Function,
                tanh: Function) -> Scalar:
    """
    Return the sign of a speed, smooth around standstill.

    :param speed: [rad/s, m/s].
    :param coulomb_velocity: speed at which it reaches tanh(1) [rad/s, m/s]; 0 = the exact sign.
    :param sign: exact sign of such a scalar.
    :param tanh: hyperbolic tangent of such a scalar.
    """
    return tanh(speed / coulomb_velocity) if coulomb_velocity > 0.0 else sign(speed)


def dry_friction_level(speed: Scalar, coulomb: Scalar, static: Scalar, stribeck_velocity: Scalar,
                       exp: Function) -> Scalar:
    """
    Return the size of the dry friction [N m, N], between static at rest and Coulomb.

    :param speed: [rad/s, m/s].
    :param coulomb: friction in quick motion [N m, N].
    :param static: friction at the limit of standstill [N m, N].
    :param stribeck_velocity: speed of the transition [rad/s, m/s], not zero.
    :param exp: exponential function of such a scalar.
    """
    ratio = speed / stribeck_velocity
    return coulomb + (static - coulomb) * exp(-(ratio * ratio))  # (9.26)


def sign_of(physics: JointPhysics, speed: Array) -> Array:
    """Return the sign of the speeds (..., n), smooth within `coulomb_velocity`."""
    return np.asarray(smooth_sign(speed, physics.coulomb_velocity, np.sign, np.tanh))


def dry_friction(physics: JointPhysics, speed: Array) -> Array:
    """
    Return Coulomb, static and Stribeck friction, without the viscous part [N m, N].

    :param physics: values per joint.
    :param speed: (..., n) [rad/s, m/s].
    """
    level: Array = physics.coulomb
    if physics.static is not None:
        level = dry_friction_level(speed, physics.coulomb, physics.static,
                                   physics.stribeck_velocity, np.exp)
    return level * sign_of(physics, speed)
