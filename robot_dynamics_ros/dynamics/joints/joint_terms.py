# SPDX-License-Identifier: Apache-2.0
"""
Torque that joints add to the rigid links (Khalil & Dombre 9.3.4-9.3.7).

Friction (Coulomb, static and viscous, with the Stribeck transition), rotors, offset, and the
transmission ``q = J q_motor`` between motors and joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.scalars.frames import Function
from robot_dynamics_ros.dynamics.scalars.vector import Scalar


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
