# SPDX-License-Identifier: Apache-2.0
"""The feedforward node: what it answers, what it refuses, and that it never sends nonsense."""

import sys

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from support.messages import (
    JOINTS,
    joint_state_message,
    motion_message,
    payload_message,
    published,
    trajectory_message,
)
from support.tolerances import OTHER_IMPLEMENTATION, assert_close
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.nodes import feedforward
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support.conversion import trajectory_from_message
from robot_dynamics_ros.nodes.trajectories.serialized_trajectory import received_trajectory

pytestmark = pytest.mark.ros

REST = [0.0, 0.0]


@pytest.fixture
def node(make_node, planar):
    """Return a node whose efforts count at once: no controller carries anything."""
    return make_node(FeedforwardNode, robot_description=planar, blend_time=0.0)


@pytest.fixture
def output(node):
    return published(node, '/joint_trajectory')


@pytest.fixture
def model(planar):
    return compile_model(chain_from_urdf(planar))


def dropped(node):
    return node.diagnostics.counted('dropped trajectories')


def test_every_point_has_the_torque_of_the_model(node, output, model):
    message = motion_message()
    node.receive(message)
    result = trajectory_from_message(output[0], with_efforts=True)
    assert len(result) == 101
    assert_close(result.efforts,
                 model.torque(result.positions, result.velocities, result.accelerations),
                 OTHER_IMPLEMENTATION)


def test_the_header_is_kept_and_the_incoming_effort_replaced(node, output, model):
    message = motion_message(start=node.now - 0.5)
    for point in message.points:
        point.effort = [1e6, np.nan]
    node.receive(message)
    assert output[0].header == message.header
    np.testing.assert_allclose(output[0].points[0].effort, model.gravity_torque(REST), atol=1e-9)


def test_only_the_fields_of_the_input_are_filled(node, output):
    node.receive(trajectory_message([{'time': 0.0, 'positions': REST},
                                            {'time': 1.0, 'positions': [0.1, 0.2]}]))
    for point in output[0].points:
        assert not point.velocities
        assert not point.accelerations
        assert len(point.effort) == 2


def test_shuffled_joints_get_the_same_torque(node, output):
    node.receive(motion_message(goal=(0.5, -0.4)))
    node.receive(motion_message(goal=(-0.4, 0.5), names=JOINTS[::-1]))
    straight, shuffled = output
    assert shuffled.joint_names == list(JOINTS[::-1])
    for one, other in zip(straight.points, shuffled.points):
        np.testing.assert_allclose(one.effort, other.effort[::-1], atol=1e-12)


def test_an_empty_trajectory_brakes_where_the_robot_was_seen(node, output, model):
    node.receive(joint_state_message(node.now, (0.3, 0.4), (0.2, -0.1)))
    node.receive(JointTrajectory(joint_names=list(JOINTS)))
    brake = trajectory_from_message(output[0], with_efforts=True)
    np.testing.assert_allclose(brake.velocities[[0, -1]], [[0.2, -0.1], REST], atol=1e-12)
    np.testing.assert_allclose(brake.positions[[0, -1]], [[0.3, 0.4], [0.32, 0.39]])
    assert_close(brake.efforts[-1], model.gravity_torque(brake.positions[-1]),
                 OTHER_IMPLEMENTATION)
    assert node.diagnostics.counted('stops') == 1


def test_a_late_first_point_is_preceded_by_the_fresh_measured_state(node, output, model):
    node.receive(joint_state_message(node.now, (0.3, 0.4)))
    node.receive(motion_message(first=0.5))
    first = output[0].points[0]
    assert first.time_from_start.sec == first.time_from_start.nanosec == 0
    assert list(first.positions) == [0.3, 0.4]
    assert_close(np.array(first.effort), model.gravity_torque([0.3, 0.4]), OTHER_IMPLEMENTATION)


def test_without_a_fresh_joint_state_no_point_is_invented(node, output):
    node.receive(motion_message(first=0.5))
    assert output[0].points[0].time_from_start.nanosec == 500_000_000
    assert node.diagnostics.counted('trajectory warnings') == 1


def test_efforts_are_cut_at_the_limits_and_counted(make_node, planar):
    node = make_node(FeedforwardNode, robot_description=planar, effort_limits__joint_1=2.0,
                     blend_time=0.0)
    output = published(node, '/joint_trajectory')
    node.receive(motion_message())
    efforts = np.array([point.effort[0] for point in output[0].points])
    assert np.abs(efforts).max() == 2.0
    assert node.diagnostics.counted('clipped torques of joint_1') == np.sum(np.abs(efforts) == 2.0)


def test_gravity_modes_can_be_changed_while_running(node, output, model):
    node.set_parameters([Parameter('gravity_mode', value='none')])
    node.receive(motion_message())
    np.testing.assert_allclose(output[0].points[0].effort, REST, atol=1e-9)
    node.set_parameters([Parameter('gravity_mode', value='only')])
    node.receive(motion_message())
    q = [list(point.positions) for point in output[1].points]
    assert_close(np.array([point.effort for point in output[1].points]),
                 model.gravity_torque(np.array(q)), OTHER_IMPLEMENTATION)
    result = node.set_parameters([Parameter('gravity_mode', value='half')])[0]
    assert not result.successful
    assert 'full, none, only' in result.reason


def test_a_payload_on_the_topic_counts_at_once(node, output, planar):
    node.receive(payload_message(2.0, node.robot.chain.tip, (0.1, 0.0, 0.0)))
    node.receive(motion_message())
    load = payload_inertia(2.0, [0.1, 0.0, 0.0], np.zeros((3, 3)))
    loaded = compile_model(chain_from_urdf(planar).with_payload(load))
    assert_close(np.array(output[0].points[0].effort), loaded.gravity_torque(REST),
                 OTHER_IMPLEMENTATION)


def test_a_payload_told_before_the_description_counts(make_node, planar):
    node = make_node(FeedforwardNode)
    node.receive(payload_message(2.0, 'link_2'))
    node.receive(String(data=planar))
    assert node.robot.payload.mass == 2.0


def test_a_payload_of_another_robot_does_not_keep_this_one_from_loading(make_node, planar):
    node = make_node(FeedforwardNode)
    node.receive(payload_message(2.0, 'another_tool'))
    node.receive(String(data=planar))
    assert node.robot.payload.mass == 0.0
    assert node.diagnostics.counted('refused payloads') == 1


def test_the_torques_topic_shows_the_efforts_over_time(make_node, planar):
    node = make_node(FeedforwardNode, now=100.0, robot_description=planar, blend_time=0.0)
    torques, output = published(node, '/torques'), published(node, '/joint_trajectory')
    node.tick(1.0 / node.settings.torques_rate)
    assert not torques
    node.receive(motion_message(start=node.now - 0.5))
    node.tick(1.0 / node.settings.torques_rate)
    assert torques[0].name == list(JOINTS)
    efforts = np.array([point.effort for point in output[0].points])
    assert np.abs(efforts - torques[0].effort).max(axis=1).min() < 0.02 * np.abs(efforts).max()
    node.now = 105.0
    node.tick(1.0 / node.settings.torques_rate)
    assert len(torques) == 1, 'nothing after the end'


@pytest.mark.parametrize('message', [
    motion_message(names=('joint_1', 'elbow')),
    motion_message(names=('joint_1',), goal=(0.5,)),
    motion_message(names=('joint_1', 'joint_1')),
    motion_message(names=('joint_1', 'joint_2', 'joint_3'), goal=(0.1, 0.2, 0.3)),
    motion_message(goal=(np.nan, 0.0)),
    motion_message(goal=(np.inf, 0.0)),
    motion_message(goal=(1e300, 0.0)),
    motion_message(names=()),
    trajectory_message([{'time': 0.0, 'positions': [0.0]}]),
    trajectory_message([{'time': 0.0, 'positions': REST, 'velocities': [0.0]}]),
    trajectory_message([{'time': 0.0, 'velocities': REST}]),
    trajectory_message([{'time': 0.0, 'positions': REST, 'accelerations': REST}]),
    trajectory_message([{'time': 1.0, 'positions': REST}, {'time': 1.0, 'positions': REST}]),
    trajectory_message([{'time': 2.0, 'positions': REST}, {'time': 1.0, 'positions': REST}]),
    trajectory_message([{'time': -1.0, 'positions': REST}]),
    trajectory_message([{'time': 0.0, 'positions': REST}, {'time': 2e9, 'positions': REST}]),
], ids=['unknown joint', 'missing joint', 'joint twice', 'too many joints', 'nan', 'infinite',
        'huge', 'no names', 'short positions', 'short velocities', 'no positions',
        'accelerations alone', 'equal times', 'decreasing times', 'negative time', 'too long'])
def test_a_bad_trajectory_is_dropped_and_the_next_one_executed(node, output, message):
    with np.errstate(all='ignore'):
        node.receive(message)
    assert not output
    assert dropped(node) == 1
    node.receive(motion_message())
    assert len(output) == 1


numbers = st.floats() | st.sampled_from([0.0, 1e-320, 1e200, -1e308])


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(st.floats(0, 3), *[st.lists(numbers, max_size=3)] * 4), max_size=3))
def test_no_message_whatever_makes_the_node_publish_nonsense(node, output, rows):
    del output[:]
    keys = ('time', 'positions', 'velocities', 'accelerations', 'effort')
    with np.errstate(all='ignore'):
        node.receive(trajectory_message([dict(zip(keys, row)) for row in rows]))
    for point in (point for message in output for point in message.points):
        assert np.all(np.abs(point.effort) <= [60.0, 30.0])
        assert len(point.effort) == 2


def test_before_a_description_trajectories_are_dropped_and_a_later_one_works(make_node, planar):
    node = make_node(FeedforwardNode)
    output = published(node, '/joint_trajectory')
    node.receive(joint_state_message(1.0))
    node.receive(motion_message())
    assert not output
    assert dropped(node) == 1
    assert node.diagnostics.status().level == b'\x01'
    node.receive(String(data=planar))
    node.receive(motion_message())
    assert len(output) == 1


@pytest.mark.parametrize('text', ['', 'not xml', '<robot name="a"><link name="b"/></robot>'])
def test_a_malformed_description_is_refused_and_the_robot_stays(make_node, planar, text):
    node = make_node(FeedforwardNode)
    node.receive(String(data=text))
    assert node.robot is None
    assert node.diagnostics.status().level == b'\x02'
    node.receive(String(data=planar))
    robot = node.robot
    node.receive(String(data=text))
    assert node.robot is robot
    assert node.diagnostics.counted('refused descriptions') == 2


def test_a_changed_description_rebuilds_the_model(make_node, planar):
    node = make_node(FeedforwardNode, blend_time=0.0)
    output = published(node, '/joint_trajectory')
    node.receive(String(data=planar))
    node.receive(motion_message())
    heavier = planar.replace('<mass value="2.5"/>', '<mass value="5.0"/>')
    node.receive(String(data=heavier))
    node.receive(motion_message())
    expected = compile_model(chain_from_urdf(heavier)).gravity_torque(REST)
    assert len(output) == 3, 'what ran for the old one is braked'
    assert_close(np.array(output[2].points[0].effort), expected, OTHER_IMPLEMENTATION)
    assert output[0].points[0].effort[0] < output[1].points[0].effort[0]


def test_unknown_effort_limits_keep_the_node_from_starting(make_node, planar):
    from rclpy.lifecycle import TransitionCallbackReturn
    without = planar.replace('effort="30"', 'effort="0"')
    node = make_node(FeedforwardNode, start=False, robot_description=without)
    assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
    assert 'joint_2' in node.diagnostics.status().message
    given_limit = make_node(FeedforwardNode, robot_description=without,
                            effort_limits__joint_2=12.0)
    assert given_limit.active


def test_an_inactive_node_publishes_nothing(node, output):
    node.trigger_deactivate()
    node.receive(motion_message())
    assert not output
    node.trigger_activate()
    node.receive(motion_message())
    assert len(output) == 1


def test_cleanup_and_a_second_configure_give_a_working_node(node):
    node.trigger_deactivate()
    before = len(list(node.subscriptions))
    node.trigger_cleanup()
    assert len(list(node.subscriptions)) < before
    node.trigger_configure()
    node.trigger_activate()
    output = published(node, '/joint_trajectory')
    node.receive(motion_message())
    assert len(output) == 1


@pytest.mark.parametrize(('parameters', 'message'), [
    ({'resample_rate': -1.0}, 'resample_rate'),
    ({'mode': 'fast'}, "mode must be one of trajectory, stream, float, got 'fast'"),
    ({'resample_rate': 'quick'}, 'resample_rate'),
])
def test_a_wrong_parameter_is_named(make_node, planar, parameters, message):
    with pytest.raises(ParameterError, match=message):
        make_node(FeedforwardNode, robot_description=planar, **parameters)


def test_bad_joint_states_are_dropped_and_counted(node):
    for message in (joint_state_message(1.0, names=('a', 'b')),
                    joint_state_message(1.0, (np.nan, 0.0)),
                    joint_state_message(1.0, (0.0,)),
                    joint_state_message(1.0, (), ())):
        node.receive(message)
    assert node.diagnostics.counted('dropped joint states') == 4
    assert node.diagnostics.counted('joint states') == 0
    node.receive(joint_state_message(1.0))
    node.receive(joint_state_message(1.0))
    assert node.diagnostics.counted('dropped joint states') == 5


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


@pytest.mark.parametrize('mode', ['trajectory', 'stream'])
def test_more_points_than_allowed_are_refused(make_node, planar, mode):
    node = make_node(FeedforwardNode, robot_description=planar, mode=mode, maximum_points=10,
                     resample_rate=1.0, joint_state_timeout=10.0, blend_time=0.0)
    node.receive(joint_state_message(node.now, REST))
    for points, refusals in ((10, 0), (11, 1)):
        node.receive(trajectory_message([{'time': 0.1 * i, 'positions': REST}
                                         for i in range(points)]))
        assert dropped(node) == refusals


def test_a_node_that_was_cleaned_up_in_motion_can_be_configured_again(make_node, planar):
    """It waited for the brake to arrive on a topic that was gone, and refused."""
    node = make_node(FeedforwardNode, robot_description=planar, blend_time=0.0,
                     joint_state_timeout=10.0)
    node.receive(joint_state_message(node.now, REST))
    node.receive(motion_message(duration=100.0))
    for _ in range(2):
        assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
        assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert node.diagnostics.counted('unforeseen errors') == 0


class RelayingNode(FeedforwardNode):
    """A feedforward node where control_msgs is not installed."""

    def action_type(self):
        return pytest.importorskip('robot_dynamics_test_interfaces.action',
                                   reason='make setup').FollowJointTrajectory


@pytest.fixture
def relayed(ros, make_node, planar):
    """Return a node whose goal is at a controller, the controller, and the client's handle."""
    from rclpy.action import ActionClient
    from support.controller import Controller

    node = make_node(RelayingNode, robot_description=planar, controller_action='jtc/follow',
                     blend_time=0.0, joint_state_timeout=10.0)
    kind = node.action_type()
    controller = Controller(ros.node, kind, 'jtc/follow')
    client = ActionClient(ros.node, kind, 'feedforward/follow_joint_trajectory')

    def accepted():
        sent = client.send_goal_async(kind.Goal(trajectory=motion_message()))
        ros.spin_until(sent.done, 'the answer to the goal')
        return sent.result() if sent.result().accepted else None

    with ros.spinning(node):
        ros.spin_until(client.server_is_ready, 'the action of the relay')
        handle = ros.spin_until(accepted, 'a relay that has found the controller')
        ros.spin_until(lambda: controller.goals, 'the goal at the controller')
        yield node, controller, handle
        node.trigger_cleanup()
        ros.spin_until(lambda: not client.server_is_ready(), 'the end of the action')
    client.destroy()
    controller.close()


def test_a_goal_is_relayed_with_the_efforts_of_the_model(ros, relayed, model):
    node, controller, handle = relayed
    filled = trajectory_from_message(controller.goals[0].trajectory, with_efforts=True)
    assert_close(filled.efforts, model.torque(filled.positions, filled.velocities,
                                              filled.accelerations), OTHER_IMPLEMENTATION)
    output = published(node, '/joint_trajectory')
    result = handle.get_result_async()
    node.trigger_deactivate()
    ros.spin_until(result.done, 'the end of the goal when the node comes to rest')
    assert result.result().result.error_string == 'stopped: the node comes to rest'
    assert_close(np.array(output[0].points[-1].effort),
                 model.gravity_torque(np.array(output[0].points[-1].positions)),
                 OTHER_IMPLEMENTATION)
    controller.end(0, 'succeed')


@pytest.mark.parametrize('how', ['abort', 'succeed'])
def test_the_weight_is_held_after_a_goal_that_was_dropped(ros, relayed, model, how):
    node, controller, handle = relayed
    node.receive(joint_state_message(node.now, (0.3, 0.4)))
    output = published(node, '/joint_trajectory')
    result = handle.get_result_async()
    controller.end(0, how)
    ros.spin_until(result.done, 'the end of the goal')
    assert len(output) == (how == 'abort')
    for message in output:
        assert list(message.points[0].positions) == [0.3, 0.4]
        assert_close(np.array(message.points[0].effort), model.gravity_torque([0.3, 0.4]),
                     OTHER_IMPLEMENTATION)
    node.trigger_deactivate()


def test_a_relay_is_refused_in_stream_mode_and_without_control_msgs(make_node, planar,
                                                                    monkeypatch):
    monkeypatch.setitem(sys.modules, 'control_msgs', None)
    for mode, message in (('stream', 'goes with mode trajectory'),
                          ('trajectory', 'needs the package control_msgs')):
        node = make_node(FeedforwardNode, start=False, robot_description=planar, mode=mode,
                         controller_action='jtc/follow_joint_trajectory')
        assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
        assert message in node.diagnostics.status().message
