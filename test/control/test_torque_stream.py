# SPDX-License-Identifier: Apache-2.0
"""Torque at a rate, and what follows when the motion ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pendulum import Pendulums

from robot_dynamics_ros.control.computed_torque import ComputedTorqueGains, computed_torque
from robot_dynamics_ros.control.torque_stream import StreamSettings, TorqueStream
from robot_dynamics_ros.errors import ParameterError, StateError, TrajectoryError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.motion_limits import MotionLimits
from robot_dynamics_ros.motion.trajectory import Trajectory

MODEL = Pendulums()
LIMITS = EffortLimits(('a',), np.array([500.0]))
TRAJECTORY = Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]])


def state(time, q=0.3, qd=0.0):
    return JointSample(time, time, np.array([q]), np.array([qd]), np.array([np.nan]))


def started(**choices):
    stream = TorqueStream(StreamSettings(LIMITS, **choices))
    stream.start(TRAJECTORY, 10.0, 10.0, state(10.0))
    return stream


def test_nothing_is_commanded_before_the_first_trajectory():
    assert TorqueStream(StreamSettings(LIMITS)).command(MODEL, 1.0, state(1.0)) is None


def test_while_it_runs_the_torque_is_that_of_the_trajectory():
    curve = TRAJECTORY.sample(0.4)
    effort = started().command(MODEL, 10.4, state(10.4)).effort
    np.testing.assert_allclose(effort, MODEL.torque(curve.q, curve.qd, curve.qdd))


def test_feedback_is_computed_torque():
    gains = ComputedTorqueGains([100.0], [20.0])
    effort = started(feedback=gains).command(MODEL, 10.4, state(10.4, 0.2, 0.1)).effort
    np.testing.assert_allclose(effort, computed_torque(MODEL, gains, TRAJECTORY.sample(0.4),
                                                       np.array([0.2]), np.array([0.1])))


def test_after_the_end_the_arm_is_carried_where_it_is():
    stream = started()
    effort = stream.command(MODEL, 11.5, state(11.5, q=0.9)).effort
    np.testing.assert_allclose(effort, [10.0 * np.cos(0.9)])
    assert not stream.running
    assert stream.ending == 'the trajectory has ended'


@pytest.mark.parametrize('choices', [{'safe_end': 'zero'}, {'gravity_mode': 'none'}])
def test_after_the_end_there_is_no_torque_where_that_is_safe(choices):
    assert started(**choices).command(MODEL, 11.5, state(11.5)).effort.tolist() == [0.0]


def test_stale_joint_states_end_the_motion():
    stream = started()
    effort = stream.command(MODEL, 10.4, state(10.2, q=0.5)).effort
    np.testing.assert_allclose(effort, [10.0 * np.cos(0.5)])
    assert stream.ending == 'joint states are stale'
    stream.command(MODEL, 10.41, state(10.41))
    assert not stream.running, 'a motion that was ended stays ended'


def test_a_clock_set_back_ends_the_motion():
    stream = started()
    stream.command(MODEL, 10.5, state(10.5))
    stream.command(MODEL, 3.0, state(3.0))
    assert stream.ending == 'the clock was set back'


def test_a_stop_ends_the_motion():
    stream = started()
    stream.stop('stopped by an empty trajectory')
    np.testing.assert_allclose(stream.command(MODEL, 10.1, state(10.1)).effort,
                               MODEL.gravity_torque(np.array([0.3])))


def test_a_new_trajectory_replaces_the_old_one():
    stream = started()
    stream.start(Trajectory(('a',), [0.0, 1.0], [[2.0], [2.0]]), 10.2, 10.2, state(10.2))
    np.testing.assert_allclose(stream.command(MODEL, 10.3, state(10.3)).effort,
                               [10.0 * np.cos(2.0)])


@pytest.mark.parametrize('measured', [None, state(3.0)])
def test_without_a_fresh_joint_state_nothing_starts_and_a_running_motion_ends(measured):
    stream = started()
    with pytest.raises(StateError, match='no fresh joint state'):
        stream.start(TRAJECTORY, 10.1, 10.1, measured)
    assert not stream.running


def test_a_trajectory_that_cannot_begin_leaves_the_present_one_running():
    stream = started()
    late = Trajectory(('a',), [1.0], [[1.0]], [[0.0]])
    with pytest.raises(TrajectoryError):
        stream.start(late, 10.1, 10.1, state(10.1, q=np.nan))
    curve = TRAJECTORY.sample(0.2)
    np.testing.assert_allclose(stream.command(MODEL, 10.2, state(10.2)).effort,
                               MODEL.torque(curve.q, curve.qd, curve.qdd))


def test_a_late_first_point_is_reached_from_the_measured_state():
    stream = TorqueStream(StreamSettings(LIMITS))
    late = Trajectory(('a',), [1.0], [[1.0]], [[0.0]])
    stream.start(late, 10.0, 10.0, state(10.0, q=0.0))
    middle = late.with_start(0.0, [0.0], [0.0]).sample(0.5)
    np.testing.assert_allclose(stream.command(MODEL, 10.5, state(10.5)).effort,
                               MODEL.torque(middle.q, middle.qd, middle.qdd))


def test_torques_are_limited():
    stream = TorqueStream(StreamSettings(EffortLimits(('a',), np.array([1.0]))))
    stream.start(TRAJECTORY, 10.0, 10.0, state(10.0))
    effort, clamped = stream.command(MODEL, 10.01, state(10.01))
    assert effort.tolist() == [1.0]
    assert clamped.tolist() == [1]


def test_a_torque_that_is_not_finite_becomes_zero_and_ends_the_motion():
    class Broken(Pendulums):
        def torque(self, q, qd, qdd):
            return np.array([np.nan])

    stream = started()
    assert stream.command(Broken(), 10.1, state(10.1)).effort.tolist() == [0.0]
    assert 'not finite' in stream.ending


def test_feedback_without_measured_velocity_ends_the_motion():
    stream = started(feedback=ComputedTorqueGains([1.0], [1.0]))
    assert stream.command(MODEL, 10.1, state(10.1, qd=np.nan)).effort.tolist() == [0.0]
    assert 'velocities' in stream.ending


def test_a_motion_far_from_the_robot_does_not_start():
    """Three radians off with feedback gave full torque."""
    stream = TorqueStream(StreamSettings(LIMITS, feedback=ComputedTorqueGains([1e4], [1e2]),
                                         largest_error=0.25))
    with pytest.raises(StateError, match=r'joint a is -3 rad or m away.*largest_error 0.25'):
        stream.start(TRAJECTORY, 10.0, 10.0, state(10.0, q=3.0))
    assert stream.command(MODEL, 10.01, state(10.01, q=3.0)) is None
    stream.start(TRAJECTORY, 10.0, 10.5, state(10.5, q=0.45))
    assert stream.running


def test_time_to_the_first_point_bridges_any_distance():
    stream = TorqueStream(StreamSettings(LIMITS, largest_error=0.1))
    late = Trajectory(('a',), [5.0], [[1.0]], [[0.0]])
    stream.start(late, 10.0, 10.0, state(10.0, q=0.0))
    stream.command(MODEL, 12.5, state(12.5, q=0.5))
    assert stream.running


def test_lost_tracking_ends_the_motion_with_the_weight_at_once():
    stream = started(largest_error=0.35)
    stream.command(MODEL, 10.1, state(10.1))
    assert stream.running
    effort = stream.command(MODEL, 10.8, state(10.8, q=0.4)).effort
    np.testing.assert_allclose(effort, [10.0 * np.cos(0.4)])
    assert 'joint a is 0.496 rad or m away' in stream.ending


@pytest.mark.parametrize(('trajectory', 'message'), [
    (Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]]), 'velocity 1.5'),
    (Trajectory(('a',), [0.1, 9.0], [[0.0], [1.0]], [[0.0], [0.0]]), 'velocity 4.5'),
    (Trajectory(('a',), [0.0, 9.0], [[0.0], [3.0]], [[0.0], [0.0]]), 'position 3'),
], ids=['too quick', 'too quick to the first point', 'too far'])
def test_a_motion_beyond_the_limits_does_not_start(trajectory, message):
    limits = MotionLimits(('a',), [[-2.0], [2.0]], [1.2])
    stream = TorqueStream(StreamSettings(LIMITS, motion_limits=limits))
    with pytest.raises(TrajectoryError, match=f'joint a: {message}'):
        stream.start(trajectory, 10.0, 10.0, state(10.0))
    assert not stream.running


def test_a_robot_outside_its_limits_may_move_back_inside():
    limits = MotionLimits(('a',), [[-2.0], [2.0]], [np.nan])
    stream = TorqueStream(StreamSettings(LIMITS, motion_limits=limits))
    stream.start(Trajectory(('a',), [1.0], [[1.9]]), 10.0, 10.0, state(10.0, q=2.1))
    assert stream.running


numbers = st.floats() | st.sampled_from([1e308, -1e308, 1e-320])


@settings(max_examples=300)
@given(st.lists(st.tuples(st.floats(0.0, 20.0), numbers, numbers), min_size=1, max_size=5),
       st.booleans(), st.sampled_from(['full', 'none']))
def test_no_state_whatever_gives_a_torque_beyond_the_limits(states, feedback, mode):
    gains = ComputedTorqueGains([1e4], [1e2]) if feedback else None
    stream = started(feedback=gains, gravity_mode=mode)
    with np.errstate(all='ignore'):
        for now, q, qd in states:
            effort = stream.command(MODEL, now, state(now, q, qd)).effort
            assert np.all(np.abs(effort) <= LIMITS.values)


@pytest.mark.parametrize(('choices', 'message'), [
    ({'safe_end': 'fall'}, 'safe_end'),
    ({'gravity_mode': 'only', 'feedback': ComputedTorqueGains([1.0], [1.0])}, 'gravity_mode'),
])
def test_contradicting_settings_are_refused(choices, message):
    with pytest.raises(ParameterError, match=message):
        StreamSettings(LIMITS, **choices)
