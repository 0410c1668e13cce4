# SPDX-License-Identifier: Apache-2.0
"""
Which rotor inertias cannot be told from link inertias (Khalil & Dombre 9.4.2.5, completed).

A rotor adds ``Ia_j qdd_j`` to the torque of joint j. For some joints a change of link parameters
does the same; then only the sum can be known, and the rotor inertia is "inside" of minimal
parameters. The rule of the book for prismatic joints (iii) is right but incomplete: here every
prismatic joint is looked at, and parallel to joint r is enough where the book says aligned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import STANDARD_PARAMETERS, Inertia
from robot_dynamics_ros.dynamics.minimal.linear_forms import formula
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.structure import Structure, perpendicular, structure
from robot_dynamics_ros.errors import ParameterError

#: Sets of the whole torque; only in these rotor inertias can be grouped.
TORQUE_SETS = ('lin', 'khalil', 'numeric')

_ZZ, _M = STANDARD_PARAMETERS.index('ZZ'), STANDARD_PARAMETERS.index('M')


@dataclass(frozen=True, eq=False)
class RotorGrouping:
    """
    Rotor inertias inside and beside a set of minimal parameters.

    :param separate: names of the rotor inertias that stay parameters of their own, ``Ia3``.
    :param grouped: n flags: the rotor inertia of the joint is inside the minimal parameters.
    :param matrix: G (p, n) with ``w_grouped = w + G Ia``; zero columns for separate ones.
    :param formulas: formulas of the grouped parameters, e.g. ``ZZ1 + YY2 + Ia1``.
    """

    separate: tuple[str, ...]
    grouped: tuple[bool, ...]
    matrix: Array
    formulas: tuple[str, ...]


def rotor_grouping(chain: Chain, mlc: MlcSet) -> RotorGrouping:
    """
    Return how the rotor inertias of a chain enter a set of minimal parameters.

    :param chain: the robot.
    :param mlc: a set for the torque of this chain: 'lin', 'khalil' or 'numeric'.
    :raises ParameterError: a set of a part of the torque, or of another chain.
    """
    if mlc.set not in TORQUE_SETS or mlc.joint_names != chain.joint_names:
        raise ParameterError(f"rotor inertias of {chain.joint_names} do not fit the set "
                             f"'{mlc.set}' of {mlc.joint_names}; use lin, khalil or numeric")
    groups = structure(chain)
    equivalent = np.zeros((10 * len(chain), len(chain)))
    for j, joint in enumerate(chain.joints, start=1):
        if joint.revolute and _grouped_revolute(chain, j, groups):
            equivalent[10 * (j - 1) + _ZZ, j - 1] = 1.0  # (9.65), (9.67)
        elif not joint.revolute and _grouped_prismatic(chain, j, groups):
            equivalent[:, j - 1] = _sliding_mass(chain, j)
    G = np.asarray(mlc.matrix @ equivalent)
    G[np.abs(G) <= 1e-14 * np.max(np.abs(mlc.matrix), initial=0.0)] = 0.0
    grouped = tuple(bool(column.any()) for column in equivalent.T)
    rotors = [f'Ia{j}' for j in range(1, len(chain) + 1)]
    names = (*chain.standard_parameter_names, *rotors)
    return RotorGrouping(
        separate=tuple(name for name, inside in zip(rotors, grouped) if not inside),
        grouped=grouped, matrix=read_only(G),
        formulas=tuple(formula(row, names) for row in np.hstack([mlc.matrix, G])))


def _grouped_revolute(chain: Chain, j: int, groups: Structure) -> bool:
    if j != groups.s:
        return j == groups.r
    axis = chain.joints[j - 1].pose().rotation[:, 2]  # in E_(s-1), as u_r; both constant
    return perpendicular(axis, np.array(groups.u_r[j - 1]))


def _grouped_prismatic(chain: Chain, j: int, groups: Structure) -> bool:
    """Weight never acts on the rail, and neither rails nor revolute joints before it move it."""
    if j > groups.s or groups.sigma[j]:
        return False
    # the axis of such a joint does not turn, so any position shows it
    poses = chain.joint_poses(np.zeros(len(chain)))
    axis = poses[j - 1].rotation[:, 2]
    rails = [pose.rotation[:, 2] for joint, pose in zip(chain.joints[:j - 1], poses)
             if not joint.revolute]
    return all(perpendicular(axis, vector) for vector in (chain.gravity, *rails))


def _sliding_mass(chain: Chain, j: int) -> Array:
    """Return the link parameters of 1 kg that slides with joint j and moves nothing else."""
    parameters = np.zeros(10 * len(chain))
    parameters[10 * (j - 1) + _M] = 1.0
    if j > 1:
        joint = chain.joints[j - 1]
        point = Inertia(1.0, np.zeros(3), np.zeros((3, 3))).seen_from(joint.pose(-joint.d))
        parameters[10 * (j - 2):10 * (j - 1)] = -point.standard_parameters
    return parameters
