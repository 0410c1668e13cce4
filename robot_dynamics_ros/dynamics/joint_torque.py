# SPDX-License-Identifier: Apache-2.0
"""
Torque that joints add to the rigid links: rotors, friction, offset (Khalil & Dombre 9.3.4-9.3.7).

With a coupled transmission rotor inertia, friction and offset belong to the axes of the motors;
their torque is carried over to the joints.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.friction import dry_friction, sign_of
from robot_dynamics_ros.dynamics.transmission import Transmission

#: Joint terms in the order of the regressor columns: n columns of each.
JOINT_TERMS = ('Ia', 'Fv', 'Fc', 'offset')


def rotor_inertia_matrix(physics: JointPhysics) -> Array:
    """
    Return the inertia (n, n) of the rotors, seen from the joints [kg m^2, kg].

    A rotor inertia of NaN is inside a minimal parameter already: it adds nothing here.
    """
    to_motors = Transmission.of(physics).inverse
    return np.asarray((to_motors.T * np.nan_to_num(physics.rotor_inertia, nan=0.0)) @ to_motors)


def friction_torque(physics: JointPhysics, qd: Array) -> Array:
    """
    Return friction and offset on the joint side [N m, N]; all NaN for a non-finite speed.

    :param physics: values per joint (motor axis, where coupled).
    :param qd: (n,) or (N, n) joint speeds [rad/s, m/s].
    """
    transmission = Transmission.of(physics)
    speed = transmission.motor_motion(_finite_states(qd))
    return transmission.joint_torque(
        dry_friction(physics, speed) + physics.viscous * speed + physics.offset)


def joint_regressor(physics: JointPhysics, qd: Array, qdd: Array) -> Array:
    """
    Return the columns (n, 4 n) or (N, n, 4 n) of JOINT_TERMS: torque per unit of each.

    :param physics: gives `coulomb_velocity` and `coupling`; its other values are not used.
    :param qd: joint speeds [rad/s, m/s].
    :param qdd: joint accelerations [rad/s^2, m/s^2].
    """
    transmission = Transmission.of(physics)
    motion = _finite_states(np.stack([qd, qdd], axis=-2), axis=(-2, -1))
    speed, rate = np.moveaxis(transmission.motor_motion(motion), -2, 0)
    parts = [rate, speed, sign_of(physics, speed), np.ones_like(speed)]
    Y = np.concatenate([transmission.inverse.T * part[..., None, :] for part in parts], axis=-1)
    return np.where(np.isnan(rate).any(axis=-1)[..., None, None], np.nan, Y)


def _finite_states(values: Array, axis: int | tuple[int, int] = -1) -> Array:
    """Return the values, all NaN in states with an entry that is not finite."""
    return np.where(np.all(np.isfinite(values), axis=axis, keepdims=True), values, np.nan)
