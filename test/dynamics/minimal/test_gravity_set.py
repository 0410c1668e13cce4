# SPDX-License-Identifier: Apache-2.0
"""Lin's closed-form set of the gravity load."""

from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_chain, reference_chains
from support.oracle import Oracle
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros.dynamics.minimal.lin_set import gravity_forms
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.structure import structure
from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor


@pytest.mark.parametrize('reference', reference_chains(), ids=lambda reference: reference.name)
def test_count_is_the_rank_of_the_gravity_load(reference):
    forms = gravity_forms(reference.chain, structure(reference.chain))
    assert len(forms.names) == reference.data['rank_gravity']


def test_gravity_load_follows_from_the_set(rng):
    for _ in range(60):
        n = int(rng.integers(1, 8))
        chain = random_chain(rng, n)
        mlc = minimal_parameters(chain, 'gravity')
        assert not mlc.findings
        q = rng.uniform(-3.0, 3.0, n)
        Y = standard_regressor(chain, q, np.zeros(n), np.zeros(n))
        assert_close(Y @ mlc.right_inverse @ mlc.values, Oracle(chain).gravity_torque(q),
                     OTHER_IMPLEMENTATION)


def test_set_is_empty_without_gravity(rng):
    chain = replace(random_chain(rng, 5), gravity=np.zeros(3))
    assert gravity_forms(chain, structure(chain)).names == ()
    assert len(minimal_parameters(chain, 'gravity')) == 0
