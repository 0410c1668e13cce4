# SPDX-License-Identifier: Apache-2.0
"""Lin's v-vectors (97), (98), (103), (104), (106): the diagonal blocks of the regressor."""

import numpy as np
import pinocchio
import pytest
from support.chains import random_chain, random_states
from support.oracle import Oracle
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros import minimal_parameters, mlc_columns, standard_regressor
from robot_dynamics_ros.dynamics.minimal.structure import structure


def motion_by_pinocchio(chain, q, qd, qdd):
    """Return omega, omega_dot and a - g of every link in E_i, with an unused entry 0."""
    oracle = Oracle(chain)
    pinocchio.rnea(oracle.model, oracle.data, q, qd, qdd)
    result = []
    for v, a in zip(oracle.data.v, oracle.data.a_gf):
        result.append((v.angular.copy(), a.angular.copy(),
                       a.linear + np.cross(v.angular, v.linear)))
    return result


def printed_vector(i, chain, groups, motion, turn):
    """Return names and v of joint i as printed, the third entry of (98) as its second form."""
    (x, y, z), (ax, ay, az), (gx, gy, gz) = motion[i]
    if not chain.joints[i - 1].revolute:
        if i < groups.r:
            return [f'm{i}'], [gz]  # (106)
        if i < groups.s:
            w, w_dot = turn[i]
            names = [f'm{i}', f'kap1_{i}', f'kap2_{i}'] if groups.sigma[i] else [f'm{i}']
            return names, [gz, w_dot, -w * w][:len(names)]  # (103)
        return ([f'm{i}', f'k{i}_x', f'k{i}_y', f'k{i}_z'],
                [gz, x * z - ay, ax + y * z, -x * x - y * y])  # (97)
    if i < groups.s:
        names = [f'k{i}_x', f'k{i}_y'] if groups.delta[i] else []
        return [*names, f'U{i}_33'], [*[gy, -gx][:len(names)], az]  # (104)
    return ([f'k{i}_x', f'k{i}_y', f'U{i}_11-22', f'U{i}_33', f'U{i}_12', f'U{i}_13',
             f'U{i}_23'], [gy, -gx, -x * y, az, x * x - y * y, ax - y * z, ay + x * z])  # (98)


def turns(groups, chain, qd, qdd):
    """Return angular velocity and acceleration about the axis of joint r, (80) and (81)."""
    w = w_dot = 0.0
    result = {}
    for i, u in groups.u_r.items():
        if chain.joints[i - 1].revolute:
            w, w_dot = w + u[2] * qd[i - 1], w_dot + u[2] * qdd[i - 1]
        result[i] = w, w_dot
    return result


@pytest.mark.parametrize('seed', range(60))
def test_every_vector_is_a_diagonal_block_of_the_regressor(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    chain = random_chain(rng, n, types='PRPRRPR'[:n] if seed % 3 == 0 else None)
    groups, mlc = structure(chain), minimal_parameters(chain)
    assert mlc.set == 'lin'
    q, qd, qdd = random_states(rng, len(chain))
    Y = mlc_columns(standard_regressor(chain, q, qd, qdd), mlc)
    motion = motion_by_pinocchio(chain, q, qd, qdd)
    turn = turns(groups, chain, qd, qdd)
    seen = []
    for i in range(1, len(chain) + 1):
        names, v = printed_vector(i, chain, groups, motion, turn)
        columns = [mlc.names.index(name) for name in names]
        assert_close(Y[i - 1, columns], v, OTHER_FORMULATION)
        seen += names
    assert sorted(seen) == sorted(mlc.names)
