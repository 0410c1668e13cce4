# SPDX-License-Identifier: Apache-2.0
"""
Forward dynamics: joint accelerations from joint torques, two ways.

With the mass matrix and a straight-line L^T D L solution from the tip, cheapest up to about ten
joints; and by the recursion whose cost is linear in n (Khalil & Dombre 9.100-9.124).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.recursions.customized import (
    customized_wrenches,
    wrench_at_parent,
)
from robot_dynamics_ros.dynamics.recursions.mass_matrix import composite_bodies
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.scalars.factored_matrix import solve_from_tip
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame, TurnedFrame
from robot_dynamics_ros.dynamics.scalars.pair import (
    ZERO_PAIR,
    LinkWrenches,
    Pair,
    difference,
    moved_twist,
    moved_wrench,
    negated,
    power,
    scaled,
    summed,
    wrenches_on_environment,
)
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    add_matrices,
    cross,
    multiply,
    negate,
    outer,
    scale,
    skew,
    symmetric,
    transpose,
    vector,
)


def by_mass_matrix(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
                   qd: Sequence[Scalar], tau: Sequence[Scalar], gravity: Vector,
                   wrench: Pair | LinkWrenches | None = None,
                   rotor_inertia: Sequence[Scalar] | None = None) -> list[Scalar]:
    """
    Return the n joint accelerations [rad/s^2, m/s^2] from A qdd = tau - bias (9.95).

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first, standard or grouped.
    :param qd: n joint velocities [rad/s, m/s].
    :param tau: n torques on the rigid links and rotors [N m, N]: friction is already taken off.
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    :param wrench: force and moment exerted by the environment, at O_n in E_n or by link; None =
        nothing.
    :param rotor_inertia: n rotor inertias on the joint side [kg m^2, kg]; None = none.
    """
    n = len(tau)
    A = composite_bodies(frames, parameters)
    if rotor_inertia is not None:
        for i in range(n):
            A[i][i] = A[i][i] + rotor_inertia[i]
    bias = newton_euler(frames, parameters, qd, [0.0] * n, gravity, wrench)
    return solve_from_tip(A, [t - b for t, b in zip(tau, bias)])


@dataclass(frozen=True)
class _Inertia:
    """
    A 6x6 inertia [[M, H^T], [H, I]] from twist rates to wrenches.

    :param M: force from linear acceleration, symmetric.
    :param H: moment from linear acceleration.
    :param I: moment from angular acceleration, symmetric.
    """

    M: Matrix
    H: Matrix
    I: Matrix  # noqa: E741 (the name of an inertia tensor)

    @classmethod
    def of_link(cls, parameters: Sequence[Scalar]) -> _Inertia:
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = parameters
        return cls(symmetric(M, 0.0, 0.0, M, 0.0, M), skew((MX, MY, MZ)),
                   symmetric(XX, XY, XZ, YY, YZ, ZZ))

    def __add__(self, other: _Inertia) -> _Inertia:
        return _Inertia(_symmetric_sum(self.M, other.M), add_matrices(self.H, other.H),
                        _symmetric_sum(self.I, other.I))

    def times(self, twist_rate: Pair) -> Pair:
        """Return the wrench for a linear and an angular acceleration."""
        v, w = twist_rate
        return (add(multiply(self.M, v), multiply(transpose(self.H), w)),
                add(multiply(self.H, v), multiply(self.I, w)))

    def along_joint(self, frame: JointFrame) -> Pair:
        """Return the wrench for a unit acceleration of the joint: J* a_j."""
        if frame.revolute:
            return self.H[2], self.I[2]
        return self.M[2], transpose(self.H)[2]

    def without(self, frame: JointFrame, wrench: Pair, part: Pair, share: Scalar) -> _Inertia:
        """
        Return K (9.117): what is felt of J* if the joint accelerates freely.

        :param frame: frame of the joint.
        :param wrench: J* a_j.
        :param part: J* a_j / (a_j . J* a_j + rotor inertia).
        :param share: of the rotor in this sum: K a_j is this times J* a_j; 0.0 without a rotor.
        """
        (f, m), (minus_f, minus_m) = wrench, negated(part)
        M = _symmetric_sum(self.M, outer(minus_f, f))
        H = add_matrices(self.H, outer(minus_m, f))
        I = _symmetric_sum(self.I, outer(minus_m, m))  # noqa: E741 (as above)
        f, m = scaled(share, wrench)
        if frame.revolute:
            return _Inertia(M, (H[0], H[1], f), _with_last(I, m))
        return _Inertia(_with_last(M, f), transpose((*transpose(H)[:2], m)), I)

    def to_parent(self, frame: JointFrame) -> _Inertia:
        """Return T^T K T (9.120): the same inertia at O_(j-1) in E_(j-1)."""
        inner = frame.inner
        result = self._shifted(2, inner.d)._turned(inner)._shifted(0, inner.b)
        if frame.branch is None:
            return result
        return result._shifted(2, frame.branch.epsilon)._turned(frame.branch)

    def _turned(self, frame: JointFrame | TurnedFrame) -> _Inertia:
        return _Inertia(frame.tensor_to_parent(self.M), frame.matrix_to_parent(self.H),
                        frame.tensor_to_parent(self.I))

    def _shifted(self, k: int, length: Scalar) -> _Inertia:
        """Return the same inertia at the point that the origin is `length` ahead of on axis k."""
        i, j = (k + 1) % 3, (k + 2) % 3
        M, H = self.M, [list(row) for row in self.H]
        I = [list(row) for row in self.I]  # noqa: E741 (as above)
        for column in range(3):  # H + S M, where S is the skew matrix of the shift
            H[i][column] = self.H[i][column] - length * M[j][column]
            H[j][column] = self.H[j][column] + length * M[i][column]
        # I - H S + S H^T - S M S
        I[i][i] = I[i][i] - length * (self.H[i][j] + H[i][j])
        I[j][j] = I[j][j] + length * (self.H[j][i] + H[j][i])
        I[i][j] = I[j][i] = I[i][j] + length * (H[i][i] - self.H[j][j])
        I[i][k] = I[k][i] = I[i][k] - length * self.H[k][j]
        I[j][k] = I[k][j] = I[j][k] + length * self.H[k][i]
        return _Inertia(M, _matrix(H), _matrix(I))


def _matrix(rows: Sequence[Sequence[Scalar]]) -> Matrix:
    a, b, c = (vector(row) for row in rows)
    return a, b, c


def _symmetric_sum(A: Matrix, B: Matrix) -> Matrix:
    """Return A + B, both symmetric: of B only the upper triangle is read."""
    return symmetric(*(A[i][j] + B[i][j] for i in range(3) for j in range(i, 3)))


def _with_last(A: Matrix, row: Vector) -> Matrix:
    """Return a symmetric matrix with another last row and column."""
    return symmetric(A[0][0], A[0][1], row[0], A[1][1], row[1], row[2])


def linear_recursion(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
                     qd: Sequence[Scalar], tau: Sequence[Scalar], gravity: Vector,
                     wrench: Pair | LinkWrenches | None = None,
                     rotor_inertia: Sequence[Scalar] | None = None, *,
                     link_wrenches: Sequence[Pair] | None = None,
                     reactions: list[Pair] | None = None) -> list[Scalar]:
    """
    Return the n joint accelerations by three recursions of a cost linear in n (9.100)-(9.124).

    The parameters are those of `by_mass_matrix`; grouped (base) parameters will do as well.

    :param link_wrenches: force and moment of the environment on links 0..n, at O_i in E_i.
    :param reactions: takes what the parent exerts on link j, at O_j in E_j, joint 1 first.
    """
    n = len(tau)
    gamma, beta = _velocity_terms(frames, parameters, qd)
    if wrench is not None:  # Khalil's f_e is exerted by the robot: the opposite sign
        beta = [difference(own, outer)
                for own, outer in zip(beta, wrenches_on_environment(wrench, n))]
    if link_wrenches is not None:
        beta = [summed(own, outer) for own, outer in zip(beta, link_wrenches)]
    rotor = [0.0] * n if rotor_inertia is None else rotor_inertia
    J = [_Inertia.of_link(own) for own in parameters]
    inverse: list[Scalar] = [0.0] * (n + 1)
    effort: list[Scalar] = [0.0] * (n + 1)
    Ja: list[Pair] = [ZERO_PAIR] * (n + 1)
    for j in range(n, 0, -1):
        frame, parent, J_star = frames[j], frames[j].parent, J[j - 1]
        Ja[j] = J_star.along_joint(frame)
        inverse[j] = 1.0 / (_along(frame, Ja[j]) + rotor[j - 1])  # (9.116)
        effort[j] = tau[j - 1] + _along(frame, beta[j])
        if parent == 0:
            continue
        K = J_star.without(frame, Ja[j], scaled(inverse[j], Ja[j]),
                           inverse[j] * rotor[j - 1])  # (9.117)
        pushed = summed(K.times(gamma[j]), scaled(inverse[j] * effort[j], Ja[j]))
        alpha = difference(pushed, beta[j])  # (9.118)
        beta[parent] = difference(beta[parent], moved_wrench(frame, alpha))  # (9.119)
        J[parent - 1] = J[parent - 1] + K.to_parent(frame)  # (9.120)
    qdd: list[Scalar] = []
    rates: list[Pair] = [(negate(gravity), ZERO)]
    for j in range(1, n + 1):
        frame = frames[j]
        rate = summed(moved_twist(frame, rates[frame.parent]), gamma[j])  # (9.121) and gamma
        # J* is symmetric: a^T J* x = (J* a) . x
        acceleration = inverse[j] * (effort[j] - power(rate, Ja[j]))  # (9.122)
        qdd.append(acceleration)
        along: Vector = (0.0, 0.0, acceleration)
        rate = summed(rate, (ZERO, along) if frame.revolute else (along, ZERO))  # (9.124)
        rates.append(rate)
        if reactions is not None:
            reactions.append(difference(J[j - 1].times(rate), beta[j]))  # (9.113)
    return qdd


def customized_recursion(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
                         qd: Sequence[Scalar], tau: Sequence[Scalar], gravity: Vector,
                         wrench: Pair | LinkWrenches | None = None,
                         rotor_inertia: Sequence[Scalar] | None = None) -> list[Scalar]:
    """
    Return what `linear_recursion` does, with fewer operations: what generated code is made from.

    The wrenches that the links need at qdd = 0 come from `customized_wrenches`. What the
    accelerations add to them is a motion that starts from rest and without gravity, so that
    gamma and beta are zero in (9.118) and (9.121).

    :returns: the n joint accelerations; the parameters are those of `linear_recursion`.
    """
    n = len(tau)
    rotor = [0.0] * n if rotor_inertia is None else rotor_inertia
    unaccelerated = customized_wrenches(frames, parameters, qd, [0.0] * n, gravity)
    carried = wrenches_on_environment(wrench, n)
    J = [_Inertia.of_link(own) for own in parameters]
    free: list[Scalar] = [0.0] * n  # acceleration along the joint while the parent is at rest
    Ja: list[Pair] = [ZERO_PAIR] * n  # over a_j . J* a_j + rotor inertia
    share: list[Scalar] = [0.0] * n  # of the rotor in this sum
    for j in range(n, 0, -1):
        frame, parent = frames[j], frames[j].parent
        own = summed(unaccelerated[j - 1], carried[j])
        whole = J[j - 1].along_joint(frame)
        inverse = 1.0 / (_along(frame, whole) + rotor[j - 1])  # (9.116)
        effort = tau[j - 1] - _along(frame, own)
        free[j - 1] = inverse * effort
        if parent == 0:
            continue
        Ja[j - 1], share[j - 1] = scaled(inverse, whole), inverse * rotor[j - 1]
        # along the joint there is its torque but for what the rotor takes
        pushed = _with_along(frame, summed(own, scaled(effort, Ja[j - 1])),
                             tau[j - 1] - rotor[j - 1] * free[j - 1])
        carried[parent] = summed(wrench_at_parent(frame, pushed), carried[parent])  # (9.119)
        K = J[j - 1].without(frame, whole, Ja[j - 1], share[j - 1])
        J[parent - 1] = J[parent - 1] + K.to_parent(frame)  # (9.120)
    qdd: list[Scalar] = []
    rates: list[Pair] = [ZERO_PAIR]
    for j, frame in enumerate(frames[1:]):
        rate = ZERO_PAIR if frame.parent == 0 else _twist_in_link(frame, rates[frame.parent])
        along = _along(frame, rate)
        total_along = (free[j] - power(_with_along(frame, rate, 0.0), Ja[j])
                       + share[j] * along)
        qdd.append(total_along - along)  # (9.122)
        rates.append(_with_along(frame, rate, total_along))  # (9.124)
    return qdd


def _along(frame: JointFrame, wrench: Pair) -> Scalar:
    """Return the component of a wrench that a joint feels."""
    return wrench[1][2] if frame.revolute else wrench[0][2]


def _with_along(frame: JointFrame, pair: Pair, value: Scalar) -> Pair:
    """Return a wrench or a twist with another component along the joint."""
    linear, angular = pair
    if frame.revolute:
        return linear, (*angular[:2], value)
    return (*linear[:2], value), angular


def _twist_in_link(frame: JointFrame, twist: Pair) -> Pair:
    """Return what `moved_twist` does, the offsets being applied one by one."""
    if frame.branch is not None:
        twist = moved_twist(frame.branch, twist)
    inner, (x, y, z), angular = frame.inner, twist[0], twist[1]
    x, y, z = inner.to_link((x, y + inner.b * angular[2], z - inner.b * angular[1]))
    angular = inner.to_link(angular)
    return (x + inner.d * angular[1], y - inner.d * angular[0], z), angular


def _velocity_terms(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
                    qd: Sequence[Scalar]) -> tuple[list[Pair], list[Pair]]:
    """Return gamma (9.101) and beta (9.103) of joints 0..n; entry 0 is the base."""
    gamma: list[Pair] = [ZERO_PAIR]
    beta: list[Pair] = [ZERO_PAIR]
    velocities = [ZERO]
    for frame, own, speed in zip(frames[1:], parameters, qd):
        w = velocities[frame.parent]
        linear = frame.to_link(cross(w, cross(w, frame.origin)))
        w = frame.to_link(w)
        along = (0.0, 0.0, speed)
        if frame.revolute:
            gamma.append((linear, cross(w, along)))
            w = add(w, along)
        else:
            gamma.append((add(linear, scale(2.0, cross(w, along))), ZERO))
        velocities.append(w)
        first_moment = (own[6], own[7], own[8])
        beta.append(negated((cross(w, cross(w, first_moment)),
                             cross(w, multiply(symmetric(*own[:6]), w)))))
    return gamma, beta
