# SPDX-License-Identifier: Apache-2.0
"""The adaptive controller on a clock: start, stop, and every way to end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.adaptive import arm

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.control.adaptive.choice import AdaptiveSettings, make_adaptive_controller
from robot_dynamics_ros.control.adaptive.stream import AdaptiveStream, AdaptiveStreamSettings
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.trajectory import Trajectory

CHAIN = arm(np.random.default_rng(5), 2)
MODEL = compile_model(CHAIN, backend='python')
NAMES = CHAIN.joint_names
LIMIT = 200.0
Q, REST = np.array([0.3, -0.4]), np.zeros(2)
WEIGHT = MODEL.gravity_torque(Q)
MOTION = Trajectory(NAMES, [0.0, 1.0], [Q + 0.2, Q + 0.5], [REST, REST], [REST, REST])


def make_stream(**changes):
    controller = make_adaptive_controller(MODEL, EffortLimits(NAMES, np.full(2, LIMIT)),
                                          AdaptiveSettings())
    values = {'joint_state_timeout': 0.1, 'safe_end': 'gravity', 'fade': 0.5,
              'speeds': np.full(2, 2.0), **changes}
    return AdaptiveStream(controller, AdaptiveStreamSettings(**values))


@pytest.fixture
def stream():
    return make_stream()


def seen(t, q=Q, qd=REST):
    return JointSample(t, t, np.asarray(q), np.asarray(qd), np.full(2, np.nan))


def test_it_is_silent_until_enabled(stream):
    assert stream.command(1.0, seen(1.0)) is None
    assert stream.command(1.1, None) is None


def test_the_start_at_rest_has_no_bump(stream):
    stream.enable(1.0, seen(1.0))
    first = stream.command(1.0, seen(1.0)).effort
    np.testing.assert_allclose(first, MODEL.torque(Q, REST, REST), atol=1e-9)
    assert stream.running and stream.ending == ''


def test_a_trajectory_that_begins_elsewhere_has_no_bump(stream):
    stream.enable(1.0, seen(1.0))
    before = stream.command(2.0, seen(2.0)).effort
    stream.follow(MOTION, 2.0, 2.0, seen(2.0))
    np.testing.assert_allclose(stream.command(2.0, seen(2.0)).effort, before, atol=1e-6)
    step = stream.command(2.001, seen(2.001)).effort - before
    assert np.abs(step).max() < 0.02 * np.abs(MODEL.torque(Q, REST, 100.0 * (0.2 + REST))).max()


def test_it_waits_for_the_first_joint_state(stream):
    stream.enable_when_ready()
    assert stream.command(1.0, None) is None
    assert stream.command(1.1, seen(0.5)) is None
    assert stream.command(1.2, seen(1.2, qd=[np.nan, 0.0])) is None
    assert stream.command(1.3, seen(1.3)) is not None
    assert stream.enabled and stream.running


def test_while_it_waits_a_trajectory_needs_a_joint_state(stream):
    stream.enable_when_ready()
    with pytest.raises(StateError, match='no joint state yet'):
        stream.follow(MOTION, 1.0, 1.0, None)
    stream.follow(MOTION, 1.0, 1.0, seen(1.0))
    assert stream.enabled and stream.running


@pytest.mark.parametrize(('now', 'measured', 'reason'), [
    (1.5, seen(1.05), 'stale'), (1.05, seen(1.05, qd=[np.nan, 0.0]), 'no finite velocity'),
    (0.5, seen(0.5), 'clock was set back')])
def test_what_ends_control_is_followed_by_the_weight(stream, now, measured, reason):
    stream.enable(1.0, seen(1.0))
    stream.command(1.0, seen(1.0))
    theta = stream.controller.theta
    np.testing.assert_allclose(stream.command(now, measured).effort, WEIGHT, atol=1e-9)
    assert not stream.running and reason in stream.ending
    np.testing.assert_array_equal(stream.controller.theta, theta)
    later = now + 0.01
    np.testing.assert_allclose(stream.command(later, seen(later)).effort, WEIGHT, atol=1e-9)
    stream.follow(MOTION, later, later, seen(later))
    assert stream.running


def test_an_arm_that_runs_away_ends_control():
    stream = make_stream(largest_error=0.3)
    stream.enable(1.0, seen(1.0))
    stream.command(1.01, seen(1.01, q=Q + [0.0, 0.2]))
    assert stream.running
    away = Q + [0.0, 0.4]
    weight = stream.controller.weight(away)
    np.testing.assert_allclose(stream.command(1.02, seen(1.02, q=away)).effort, weight, atol=1e-9)
    assert not stream.running
    assert f'joint {NAMES[1]} is -0.4 rad or m away' in stream.ending


def test_safe_zero():
    stream = make_stream(safe_end='zero')
    stream.enable(1.0, seen(1.0))
    np.testing.assert_array_equal(stream.command(2.0, seen(1.0)).effort, REST)


def test_disable_gives_one_last_safe_torque(stream):
    stream.enable(1.0, seen(1.0))
    stream.command(1.0, seen(1.0))
    stream.disable()
    np.testing.assert_allclose(stream.command(1.01, seen(1.01)).effort, WEIGHT, atol=1e-9)
    assert stream.command(1.02, seen(1.02)) is None
    with pytest.raises(StateError, match='not enabled'):
        stream.follow(MOTION, 1.0, 1.0, seen(1.0))


def test_it_cannot_begin_blind(stream):
    for measured in (None, seen(0.5), seen(1.0, qd=[0.0, np.nan])):
        with pytest.raises(StateError, match='control cannot begin'):
            stream.enable(1.0, measured)
        assert not stream.enabled
        assert stream.command(1.0, measured) is None


def test_one_sample_teaches_once(stream):
    stream.enable(1.0, seen(1.0))
    moving = seen(1.01, q=Q + 0.01)
    stream.command(1.01, moving)
    theta = stream.controller.theta
    assert stream.controller.learned_now
    stream.command(1.02, moving)
    np.testing.assert_array_equal(stream.controller.theta, theta)
    assert not stream.controller.learned_now


def test_stop_comes_to_rest(stream):
    stream.enable(1.0, seen(1.0))
    stream.follow(MOTION, 1.0, 1.0, seen(1.0))
    stream.stop(1.5)
    held = stream._reference.sample(10.0)
    np.testing.assert_array_equal([held.qd, held.qdd], np.zeros((2, 2)))
    assert np.all(held.q < MOTION.positions[-1])


def test_an_unknown_safe_end_is_refused():
    with pytest.raises(ParameterError, match='gravity, zero'):
        make_stream(safe_end='limp')


numbers = st.floats(allow_nan=True, allow_infinity=True)
events = st.tuples(st.sampled_from(['state', 'follow', 'stop', 'enable', 'disable']),
                   st.floats(-0.2, 0.5), st.lists(numbers, min_size=4, max_size=4))


@settings(max_examples=100, deadline=None)
@given(st.lists(events, max_size=12))
def test_whatever_happens_commands_are_finite_and_limited(happenings):
    stream, now = make_stream(), 1.0
    stream.enable(now, seen(now))
    measured = seen(now)
    with np.errstate(all='ignore'):
        for kind, later, values in happenings:
            now += later
            try:
                if kind == 'state':
                    measured = seen(now, values[:2], values[2:])
                elif kind == 'follow':
                    stream.follow(MOTION, now, now, measured)
                elif kind == 'stop':
                    stream.stop(now)
                elif kind == 'enable':
                    stream.enable(now, measured)
                else:
                    stream.disable()
            except RobotDynamicsError:
                pass
            command = stream.command(now, measured)
            assert command is None or np.all(np.abs(command.effort) <= LIMIT)
            assert np.all(np.isfinite(stream.controller.theta))
