# SPDX-License-Identifier: Apache-2.0
"""What feedback carries when feedforward begins."""

import numpy as np
import pytest

from robot_dynamics_ros.control.carried_effort import SETTLED, CarriedEffort

WEIGHT = np.array([10.0, -4.0])
REST = np.zeros(2)


def test_what_the_integral_carries_stays():
    carried = CarriedEffort.seen(WEIGHT, REST, WEIGHT, 1.5)
    assert not carried.fades
    np.testing.assert_array_equal(carried.at(np.array([0.0, 5.0])), [WEIGHT, WEIGHT])


def test_what_p_carries_is_taken_over_smoothly():
    carried = CarriedEffort.seen(WEIGHT, np.array([2.0 * SETTLED, 0.0]), WEIGHT, 2.0)
    assert carried.fades
    found = carried.at(np.array([-1.0, 0.0, 1.0, 2.0, 9.0]))
    np.testing.assert_allclose(found[:, 0], [10.0, 10.0, 5.0, 0.0, 0.0])
    np.testing.assert_array_equal(found[:, 1], -4.0)


def test_what_makes_up_for_an_error_of_the_model_is_not_taken_away():
    carried = CarriedEffort.seen(1.3 * WEIGHT, REST, WEIGHT, 1.5)
    np.testing.assert_array_equal(carried.effort, WEIGHT)
    lighter = CarriedEffort.seen(0.7 * WEIGHT, REST, WEIGHT, 1.5)
    np.testing.assert_array_equal(lighter.effort, WEIGHT)
    little = CarriedEffort.seen(0.3 * WEIGHT, REST, WEIGHT, 1.5)
    np.testing.assert_allclose(little.effort, 0.3 * WEIGHT)
    against = CarriedEffort.seen(-WEIGHT, REST, WEIGHT, 1.5)
    np.testing.assert_array_equal(against.effort, REST)


def test_without_knowledge_everything_fades_in():
    carried = CarriedEffort.unknown(WEIGHT, 1.5)
    np.testing.assert_array_equal(carried.at(np.array([0.0, 1.5])), [WEIGHT, REST])
    assert not CarriedEffort.unknown(WEIGHT, 0.0).fades


def test_what_is_left_goes_on_where_it_was():
    carried = CarriedEffort.unknown(WEIGHT, 2.0)
    left = carried.after(1.0)
    np.testing.assert_allclose(left.effort, 0.5 * WEIGHT)
    assert left.duration == pytest.approx(1.0)
    over = carried.after(3.0)
    assert not over.fades
    np.testing.assert_array_equal(over.at(np.zeros(1)), [REST])
