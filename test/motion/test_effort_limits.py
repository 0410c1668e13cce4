# SPDX-License-Identifier: Apache-2.0
"""Nothing that is not finite or not limited gets through."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.chains import random_chain

from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits

LIMITS = EffortLimits(('a', 'b'), np.array([1.0, 20.0]))


def test_efforts_are_cut_and_counted_per_joint():
    effort, clamped = LIMITS.limit(np.array([[0.5, -30.0], [-2.0, 3.0], [5.0, 3.0]]))
    np.testing.assert_array_equal(effort, [[0.5, -20.0], [-1.0, 3.0], [1.0, 3.0]])
    assert clamped.tolist() == [2, 1]


def test_one_state_keeps_its_shape():
    effort, clamped = LIMITS.limit(np.array([5.0, 5.0]))
    assert effort.tolist() == [1.0, 5.0]
    assert clamped.tolist() == [1, 0]


@given(st.lists(st.floats(), min_size=2, max_size=2))
def test_whatever_comes_in_the_result_is_finite_and_limited_or_refused(values):
    effort = np.array(values)
    if np.all(np.isfinite(effort)):
        assert np.all(np.abs(LIMITS.limit(effort).effort) <= LIMITS.values)
    else:
        with pytest.raises(StateError, match='not finite'):
            LIMITS.limit(effort)


def test_the_joint_of_a_value_that_is_not_finite_is_named():
    with pytest.raises(StateError, match='joint b: the effort is not finite'):
        LIMITS.limit(np.array([1.0, np.inf]))


def test_limits_come_from_the_chain_unless_given(rng):
    chain = random_chain(rng, 2)
    chain = replace(chain, joints=tuple(replace(joint, effort_limit=7.0)
                                        for joint in chain.joints))
    limits = EffortLimits.of_chain(chain, {'joint2': 9.0})
    assert limits.values.tolist() == [7.0, 9.0]


def test_unknown_limits_and_unknown_joints_are_refused(rng):
    chain = random_chain(rng, 2)
    with pytest.raises(ParameterError, match='joint joint2: give it in the URDF'):
        EffortLimits.of_chain(chain, {'joint1': 1.0})
    with pytest.raises(ParameterError, match='unknown joint elbow'):
        EffortLimits.of_chain(chain, {'elbow': 1.0})


@pytest.mark.parametrize('limit', [0.0, -1.0, np.nan, np.inf])
def test_a_limit_must_be_positive_and_finite(limit):
    with pytest.raises(ParameterError, match='joint a'):
        EffortLimits(('a',), np.array([limit]))
