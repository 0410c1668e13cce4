# SPDX-License-Identifier: Apache-2.0
"""A reference without jumps."""

import numpy as np
import pytest
from support.trajectories import NAMES, random_trajectory

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.blending import Reference
from robot_dynamics_ros.motion.trajectory import Trajectory

FADE = 0.5
Q, QD = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.0, -0.5])
SPEEDS = np.full(3, 2.0)


@pytest.fixture
def reference():
    return Reference(NAMES, Q, QD, 10.0, fade=FADE, speeds=SPEEDS)


def assert_smooth(before, after):
    for field in ('q', 'qd', 'qdd'):
        np.testing.assert_allclose(getattr(after, field), getattr(before, field), atol=1e-6)


def test_it_begins_at_the_measured_state_and_comes_to_rest_there(reference):
    first = reference.sample(10.0)
    np.testing.assert_allclose([first.q, first.qd, first.qdd], [Q, QD, np.zeros(3)])
    last = reference.sample(10.0 + FADE)
    np.testing.assert_allclose([last.q, last.qd, last.qdd], [Q, np.zeros(3), np.zeros(3)])


def test_position_speed_and_acceleration_belong_together(rng, reference):
    reference.follow(random_trajectory(rng), 10.2, 10.2)
    h = 1e-5
    for t in (10.3, 10.6, 11.0):
        a, b, c = (reference.sample(t + k * h) for k in (-1, 0, 1))
        np.testing.assert_allclose((c.q - a.q) / (2 * h), b.qd, atol=1e-4)
        np.testing.assert_allclose((c.qd - a.qd) / (2 * h), b.qdd, atol=1e-3)


def test_no_order_makes_it_jump(rng, reference):
    before = reference.sample(10.2)
    reference.follow(random_trajectory(rng), 10.0, 10.2)
    assert_smooth(before, reference.sample(10.2))
    before = reference.sample(10.7)
    reference.follow(random_trajectory(rng), 10.5, 10.7)
    assert_smooth(before, reference.sample(10.7))
    before = reference.sample(11.1)
    reference.stop(11.1)
    assert_smooth(before, reference.sample(11.1))


def test_after_the_fade_it_is_the_trajectory(rng, reference):
    trajectory = random_trajectory(rng, points=20)
    reference.follow(trajectory, 10.0, 10.2)
    late = 10.2 + 3.0 * 1.875 / 2.0 + FADE  # positions are within 3 rad of each other
    np.testing.assert_allclose(reference.sample(late).q, trajectory.sample(late - 10.0).q)


def test_a_far_start_is_approached_no_faster_than_allowed(reference):
    far = Trajectory(NAMES, [0.0], [Q + [0.0, 0.0, 5.0]])
    late = 10.0 + FADE
    reference.follow(far, late, late)
    speeds = np.array([reference.sample(late + t).qd for t in np.linspace(0.0, 10.0, 2001)])
    assert np.abs(speeds[:, 2]).max() == pytest.approx(2.0, rel=1e-3)
    np.testing.assert_allclose(reference.sample(late + 10.0).q, Q + [0.0, 0.0, 5.0])


def test_an_end_in_motion_is_followed_by_rest(reference):
    moving = Trajectory(NAMES, [0.0, 1.0], [Q, Q + 1.0], [QD, QD], [QD, QD])
    reference.follow(moving, 11.0, 11.0)
    assert not reference.ended(11.9)
    end = reference.sample(12.0 - 1e-9)
    assert reference.ended(12.0)
    assert_smooth(end, reference.sample(12.0 + 1e-9))
    rest = reference.sample(20.0)
    np.testing.assert_allclose([rest.q, rest.qd, rest.qdd], [Q + 1.0, np.zeros(3), np.zeros(3)])


def test_a_first_point_in_the_future_is_approached_until_then(reference):
    later = Trajectory(NAMES, [2.0], [Q + 1.0])
    reference.follow(later, 11.0, 11.0)
    np.testing.assert_allclose(reference.sample(12.0).q, Q + 0.5, atol=1e-9)
    np.testing.assert_allclose(reference.sample(13.0).q, Q + 1.0)


@pytest.mark.parametrize(('fade', 'speeds'), [(0.0, SPEEDS), (0.5, 0.0 * SPEEDS),
                                              (np.nan, SPEEDS)])
def test_fades_that_make_no_sense_are_refused(fade, speeds):
    with pytest.raises(ParameterError, match='must be positive'):
        Reference(NAMES, Q, QD, 0.0, fade=fade, speeds=speeds)
