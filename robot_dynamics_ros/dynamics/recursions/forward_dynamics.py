# SPDX-License-Identifier: Apache-2.0
"""
Forward dynamics: joint accelerations from joint torques, two ways.

With the mass matrix and a straight-line L^T D L solution from the tip, cheapest up to about ten
joints; and by the recursion whose cost is linear in n (Khalil & Dombre 9.100-9.124).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.recursions.mass_matrix import composite_bodies
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame
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
    multiply_matrices,
    negate,
    outer,
    scale,
    scale_matrix,
    skew,
    symmetric,
    total,
    transpose,
)


@dataclass(frozen=True)
class FactoredMatrix:
    """
    A = L^T D L of a symmetric positive definite matrix, from the tip, without a pivot.

    Entries that are 0.0 because joints are on different branches of a tree stay 0.0, since parents
    are numbered before their children; they cost nothing.

    :param L: n rows of the lower triangle; diagonal: D.
    :param inverse: n inverses of the entries of D.
    """

    L: list[list[Scalar]]
    inverse: list[Scalar]

    @classmethod
    def of(cls, A: Sequence[Sequence[Scalar]]) -> FactoredMatrix:
        """Factor n rows of a matrix; only the lower triangle is read."""
        n = len(A)
        L = [list(row[:i + 1]) for i, row in enumerate(A)]
        inverse: list[Scalar] = [0.0] * n
        for k in range(n - 1, -1, -1):
            inverse[k] = 1.0 / L[k][k]
            pivots = L[k][:k]
            felt = [i for i, pivot in enumerate(pivots) if not _is_zero(pivot)]
            for i in felt:
                L[k][i] = pivots[i] * inverse[k]
                for j in felt[:felt.index(i) + 1]:
                    L[i][j] = L[i][j] - L[k][i] * pivots[j]
        return cls(L, inverse)

    def solved(self, b: Sequence[Scalar], *, one: bool = False) -> list[Scalar]:
        """
        Return x with A x = b.

        :param b: n scalars.
        :param one: nothing else is solved: dividing by D_1 is one operation less than its inverse.
        """
        L, x = self.L, list(b)
        for k in range(len(x) - 1, 0, -1):
            for i in range(k):
                if not _is_zero(L[k][i]):
                    x[i] = x[i] - L[k][i] * x[k]
        x[0] = x[0] / L[0][0] if one else x[0] * self.inverse[0]
        for k in range(1, len(x)):
            x[k] = x[k] * self.inverse[k]
            for i in range(k):
                if not _is_zero(L[k][i]):
                    x[k] = x[k] - L[k][i] * x[i]
        return x

    def inverted(self) -> list[list[Scalar]]:
        """Return the rows of A^-1; what is known by its symmetry is not calculated again."""
        n = len(self.inverse)
        X: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        for k in range(n):
            for j in range(k, n):
                entry = total([self.L[j][i] * X[i][k] for i in range(j)])
                X[j][k] = X[k][j] = self.inverse[k] - entry if j == k else -entry
        return X

    def solved_columns(self, B: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """Return the rows of X with A X = B."""
        columns = [self.solved(column) for column in zip(*B)]
        return [list(row) for row in zip(*columns)]


def _is_zero(value: Scalar) -> bool:
    """Return whether a scalar is the number 0.0, not a row or a node."""
    return isinstance(value, float) and value == 0.0


def solve_from_tip(A: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """
    Return x with A x = b by A = L^T D L, without a comparison or a pivot.

    :param A: n rows of a symmetric positive definite matrix; only the lower triangle is read.
    :param b: n scalars.
    """
    return FactoredMatrix.of(A).solved(b, one=True)


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
        return _Inertia(add_matrices(self.M, other.M), add_matrices(self.H, other.H),
                        add_matrices(self.I, other.I))

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

    def without(self, wrench: Pair, factor: Scalar) -> _Inertia:
        """Return K = J* - factor w w^T (9.117)."""
        f, m = wrench
        return self + _Inertia(scale_matrix(-factor, outer(f, f)),
                               scale_matrix(-factor, outer(m, f)),
                               scale_matrix(-factor, outer(m, m)))

    def to_parent(self, frame: JointFrame) -> _Inertia:
        """Return T^T K T (9.120): the same inertia at O_(j-1) in E_(j-1)."""
        M, H = frame.tensor_to_parent(self.M), frame.matrix_to_parent(self.H)
        S = skew(frame.origin)
        H_shifted = add_matrices(H, multiply_matrices(S, M))
        # I - H S + S H^T - S M S = I + S H^T - (H + S M) S
        carried = add_matrices(multiply_matrices(S, transpose(H)),
                               scale_matrix(-1.0, multiply_matrices(H_shifted, S)))
        return _Inertia(M, H_shifted, add_matrices(frame.tensor_to_parent(self.I), carried))


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
        K = J_star.without(Ja[j], inverse[j])  # (9.117)
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


def _along(frame: JointFrame, wrench: Pair) -> Scalar:
    """Return the component of a wrench that a joint feels."""
    return wrench[1][2] if frame.revolute else wrench[0][2]


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
