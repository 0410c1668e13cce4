# SPDX-License-Identifier: Apache-2.0
"""
Torque that the joints add to the rigid links: rotors, friction, offset.

Khalil & Dombre 9.3.4-9.3.8. With a coupled transmission ``q = J q_motor`` rotor inertia, friction
and offset belong to the motor axes; their torque is carried to the joints by
``tau = J^-T tau_motor``.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.pose import Array
from robot_dynamics_ros.dynamics.friction import dry_friction, sign_of

#: Joint terms in the order of the regressor columns: n columns of each.
JOINT_TERMS = ('Ia', 'Fv', 'Fc', 'offset')


def to_motors(physics: JointPhysics) -> Array | None:
    """Return J^-1 with ``qd_motor = J^-1 qd`` and ``tau = J^-T tau_motor``; None = no coupling."""
    return None if physics.coupling is None else np.asarray(np.linalg.inv(physics.coupling),
                                                             dtype=np.float64)


def rotor_inertia_matrix(physics: JointPhysics) -> Array:
    """
    Return the inertia (n, n) of the rotors, seen from the joints [kg m^2, kg].

    A rotor inertia of NaN is inside a minimal parameter already: it adds nothing here.
    """
    rotor = np.diag(np.nan_to_num(physics.rotor_inertia, nan=0.0))
    to_motor = to_motors(physics)
    return rotor if to_motor is None else np.asarray(to_motor.T @ rotor @ to_motor)


def friction_torque(physics: JointPhysics, qd: Array) -> Array:
    """
    Return friction and offset on the joint side [N m, N]; all NaN for a non-finite speed.

    :param physics: values per joint (motor axis, where coupled).
    :param qd: (n,) or (N, n) joint speeds [rad/s, m/s].
    """
    to_motor = to_motors(physics)
    speed = qd if to_motor is None else qd @ to_motor.T
    tau = dry_friction(physics, speed) + physics.viscous * speed + physics.offset
    tau = tau if to_motor is None else tau @ to_motor
    finite = np.all(np.isfinite(qd), axis=-1, keepdims=True)
    return np.where(finite, tau, np.nan)


def joint_regressor(physics: JointPhysics, qd: Array, qdd: Array) -> Array:
    """
    Return the columns (n, 4 n) or (N, n, 4 n) of JOINT_TERMS: torque per unit of each.

    :param physics: gives `coulomb_velocity` and `coupling`; its other values are not used.
    :param qd: joint speeds [rad/s, m/s].
    :param qdd: joint accelerations [rad/s^2, m/s^2].
    """
    to_motor = to_motors(physics)
    back = np.eye(len(physics)) if to_motor is None else to_motor
    speed, rate = qd @ back.T, qdd @ back.T
    parts = [rate, speed, sign_of(physics, speed), np.ones_like(speed)]
    Y = np.concatenate([back.T * part[..., None, :] for part in parts], axis=-1)
    finite = np.all(np.isfinite(qd) & np.isfinite(qdd), axis=-1)
    Y[~finite] = np.nan
    return Y
