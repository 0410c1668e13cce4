# SPDX-License-Identifier: Apache-2.0
"""Mode float of the feedforward node: torques from joint states, and what follows without them."""

import re

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from support.messages import (
    JOINTS,
    joint_state_message,
    motion_message,
    payload_message,
    published,
)
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros import FloatController, FloatSettings, chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support import robot_node

pytestmark = pytest.mark.ros

POSE = (0.3, 0.4)
PERIOD = 1.0 / 200.0


@pytest.fixture
def chain(planar):
    return chain_from_urdf(planar)


@pytest.fixture
def model(chain):
    return compile_model(chain)


@pytest.fixture
def node(make_node, planar):
    return make_node(FeedforwardNode, now=100.0, robot_description=planar, mode='float')


@pytest.fixture
def commands(node):
    return published(node, '/commands')


def advance(node, seconds, position=None, velocity=(0.0, 0.0)):
    """Let time pass and one command leave; with a joint state, if a position is given."""
    type(node).now = node.now + seconds
    if position is not None:
        node.receive(joint_state_message(node.now, position, velocity))
    node.tick(PERIOD)


def test_the_torques_are_those_of_the_core(node, commands, chain, model):
    controller = FloatController(FloatSettings.of_chain(chain))
    for position, velocity in ((POSE, (0.0, 0.0)), ((0.31, 0.4), (0.5, -0.2)),
                               ((0.35, 0.38), (2.0, -0.5))):
        advance(node, PERIOD, position, velocity)
        expected = controller.command(model, node.now, node.now, position, velocity)
        assert_close(np.array(commands[-1].data), expected.effort, OTHER_IMPLEMENTATION)


def test_nothing_is_commanded_before_the_first_joint_state(node, commands):
    advance(node, PERIOD)
    assert not commands


def test_drives_with_position_velocity_and_torque_get_all_three(node, commands):
    messages = published(node, '/joint_commands')
    advance(node, PERIOD, POSE, (0.1, 0.0))
    message, = messages
    assert message.name == list(JOINTS)
    assert list(message.position) == list(POSE) and list(message.velocity) == [0.0, 0.0]
    assert list(message.effort) == list(commands[0].data)
    advance(node, 1.0)
    assert list(messages[-1].position) == list(POSE), 'also without a fresh joint state'


def test_joints_come_by_name(node, commands, model):
    type(node).now = 100.1
    node.receive(joint_state_message(node.now, POSE[::-1], names=JOINTS[::-1]))
    node.tick(PERIOD)
    assert_close(np.array(commands[0].data), model.gravity_torque(POSE), OTHER_IMPLEMENTATION)


def test_stale_joint_states_let_the_arm_down_and_fresh_ones_carry_it_again(node, commands, model):
    advance(node, PERIOD, POSE)
    weight = np.array(commands[-1].data)
    advance(node, 0.2)
    np.testing.assert_array_equal(commands[-1].data, weight)
    assert node.diagnostics.counted('ends of control') == 1
    for _ in range(70):
        advance(node, 0.1)
    np.testing.assert_array_equal(commands[-1].data, 0.0)
    assert node.diagnostics.counted('ends of control') == 1, 'told once'
    advance(node, 0.1, POSE)
    np.testing.assert_array_equal(commands[-1].data, weight)


@pytest.mark.parametrize('message', [
    joint_state_message(100.2, (np.nan, 0.0)), joint_state_message(100.2, POSE, ()),
    joint_state_message(100.2, POSE, (np.inf, 0.0)), JointState(name=['joint_1'])])
def test_a_state_that_is_not_whole_is_not_used(node, commands, message):
    advance(node, PERIOD, POSE)
    weight = list(commands[-1].data)
    type(node).now = 100.2
    node.receive(message)
    node.tick(PERIOD)
    assert list(commands[-1].data) == weight
    assert node.diagnostics.counted('ends of control') == 1


def test_efforts_stay_inside_the_limits_and_clipping_is_counted(make_node, planar):
    node = make_node(FeedforwardNode, now=100.0, robot_description=planar, mode='float',
                     effort_limits__joint_1=2.0)
    commands = published(node, '/commands')
    advance(node, PERIOD, (0.0, 0.0))
    assert commands[0].data[0] == 2.0
    assert node.diagnostics.counted('clipped torques of joint_1') == 1


def test_a_payload_is_carried(node, commands, chain):
    node.receive(payload_message(1.5, chain.tip, (0.1, 0.0, 0.0)))
    advance(node, PERIOD, POSE)
    loaded = chain.with_payload(payload_inertia(1.5, [0.1, 0.0, 0.0], np.zeros((3, 3))))
    assert_close(np.array(commands[0].data), compile_model(loaded).gravity_torque(POSE),
                 OTHER_IMPLEMENTATION)


def test_a_robot_that_carries_itself_and_one_with_brakes(make_node, planar):
    node = make_node(FeedforwardNode, now=100.0, robot_description=planar, mode='float',
                     gravity_mode='none')
    commands = published(node, '/commands')
    advance(node, PERIOD, POSE)
    assert list(commands[0].data) == [0.0, 0.0]
    node = make_node(FeedforwardNode, now=100.0, robot_description=planar, mode='float',
                     safe_end='zero')
    commands = published(node, '/commands')
    advance(node, PERIOD, POSE)
    advance(node, 0.2)
    assert commands[0].data[0] != 0.0 and list(commands[1].data) == [0.0, 0.0]


def test_damping_may_be_changed_while_it_floats(node, commands, model):
    advance(node, PERIOD, POSE, (0.5, 0.0))
    node.set_parameters([Parameter('float_damping_time', value=0.1),
                         Parameter('float_holding', value=0.0)])
    advance(node, PERIOD, POSE, (0.5, 0.0))
    inertia = 1.0 / np.linalg.inv(model.mass_matrix(POSE))[0, 0]
    assert_close(np.array(commands[-1].data), model.gravity_torque(POSE) - [5.0 * inertia, 0.0],
                 OTHER_IMPLEMENTATION)
    refused, = node.set_parameters([Parameter('float_friction_share', value=0.9)])
    assert not refused.successful


def test_deactivated_it_leaves_the_weight_and_activated_it_floats_again(node, commands, model):
    advance(node, PERIOD, POSE, (0.5, 0.0))
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert_close(np.array(commands[-1].data), model.gravity_torque(POSE), OTHER_IMPLEMENTATION)
    count = len(commands)
    advance(node, PERIOD, POSE)
    assert len(commands) == count
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    advance(node, PERIOD, (0.5, 0.5))
    assert_close(np.array(commands[-1].data), model.gravity_torque([0.5, 0.5]),
                 OTHER_IMPLEMENTATION)


def test_an_unforeseen_error_lets_the_arm_down_for_good(node, commands, monkeypatch):
    advance(node, PERIOD, POSE)
    weight = list(commands[-1].data)
    controller = type(node._float._controller)
    with monkeypatch.context() as broken:
        broken.setattr(controller, '_floating', lambda *arguments: 1 / 0)
        advance(node, PERIOD, POSE)
    assert node.diagnostics.counted('unforeseen errors') == 1
    for _ in range(20):
        advance(node, 0.05, POSE)
    assert list(commands[-1].data) == weight
    for _ in range(120):
        advance(node, 0.05, POSE)
    assert list(commands[-1].data) == [0.0, 0.0]


def test_a_clock_set_back_is_no_end(node, commands, model):
    advance(node, PERIOD, POSE)
    type(node).now = 5.0
    node.clock_set_back()
    node.tick(PERIOD)
    assert_close(np.array(commands[-1].data), model.gravity_torque(POSE), OTHER_IMPLEMENTATION)
    advance(node, PERIOD, (0.5, 0.5))
    assert_close(np.array(commands[-1].data), model.gravity_torque([0.5, 0.5]),
                 OTHER_IMPLEMENTATION)


def test_another_robot_is_carried_by_its_own_model(make_node, planar, model):
    node = make_node(FeedforwardNode, now=100.0, mode='float')
    commands = published(node, '/commands')
    advance(node, PERIOD)
    node.receive(String(data=planar))
    advance(node, PERIOD, POSE)
    assert_close(np.array(commands[-1].data), model.gravity_torque(POSE), OTHER_IMPLEMENTATION)
    heavier = re.sub(r'<mass value="([\d.]+)"',
                     lambda match: f'<mass value="{1.2 * float(match[1])}"', planar)
    node.receive(String(data=heavier))
    advance(node, PERIOD, POSE)
    assert_close(np.array(commands[-1].data),
                 compile_model(chain_from_urdf(heavier)).gravity_torque(POSE),
                 OTHER_IMPLEMENTATION)


def test_while_another_robot_is_compiled_the_weight_is_carried(make_node, planar, model,
                                                               monkeypatch):
    node = make_node(FeedforwardNode, now=100.0, mode='float')
    node.receive(String(data=planar))
    commands, joint_commands = published(node, '/commands'), published(node, '/joint_commands')
    advance(node, PERIOD, POSE, (0.5, 0.5))
    assert np.abs(np.array(commands[-1].data) - model.gravity_torque(POSE)).max() > 0.1
    last = []
    monkeypatch.setattr(robot_node, 'Robot', lambda *arguments: (
        last.append((list(commands[-1].data), list(joint_commands[-1].effort))), 1 / 0))
    node.receive(String(data=planar.replace('"2.5"', '"2.6"')))
    for each in last[0]:
        assert_close(np.array(each), model.gravity_torque(POSE), OTHER_IMPLEMENTATION)


def test_trajectories_have_no_place_in_it(node, make_node, planar):
    with pytest.raises(LookupError, match='expected one subscription to JointTrajectory'):
        node.receive(motion_message())
    other = make_node(FeedforwardNode, start=False, robot_description=planar, mode='float',
                      controller_action='x/y')
    assert other.trigger_configure() == TransitionCallbackReturn.FAILURE


def test_too_few_commands_per_second_are_refused(make_node, planar):
    node = make_node(FeedforwardNode, start=False, robot_description=planar, mode='float',
                     stream_rate=40.0)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE


def test_a_simulated_robot_floats_over_dds(ros, parameter_file, planar, model):
    modules = 'robot_dynamics_ros.nodes.'
    ros.start(f'{modules}simulated_robot', *parameter_file(
        robot_description=planar, initial_position=[0.3, 0.4],
        parameter_error=0.0))  # this arm has no friction that would carry a difference
    states, commands = [], []
    ros.node.create_subscription(JointState, 'joint_states', states.append, 10)
    ros.spin_until(lambda: len(states) > 200 and np.abs(states[-1].velocity).max() < 0.01,
                   'an arm at rest in its own controller')
    process = ros.start(f'{modules}feedforward', *parameter_file(
        robot_description=planar, mode='float', joint_state_timeout=5.0), '-r',
        '~/commands:=simulated_robot/commands')
    ros.node.create_subscription(Float64MultiArray, 'simulated_robot/commands', commands.append,
                                 10)
    ros.spin_until(lambda: commands, 'the first command')
    start = states[-1].position
    ros.spin_until(lambda: len(commands) > 200, 'a second of commands')
    assert 'the arm floats' in process.output
    np.testing.assert_allclose(states[-1].position, start, atol=0.06)
    assert_close(np.array(commands[-1].data), model.gravity_torque(states[-1].position), 0.05)
