# SPDX-License-Identifier: Apache-2.0
"""
Khalil & Dombre's closed-form set: grouped standard parameters (section 9.4.2.4, rules 1-6).

The grouped values can be put back into any algorithm for standard parameters, with zeros for
the others: the regressor of this set consists of columns of the standard regressor.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import (
    STANDARD_PARAMETERS,
    STANDARD_UNITS,
    parameters_seen_from,
)
from robot_dynamics_ros.chain.joint import Joint
from robot_dynamics_ros.dynamics.minimal.linear_forms import LinearForms
from robot_dynamics_ros.dynamics.minimal.structure import (
    BEFORE_R,
    FROM_S,
    Direction,
    Structure,
)

XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = range(10)
TENSOR = [XX, XY, XZ, YY, YZ, ZZ]


def khalil_forms(chain: Chain, groups: Structure) -> LinearForms:
    """
    Return the base parameters of the links, link 1 first, in the order of STANDARD_PARAMETERS.

    :param chain: the robot; its inertias are not used.
    :param groups: its joint groups; Khalil's r1 and r2 are r and s.
    """
    n = len(chain.links)
    # K[j] are the ten grouped parameters of link j as rows of coefficients; link 0 is the base
    K = np.zeros((n + 1, 10, 10 * n))
    K[1:] = np.eye(10 * n).reshape(n, 10, 10 * n)
    kept: list[tuple[int, int]] = []
    for j in range(n, 0, -1):
        if chain.moving[j - 1].revolute:
            remaining = _group_revolute(K, chain, j, groups)
        else:
            remaining = _group_prismatic(K, chain, j, groups)
        kept += [(j, parameter) for parameter in reversed(remaining)]
    kept.reverse()
    return LinearForms.of([(f'{STANDARD_PARAMETERS[parameter]}{j}', STANDARD_UNITS[parameter],
                            K[j, parameter]) for j, parameter in kept], n)


def _group_revolute(K: Array, chain: Chain, j: int, groups: Structure) -> list[int]:
    """Move what a revolute joint cannot show inward (9.53); return the remaining parameters."""
    joint, parent = chain.moving[j - 1], chain.parents[j - 1]
    to_parent = parameters_seen_from(joint.pose(-joint.theta))  # these columns hold for any theta
    K[parent] += (np.outer(to_parent[:, XX] + to_parent[:, YY], K[j, YY])
                  + np.outer(to_parent[:, MZ], K[j, MZ]) + np.outer(to_parent[:, M], K[j, M]))
    K[j, XX] -= K[j, YY]  # (9.51)
    tensor = [XX, XY, XZ, YZ, ZZ] if groups.stages[j] == FROM_S else [ZZ]  # rules 1a, 4
    return tensor + ([MX, MY] if groups.delta[j] else [])  # rule 5


def _group_prismatic(K: Array, chain: Chain, j: int, groups: Structure) -> list[int]:
    """Move the tensor inward (9.56), then rules 2, 3 and 6; return the remaining parameters."""
    joint = chain.moving[j - 1]
    to_parent = parameters_seen_from(joint.pose())
    K[chain.parents[j - 1]] += to_parent[:, TENSOR] @ K[j, TENSOR]
    if groups.stages[j] == BEFORE_R:
        return [M]  # rule 6
    if groups.stages[j] == FROM_S:
        return [MX, MY, MZ, M]
    if groups.sigma[j]:
        return [*_group_oblique(K[j], groups.u_r[j]), M]  # rule 3
    _group_parallel(K, chain, j, joint)
    return [M]


def _group_oblique(K_j: Array, axis: Direction) -> list[int]:
    """Table 9.2: of a rail not parallel to joint r one first moment can be grouped."""
    x, y, z = axis
    if z != 0.0:
        K_j[MX] -= x / z * K_j[MZ]
        K_j[MY] -= y / z * K_j[MZ]
        return [MX, MY]
    if x == 0.0:
        return [MX, MZ]
    if y == 0.0:
        return [MY, MZ]
    K_j[MX] -= x / y * K_j[MY]
    return [MX, MZ]


def _group_parallel(K: Array, chain: Chain, j: int, joint: Joint) -> None:
    """Rule 2 (9.60): first moments of a rail parallel to joint r are grouped inward."""
    R = joint.pose().rotation
    moments = R[:, :2] @ K[j, [MX, MY]]
    K[chain.parents[j - 1], [MX, MY, MZ]] += moments
    # the nearest revolute joint inward, also with other rails in between
    i = next(i for i in reversed(chain.path(j)) if chain.moving[i - 1].revolute)
    K[i, ZZ] += 2.0 * joint.pose(-joint.d).translation @ moments
