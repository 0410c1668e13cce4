# SPDX-License-Identifier: Apache-2.0
"""The numeric judge of a set."""

import numpy as np
import pytest
from support.chains import random_chain, reference_chains
from support.rank import rank

from robot_dynamics_ros.dynamics.minimal.lin_set import lin_forms
from robot_dynamics_ros.dynamics.minimal.numeric_set import (
    conversion_matrix,
    judge,
    right_inverse,
    stacked_regressor,
)
from robot_dynamics_ros.dynamics.minimal.structure import structure

CHAINS = reference_chains()


@pytest.mark.parametrize('reference', CHAINS, ids=lambda reference: reference.name)
def test_rank_of_the_stacked_regressor_is_that_of_the_reference_chains(reference):
    assert rank(stacked_regressor(reference.chain)) == reference.data['rank_full']


@pytest.mark.parametrize('reference', CHAINS, ids=lambda reference: reference.name)
def test_a_correct_set_passes_and_a_changed_one_does_not(reference):
    chain = reference.chain
    W = stacked_regressor(chain)
    B = lin_forms(chain, structure(chain)).matrix
    verdict = judge(W, B)
    assert verdict.complete
    assert verdict.minimal == (reference.data['lin_count'] == reference.data['rank_full'])
    if verdict.minimal:
        assert verdict.smallest > 1e-3
        assert not judge(W, B[1:]).complete
    outside = np.linalg.svd(B)[2][-1:]  # a combination that no motion shows
    assert not judge(W, np.vstack([B, outside])).minimal


def test_the_judge_of_a_chain_is_the_same_every_time(rng):
    chain = random_chain(rng, 4)
    np.testing.assert_array_equal(stacked_regressor(chain), stacked_regressor(chain))


def test_a_conversion_tells_what_does_not_follow(rng):
    A = rng.normal(size=(4, 10))
    M = rng.normal(size=(3, 4))
    found, missed = conversion_matrix(A, M @ A)
    np.testing.assert_allclose(found, M, atol=1e-12)
    assert np.max(missed) < 1e-13
    outside = 5.0 * np.linalg.svd(A)[2][-1]
    _, missed = conversion_matrix(A, np.vstack([M @ A, outside, np.zeros(10)]))
    np.testing.assert_allclose(missed, [0.0, 0.0, 0.0, 1.0, 0.0], atol=1e-12)


def test_the_right_inverse_gives_the_identity(rng):
    B = rng.normal(size=(4, 10))
    np.testing.assert_allclose(B @ right_inverse(B), np.eye(4), atol=1e-13)
    np.testing.assert_allclose(right_inverse(B), np.linalg.pinv(B), atol=1e-12)


def test_rows_that_depend_on_each_other_are_a_verdict_and_not_an_error():
    """A link 1e15 m away made a closed form singular, and numpy's own error came out."""
    B = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    verdict = judge(np.eye(3), B)
    assert not verdict.complete and not verdict.minimal
