# SPDX-License-Identifier: Apache-2.0
"""Nodes as processes with real DDS between them."""

import signal
from functools import partial

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from support.messages import motion_message, payload_message
from support.tolerances import OTHER_IMPLEMENTATION, assert_close
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.srv import GetDynamics, GetMlc, SetPayload
from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.nodes.support.conversion import (
    trajectory_from_message,
    trajectory_to_message,
)

pytestmark = pytest.mark.ros

NODES = 'robot_dynamics_ros.nodes.'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def publisher(ros, kind, topic, subscribers=1):
    """Return a publisher that is connected."""
    result = ros.node.create_publisher(kind, topic, 10)
    ros.spin_until(lambda: result.get_subscription_count() >= subscribers,
                   f'{subscribers} subscribers of {topic}')
    return result


def listen(ros, kind, topic):
    """Return a list that gets the messages of a topic whose publisher is connected."""
    messages = []
    subscription = ros.node.create_subscription(kind, topic, messages.append, 10)
    ros.spin_until(lambda: subscription.get_publisher_count(), f'a publisher of {topic}')
    return messages


def torques(trajectory, model):
    return model.torque(trajectory.positions, trajectory.velocities, trajectory.accelerations)


def test_a_trajectory_comes_back_with_the_torque_of_the_model_and_the_payload(
        ros, parameter_file, description):
    arguments = parameter_file(robot_description=description)
    ros.start(f'{NODES}feedforward', *arguments, '-p', 'blend_time:=0.0')
    ros.start(f'{NODES}dynamics_server', *arguments)
    chain = chain_from_urdf(description)
    motion = lively_motion(chain)
    output = listen(ros, JointTrajectory, 'feedforward/joint_trajectory')
    topic = publisher(ros, JointTrajectory, 'joint_trajectory')
    message = trajectory_to_message(motion, JointTrajectory().header)
    topic.publish(message)
    ros.spin_until(lambda: output, 'the trajectory with efforts')
    result = trajectory_from_message(output[0], with_efforts=True)
    assert_close(result.efforts, torques(result, compile_model(chain)), OTHER_IMPLEMENTATION)
    waypoints = np.isin(np.round(result.times * 1e9), np.round(motion.times * 1e9))
    np.testing.assert_array_equal(result.positions[waypoints], motion.positions)

    q = [0.1, -0.2, 0.3, -0.4, 0.5, 0.6, 0.7]
    answer = ros.call(GetDynamics, 'dynamics_server/get_dynamics',
                      GetDynamics.Request(position=q, velocity=q, acceleration=q))
    assert_close(np.array(answer.torque), compile_model(chain).torque(q, q, q),
                 OTHER_IMPLEMENTATION)
    mlc = ros.call(GetMlc, 'dynamics_server/get_mlc', GetMlc.Request()).mlc
    assert_close(np.array(mlc.values), compile_model(chain).parameters, OTHER_IMPLEMENTATION)

    payload = payload_message(1.5, chain.tip, (0.0, 0.0, 0.1))
    ros.spin_until(lambda: ros.node.count_subscribers('payload'), 'a subscriber of payload')
    assert ros.call(SetPayload, 'dynamics_server/set_payload',
                    SetPayload.Request(payload=payload)).success
    load = payload_inertia(1.5, [0.0, 0.0, 0.1], np.zeros((3, 3)))
    loaded = compile_model(chain.with_payload(load))

    def loaded_answer():
        topic.publish(message)
        ros.spin_until(lambda: len(output) > 1, 'the next trajectory')
        last = trajectory_from_message(output.pop(), with_efforts=True)
        return np.allclose(last.efforts, torques(last, loaded), rtol=0, atol=1e-9 * 150)

    ros.spin_until(loaded_answer, 'efforts with the payload')


@pytest.mark.parametrize('name', ['feedforward', 'dynamics_server', 'simulated_robot'])
def test_sigterm_ends_a_node_with_exit_code_0(ros, parameter_file, planar, name):
    # SIGINT ends every other process of these tests, with the same check
    process = ros.start(f'{NODES}{name}', *parameter_file(robot_description=planar))
    ros.spin_until(lambda: 'robot planar_2r: 2 joints' in process.output, 'the robot is loaded')
    process.signal(signal.SIGTERM)
    assert process.wait() == 0, process.output



@pytest.mark.parametrize(('parameters', 'message'), [
    ({'robot_description': '<robot'}, 'not well-formed XML'),
    ({'robot_description': 'planar', 'effort_limits.joint_1': 'strong'}, 'effort_limits.joint_1'),
    ({'robot_description': 'planar', 'joints_file': 'nowhere.yaml'}, 'nowhere.yaml'),
    ({'robot_description': 'planar', 'mode': 'fast'}, 'mode must be one of'),
])
def test_an_error_at_start_ends_the_node_with_another_exit_code(
        ros, parameter_file, planar, parameters, message):
    if parameters['robot_description'] == 'planar':
        parameters = {**parameters, 'robot_description': planar}
    process = ros.start(f'{NODES}feedforward', *parameter_file(**parameters))
    assert process.wait() == 1, process.output
    assert message in process.output
    assert 'Traceback' not in process.output


def test_the_description_may_come_from_the_latched_topic_and_change(ros, planar):
    process = ros.start(f'{NODES}dynamics_server')
    answer = ros.call(GetDynamics, 'dynamics_server/get_dynamics',
                      GetDynamics.Request(position=[0.0, 0.0]))
    assert 'no robot description yet' in answer.message
    topic = ros.node.create_publisher(String, 'robot_description', LATCHED)
    topic.publish(String(data=planar))
    gravity = []

    def answered():
        gravity[:] = ros.call(GetDynamics, 'dynamics_server/get_dynamics',
                              GetDynamics.Request(position=[0.0, 0.0])).gravity
        return len(gravity) == 2

    ros.spin_until(answered, 'a robot')
    light = gravity[0]
    topic.publish(String(data='not a robot'))
    ros.spin_until(lambda: 'robot_description refused' in process.output, 'the refusal')
    topic.publish(String(data=planar.replace('<mass value="2.5"/>', '<mass value="5.0"/>')))
    ros.spin_until(lambda: answered() and gravity[0] > light + 1.0, 'the heavier robot')


def test_two_robots_live_in_two_namespaces(ros, parameter_file, planar):
    heavy = planar.replace('<mass value="2.5"/>', '<mass value="5.0"/>')
    for namespace, text in (('left', planar), ('right', heavy)):
        arguments = parameter_file(robot_description=text, blend_time=0.0)
        ros.start(f'{NODES}feedforward', *arguments, '-r', f'__ns:=/{namespace}')
    efforts = {}
    for namespace in ('left', 'right'):
        output = listen(ros, JointTrajectory, f'/{namespace}/feedforward/joint_trajectory')
        motion = publisher(ros, JointTrajectory, f'/{namespace}/joint_trajectory')
        ros.send_until(partial(motion.publish, motion_message()), partial(list, output),
                       f'the trajectory of {namespace}')
        efforts[namespace] = output[0].points[0].effort[0]
    assert efforts['right'] > efforts['left'] + 1.0


def test_simulated_time_and_its_reset(ros, parameter_file, planar):
    process = ros.start(f'{NODES}feedforward', *parameter_file(
        robot_description=planar, use_sim_time=True, mode='stream', stream_rate=50.0))
    clock = publisher(ros, Clock, '/clock')
    states = publisher(ros, JointState, 'joint_states')
    motion = publisher(ros, JointTrajectory, 'joint_trajectory')
    commands = listen(ros, Float64MultiArray, 'feedforward/commands')
    torque = compile_model(chain_from_urdf(planar)).gravity_torque([0.2, 0.3])
    time = 500.0

    def tick():
        nonlocal time
        time += 0.02
        stamp = Time(sec=int(time), nanosec=int(time % 1 * 1e9))
        clock.publish(Clock(clock=stamp))
        message = JointState(name=['joint_1', 'joint_2'], position=[0.2, 0.3],
                             velocity=[0.0, 0.0])
        message.header.stamp = stamp
        states.publish(message)

    def commanding():
        tick()
        if not commands:
            motion.publish(motion_message(goal=(1.0, 1.0)))
        return commands

    ros.spin_until(commanding, 'torque commands')
    time = 3.0
    ros.spin_until(lambda: tick() or 'the clock was set back' in process.output, 'the reset')

    def holding():
        tick()
        return np.allclose(commands[-1].data, torque, rtol=1e-9)

    ros.spin_until(holding, 'the weight of the arm after the reset')
    assert np.all(np.isfinite([command.data for command in commands]))


def test_the_lifecycle_can_be_managed_from_outside(ros, parameter_file, planar):
    process = ros.start(f'{NODES}feedforward',
                        *parameter_file(robot_description=planar, autostart=False))

    def state():
        return ros.call(GetState, 'feedforward/get_state', GetState.Request()).current_state.id

    def change(transition):
        request = ChangeState.Request(transition=Transition(id=transition))
        return ros.call(ChangeState, 'feedforward/change_state', request).success

    ros.receive(DiagnosticArray, '/diagnostics')
    assert state() == State.PRIMARY_STATE_UNCONFIGURED
    assert change(Transition.TRANSITION_CONFIGURE)
    assert change(Transition.TRANSITION_ACTIVATE)
    assert state() == State.PRIMARY_STATE_ACTIVE
    output = listen(ros, JointTrajectory, 'feedforward/joint_trajectory')
    motion = publisher(ros, JointTrajectory, 'joint_trajectory')
    ros.send_until(partial(motion.publish, motion_message()), lambda: output, 'the trajectory')
    assert change(Transition.TRANSITION_DEACTIVATE)
    assert state() == State.PRIMARY_STATE_INACTIVE
    assert process.interrupt() == 0


def test_diagnostics_tell_what_was_dropped(ros, parameter_file, planar):
    ros.start(f'{NODES}feedforward', *parameter_file(robot_description=planar))
    messages = listen(ros, DiagnosticArray, '/diagnostics')
    motion = publisher(ros, JointTrajectory, 'joint_trajectory')

    def told():
        return any('dropped trajectories' in status.message and status.name == 'feedforward'
                   for message in messages for status in message.status)

    assert ros.send_until(partial(motion.publish, motion_message(names=('joint_1', 'elbow'))),
                          told, 'diagnostics of the dropped trajectory')


def test_a_stream_leaves_the_weight_of_the_arm_behind_when_it_is_ended(
        ros, parameter_file, planar):
    process = ros.start(f'{NODES}feedforward', *parameter_file(
        robot_description=planar, mode='stream', joint_state_timeout=10.0))
    commands = listen(ros, Float64MultiArray, 'feedforward/commands')
    states = publisher(ros, JointState, 'joint_states')
    message = JointState(name=['joint_1', 'joint_2'], position=[0.2, 0.3], velocity=[0.0, 0.0])
    motion = publisher(ros, JointTrajectory, 'joint_trajectory')

    def commanding():
        message.header.stamp = ros.node.get_clock().now().to_msg()
        states.publish(message)
        if not commands:
            motion.publish(motion_message(goal=(1.0, 1.0)))
        return len(commands) > 3

    ros.spin_until(commanding, 'torque commands')
    process.signal(signal.SIGTERM)
    weight = compile_model(chain_from_urdf(planar)).gravity_torque([0.2, 0.3])
    ros.spin_until(lambda: np.allclose(commands[-1].data, weight, rtol=1e-9), 'the last command')
    assert process.wait() == 0


def test_the_simulated_robot_follows_what_feedforward_sends(ros, parameter_file, planar):
    arguments = parameter_file(robot_description=planar)
    ros.start(f'{NODES}simulated_robot', *arguments)
    ros.start(f'{NODES}feedforward', *arguments, '-r',
              '~/joint_trajectory:=simulated_robot/joint_trajectory')
    states = listen(ros, JointState, 'joint_states')
    ros.wait_for_publishers('simulated_robot/joint_trajectory')
    topic = publisher(ros, JointTrajectory, 'joint_trajectory')
    # sent again where a peer had not met the next one yet
    ros.send_until(lambda: topic.publish(motion_message(goal=(0.5, -0.4))),
                   lambda: states and np.allclose(states[-1].position, [0.5, -0.4], atol=0.05),
                   'the goal')
