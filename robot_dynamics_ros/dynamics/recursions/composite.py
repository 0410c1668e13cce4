# SPDX-License-Identifier: Apache-2.0
"""
Composite bodies: links i..n taken together (Lin 1995 (8)-(15)).

In a tree it is link i with all that it carries; what several joints carry is added up.

First moment and inertia tensor of composite body i about O_i are split into a part that never
changes and a part that moves with the joints outside of i: ``c_hat = k + l`` (8) and
``J_hat = U + V`` (9). Both recursions are linear in the link parameters; run with the rows of an
identity matrix for scalars they give k and U as linear forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.scalars.frames import JointFrame
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    add_matrices,
    dot,
    outer,
    scale,
    symmetric,
)

_ZERO_MATRIX: Matrix = (ZERO, ZERO, ZERO)


@dataclass(frozen=True)
class InertiaConstants:
    """
    The constant parts, list entry i for composite body i in E_i; entry 0 is unused.

    :param m_hat: masses of links i..n [kg].
    :param k: constant parts of the first moments about O_i [kg m].
    :param U: constant parts of the inertia tensors about O_i [kg m^2].
    """

    m_hat: list[Scalar]
    k: list[Vector]
    U: list[Matrix]


@dataclass(frozen=True)
class VaryingParts:
    """
    The parts that move with the joints, list entry i in E_i; entry 0 is unused.

    :param l: varying parts of the first moments about O_i [kg m].
    :param V: varying parts of the inertia tensors about O_i [kg m^2].
    """

    l: list[Vector]  # noqa: E741 (the paper's letter)
    V: list[Matrix]


def inertia_constants(frames: Sequence[JointFrame],
                      parameters: Sequence[Sequence[Scalar]]) -> InertiaConstants:
    """
    Return m_hat, k and U of all composite bodies.

    :param frames: E_0..E_n at any joint position: only what does not move is used.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first.
    """
    n = len(parameters)
    m_hat: list[Scalar] = [0.0, *(own[9] for own in parameters)]
    k: list[Vector] = [ZERO, *((own[6], own[7], own[8]) for own in parameters)]
    U = [_ZERO_MATRIX, *(symmetric(*own[:6]) for own in parameters)]
    for j in range(n, 0, -1):
        frame, i = frames[j], frames[j].parent
        if i == 0:
            continue
        outer_mass, (_, _, k_z), outer_U = m_hat[j], k[j], U[j]
        if frame.revolute:
            arm, axis = frame.origin, frame.axis_in_parent
            carried = scale(k_z, axis)
            tensor = _axisymmetric(outer_U[1][1], outer_U[2][2], axis)
        else:
            arm = frame.foot
            carried = frame.to_parent(k[j])
            tensor = frame.tensor_to_parent(outer_U)
        m_hat[i] = m_hat[i] + outer_mass
        k[i] = add(k[i], add(scale(outer_mass, arm), carried))  # (10)
        steiner = mixed_moments(arm, add(scale(0.5 * outer_mass, arm), carried))
        U[i] = add_matrices(U[i], add_matrices(tensor, steiner))  # (12), (14)
    return InertiaConstants(m_hat, k, U)


def varying_parts(frames: Sequence[JointFrame], constants: InertiaConstants) -> VaryingParts:
    """
    Return l and V of all composite bodies at one joint position.

    :param frames: E_0..E_n at that position.
    :param constants: constant parts from `inertia_constants`. Of a revolute joint only k_x, k_y,
        U_12, U_13, U_23 and the difference U_11 - U_22 have an influence.
    """
    n = len(frames) - 1
    l, V = [ZERO] * (n + 1), [_ZERO_MATRIX] * (n + 1)  # noqa: E741
    for j in range(n, 0, -1):
        frame, i, m_hat = frames[j], frames[j].parent, constants.m_hat[j]
        if i == 0:
            continue
        k, U = constants.k[j], constants.U[j]
        l_outer, V_outer = l[j], V[j]
        if frame.revolute:
            l_j = frame.to_parent((k[0] + l_outer[0], k[1] + l_outer[1], l_outer[2]))  # (11)
            moving = symmetric(U[0][0] - U[1][1], U[0][1], U[0][2], 0.0, U[1][2], 0.0)
            V_j = add_matrices(frame.tensor_to_parent(add_matrices(V_outer, moving)),
                               mixed_moments(frame.origin, l_j))  # (13)
        else:
            d, b = (0.0, 0.0, frame.d), frame.to_link(frame.foot)
            l_j = frame.to_parent(add(l_outer, scale(m_hat, d)))  # (11)
            c_hat = add(k, l_outer)
            slid = mixed_moments(d, add(scale(m_hat, add(scale(0.5, d), b)), c_hat))
            V_j = frame.tensor_to_parent(
                add_matrices(V_outer, add_matrices(slid, mixed_moments(b, l_outer))))  # (15)
        l[i], V[i] = add(l[i], l_j), add_matrices(V[i], V_j)
    return VaryingParts(l, V)


def mixed_moments(a: Vector, b: Vector) -> Matrix:
    """Return -[a]x[b]x - [b]x[a]x = 2 (a.b) 1 - a b^T - b a^T."""
    twice = 2.0 * dot(a, b)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = outer(a, b)
    return symmetric(twice - (xx + xx), -(xy + yx), -(xz + zx),
                     twice - (yy + yy), -(yz + zy), twice - (zz + zz))


def _axisymmetric(across: Scalar, along: Scalar, axis: Vector) -> Matrix:
    """Return R diag(across, across, along) R^T, the third column of R being `axis`."""
    x, y, z = axis
    excess = along - across
    return symmetric(across + excess * (x * x), excess * (x * y), excess * (x * z),
                     across + excess * (y * y), excess * (y * z), across + excess * (z * z))
