# SPDX-License-Identifier: Apache-2.0
"""Rows of a message, or postures of rest, to a trajectory."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.waypoints import trajectory_from_waypoints, trajectory_through_stops


def waypoints(**changes):
    rows = {'positions': [[0, 0], [1, 2]], 'velocities': [[], [0, 0]], 'accelerations': [[], []]}
    return trajectory_from_waypoints(('a', 'b'), [0.0, 1.0], **{**rows, **changes})


def test_an_empty_row_means_not_filled():
    trajectory = waypoints(efforts=[[], [3, 4]])
    assert np.isnan(trajectory.velocities[0]).all()
    np.testing.assert_array_equal(trajectory.velocities[1], [0, 0])
    np.testing.assert_array_equal(trajectory.efforts[1], [3, 4])
    assert trajectory.degrees.tolist() == [1]


def test_efforts_can_be_left_out():
    assert np.isnan(waypoints().efforts).all()


@pytest.mark.parametrize(('changes', 'message'), [
    ({'positions': [[0, 0], [1]]}, 'point 1 has 1 positions, expected 2'),
    ({'positions': [[], [1, 2]]}, 'point 0 has 0 positions.*without positions'),
    ({'velocities': [[0], []]}, 'point 0 has 1 velocities'),
    ({'efforts': [[1], [0, 0]]}, 'point 0 has 1 efforts'),
    ({'positions': [[0, 0], [1, np.nan]]}, 'joint b: positions of point 1'),
    ({'velocities': [[], [np.nan, np.nan]]}, 'joint a: velocities of point 1'),
    ({'efforts': [[], [0, np.inf]]}, 'joint b: efforts of point 1'),
])
def test_wrong_rows_are_refused(changes, message):
    with pytest.raises(TrajectoryError, match=message):
        waypoints(**changes)


def test_no_points_are_refused():
    with pytest.raises(TrajectoryError, match='at least one point'):
        trajectory_from_waypoints(('a',), [], positions=[], velocities=[], accelerations=[])


def test_a_motion_through_stops_reaches_its_velocity_and_rests_in_each():
    stops = np.array([[0.0, 0.0], [1.0, -0.1], [1.0, 0.0]])
    motion = trajectory_through_stops(('a', 'b'), stops, np.array([0.5, 2.0]), 0.7)
    np.testing.assert_allclose(motion.times, [0.0, 3.75, 4.45])  # 1.875 * 1 / 0.5; the shortest
    at = motion.sample(np.linspace(0.0, motion.duration, 8901))
    assert np.abs(at.qd[:, 0]).max() == pytest.approx(0.5, rel=1e-6)
    rest = motion.sample(motion.times)
    np.testing.assert_allclose(rest.q, stops, atol=1e-12)
    np.testing.assert_allclose(rest.qd, 0.0, atol=1e-12)
