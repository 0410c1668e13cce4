# SPDX-License-Identifier: Apache-2.0
"""Motions that come to rest: where they end, and that they begin as the robot moves."""

import numpy as np
import pytest
from support.tolerances import FINITE_DIFFERENCE, SAME_ALGEBRA, assert_close

from robot_dynamics_ros.motion.braking import brake_along, brake_on_the_spot
from robot_dynamics_ros.motion.trajectory import Trajectory

NAMES = ('a', 'b')
VELOCITY = np.array([1.0, -0.5])


@pytest.fixture
def steady():
    """Return a motion of constant velocity from zero, for two seconds."""
    times = np.array([0.0, 2.0])
    return Trajectory(NAMES, times, times[:, None] * VELOCITY, np.tile(VELOCITY, (2, 1)),
                      np.zeros((2, 2)))


def test_a_brake_along_a_motion_takes_half_the_way(steady):
    brake = brake_along(steady, 0.5, 0.8)
    first, last = (brake.sample(np.array([t])) for t in (0.0, 0.8))
    assert_close(first.q[0], 0.5 * VELOCITY, SAME_ALGEBRA)
    assert_close(first.qd[0], VELOCITY, SAME_ALGEBRA)
    assert_close(last.q[0], (0.5 + 0.5 * 0.8) * VELOCITY, SAME_ALGEBRA)
    for rest in (first.qdd, last.qd, last.qdd):
        assert_close(rest, np.zeros((1, 2)), SAME_ALGEBRA)


def test_a_brake_along_a_motion_stays_on_its_path(steady):
    at = brake_along(steady, 0.5, 0.8).sample(np.linspace(0.0, 0.8, 200))
    assert_close(at.q[:, 1], -0.5 * at.q[:, 0], SAME_ALGEBRA)
    assert np.all(np.diff(at.q[:, 0]) >= 0.0) and np.all(np.diff(at.qd[:, 0]) <= 0.0)


def test_velocities_and_accelerations_of_a_brake_are_those_of_its_positions(rng):
    times = np.arange(4.0)
    motion = Trajectory(NAMES, times, *rng.normal(size=(3, 4, 2)))
    brake = brake_along(motion, 1.2, 0.7)
    h = 1e-5
    for t in brake.times[1:-1]:
        before, at, after = (brake.sample(np.array([t + step])) for step in (-h, 0.0, h))
        assert_close((after.q - before.q) / (2.0 * h), at.qd, FINITE_DIFFERENCE)
        assert_close((after.qd - before.qd) / (2.0 * h), at.qdd, FINITE_DIFFERENCE)


def test_a_brake_ends_at_the_end_of_the_motion_at_the_latest(steady):
    brake = brake_along(steady, 1.9, 0.8)
    last = brake.sample(np.array([0.8]))
    assert_close(last.q[0], 2.0 * VELOCITY, SAME_ALGEBRA)
    assert_close(last.qd[0], np.zeros(2), SAME_ALGEBRA)
    over = brake.positions[:, 0] >= 2.0
    assert 1 < over.sum() < over.size
    assert not brake.velocities[over].any() and not brake.accelerations[over].any()


def test_a_brake_on_the_spot_goes_on_by_half_of_the_way_but_not_beyond_a_limit():
    limits = np.array([[-1.0, -0.1], [1.0, 0.1]])
    brake = brake_on_the_spot(NAMES, np.array([0.2, 0.0]), VELOCITY, 0.6, limits)
    assert brake.joint_names == NAMES and brake.times.tolist() == [0.6]
    np.testing.assert_allclose(brake.positions, [[0.2 + 0.5 * 0.6, -0.1]])
    assert not brake.velocities.any() and not brake.accelerations.any()
