# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of torques and accelerations by the state.

Those of the rigid links come from one sweep (`dynamics/recursions/derivatives`). What joints add
is differentiated on dual numbers: the load of the links is a dual number with known derivatives.

Those of forward dynamics follow from the load, the torque of links and rotors. What friction
leaves of a torque, l(qd, tau), is what links and rotors need, L(q, qd, qdd). By differentiation of
L(q, qd, qdd(q, qd, tau)) = l(qd, tau) by any of the variables x,

    A dqdd/dx = d(l - L)/dx    at the constant acceleration that belongs to tau.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robot_dynamics_ros.dynamics.joints.joint_terms import JointTerms
from robot_dynamics_ros.dynamics.recursions.derivatives import TorqueDerivatives
from robot_dynamics_ros.dynamics.scalars.dual import Dual, DualFunctions, derivatives, variables
from robot_dynamics_ros.dynamics.scalars.factored_matrix import FactoredMatrix
from robot_dynamics_ros.dynamics.scalars.vector import Scalar

#: Matrices (n, n), each n rows.
Matrices = list[list[list[Scalar]]]


def torque_derivatives(rigid: TorqueDerivatives, joints: JointTerms, qd: Sequence[Scalar],
                       load: Sequence[Scalar]) -> Matrices:
    """
    Return the derivatives of the whole torque by q and by qd.

    :param rigid: derivatives of the torque of the links.
    :param joints: what the joints add.
    :param qd: n joint velocities [rad/s, m/s].
    :param load: n torques of links and rotors [N m, N].
    """
    n = len(qd)
    loads = [Dual(value, dict(enumerate([*by_q, *by_qd])))
             for value, by_q, by_qd in zip(load, rigid.by_q, rigid.by_qd)]
    friction = _on_duals(joints).friction_torque(variables(qd, first=n), loads)
    torque = [carried + lost for carried, lost in zip(loads, friction)]
    return [derivatives(torque, k * n, n) for k in range(2)]


def acceleration_derivatives(rigid: TorqueDerivatives, joints: JointTerms, qd: Sequence[Scalar],
                             tau: Sequence[Scalar], A: FactoredMatrix) -> Matrices:
    """
    Return the derivatives of the accelerations by q, qd and tau.

    :param rigid: derivatives of the torque of the links, at these accelerations.
    :param joints: what the joints add.
    :param qd: n joint velocities [rad/s, m/s].
    :param tau: n torques [N m, N].
    :param A: mass matrix of links and rotors.
    """
    n = len(qd)
    left = _on_duals(joints).carried_load(variables(tau, first=n), variables(qd))
    by_qd, by_tau = (derivatives(left, first, n) for first in (0, n))
    needed = ([[-entry for entry in row] for row in rigid.by_q],
              [[a - b for a, b in zip(*rows)] for rows in zip(by_qd, rigid.by_qd)])
    return [*(A.solved_columns(matrix) for matrix in needed),
            A.inverted() if _is_unit_matrix(by_tau) else A.solved_columns(by_tau)]


def _is_unit_matrix(rows: Sequence[Sequence[Scalar]]) -> bool:
    """Return whether a matrix is known to be 1: a torque is carried whole where no gear drags."""
    return all(isinstance(entry, float) and entry == float(i == k)
               for i, row in enumerate(rows) for k, entry in enumerate(row))


def _on_duals(joints: JointTerms) -> JointTerms:
    """Return the same joints over dual numbers."""
    return replace(joints, functions=DualFunctions(joints.functions))
