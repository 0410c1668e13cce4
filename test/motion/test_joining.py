# SPDX-License-Identifier: Apache-2.0
"""How a trajectory begins on a controller that is somewhere."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.joining import Present, joined
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.trajectory import Trajectory

HERE = JointSample(1.0, 1.0, np.array([0.5]), np.array([0.1]), np.array([np.nan]))
LATE = Trajectory(('a',), [1.0, 2.0], [[1.0], [2.0]], [[0.0], [0.0]])
NOW = Trajectory(('a',), [0.0, 1.0], [[1.0], [2.0]], [[0.0], [0.0]])
RUNNING = Trajectory(('a',), [0.0, 2.0], [[0.0], [1.0]], [[0.0], [0.0]], [[0.0], [0.0]])


@pytest.mark.parametrize('elapsed', [0.0, 0.3, 0.999])
def test_the_measured_state_belongs_where_the_trajectory_is_now(elapsed):
    result = joined(LATE, Present(elapsed, HERE), 100.0)
    assert result.now == result.trajectory.times[0] == elapsed
    assert result.trajectory.positions[0, 0] == 0.5
    assert result.delay == 0.0


def test_a_first_point_that_is_over_needs_no_state():
    result = joined(LATE, Present(1.5, HERE), 100.0)
    assert result.trajectory is LATE
    assert result.now == 1.5


def test_without_a_joint_state_nothing_is_invented():
    result = joined(LATE, Present(), 100.0)
    assert result.blind
    assert result.trajectory is LATE


def test_a_trajectory_that_has_ended_is_refused():
    with pytest.raises(TrajectoryError, match=r'ended 0\.500 s ago'):
        joined(LATE, Present(2.5, HERE), 100.0)


def test_a_trajectory_of_the_future_is_approached_from_now():
    result = joined(NOW, Present(-2.0, HERE), 100.0)
    assert result.delay == 2.0
    np.testing.assert_array_equal(result.trajectory.times, [0.0, 2.0, 3.0])
    assert result.trajectory.positions[0, 0] == 0.5


def test_what_runs_goes_on_until_a_trajectory_of_the_future_begins():
    for new, way in ((NOW, 0.0), (LATE, 1.0)):
        result = joined(new, Present(-1.5, HERE, (RUNNING, 0.5)), 100.0).trajectory
        times = np.linspace(0.0, 1.5, 40)
        np.testing.assert_allclose(result.sample(times).q, RUNNING.sample(0.5 + times).q,
                                   atol=1e-3)
        assert result.duration == pytest.approx(1.5 + way + 1.0)
        assert np.abs(np.diff(result.sample(np.linspace(0, 1.6, 200)).q[:, 0])).max() < 0.01


def test_motions_that_do_not_meet_are_joined_from_now():
    far = Trajectory(('a',), [0.0, 1.0], [[3.0], [2.0]], [[0.0], [0.0]])
    result = joined(far, Present(-1.5, HERE, (RUNNING, 0.5)), 100.0).trajectory
    np.testing.assert_array_equal(result.positions[:2, 0], [0.5, 3.0])


def test_a_continuous_joint_goes_on_in_the_turn_of_what_comes():
    turn = 2.0 * np.pi
    next_turn = Trajectory(('a',), [0.0, 1.0], [[1.0 + turn], [2.0 + turn]])
    result = joined(next_turn, Present(-1.5, HERE, (RUNNING, 0.5)), 100.0, np.array([True]))
    assert result.trajectory.positions[0, 0] == pytest.approx(RUNNING.sample(0.5).q[0] + turn)
    assert np.abs(np.diff(result.trajectory.positions[:-1, 0])).max() < 0.01


@pytest.mark.parametrize('delay', [601.0, 1e9, 1e300])
def test_a_trajectory_of_the_far_future_is_refused(delay):
    with pytest.raises(TrajectoryError, match='more than 600 s: send it later'):
        joined(NOW, Present(-delay, HERE, (RUNNING, 0.5)), 100.0)
