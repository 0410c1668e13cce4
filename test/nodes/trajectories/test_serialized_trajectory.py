# SPDX-License-Identifier: Apache-2.0
"""Trajectories from bytes: the same as from messages, at a bounded cost."""

import sys

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Header
from support.messages import trajectory_message
from support.trajectories import random_trajectory
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.nodes.support.conversion import (
    seconds,
    stamp,
    trajectory_from_message,
    trajectory_to_message,
)
from robot_dynamics_ros.nodes.trajectories import serialized_trajectory
from robot_dynamics_ros.nodes.trajectories.serialized_trajectory import received_trajectory

pytestmark = pytest.mark.ros

MANY = 10**6
FIELDS = ('times', 'positions', 'velocities', 'accelerations')


def outcome(read):
    """Return what reading gives: the trajectory, or the text of the refusal."""
    try:
        return read()
    except TrajectoryError as error:
        return str(error)


def assert_same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        assert isinstance(one, str) and isinstance(other, str), (one, other)
        return
    assert one.joint_names == other.joint_names
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), field)


row = st.sampled_from([[], [0.5], [0.5, -1.5], [1.0, np.nan], [1.0, 2.0, 3.0]])
usual = st.sampled_from([[], [0.5, -1.5]])


@settings(max_examples=300)
@given(frame=st.text(alphabet='abü', max_size=9), names=st.lists(st.text(max_size=6), max_size=3),
       rows=st.lists(st.tuples(usual | row, usual | row, usual | row, row), min_size=1,
                     max_size=7))
def test_bytes_and_message_give_the_same_trajectory_or_a_refusal(frame, names, rows):
    keys = ('positions', 'velocities', 'accelerations', 'effort')
    message = trajectory_message([{'time': 0.1 * i, **dict(zip(keys, values))}
                                  for i, values in enumerate(rows)],
                                 names=[name.replace('\0', '') for name in names], start=12.5)
    message.header.frame_id = frame
    data = serialize_message(message)
    assert deserialize_message(data, JointTrajectory).joint_names == message.joint_names
    assert_same(outcome(lambda: received_trajectory(data, MANY).trajectory),
                outcome(lambda: trajectory_from_message(message)))


@pytest.mark.parametrize('degree', [1, 3, 5])
@pytest.mark.parametrize('n', [1, 2, 3])
def test_a_long_trajectory_is_read_whole(rng, degree, n):
    trajectory = random_trajectory(rng, points=1000, degree=degree, n=n)
    message = trajectory_to_message(trajectory, Header(stamp=stamp(3.25)))
    message.points[500].velocities = message.points[500].accelerations = []
    received = received_trajectory(serialize_message(message), MANY)
    assert received.start == seconds(message.header.stamp)
    assert_same(received.trajectory, trajectory_from_message(message))


def test_a_message_without_points_has_no_trajectory():
    for message in (JointTrajectory(), JointTrajectory(joint_names=['a', 'b'])):
        assert received_trajectory(message, MANY).trajectory is None
        assert received_trajectory(serialize_message(message), MANY).trajectory is None


def test_too_many_points_are_refused_before_they_are_read(rng, monkeypatch):
    message = trajectory_to_message(random_trajectory(rng, points=11), Header())
    data = serialize_message(message)
    assert len(received_trajectory(data, 11).trajectory) == 11
    monkeypatch.setattr(serialized_trajectory, 'Trajectory', None)
    monkeypatch.setattr(serialized_trajectory, 'trajectory_from_message', None)
    for form in (data, message):
        with pytest.raises(TrajectoryError, match='11 points, more than the 10 allowed'):
            received_trajectory(form, 10)


def test_other_encodings_go_through_the_message_where_they_are_short(rng, monkeypatch):
    message = trajectory_to_message(random_trajectory(rng), Header())
    foreign = b'\x00\x77' + serialize_message(message)[2:]
    with pytest.raises(TrajectoryError, match='not a joint trajectory'):
        received_trajectory(foreign, MANY)
    monkeypatch.setattr(serialized_trajectory, 'deserialize_message', lambda data, kind: message)
    assert_same(received_trajectory(foreign, MANY).trajectory, trajectory_from_message(message))
    with pytest.raises(TrajectoryError, match='not little-endian'):
        received_trajectory(foreign + bytes(2**20), MANY)


@settings(max_examples=300)
@given(st.integers(0, 300), st.binary(max_size=12), st.integers(0, 300))
def test_broken_bytes_are_refused_and_nothing_else(place, noise, length):
    message = trajectory_message([{'time': float(i), 'positions': [0.0, 1.0]} for i in range(5)])
    data = serialize_message(message)
    place = max(place, 4)
    broken = (data[:place] + noise + data[place + len(noise):])[:max(length, 4)]
    with np.errstate(all='ignore'):
        result = outcome(lambda: received_trajectory(broken, MANY))
    if isinstance(result, str):
        assert result and '\n' not in result
    elif result.trajectory is not None:
        assert np.all(np.isfinite(result.trajectory.positions))
        assert np.all(np.diff(result.trajectory.times) > 0.0)


def test_points_that_fill_other_fields_all_the_time_are_refused():
    rest = [0.0, 0.0]
    rows = [{'time': float(i), 'positions': rest, 'velocities': rest if i % 2 else []}
            for i in range(4000)]
    with pytest.raises(TrajectoryError, match='fill the same in all'):
        received_trajectory(serialize_message(trajectory_message(rows)), MANY)


def calls(action):
    """Return how many functions are called, those written in C included."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in ('call', 'c_call')

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def test_the_work_of_python_does_not_grow_with_the_points(rng):
    """Stream mode was silent while a long trajectory was read: 16.8 s for 200,000 points."""
    short, long = (serialize_message(trajectory_to_message(
        random_trajectory(rng, points=points), Header())) for points in (1000, 8000))
    assert (calls(lambda: received_trajectory(long, MANY))
            < 1.5 * calls(lambda: received_trajectory(short, MANY)))
