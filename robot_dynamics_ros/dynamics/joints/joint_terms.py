# SPDX-License-Identifier: Apache-2.0
"""
Torque that joints add to the rigid links (Khalil & Dombre 9.3.4, 9.3.5, 9.3.7).

    Ia qdd_motor + Fv qd_motor + Fa |qd_motor| + F(qd_motor, load) + offset

at every motor: rotor inertia, viscous friction, dry friction (Coulomb and static, with the
Stribeck transition, and in proportion to the load of the gear) and offset, carried to the joints
by the transmission ``q = J q_motor``. The load of a motor is the torque of the rigid links and of
the rotors that it transmits: a rotor inertia that is grouped into a minimal parameter cannot be
told apart from a link, and with this load the accelerations follow from a torque in closed form.
Written once over scalars; a scalar is also an array of one term of all joints, since every motor
follows the same law.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.scalars.vector import Function, Functions, Scalar, total

#: Joint terms in the order of the regressor columns: n columns of each.
JOINT_TERMS = ('Ia', 'Fv', 'Fc', 'offset')

#: 1 / coulomb_velocity for the exact sign: any velocity that is not zero saturates tanh.
EXACT_SIGN = 1e300


def smooth_sign(velocity: Scalar, sharpness: Scalar, tanh: Function) -> Scalar:
    """
    Return the sign of a velocity, smooth around standstill.

    :param velocity: [rad/s, m/s].
    :param sharpness: 1 / coulomb_velocity [s/rad, s/m]; EXACT_SIGN = not smooth.
    :param tanh: hyperbolic tangent of such a scalar.
    """
    return tanh(velocity * sharpness)


def dry_friction_level(velocity: Scalar, coulomb: Scalar, static: Scalar,
                       stribeck_velocity: Scalar, exp: Function) -> Scalar:
    """
    Return the size of the dry friction [N m, N], between static at rest and Coulomb.

    :param velocity: [rad/s, m/s].
    :param coulomb: friction in quick motion [N m, N].
    :param static: friction at the limit of standstill [N m, N].
    :param stribeck_velocity: velocity of the transition [rad/s, m/s], not zero.
    :param exp: exponential function of such a scalar.
    """
    ratio = velocity / stribeck_velocity
    return coulomb + (static - coulomb) * exp(-(ratio * ratio))  # (9.26)


def term_factors(velocity: Scalar, acceleration: Scalar, sharpness: Scalar,
                 tanh: Function) -> tuple[Scalar, ...]:
    """
    Return what the JOINT_TERMS of a motor are multiplied with.

    :param velocity: motor velocity [rad/s, m/s].
    :param acceleration: motor acceleration [rad/s^2, m/s^2].
    :param sharpness: see `smooth_sign`.
    :param tanh: hyperbolic tangent of such a scalar.
    """
    return acceleration, velocity, smooth_sign(velocity, sharpness, tanh), 1.0


@dataclass(frozen=True)
class JointForm:
    """
    What joints are modelled with; other values of the same form need no other program.

    :param coupled: the transmission has a coupling matrix.
    :param stribeck: dry friction has a static part.
    :param loaded: dry friction grows with the load.
    :param asymmetric: viscous friction depends on the direction.
    """

    coupled: bool = False
    stribeck: bool = False
    loaded: bool = False
    asymmetric: bool = False

    @classmethod
    def of(cls, physics: JointPhysics) -> JointForm:
        """Return the form of joint physics."""
        return cls(physics.coupling is not None, physics.static is not None,
                   physics.load_friction is not None, physics.viscous_asymmetry is not None)


def sharpness_of(physics: JointPhysics) -> float:
    """Return 1 / coulomb_velocity [s/rad, s/m]."""
    return 1.0 / physics.coulomb_velocity if physics.coulomb_velocity else EXACT_SIGN


def joint_parameters(physics: JointPhysics) -> dict[str, list[float]]:
    """
    Return the parameters of `JointTerms` by name.

    n of each, but one ``sharpness`` (see `smooth_sign`), and the n x n entries of ``motors``, the
    matrix J^-1 from joint to motor velocities, and of ``transmission``, the matrix J, row by row.
    A rotor inertia of NaN is inside a minimal parameter already: it adds nothing here.
    """
    values = {'rotor': np.nan_to_num(physics.rotor_inertia, nan=0.0), 'viscous': physics.viscous,
              'coulomb': physics.coulomb, 'offset': physics.offset,
              'sharpness': np.array([sharpness_of(physics)])}
    if physics.coupling is not None:
        values['motors'] = Transmission.of(physics).inverse
        values['transmission'] = physics.coupling
    if physics.load_friction is not None:
        values['load_friction'] = physics.load_friction
    if physics.viscous_asymmetry is not None:
        values['asymmetry'] = physics.viscous_asymmetry
    if physics.static is not None and physics.stribeck_velocity is not None:
        values |= {'static_friction': physics.static, 'stribeck': physics.stribeck_velocity}
    return {name: array.ravel().tolist() for name, array in values.items()}


@dataclass(frozen=True)
class JointTerms:
    """
    The joint terms of n joints over scalars.

    :param n: number of joints.
    :param form: what the joints are modelled with.
    :param parameter: function from a name of `joint_parameters` and the number of its entries
        to these entries.
    :param functions: tanh and exp of such scalars.
    """

    n: int
    form: JointForm
    parameter: Callable[[str, int], Sequence[Scalar]]
    functions: Functions

    @classmethod
    def of(cls, physics: JointPhysics, functions: Functions) -> JointTerms:
        """Return the joint terms with the values of `physics` as floats."""
        values = joint_parameters(physics)
        return cls(len(physics), JointForm.of(physics), lambda name, _: values[name], functions)

    @property
    def _motors(self) -> list[Sequence[Scalar]]:
        """Rows of J^-1."""
        values = self.parameter('motors', self.n * self.n)
        return [values[i * self.n:(i + 1) * self.n] for i in range(self.n)]

    @property
    def _sharpness(self) -> Scalar:
        return self.parameter('sharpness', 1)[0]

    def motor_motion(self, values: Sequence[Scalar]) -> list[Scalar]:
        """Return the velocities or accelerations of the motors for those of the joints."""
        if not self.form.coupled:
            return list(values)
        return [_dot(row, values) for row in self._motors]

    def rotor_matrix(self) -> list[list[Scalar]]:
        """Return the inertia of the rotors, seen from the joints [kg m^2, kg], as n rows."""
        rotor = self.parameter('rotor', self.n)
        A: list[list[Scalar]] = [[0.0] * self.n for _ in range(self.n)]
        if not self.form.coupled:
            for i in range(self.n):
                A[i][i] = rotor[i]
            return A
        columns = list(zip(*self._motors))
        for i in range(self.n):
            felt = [a * inertia for a, inertia in zip(columns[i], rotor)]
            for j in range(i + 1):
                A[i][j] = A[j][i] = _dot(felt, columns[j])
        return A

    def with_rotors(self, A: list[list[Scalar]]) -> list[list[Scalar]]:
        """Return a mass matrix of links, with that of the rotors added."""
        if self.form.coupled:
            return [[a + r for a, r in zip(*rows)] for rows in zip(A, self.rotor_matrix())]
        rotor = self.parameter('rotor', self.n)
        return [[*row[:i], row[i] + rotor[i], *row[i + 1:]] for i, row in enumerate(A)]

    def rotor_torque(self, qdd: Sequence[Scalar]) -> list[Scalar]:
        """
        Return the torque that accelerates the rotors, on the joint side [N m, N].

        :param qdd: n joint accelerations [rad/s^2, m/s^2].
        """
        if not self.form.coupled:
            return [inertia * x for inertia, x in zip(self.parameter('rotor', self.n), qdd)]
        return [_dot(row, qdd) for row in self.rotor_matrix()]

    def motor_load(self, torque: Sequence[Scalar]) -> list[Scalar]:
        """Return the torques of the motors for those of the joints [N m, N]."""
        if not self.form.coupled:
            return list(torque)
        J = self.parameter('transmission', self.n * self.n)
        return [_dot(J[j::self.n], torque) for j in range(self.n)]

    def _joint_torque(self, motors: list[Scalar]) -> list[Scalar]:
        """Return the torques of the joints for those of the motors."""
        if not self.form.coupled:
            return motors
        return [_dot(column, motors) for column in zip(*self._motors)]

    def friction_torque(self, qd: Sequence[Scalar], load: Sequence[Scalar] | None = None,
                        direction: Sequence[Scalar] | None = None) -> list[Scalar]:
        """
        Return friction and offset on the joint side [N m, N].

        :param qd: n joint velocities [rad/s, m/s].
        :param load: n torques of links and rotors [N m, N]; None = no load.
        :param direction: n directions of the motors between -1 and 1, see `direction_along`;
            None = the smooth sign of their velocities.
        """
        tau, signs = self._unloaded(self.motor_motion(qd), direction)
        if self.form.loaded and load is not None:
            tau = [each + share * sign * self.functions.fabs(carried)
                   for each, share, sign, carried in zip(
                       tau, self.parameter('load_friction', self.n), signs,
                       self.motor_load(load))]
        return self._joint_torque(tau)

    def carried_load(self, tau: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """
        Return the load that a torque leaves after friction and offset [N m, N].

        ``load + friction_torque(qd, load) = tau``, solved in closed form: a motor with
        ``x + k |x| = y`` and |k| < 1 has ``x = (y - k |y|) / (1 - k^2)``.

        :param tau: n joint torques [N m, N].
        :param qd: n joint velocities [rad/s, m/s].
        """
        if not self.form.loaded:
            return [t - friction for t, friction in zip(tau, self.friction_torque(qd))]
        unloaded, signs = self._unloaded(self.motor_motion(qd))
        loads = []
        for torque, friction, share, sign in zip(
                self.motor_load(tau), unloaded, self.parameter('load_friction', self.n), signs):
            y, k = torque - friction, share * sign
            loads.append((y - k * self.functions.fabs(y)) / (1.0 - k * k))
        return self._joint_torque(loads)

    def _unloaded(self, velocities: Sequence[Scalar], direction: Sequence[Scalar] | None = None
                  ) -> tuple[list[Scalar], Sequence[Scalar]]:
        """Return friction without load, and offset, of every motor, and the directions."""
        level = self.parameter('coulomb', self.n)
        if self.form.stribeck:
            level = [dry_friction_level(*values, self.functions.exp) for values in zip(
                velocities, level, self.parameter('static_friction', self.n),
                self.parameter('stribeck', self.n))]
        viscous, offset = self.parameter('viscous', self.n), self.parameter('offset', self.n)
        if direction is None:
            sharpness, tanh = self._sharpness, self.functions.tanh
            direction = [smooth_sign(velocity, sharpness, tanh) for velocity in velocities]
        tau = [size * sign + factor * velocity + constant
               for size, sign, factor, velocity, constant in zip(
                   level, direction, viscous, velocities, offset)]
        if self.form.asymmetric:
            tau = [each + asymmetry * self.functions.fabs(velocity)
                   for each, asymmetry, velocity in zip(
                       tau, self.parameter('asymmetry', self.n), velocities)]
        return tau, direction

    def regressor(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[list[Scalar]]:
        """
        Return the columns of JOINT_TERMS, n rows of 4 n: torque per unit of each.

        :param qd: n joint velocities [rad/s, m/s].
        :param qdd: n joint accelerations [rad/s^2, m/s^2].
        """
        velocities, rates = self.motor_motion(qd), self.motor_motion(qdd)
        sharpness = self._sharpness
        factors = [term_factors(velocity, rate, sharpness, self.functions.tanh)
                   for velocity, rate in zip(velocities, rates)]
        places = [(term, j) for term in range(len(JOINT_TERMS)) for j in range(self.n)]
        if not self.form.coupled:
            return [[factors[j][term] if i == j else 0.0 for term, j in places]
                    for i in range(self.n)]
        motors = self._motors
        return [[motors[j][i] * factors[j][term] for term, j in places] for i in range(self.n)]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return total([x * y for x, y in zip(a, b)])


def dry_friction(physics: JointPhysics, velocity: Array) -> Array:
    """
    Return Coulomb, static and Stribeck friction, without the viscous part [N m, N].

    :param physics: values per joint.
    :param velocity: (..., n) [rad/s, m/s].
    """
    level: Array = physics.coulomb
    if physics.static is not None:
        level = dry_friction_level(velocity, physics.coulomb, physics.static,
                                   physics.stribeck_velocity, np.exp)
    with np.errstate(over='ignore'):  # of a sign that is exact
        return np.asarray(level * smooth_sign(velocity, sharpness_of(physics), np.tanh))


def rotor_torque(physics: JointPhysics, qdd: Array) -> Array:
    """
    Return the torque (..., n) that accelerates the rotors, on the joint side [N m, N].

    :param physics: joint terms; a rotor of NaN is inside a minimal parameter and adds nothing.
    :param qdd: (..., n) joint accelerations [rad/s^2, m/s^2].
    """
    return np.stack(JointTerms.of(physics, np).rotor_torque(list(np.moveaxis(qdd, -1, 0))), -1)


@dataclass(frozen=True, eq=False)
class Transmission:
    """
    The transmission ``q = J q_motor`` (9.31) on arrays.

    :param inverse: J^-1 (n, n).
    """

    inverse: Array

    @classmethod
    def of(cls, physics: JointPhysics) -> Transmission:
        """Return the transmission of joints; the identity where nothing is coupled."""
        if physics.coupling is None:
            return cls(np.eye(len(physics)))
        return cls(np.asarray(np.linalg.inv(physics.coupling), np.float64))

    def motor_motion(self, joint_motion: Array) -> Array:
        """Return velocities or accelerations (..., n) of the motors for those of the joints."""
        return np.asarray(joint_motion @ self.inverse.T)
