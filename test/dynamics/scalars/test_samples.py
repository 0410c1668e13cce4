# SPDX-License-Identifier: Apache-2.0
"""Joint states between arrays and scalars."""

import numpy as np
import pytest
from support.chains import random_chain

from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.errors import StateError


@pytest.fixture
def chain(rng):
    return random_chain(rng, 3)


def test_one_state_becomes_floats(chain):
    state = Samples.of(chain, q=[1, 2, 3], qd=np.zeros(3))
    assert state['q'] == [1.0, 2.0, 3.0]
    assert all(type(x) is float for x in state['q'] + state['qd'])
    assert state.vector([4.0, 5.0]).shape == (2,)
    assert state.matrix([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).shape == (3, 2)


def test_a_batch_becomes_rows(chain):
    q = np.arange(12.0).reshape(4, 3)
    state = Samples.of(chain, q=q)
    np.testing.assert_array_equal(state['q'][1], q[:, 1])
    np.testing.assert_array_equal(state.vector(state['q']), q)
    assert state.matrix([[0.0, 1.0], [2.0, state['q'][0]]]).shape == (4, 2, 2)


def test_an_empty_batch_stays_empty(chain):
    state = Samples.of(chain, q=np.zeros((0, 3)))
    assert state.vector(state['q']).shape == (0, 3)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_non_finite_states_give_nan_and_spare_the_others(chain, bad):
    q = np.zeros((3, 3))
    q[1, 0] = bad
    state = Samples.of(chain, q=q)
    result = state.vector([1.0, 2.0])
    assert np.all(np.isnan(result[1]))
    assert np.all(np.isfinite(result[[0, 2]]))
    single = Samples.of(chain, q=q[1])
    assert np.all(np.isnan(single.vector([1.0, 2.0])))
    assert len(single.frames) == 4  # no exception from the cosine of infinity


@pytest.mark.parametrize(('arrays', 'message'), [
    ({'q': np.zeros(2)}, r'q has shape \(2,\).*joint1, joint2, joint3'),
    ({'q': np.zeros((1, 1, 3))}, r'q has shape \(1, 1, 3\)'),
    ({'q': 0.0}, r'q has shape \(\)'),
    ({'q': np.zeros(3), 'qd': np.zeros((1, 3))}, 'one state or N states'),
    ({'q': np.zeros((2, 3)), 'qd': np.zeros((4, 3))}, r'qd has shape \(4, 3\) but q \(2, 3\)'),
    ({'q': np.zeros(3), 'wrench': np.zeros(5)}, r'wrench has shape \(5,\).*fx, fy'),
])
def test_wrong_sizes_are_refused(chain, arrays, message):
    with pytest.raises(StateError, match=message):
        Samples.of(chain, **arrays)


@pytest.mark.parametrize('q', [['a', 'b', 'c'], [1j, 0.0, 0.0], [[0.0], [0.0, 1.0], [2.0]], None])
def test_what_is_not_a_real_array_is_refused(chain, q):
    with pytest.raises(StateError, match='q must be an array of real numbers'):
        Samples.of(chain, q=[q] if q is None else q)
