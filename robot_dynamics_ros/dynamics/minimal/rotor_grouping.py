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
from robot_dynamics_ros.dynamics.minimal.numeric_set import (
    RANK_TOLERANCE,
    random_motion,
    stacked_regressor,
)
from robot_dynamics_ros.dynamics.minimal.structure import (
    BEFORE_R,
    FROM_S,
    Structure,
    perpendicular,
    structure,
)
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
    equivalent = _from_regressor(chain) if chain.followers else _closed_form(chain)
    G = np.asarray(mlc.matrix @ equivalent)
    G[np.abs(G) <= 1e-14 * np.max(np.abs(mlc.matrix), initial=0.0)] = 0.0
    grouped = tuple(bool(column.any()) for column in equivalent.T)
    rotors = [f'Ia{j}' for j in range(1, len(chain) + 1)]
    names = (*chain.standard_parameter_names, *rotors)
    return RotorGrouping(
        separate=tuple(name for name, inside in zip(rotors, grouped) if not inside),
        grouped=grouped, matrix=read_only(G),
        formulas=tuple(formula(row, names) for row in np.hstack([mlc.matrix, G])))


def _closed_form(chain: Chain) -> Array:
    """Return the link parameters (10 n, n) that have the effect of each rotor; zeros = none."""
    groups = structure(chain)
    equivalent = np.zeros((10 * len(chain), len(chain)))
    for j, joint in enumerate(chain.joints, start=1):
        if joint.revolute and _grouped_revolute(chain, j, groups):
            equivalent[10 * (j - 1) + _ZZ, j - 1] = 1.0  # (9.65), (9.67)
        elif not joint.revolute and _grouped_prismatic(chain, j, groups):
            equivalent[:, j - 1] = _sliding_mass(chain, j)
    return equivalent


def _from_regressor(chain: Chain) -> Array:
    """Return the same from numbers: where joints follow others, their links add up."""
    W, qdd = stacked_regressor(chain), random_motion(chain)[2]
    columns = (qdd[:, :, None] * np.eye(len(chain))).reshape(len(W), len(chain))
    size = np.linalg.norm(W, axis=0)
    scaled = W / np.where(size > 0.0, size, 1.0)
    x, *_ = np.linalg.lstsq(scaled, columns, rcond=RANK_TOLERANCE)
    rest = np.linalg.norm(columns - scaled @ x, axis=0)
    known = rest <= RANK_TOLERANCE ** 0.75 * np.linalg.norm(columns, axis=0)
    return np.asarray(np.where(known, x, 0.0) / np.where(size > 0.0, size, 1.0)[:, None])


def _grouped_revolute(chain: Chain, j: int, groups: Structure) -> bool:
    parent = chain.parents[j - 1]
    inner = groups.stages[parent] if parent else BEFORE_R
    if inner == BEFORE_R:
        return True  # joint r
    if groups.stages[j] != FROM_S or inner == FROM_S:
        return False
    axis = chain.joints[j - 1].pose().rotation[:, 2]  # of joint s in its parent, as u_r
    return perpendicular(axis, np.array(groups.u_r[parent]))


def _grouped_prismatic(chain: Chain, j: int, groups: Structure) -> bool:
    """Weight never acts on the rail, and neither rails nor revolute joints before it move it."""
    if groups.stages[j] == FROM_S or groups.sigma[j]:
        return False
    # the axis of such a joint does not turn, so any position shows it
    poses = chain.joint_poses(np.zeros(len(chain)))
    axis = poses[j - 1].rotation[:, 2]
    rails = [poses[i - 1].rotation[:, 2] for i in chain.path(j)[:-1]
             if not chain.joints[i - 1].revolute]
    return all(perpendicular(axis, vector) for vector in (chain.gravity, *rails))


def _sliding_mass(chain: Chain, j: int) -> Array:
    """Return the link parameters of 1 kg that slides with joint j and moves nothing else."""
    parameters = np.zeros(10 * len(chain))
    parameters[10 * (j - 1) + _M] = 1.0
    parent = chain.parents[j - 1]
    if parent:
        joint = chain.joints[j - 1]
        point = Inertia(1.0, np.zeros(3), np.zeros((3, 3))).seen_from(joint.pose(-joint.d))
        parameters[10 * (parent - 1):10 * parent] = -point.standard_parameters
    return parameters
