# SPDX-License-Identifier: Apache-2.0
"""The feedforward node: what it answers, what it refuses, and that it never sends nonsense."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_msgs.msg import String
from support.messages import (
    JOINTS,
    dropped,
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
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support.conversion import trajectory_from_message

pytestmark = pytest.mark.ros

REST = [0.0, 0.0]


@pytest.fixture
def node(make_node, planar):
    """Return a node whose efforts count at once: no controller carries anything."""
    return make_node(FeedforwardNode, robot_description=planar, blend_time=0.0)


@pytest.fixture
def output(node):
    return published(node, '/joint_trajectory')


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
