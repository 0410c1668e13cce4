# SPDX-License-Identifier: Apache-2.0
"""
Lagrange's equations tau = A(q) qdd + C(q, qd) qd + Q(q), and the energies they come from.

Everything is in the axes of E_0 and about O_0. The twist S_j of joint j (velocity of the point of
the moving body at O_0, angular velocity) then needs no transport between links, the kinetic energy
is 1/2 sum V_i . I_i V_i, and moving joint m turns all that lies outside of it as a rigid body:

    dS_j/dq_m = S_m x S_j for m < j, 0 otherwise.

With it the derivatives of A, and so the Christoffel symbols, are closed expressions: nothing is
shared with the Newton-Euler recursions but the frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.recursions.composite import mixed_moments
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame
from robot_dynamics_ros.dynamics.scalars.pair import (
    ZERO_PAIR,
    Pair,
    carried_twist,
    carried_wrench,
    difference,
    power,
    scaled,
    summed,
)
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    add_matrices,
    cross,
    dot,
    multiply,
    multiply_matrices,
    scale,
    symmetric,
    total,
    transpose,
)


@dataclass(frozen=True)
class _LinkInertia:
    """Mass [kg], first moment [kg m] and tensor [kg m^2] about O_0, in E_0."""

    mass: Scalar
    first_moment: Vector
    tensor: Matrix

    def __add__(self, other: _LinkInertia) -> _LinkInertia:
        return _LinkInertia(self.mass + other.mass, add(self.first_moment, other.first_moment),
                            add_matrices(self.tensor, other.tensor))

    def momentum(self, twist: Pair) -> Pair:
        """Return linear and angular momentum of the body moving with a twist."""
        v, w = twist
        return (add(scale(self.mass, v), cross(w, self.first_moment)),
                add(multiply(self.tensor, w), cross(self.first_moment, v)))


class Lagrange:
    """
    Lagrange's equations of a chain at one position (or one batch of positions).

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first, standard or grouped.
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    """

    def __init__(self, frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
                 gravity: Vector) -> None:
        self._gravity = gravity
        self._twists, self._bodies = _in_base(frames, parameters)
        composite = list(self._bodies)
        for i in range(len(composite) - 2, -1, -1):
            composite[i] = composite[i] + composite[i + 1]
        self._composite = composite

    def __len__(self) -> int:
        """Return the number of joints."""
        return len(self._twists)

    def kinetic_energy(self, qd: Sequence[Scalar]) -> Scalar:
        """Return 1/2 sum V_i . I_i V_i [J] for n joint speeds."""
        twist = ZERO_PAIR
        terms = []
        for S, body, speed in zip(self._twists, self._bodies, qd):
            twist = summed(twist, scaled(speed, S))
            terms.append(0.5 * power(twist, body.momentum(twist)))
        return total(terms)

    def potential_energy(self) -> Scalar:
        """Return -sum m g . p of the mass centres [J]; zero where a centre is at O_0."""
        return -dot(self._gravity, self._composite[0].first_moment)

    def gravity_torque(self) -> list[Scalar]:
        """Return Q = dU/dq [N m, N]."""
        torque = []
        for (v, w), body in zip(self._twists, self._composite):
            lift = add(scale(body.mass, v), cross(w, body.first_moment))
            torque.append(-dot(self._gravity, lift))
        return torque

    def mass_matrix(self) -> list[list[Scalar]]:
        """Return A: n rows of the second derivatives of the kinetic energy."""
        n = len(self)
        A: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        for k in range(n):
            momentum = self._composite[k].momentum(self._twists[k])
            for j in range(k + 1):
                A[j][k] = A[k][j] = power(self._twists[j], momentum)
        return A

    def mass_matrix_derivatives(self) -> list[list[list[Scalar]]]:
        """Return dA_jk/dq_m as ``[m][j][k]``."""
        n = len(self)
        dA: list[list[list[Scalar]]] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
        for k in range(n):
            S_k = self._twists[k]
            momentum = self._composite[k].momentum(S_k)
            for m in range(n):
                S_m = self._twists[m]
                if m <= k:
                    # joint m turns S_k and all it moves as one rigid body; A_jk feels it
                    # only where joint j stays behind
                    change, joints = carried_wrench(S_m, momentum), range(m)
                else:
                    # the bodies outside of joint m move against S_j and S_k
                    body, joints = self._composite[m], range(k + 1)
                    change = difference(carried_wrench(S_m, body.momentum(S_k)),
                                         body.momentum(carried_twist(S_m, S_k)))
                for j in joints:
                    dA[m][j][k] = dA[m][k][j] = power(self._twists[j], change)
        return dA

    def coriolis_matrix(self, qd: Sequence[Scalar]) -> list[list[Scalar]]:
        """
        Return C by Christoffel symbols, so that dA/dt - 2 C is skew.

        ``C_jk = sum_m 1/2 (dA_jk/dq_m + dA_jm/dq_k - dA_km/dq_j) qd_m``

        :param qd: n joint speeds [rad/s, m/s].
        """
        n, dA = len(self), self.mass_matrix_derivatives()
        return [[total([0.5 * (dA[m][j][k] + dA[k][j][m] - dA[j][k][m]) * qd[m]
                        for m in range(n)]) for k in range(n)] for j in range(n)]

    def torque(self, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
        """
        Return A qdd + C qd + Q [N m, N].

        :param qd: n joint speeds [rad/s, m/s].
        :param qdd: n joint accelerations [rad/s^2, m/s^2].
        """
        rows = zip(self.mass_matrix(), self.coriolis_matrix(qd), self.gravity_torque())
        return [total([a * x for a, x in zip(A, qdd)]) + total([c * x for c, x in zip(C, qd)]) + Q
                for A, C, Q in rows]


def _in_base(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
             ) -> tuple[list[Pair], list[_LinkInertia]]:
    """Return the joint twists and the links, in E_0 and about O_0."""
    R: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    p = ZERO
    twists: list[Pair] = []
    links: list[_LinkInertia] = []
    for frame, own in zip(frames[1:], parameters):
        p = add(p, multiply(R, frame.origin))
        R = multiply_matrices(R, frame.rotation)
        z = transpose(R)[2]
        twists.append((cross(p, z), z) if frame.revolute else (z, ZERO))
        turned = multiply(R, (own[6], own[7], own[8]))
        tensor = multiply_matrices(multiply_matrices(R, symmetric(*own[:6])), transpose(R))
        arm = add(turned, scale(0.5 * own[9], p))
        links.append(_LinkInertia(own[9], add(turned, scale(own[9], p)),
                                  add_matrices(tensor, mixed_moments(p, arm))))
    return twists, links
