# SPDX-License-Identifier: Apache-2.0
"""
The inertia constants of composite bodies as Lin's recursions use them (Lin 1995 (38)-(43)).

A constant that is no minimal linear combination of the chain is 0.0; it multiplies nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.composite import InertiaConstants
from robot_dynamics_ros.dynamics.frames import JointFrame
from robot_dynamics_ros.dynamics.structure import Structure
from robot_dynamics_ros.dynamics.vector import (
    Matrix,
    Scalar,
    Vector,
    add_matrices,
    scale_matrix,
    symmetric,
)

#: One joint group: every joint by the general form (57)-(75). It needs the constants of all
#: joints, also of those before joint s.
GENERAL = Structure(r=1, s=1, delta=(), sigma=(), u_r={})


@dataclass(frozen=True)
class LinConstants:
    """
    Constants of joints 1..n, in lists with an unused entry 0; everything in E_i.

    :param m_hat: mass of the composite body i [kg].
    :param k: constant part of its first moment [kg m].
    :param U: constant part of its tensor without (U)_22: the entries 11-22, 12, 13, 23 and 33 of
        U - diag((U)_22, (U)_22, 0) [kg m^2].
    :param kappa_1: (86) [kg m].
    :param kappa_2: (87) [kg m].
    """

    m_hat: Sequence[Scalar]
    k: Sequence[Vector]
    U: Sequence[tuple[Scalar, Scalar, Scalar, Scalar, Scalar]]
    kappa_1: Sequence[Scalar]
    kappa_2: Sequence[Scalar]

    @classmethod
    def from_names(cls, n: int, values: Mapping[str, Scalar]) -> LinConstants:
        """
        Sort named minimal parameters.

        :param n: number of joints.
        :param values: by names such as ``U2_11-22``, ``k2_x``, ``m3``, ``kap1_3``; missing = 0.
        """
        joints = range(n + 1)

        def get(name: str) -> Scalar:
            return values.get(name, 0.0)

        return cls(
            m_hat=[get(f'm{i}') for i in joints],
            k=[(get(f'k{i}_x'), get(f'k{i}_y'), get(f'k{i}_z')) for i in joints],
            U=[(get(f'U{i}_11-22'), get(f'U{i}_12'), get(f'U{i}_13'), get(f'U{i}_23'),
                get(f'U{i}_33')) for i in joints],
            kappa_1=[get(f'kap1_{i}') for i in joints],
            kappa_2=[get(f'kap2_{i}') for i in joints])

    @classmethod
    def of_all_joints(cls, constants: InertiaConstants) -> LinConstants:
        """Return the constants of every joint, for the structure GENERAL; no kappas."""
        n = len(constants.k) - 1
        U = [(V[0][0] - V[1][1], V[0][1], V[0][2], V[1][2], V[2][2]) for V in constants.U]
        return cls(constants.m_hat, constants.k, U, [0.0] * (n + 1), [0.0] * (n + 1))

    def representative(self, structure: Structure) -> InertiaConstants:
        """
        Return inertia constants of composite bodies that have these minimal parameters.

        Many constants have them; all of them need the same torque, so the simplest will do:
        what is no minimal parameter is zero.

        :param structure: joint groups of the chain.
        """
        k = list(self.k)
        for i, moving in enumerate(structure.sigma):
            if moving:
                x, y, z = structure.u_r[i]
                across = 1.0 / (1.0 - z * z)
                k[i] = (-y * across * self.kappa_1[i], x * across * self.kappa_1[i],
                        across * self.kappa_2[i])  # solves (86), (87)
        U = [symmetric(a, xy, xz, 0.0, yz, zz) for a, xy, xz, yz, zz in self.U]
        return InertiaConstants(list(self.m_hat), k, U)


def d_tensors(frames: Sequence[JointFrame], constants: LinConstants,
              structure: Structure) -> list[tuple[Scalar, ...]]:
    """
    Return D_i of the revolute joints as (11, 12, 13, 22, 23, 33); entry 0 and prismatic: empty.

    For joints before s only the entry 33 is known and needed (93); the others are 0.0.
    (43) is printed with an index too few: the entry 22 of G belongs to the NEXT revolute joint.

    :param frames: E_0..E_n from `joint_frames`.
    :param constants: the inertia constants.
    :param structure: joint groups.
    """
    n = len(frames) - 1
    D: list[tuple[Scalar, ...]] = [()] * (n + 1)
    G_22: Scalar = 0.0  # (G_m)_22 in E_i of the revolute joint worked on last
    U_33: Scalar = 0.0
    m = n + 1
    for i in range(n, 0, -1):
        if not frames[i].revolute:
            continue
        g, h, u = G_22, 0.0, (0.0, 0.0, 0.0)
        if m <= n:
            u = frames[m].axis_in_parent
            for k in range(m - 1, i, -1):
                u = frames[k].to_parent(u)
            h = -U_33 - g  # G_m in E_i is g I + h u u^T (43)
        a, xy, xz, yz, zz = constants.U[i]
        G_33 = g + h * (u[2] * u[2])
        if i >= structure.s:
            tensor = symmetric(a + h * (u[0] * u[0] - u[1] * u[1]), xy + h * (u[0] * u[1]),
                               xz + h * (u[0] * u[2]), 0.0, yz + h * (u[1] * u[2]),
                               zz + G_33)  # (42)
            for k in range(i + 1, m):
                W = _first_moment_tensor(frames[i + 1:k + 1], constants.k[k])
                tensor = add_matrices(tensor, scale_matrix(frames[k].d, W))  # (91)
            D[i] = (*tensor[0], tensor[1][1], tensor[1][2], tensor[2][2])
        else:
            D_33 = zz + G_33
            for k in range(i + 1, m):
                D_33 = D_33 + (2.0 * constants.kappa_2[k]) * frames[k].d  # (93)
            D[i] = (0.0, 0.0, 0.0, 0.0, 0.0, D_33)
        G_22, U_33, m = g + h * (u[1] * u[1]), zz, i
    return D


def _first_moment_tensor(between: Sequence[JointFrame], k: Vector) -> Matrix:
    """Return W_k in E_i (92); `between` are the frames i+1..k, all prismatic."""
    x, y, z = k
    W = symmetric(2.0 * z, 0.0, -x, 2.0 * z, -y, 0.0)
    for frame in reversed(between):
        W = frame.tensor_to_parent(W)
    return W
