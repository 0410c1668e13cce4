# SPDX-License-Identifier: Apache-2.0
"""The set from numbers alone."""

import numpy as np
from support.chains import random_chain, reference_chains
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros.dynamics.minimal.khalil_set import khalil_forms
from robot_dynamics_ros.dynamics.minimal.numeric_set import (
    independent_columns,
    judge,
    numeric_forms,
    stacked_regressor,
)
from robot_dynamics_ros.dynamics.minimal.structure import structure


def test_it_finds_khalils_set_with_its_groupings(rng):
    for _ in range(60):
        chain = random_chain(rng, int(rng.integers(1, 8)))
        found = numeric_forms(chain, stacked_regressor(chain))
        expected = khalil_forms(chain, structure(chain))
        assert found.names == expected.names
        assert found.units == expected.units
        assert_close(found.matrix, expected.matrix, OTHER_FORMULATION)


def test_without_gravity_a_spherical_base_shows_fewer_elements():
    for name, count in (('V10', 6), ('V31', 39)):
        chain = next(chain for chain in reference_chains() if chain.name == name).chain
        W = stacked_regressor(chain)
        forms = numeric_forms(chain, W)
        assert len(forms.names) == count
        verdict = judge(W, forms.matrix)
        assert verdict.complete and verdict.minimal


def test_columns_are_taken_in_natural_order():
    columns = np.array([[0.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
    assert independent_columns(columns) == [1, 3]


def test_a_nearly_dependent_column_does_not_push_out_a_clearly_new_one():
    columns = np.array([[1.0, 1.0, 0.0], [0.0, 1e-7, 1.0]])
    assert independent_columns(columns) == [0, 2]
