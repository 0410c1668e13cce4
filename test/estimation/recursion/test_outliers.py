# SPDX-License-Identifier: Apache-2.0
"""Outliers and changes: a few samples far off are dropped, many are given back."""

import numpy as np
import pytest

from robot_dynamics_ros.estimation.recursion.outliers import OutlierBuffer, far_off
from robot_dynamics_ros.estimation.recursion.recursive import RecursiveLeastSquares
from robot_dynamics_ros.estimation.regression.prior import Prior

MANY = 25


def run(flags):
    """Return which samples were learned from, in order, by their numbers."""
    buffer = OutlierBuffer()
    learned = [number for k, far in enumerate(flags)
               for number in buffer.passed(k, far)]
    return buffer, learned


def test_a_short_burst_is_dropped():
    flags = [k in range(10, 20) for k in range(100)]
    buffer, learned = run(flags)
    assert learned == [k for k in range(100) if not flags[k]]
    assert buffer.outliers == 10
    assert not buffer.unsettled


def test_many_in_a_row_are_a_change_and_nothing_is_lost():
    flags = [k >= 10 for k in range(100)]
    buffer, learned = run(flags)
    assert learned == list(range(100))
    assert buffer.outliers == 0
    assert buffer.unsettled


def test_a_change_that_is_not_always_seen_is_one_all_the_same():
    flags = [k >= 10 and k % 3 > 0 for k in range(200)]  # every third sample fits by chance
    buffer, learned = run(flags)
    assert sorted(learned)[-100:] == list(range(100, 200))
    assert buffer.unsettled


def test_a_change_is_over_when_predictions_fit_again():
    buffer, _ = run([True] * MANY)
    assert buffer.unsettled
    assert buffer.passed('spike', True) == ['spike'], 'the robot is still changing'
    for k in range(MANY):
        assert buffer.unsettled
        assert buffer.passed(k, False) == [k]
    assert not buffer.unsettled
    assert buffer.passed('spike', True) == []


def test_rare_outliers_never_add_up():
    buffer, learned = run([k % 20 == 0 for k in range(2000)])
    assert len(learned) == 1900
    assert buffer.outliers == 100


@pytest.fixture
def recursion(rng):
    """Return a recursion that knows tau = 2 y with a standard deviation of 0.1."""
    prior = Prior(np.zeros(1), np.full(1, 10.0))
    recursion = RecursiveLeastSquares(prior, [0], np.ones(1), compiled=False)
    for _ in range(500):
        y = rng.normal(size=(1, 1))
        recursion.update(y, 2.0 * y[0] + 0.1 * rng.normal(size=1))
    return recursion


def test_far_off_is_beyond_the_noise_and_the_typical_torque(recursion):
    torque, one = np.array([2.0]), np.ones((1, 1))
    assert not far_off(recursion, (one, np.array([2.5])), torque)
    assert far_off(recursion, (one, np.array([3.5])), torque)
    assert not far_off(recursion, (one, np.array([3.5])), 20.0 * torque)
    assert not far_off(recursion, (one, np.array([np.nan])), torque)


def test_what_is_not_known_yet_is_not_far_off():
    recursion = RecursiveLeastSquares(Prior(np.zeros(1), np.full(1, 10.0)), [0], np.ones(1),
                                      compiled=False)
    assert not far_off(recursion, (np.ones((1, 1)), np.array([20.0])), np.ones(1))
    assert far_off(recursion, (np.ones((1, 1)), np.array([200.0])), np.ones(1))
