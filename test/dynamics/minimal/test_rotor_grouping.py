# SPDX-License-Identifier: Apache-2.0
"""Rotor inertias inside and beside the minimal parameters."""

import numpy as np
import pytest
from support.chains import random_chain, random_states, reference_chains
from support.rank import rank
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping
from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor
from robot_dynamics_ros.errors import ParameterError

CHAINS = reference_chains()
SETS = ('lin', 'khalil', 'numeric')


def rank_with_rotors(chain, rng):
    """Rank of the regressor with a column qdd_j per rotor."""
    n = len(chain)
    q, qd, qdd = random_states(rng, n, 8 * n + 25)
    rotors = np.einsum('Nj,ij->Nij', qdd, np.eye(n))
    W = np.concatenate([standard_regressor(chain, q, qd, qdd), rotors], axis=2)
    return rank(W.reshape(-1, 11 * n))


@pytest.mark.parametrize('reference', CHAINS, ids=lambda reference: reference.name)
def test_count_with_rotors_is_that_of_the_reference_chains(reference):
    for name in SETS:
        mlc = minimal_parameters(reference.chain, name)
        separate = rotor_grouping(reference.chain, mlc).separate
        assert len(mlc) + len(separate) == reference.data['rank_with_rotor']


def test_grouped_rotors_give_the_same_torque_and_none_is_forgotten(rng):
    for k in range(40):
        n = int(rng.integers(1, 7))
        types = None if k % 2 else ''.join(rng.choice(['R', 'P', 'P'], n))
        chain = random_chain(rng, n, types=types, gravity=np.zeros(3) if k % 5 == 0 else None)
        Ia = rng.uniform(0.5, 2.0, n)
        q, qd, qdd = random_states(rng, n, 4)
        Y = standard_regressor(chain, q, qd, qdd)
        number = rank_with_rotors(chain, rng)
        for name in SETS:
            mlc = minimal_parameters(chain, name)
            rotors = rotor_grouping(chain, mlc)
            assert len(mlc) + len(rotors.separate) == number
            grouped = Y @ mlc.right_inverse @ (mlc.values + rotors.matrix @ Ia)
            assert_close(grouped + np.where(rotors.grouped, 0.0, Ia) * qdd,
                         Y @ chain.standard_parameters + Ia * qdd, OTHER_FORMULATION)


def test_in_lins_set_a_grouped_rotor_adds_to_one_element_only(rng):
    for _ in range(60):
        chain = random_chain(rng, int(rng.integers(1, 7)))
        mlc = minimal_parameters(chain)
        rotors = rotor_grouping(chain, mlc)
        for j, joint in enumerate(chain.joints, start=1):
            element = f'U{j}_33' if joint.revolute else f'm{j}'
            expected = [float(rotors.grouped[j - 1] and name == element) for name in mlc.names]
            np.testing.assert_array_equal(rotors.matrix[:, j - 1], expected)


def test_a_gantry_groups_its_horizontal_rails():
    """V24: three rails at right angles, the first one vertical."""
    gantry = next(chain for chain in CHAINS if chain.name == 'V24').chain
    rotors = rotor_grouping(gantry, minimal_parameters(gantry))
    assert rotors.separate == ('Ia1',)
    assert rotors.formulas == ('M1 + M2 + M3', 'M2 + M3 + Ia2', 'M3 + Ia3')


def test_other_sets_are_refused():
    chain = CHAINS[13].chain
    with pytest.raises(ParameterError, match="set 'gravity'"):
        rotor_grouping(chain, minimal_parameters(chain, 'gravity'))
    with pytest.raises(ParameterError, match='do not fit'):
        rotor_grouping(chain, minimal_parameters(CHAINS[0].chain))
