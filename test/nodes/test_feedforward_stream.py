# SPDX-License-Identifier: Apache-2.0
"""The feedforward node as a stream of commands: when it begins, how it ends."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from support.messages import dropped, joint_state_message, motion_message, published
from support.tolerances import OTHER_IMPLEMENTATION, assert_close
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.nodes import feedforward
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support import robot_node
from robot_dynamics_ros.nodes.support.conversion import trajectory_from_message
from robot_dynamics_ros.nodes.trajectories.serialized_trajectory import received_trajectory

pytestmark = pytest.mark.ros

REST = [0.0, 0.0]


@pytest.fixture
def streaming(make_node, planar):
    return make_node(FeedforwardNode, robot_description=planar, mode='stream',
                     joint_state_timeout=10.0)


def test_a_stream_commands_the_torque_of_the_trajectory(streaming, model):
    commands = published(streaming, '/commands')
    streaming.tick(1.0 / streaming.settings.stream_rate)
    assert not commands, 'nothing before the first trajectory'
    streaming.receive(joint_state_message(streaming.now, REST))
    streaming.receive(motion_message(start=streaming.now - 10.0, duration=20.0))
    streaming.tick(1.0 / streaming.settings.stream_rate)
    torque = np.array(commands[0].data)
    sample = trajectory_from_message(motion_message(duration=20.0)).sample(
        10.0 + np.linspace(0.0, 8.0, 400))
    candidates = model.torque(sample.q, sample.qd, sample.qdd)
    assert np.abs(candidates - torque).max(axis=1).min() < 0.05 * np.abs(torque).max()


@pytest.mark.parametrize('ending', ['empty', 'refused', 'deactivated', 'clock'])
def test_a_stream_ends_with_the_weight_of_the_arm(streaming, model, ending):
    commands = published(streaming, '/commands')
    streaming.receive(joint_state_message(streaming.now, (0.1, 0.1)))
    streaming.receive(motion_message(start=streaming.now))
    streaming.tick(1.0 / streaming.settings.stream_rate)
    if ending == 'empty':
        streaming.receive(JointTrajectory())
        streaming.tick(1.0 / streaming.settings.stream_rate)
    elif ending == 'refused':
        streaming.receive(motion_message(goal=(np.nan, 0.0)))
        streaming.tick(1.0 / streaming.settings.stream_rate)
    elif ending == 'deactivated':
        streaming.trigger_deactivate()
    else:
        streaming.clock_set_back()
        streaming.receive(joint_state_message(1.0, (0.1, 0.1)))
        streaming.tick(1.0 / streaming.settings.stream_rate)
    assert_close(np.array(commands[-1].data), model.gravity_torque([0.1, 0.1]),
                 OTHER_IMPLEMENTATION)


def test_a_clock_set_back_commands_the_weight_at_once(streaming, model):
    """There may be no next tick, nor a joint state: a simulated clock that has not begun."""
    commands = published(streaming, '/commands')
    streaming.receive(joint_state_message(streaming.now, (0.1, 0.1)))
    streaming.receive(motion_message(start=streaming.now))
    streaming.clock_set_back()
    for _ in range(2):
        assert_close(np.array(commands[-1].data), model.gravity_torque([0.1, 0.1]),
                     OTHER_IMPLEMENTATION)
        streaming.tick(1.0 / streaming.settings.stream_rate)
    streaming.receive(motion_message(start=streaming.now))
    assert dropped(streaming) == 1, 'not with a joint state of before'


def test_nobody_waits_in_motion_until_another_robot_is_compiled(make_node, planar, model,
                                                                monkeypatch):
    node = make_node(FeedforwardNode, mode='stream', joint_state_timeout=10.0)
    commands = published(node, '/commands')
    node.receive(String(data=planar))
    node.receive(joint_state_message(node.now, (0.1, 0.1)))
    node.receive(motion_message(start=node.now))
    node.tick(1.0 / node.settings.stream_rate)
    last, robot = [], robot_node.Robot
    monkeypatch.setattr(robot_node, 'Robot', lambda *arguments: (
        last.append(np.array(commands[-1].data)), robot(*arguments))[1])
    node.receive(String(data=planar))
    assert not last and len(commands) == 1, 'the same one goes on'
    node.receive(String(data=planar.replace('"2.5"', '"2.6"')))
    assert_close(last[0], model.gravity_torque([0.1, 0.1]), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('topic', [False, True])
@pytest.mark.parametrize('modes', [('stream', 'stream'), ('float', 'float'), ('float', 'stream'),
                                   ('trajectory', 'stream'), ('float', 'trajectory')])
def test_a_node_that_was_cleaned_up_can_be_configured_again(make_node, planar, model, topic,
                                                            modes):
    given = {} if topic else {'robot_description': planar}
    node = make_node(FeedforwardNode, mode=modes[0], joint_state_timeout=10.0, **given)
    for mode in modes:
        node.trigger_deactivate()
        assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
        assert node.set_parameters([Parameter('mode', value=mode)])[0].successful
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
        node.tick()
        if topic:
            node.receive(String(data=planar))
        node.receive(joint_state_message(node.now, (0.1, 0.1)))
        if mode == 'stream':
            node.receive(motion_message(start=node.now))
        commands = None if mode == 'trajectory' else published(node, '/commands')
        node.tick()
        assert commands is None or commands
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    if commands:
        assert_close(np.array(commands[-1].data), model.gravity_torque([0.1, 0.1]),
                     OTHER_IMPLEMENTATION)
    assert node.diagnostics.counted('unforeseen errors') == 0


def test_a_stream_does_not_start_without_joint_states(streaming):
    commands = published(streaming, '/commands')
    streaming.receive(motion_message())
    streaming.tick(1.0 / streaming.settings.stream_rate)
    assert not commands
    assert dropped(streaming) == 1


def test_a_stream_does_not_start_far_from_the_robot(streaming):
    commands = published(streaming, '/commands')
    streaming.receive(joint_state_message(streaming.now, (3.0, 0.0)))
    streaming.receive(motion_message(start=streaming.now))
    streaming.tick(1.0 / streaming.settings.stream_rate)
    assert not commands
    assert dropped(streaming) == 1


@pytest.mark.parametrize('goal', [(9.0, 0.0), (2.5, 0.0)], ids=['position', 'velocity'])
def test_a_stream_does_not_start_a_motion_beyond_the_limits(make_node, planar, goal):
    node = make_node(FeedforwardNode, robot_description=planar.replace('"6"', '"4"'),
                     mode='stream', joint_state_timeout=10.0)
    commands = published(node, '/commands')
    node.receive(joint_state_message(node.now, REST))
    node.receive(motion_message(start=node.now, goal=goal))
    node.tick(1.0 / node.settings.stream_rate)
    assert not commands
    assert dropped(node) == 1


def test_lost_tracking_ends_a_stream_and_is_told(streaming, model):
    commands = published(streaming, '/commands')
    streaming.receive(joint_state_message(streaming.now, REST))
    streaming.receive(motion_message(start=streaming.now))
    streaming.tick(1.0 / streaming.settings.stream_rate)
    streaming.receive(joint_state_message(streaming.now, (1.0, 0.0)))
    streaming.tick(1.0 / streaming.settings.stream_rate)
    assert_close(np.array(commands[-1].data), model.gravity_torque([1.0, 0.0]),
                 OTHER_IMPLEMENTATION)
    assert streaming.diagnostics.counted('ends of control') == 1


@pytest.mark.parametrize('form', [serialize_message, lambda message: message],
                         ids=['bytes', 'message'])
def test_a_trajectory_counts_from_its_receipt_however_long_reading_takes(
        make_node, planar, monkeypatch, form):
    node = make_node(FeedforwardNode, now=100.0, robot_description=planar, mode='stream')
    commands = published(node, '/commands')
    node.receive(joint_state_message(100.0, REST))

    def slowly(*arguments):
        type(node).now = 105.0
        return received_trajectory(*arguments)

    monkeypatch.setattr(feedforward, 'received_trajectory', slowly)
    subscription = next(each for each in node.subscriptions if each.msg_type is JointTrajectory)
    assert subscription.raw
    subscription.callback(form(motion_message()))
    assert dropped(node) == 0
    type(node).now = 100.01
    node.tick(1.0 / node.settings.stream_rate)
    assert len(commands) == 1
    assert node.diagnostics.counted('ends of control') == 0
