# SPDX-License-Identifier: Apache-2.0
"""The state machine of torque streams: what holds whatever the law does."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_dynamics_ros.control.safe_stream import SafeStream, check_safe_end
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits, LimitedEffort
from robot_dynamics_ros.motion.joint_state import JointSample

LIMITS = EffortLimits(('a', 'b'), np.array([10.0, 20.0]))


def state(time):
    return JointSample(time, time, np.zeros(2), np.zeros(2), np.full(2, np.nan))


class Scripted(SafeStream):
    """A law that returns or raises what it is told to."""

    limits = LIMITS

    def __init__(self, effort=(1.0, 2.0), weight=(3.0, 4.0), silent=False):
        super().__init__(SimpleNamespace(joint_state_timeout=0.1, safe_end='gravity'), 'not begun')
        self.effort, self.weight, self.silent = effort, weight, silent

    def begin(self, now, measured):
        self._usable(now, measured)
        self._begin(now)

    def command(self, now, measured):
        return self._command(now, measured)

    def end(self, reason):
        self._end(reason)

    def _effort(self, now, measured):
        if isinstance(self.effort, Exception):
            raise self.effort
        return LimitedEffort(np.array(self.effort), np.zeros(2, dtype=np.int64))

    def _weight(self, q):
        if isinstance(self.weight, Exception):
            raise self.weight
        return np.array(self.weight)

    def _silent_after_end(self):
        return self.silent


def begun(**choices):
    stream = Scripted(**choices)
    stream.begin(1.0, state(1.0))
    return stream


def test_silent_then_running_then_safe():
    stream = Scripted()
    assert stream.command(0.9, state(0.9)) is None and stream.ending == 'not begun'
    stream.begin(1.0, state(1.0))
    assert stream.command(1.0, state(1.0)).effort.tolist() == [1.0, 2.0]
    assert stream.running and stream.ending == ''
    stream.end('enough')
    assert stream.command(1.1, state(1.1)).effort.tolist() == [3.0, 4.0]
    assert stream.command(1.2, state(1.2)).effort.tolist() == [3.0, 4.0]
    assert not stream.running and stream.ending == 'enough'


def test_one_safe_command_is_enough_for_a_law_that_says_so():
    stream = begun(silent=True)
    stream.end('enough')
    assert stream.command(1.1, state(1.1)).effort.tolist() == [3.0, 4.0]
    assert stream.command(1.2, state(1.2)) is None


@pytest.mark.parametrize(('now', 'measured', 'reason'), [
    (0.9, state(0.9), 'the clock was set back'), (1.3, state(1.1), 'joint states are stale'),
    (1.1, None, 'no joint state yet')])
def test_control_ends_without_a_usable_state_and_stays_ended(now, measured, reason):
    stream = begun()
    assert stream.command(now, measured).effort.tolist() in ([3.0, 4.0], [0.0, 0.0])
    assert stream.ending == reason
    stream.command(2.0, state(2.0))
    assert not stream.running


@pytest.mark.parametrize('effort', [
    (np.nan, 0.0), (0.0, np.inf), (10.1, 0.0), (0.0, -20.1), StateError('lost'),
    ParameterError('lost')])
def test_a_law_that_fails_is_replaced_by_the_weight(effort):
    stream = begun(effort=effort)
    assert stream.command(1.0, state(1.0)).effort.tolist() == [3.0, 4.0]
    assert not stream.running
    assert 'lost' in stream.ending or 'beyond the limits' in stream.ending


@pytest.mark.parametrize(('weight', 'expected'), [
    ((100.0, -100.0), [10.0, -20.0]), ((np.nan, 0.0), [0.0, 0.0]),
    (StateError('no model'), [0.0, 0.0])])
def test_the_weight_is_limited_or_zero(weight, expected):
    stream = begun(weight=weight)
    stream.end('enough')
    assert stream.command(1.0, state(1.0)).effort.tolist() == expected


def test_nothing_begins_without_a_fresh_state():
    stream = Scripted()
    for measured in (None, state(0.5)):
        with pytest.raises(StateError, match='control cannot begin'):
            stream.begin(1.0, measured)
        assert stream.command(1.0, measured) is None


def test_an_unknown_safe_end_is_refused():
    with pytest.raises(ParameterError, match='gravity, zero'):
        check_safe_end('limp')


numbers = st.floats()
pairs = st.tuples(numbers, numbers) | st.sampled_from([StateError('x'), ParameterError('x')])


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from(['begin', 'end', 'wait']), st.floats(0.0, 3.0),
                          st.none() | st.floats(0.0, 3.0), pairs, pairs), max_size=8))
def test_every_command_is_finite_and_inside_the_limits(happenings):
    stream = Scripted()
    for kind, now, stamp, effort, weight in happenings:
        stream.effort, stream.weight = effort, weight
        measured = None if stamp is None else state(stamp)
        try:
            if kind == 'begin':
                stream.begin(now, measured)
            elif kind == 'end':
                stream.end('told so')
        except RobotDynamicsError:
            assert kind == 'begin'
        command = stream.command(now, measured)
        assert command is None or np.all(np.abs(command.effort) <= LIMITS.values)
        assert stream.running == (stream.ending == '')
