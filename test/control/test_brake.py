# SPDX-License-Identifier: Apache-2.0
"""The shortest brake that the motors can make."""

import numpy as np
import pytest
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.control.brake import (
    DURATIONS,
    shortest_brake,
    shortest_brake_on_the_spot,
)
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Largest deceleration of a brake along a motion, times its duration, per velocity.
PEAK = 1.5


class Mass:
    """One joint that is nothing but an inertia of 2 kg m^2."""

    def torque(self, q, qd, qdd):
        return 2.0 * qdd


def limits(effort):
    return EffortLimits(('a',), np.array([effort]))


@pytest.fixture
def steady():
    times = np.array([0.0, 100.0])
    return Trajectory(('a',), times, times[:, None], np.ones((2, 1)), np.zeros((2, 1)))


@pytest.mark.parametrize('duration', DURATIONS)
def test_a_brake_is_as_short_as_the_effort_allows(steady, duration):
    needed = 2.0 * PEAK / duration
    brake = shortest_brake(Mass(), steady, 1.0, limits(1.001 * needed))
    assert brake.duration == pytest.approx(duration)
    brake = shortest_brake(Mass(), steady, 1.0, limits(0.999 * needed))
    assert brake.duration == pytest.approx(min((each for each in DURATIONS if each > duration),
                                               default=duration))


def test_without_enough_effort_the_brake_that_exceeds_it_least_is_taken(steady):
    assert shortest_brake(Mass(), steady, 1.0, limits(1e-3)).duration == DURATIONS[-1]


def test_a_brake_on_the_spot_begins_with_the_state_and_keeps_to_the_limits():
    bounds = np.array([[-1.0], [0.3]])
    brake = shortest_brake_on_the_spot(Mass(), np.array([0.2]), np.array([1.0]), limits(12.0),
                                       bounds)
    at = brake.sample(np.linspace(0.0, brake.duration, 50))
    assert_close(at.q[0], np.array([0.2]), SAME_ALGEBRA)
    assert_close(at.qd[0], np.array([1.0]), SAME_ALGEBRA)
    assert at.q[-1, 0] <= 0.3 + SAME_ALGEBRA and at.qd[-1, 0] == pytest.approx(0.0, abs=1e-12)
    weak = shortest_brake_on_the_spot(Mass(), np.array([0.2]), np.array([1.0]), limits(2.0),
                                      np.array([[-9.0], [9.0]]))
    strong = shortest_brake_on_the_spot(Mass(), np.array([0.2]), np.array([1.0]), limits(40.0),
                                        np.array([[-9.0], [9.0]]))
    assert strong.duration < weak.duration
