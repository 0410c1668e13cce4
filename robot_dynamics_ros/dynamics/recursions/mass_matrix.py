# SPDX-License-Identifier: Apache-2.0
"""
The mass matrix A of tau = A(q) qdd + ..., four ways. All return n rows of n scalars.

By composite bodies with standard or grouped parameters; by Renaud's form in terms of the minimal
linear combinations (Lin 1994 (16)-(17)), and the gravity torque with it (18); by repeated inverse
dynamics (Khalil & Dombre 9.97); from any regressor (Lu & Meng 1993, section V-B, steps 1-3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robot_dynamics_ros.dynamics.recursions.composite import (
    InertiaConstants,
    mixed_moments,
    varying_parts,
)
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.recursions.regressor import link_twists
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame
from robot_dynamics_ros.dynamics.scalars.pair import Pair, moved_wrench
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Scalar,
    Vector,
    add,
    add_matrices,
    dot,
    scale,
    symmetric,
    total,
)

#: n rows of n scalars.
ScalarRows = list[list[Scalar]]


def composite_bodies(frames: Sequence[JointFrame],
                     parameters: Sequence[Sequence[Scalar]]) -> ScalarRows:
    """
    Return A by composite bodies: all that joint i carries, rigid, accelerated by it alone.

    Joints of which neither carries the other do not feel each other: their entries are 0.0.

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first, standard or grouped.
    """
    n = len(frames) - 1
    A: ScalarRows = [[0.0] * n for _ in range(n)]
    masses: list[Scalar] = [0.0] * (n + 1)  # of all that a link carries
    moments, tensors = [ZERO] * (n + 1), [(ZERO, ZERO, ZERO)] * (n + 1)
    for i in range(n, 0, -1):
        own, parent = parameters[i - 1], frames[i].parent
        mass = own[9] + masses[i]
        first_moment = add((own[6], own[7], own[8]), moments[i])
        tensor = add_matrices(symmetric(*own[:6]), tensors[i])
        x, y, _ = first_moment
        if frames[i].revolute:
            force, moment = (-y, x, 0.0), (tensor[0][2], tensor[1][2], tensor[2][2])
        else:
            force, moment = (0.0, 0.0, mass), (y, -x, 0.0)
        wrench: Pair = (force, moment)
        m = i
        while m > 0:
            entry = wrench[1][2] if frames[m].revolute else wrench[0][2]
            A[m - 1][i - 1] = A[i - 1][m - 1] = entry
            wrench = moved_wrench(frames[m], wrench)
            m = frames[m].parent
        s, turned = frames[i].origin, frames[i].to_parent(first_moment)
        tensor = add_matrices(frames[i].tensor_to_parent(tensor),
                              mixed_moments(s, add(turned, scale(0.5 * mass, s))))
        masses[parent] = mass + masses[parent]
        moments[parent] = add(add(turned, scale(mass, s)), moments[parent])
        tensors[parent] = add_matrices(tensor, tensors[parent])
    return A


def renaud(frames: Sequence[JointFrame], constants: InertiaConstants) -> ScalarRows:
    """
    Return A by Renaud's composite-body form (Lin 1994 (16)-(17)).

    :param frames: E_0..E_n from `joint_frames`.
    :param constants: inertia constants of the composite bodies, either all of them or those of
        ``LinConstants.representative``, which are the minimal linear combinations only.
    """
    n = len(frames) - 1
    A: ScalarRows = [[0.0] * n for _ in range(n)]
    varying, twists = varying_parts(frames, constants), link_twists(frames)
    for i in range(1, n + 1):
        c_x, c_y, _ = add(constants.k[i], varying.l[i])  # Lin 1995 (8)
        J_3 = add(constants.U[i][2], varying.V[i][2])  # Lin 1995 (9), third column = third row
        for m in range(1, i + 1):
            # a = u_m x s (17) for a revolute joint m, u_m for a prismatic one; u is 0 for that
            a, u = twists[i][m - 1]
            if frames[i].revolute:
                h = dot(u, J_3) + c_x * a[1] - c_y * a[0]  # (16), K*_i
            else:
                h = constants.m_hat[i] * a[2] - u[1] * c_x + u[0] * c_y  # (16), K_i
            A[m - 1][i - 1] = A[i - 1][m - 1] = h
    return A


def renaud_gravity(frames: Sequence[JointFrame], constants: InertiaConstants,
                   gravity: Vector) -> list[Scalar]:
    """
    Return the n torques that hold the arm against gravity [N m, N] (Lin 1994 (18)).

    :param frames: E_0..E_n from `joint_frames`.
    :param constants: inertia constants as for `renaud`.
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    """
    varying = varying_parts(frames, constants)
    tau: list[Scalar] = []
    seen = [gravity]
    for i in range(1, len(frames)):
        gravity = frames[i].to_link(seen[frames[i].parent])
        seen.append(gravity)
        c_x, c_y, _ = add(constants.k[i], varying.l[i])
        tau.append(c_y * gravity[0] - c_x * gravity[1] if frames[i].revolute
                   else -constants.m_hat[i] * gravity[2])  # (18)
    return tau


def by_inverse_dynamics(frames: Sequence[JointFrame],
                        parameters: Sequence[Sequence[Scalar]]) -> ScalarRows:
    """
    Return A column by column: the torque of one unit acceleration at rest, no gravity (9.97).

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first, standard or grouped.
    """
    n = len(frames) - 1
    columns = [newton_euler(frames, parameters, [0.0] * n, _unit(i, n), ZERO) for i in range(n)]
    return [list(row) for row in zip(*columns)]


def from_regressor(regressor_at: Callable[[Sequence[Scalar]], Sequence[Sequence[Scalar]]],
                   parameters: Sequence[Scalar], n: int) -> tuple[ScalarRows, Sequence[Scalar]]:
    """
    Return A and the bias C qd + Q from a regressor (Lu & Meng 1993, V-B, steps 1-3).

    :param regressor_at: gives the rows of Y at the present q, qd for n accelerations qdd.
    :param parameters: the parameters theta of that regressor.
    :param n: number of joints.
    """
    return from_torques(lambda qdd: [total([y * x for y, x in zip(row, parameters)])
                                     for row in regressor_at(qdd)], n)


def from_torques(torque_at: Callable[[Sequence[Scalar]], Sequence[Scalar]],
                 n: int) -> tuple[ScalarRows, Sequence[Scalar]]:
    """
    Return A and the bias C qd + Q from n + 1 torques: at rest, and at unit accelerations.

    :param torque_at: gives the n torques at the present q, qd for n accelerations qdd.
    :param n: number of joints.
    """
    bias = torque_at([0.0] * n)
    columns = [torque_at(_unit(i, n)) for i in range(n)]
    return [[column[j] - bias[j] for column in columns] for j in range(n)], bias


def _unit(i: int, n: int) -> list[Scalar]:
    return [1.0 if j == i else 0.0 for j in range(n)]
