# SPDX-License-Identifier: Apache-2.0
"""The tracking experiment: one motion several ways, recorded."""

from dataclasses import replace

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from support.messages import assert_brakes, joint_state_message, publisher

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.playing.tracked_motion import load_tracked_motions
from robot_dynamics_ros.nodes.support.conversion import seconds, trajectory_from_message
from robot_dynamics_ros.nodes.tracking_experiment import PERIOD, TrackingExperimentNode

pytestmark = pytest.mark.ros

WAYS = {'ways': ['straight', 'by a', 'by b'], 'topics': ['robot/trajectory', 'a', 'b']}


@pytest.fixture
def node(make_node, planar, tmp_path, monkeypatch):
    node = make_node(TrackingExperimentNode, now=50.0, robot_description=planar,
                     motion_duration=2.0, approach_duration=0.5,
                     output=str(tmp_path / 'tracking.npz'), **WAYS)
    node.sent = []
    monkeypatch.setattr(node, 'count_publishers', lambda topic: 3)
    for k, topic in enumerate(WAYS['topics']):
        output = publisher(node, f'/{topic}')
        monkeypatch.setattr(output, 'get_subscription_count', lambda: 1)
        monkeypatch.setattr(output, 'publish',
                            lambda message, k=k: node.sent.append((k, message)))
    return node


def run(node, duration, away=lambda way: 0.0):
    for _ in range(round(duration / 0.05)):
        node.now += 0.05
        q = np.zeros(2)
        if node.sent:
            way, message = node.sent[-1]
            trajectory = trajectory_from_message(message)
            q = trajectory.sample(node.now - seconds(message.header.stamp)).q + away(way)
        node.receive(joint_state_message(node.now, q, [0.0, 0.0], [1.0, 2.0]))
        node.tick(PERIOD)
        if node.finished:
            return


def test_every_way_is_played_and_recorded(node):
    run(node, 60.0, away=lambda way: (0.03, 0.02, 0.01)[way])
    assert node.finished
    assert not node.failure
    assert [way for way, _ in node.sent] == [0, 0, 1, 1, 2, 2], 'approach and motion, each'
    recordings = load_tracked_motions(node.settings.output)
    assert [recording.name for recording in recordings] == WAYS['ways']
    for recording, error in zip(recordings, (0.03, 0.02, 0.01)):
        assert recording.tracking.total_rms == pytest.approx(error, rel=1e-6)
        assert recording.efforts[0].tolist() == [1.0, 2.0]


def test_a_robot_that_goes_astray_is_braked_and_the_node_fails(node):
    run(node, 5.0)
    run(node, 5.0, away=lambda way: 0.9)
    assert node.finished
    assert 'away from the motion' in node.failure
    assert_brakes(node.sent[-1][1])


def test_joint_states_before_the_first_clock_begin_nothing(node):
    """The demo failed now and then: its motion began at time 0, and 7.9 s later was the next."""
    node.now = 0.0
    node.receive(joint_state_message(7.9, [0.0, 0.0], [0.0, 0.0], [1.0, 2.0]))
    node.tick(PERIOD)
    assert node.sent == []
    node.now = 7.9
    node.tick(PERIOD)
    run(node, 1.0)
    assert node.sent and not node.failure


def test_a_robot_far_outside_its_limits_is_not_moved(node):
    node.receive(joint_state_message(node.now, [0.0, 45.0], [0.0, 0.0], [1.0, 2.0]))
    node.tick(PERIOD)
    assert node.finished
    assert 'outside its limits' in node.failure
    assert node.sent == []


def test_the_end_of_the_node_brakes_the_robot(node):
    run(node, 4.0)
    node.trigger_deactivate()
    assert_brakes(node.sent[-1][1])


def test_it_waits_for_all_its_partners(node, monkeypatch):
    monkeypatch.setattr(node, 'count_publishers', lambda topic: 2)
    run(node, 3.0)
    assert node.sent == []


@pytest.mark.parametrize(('parameters', 'message'), [
    ({'output': ''}, 'parameter output'),
    ({'output': 'x.npz', 'ways': ['one']}, '1 names and 2 topics'),
])
def test_settings_that_cannot_be_are_refused(make_node, planar, parameters, message):
    with pytest.raises(ParameterError, match=message):
        make_node(TrackingExperimentNode, robot_description=planar, **parameters)


def test_a_load_appears_in_every_motion_and_is_taken_off(make_node, planar, tmp_path, monkeypatch):
    node = make_node(TrackingExperimentNode, now=50.0, robot_description=planar,
                     motion_duration=2.0, approach_duration=0.5,
                     output=str(tmp_path / 'tracking.npz'), load_mass=1.5,
                     load_place=[0.0, 0.1, 0.0], load_time=1.0, ways=['a'], topics=['robot'])
    node.sent, loads = [], []
    monkeypatch.setattr(node, 'count_publishers', lambda topic: 1)
    output, client = publisher(node, '/robot'), next(iter(node.clients))
    monkeypatch.setattr(output, 'get_subscription_count', lambda: 1)
    monkeypatch.setattr(output, 'publish', lambda message: node.sent.append((0, message)))
    monkeypatch.setattr(client, 'call_async', lambda request: loads.append(
        (node.now, request.payload.inertia.m, request.payload.inertia.com.y)))
    run(node, 1.0)
    assert not node.sent, 'the service is not there'
    monkeypatch.setattr(client, 'service_is_ready', lambda: True)
    run(node, 20.0)
    assert node.finished
    (on, mass, y), (off, nothing, _) = loads
    assert (mass, y, nothing) == pytest.approx((1.5, 0.1, 0.0))
    start = seconds(node.sent[-1][1].header.stamp)
    assert on == pytest.approx(start + 1.0, abs=0.06) and off >= start + 2.0


def test_a_load_at_no_place_is_refused(make_node, planar, tmp_path):
    with pytest.raises(ParameterError, match='load_place: 2 numbers, expected 3'):
        make_node(TrackingExperimentNode, start=False, robot_description=planar,
                  output=str(tmp_path / 'a.npz'), load_mass=1.0, load_place=[0.0, 0.1])


def test_recordings_that_cannot_be_written_are_a_failure_with_a_reason(node, tmp_path):
    node.settings = replace(node.settings, output=str(tmp_path / 'nowhere' / 'tracking.npz'))
    run(node, 60.0)
    assert node.finished
    assert 'nowhere' in node.failure


def test_joint_states_are_not_kept_while_nothing_is_recorded(node, monkeypatch):
    monkeypatch.setattr(node, 'count_publishers', lambda topic: 0)  # nobody to send to
    run(node, 5.0)
    assert node.sent == [] and len(node._samples) == 1


@pytest.mark.parametrize('output', ['a\0b.npz', '/dev/null', '/nowhere/x.npz'])
def test_a_file_that_cannot_be_written_is_the_reason_of_the_end(node, output):
    node.settings = replace(node.settings, output=output)
    run(node, 60.0)
    assert node.finished and 'cannot be written' in node.failure
    assert node.diagnostics.counted('unforeseen errors') == 0
