# SPDX-License-Identifier: Apache-2.0
"""The adaptive controller with the simulated robot: in step with each other, and over DDS."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header
from support.messages import motion_message, payload_message, published
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_interfaces.srv import GetMlc, SetPayload
from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.motion.playing.tracking import Tracking
from robot_dynamics_ros.nodes.adaptive_controller import AdaptiveControllerNode
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode
from robot_dynamics_ros.nodes.support.conversion import seconds, stamp, trajectory_to_message
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

pytestmark = pytest.mark.ros

NODES = 'robot_dynamics_ros.nodes.'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LOAD, LOAD_AT, DURATION = 1.0, 4.0, 8.0


def set_payload(mass, tip):
    return SetPayload.Request(payload=payload_message(mass, tip))


def level(tracking, begin, end):
    during = (tracking.times >= begin) & (tracking.times < end)
    return float(np.sqrt(np.mean(tracking.errors[during]**2)))


def test_tracking_recovers_from_a_load_that_appears_in_motion(make_node, planar):
    chain = chain_from_urdf(planar)
    motion = lively_motion(chain, duration=DURATION)
    arm = make_node(SimulatedRobotNode, now=1.0, robot_description=planar,
                    simulation_rate=400.0, parameter_error=0.1,
                    initial_position=motion.positions[0].tolist())
    controller = make_node(AdaptiveControllerNode, now=1.0, robot_description=planar)
    states, commands = published(arm, '/joint_states'), published(controller, '/commands')
    mlc = published(controller, '/mlc')
    start = arm.now + 0.1
    for k in range(round(200.0 * (DURATION + 0.1))):
        time = start - 0.1 + 0.005 * k
        arm.now = controller.now = time
        arm.tick(1.0 / arm.settings.publish_rate)
        if k == 1:
            controller.receive(trajectory_to_message(motion, Header(stamp=stamp(start))))
        if abs(time - start - LOAD_AT) < 0.0025:
            answer = arm.call(set_payload(LOAD, chain.tip))
            assert answer.success
        controller.receive(states[-1])
        arm.receive(commands[-1])
    controller.tick(1.0 / controller.settings.mlc_rate)
    assert len(commands) == len(states)
    tracking = Tracking.of(motion, [seconds(state.header.stamp) - start for state in states],
                           [list(state.position) for state in states])
    before = level(tracking, LOAD_AT - 2.0, LOAD_AT)
    assert level(tracking, LOAD_AT, LOAD_AT + 0.2) > 2.0 * before
    assert level(tracking, LOAD_AT + 2.0, DURATION) < 2.0 * before
    assert mlc[-1].state == MlcSet.LEARNING and mlc[-1].samples > 1000

    loaded = with_parameter_error(chain, 0.1, 1).with_payload(
        payload_inertia(LOAD, [0.0, 0.0, 0.0], np.zeros((3, 3))))
    q, model = motion.positions[-1], compile_model(chain)
    actual, before = compile_model(loaded).gravity_torque(q), model.gravity_torque(q)
    model.parameters = mlc[-1].values
    learned = model.gravity_torque(q)
    assert np.abs(learned - actual).max() < 0.2 * np.abs(before - actual).max()


@pytest.mark.slow
def test_the_arm_moves_over_dds_and_both_end_cleanly(ros, parameter_file, planar):
    """The bandwidth is low: on a busy machine messages are late by up to 0.1 s."""
    ros.start(f'{NODES}simulated_robot', *parameter_file(
        robot_description=planar, publish_clock=True, publish_rate=200.0, simulation_rate=400.0))
    ros.start(f'{NODES}adaptive_controller', *parameter_file(
        robot_description=planar, use_sim_time=True, joint_state_timeout=5.0, bandwidth=[4.0],
        learning_time=1.0, largest_error=3.0), '--remap', '~/commands:=simulated_robot/commands')
    states, mlc = [], []
    ros.node.create_subscription(JointState, 'joint_states', states.append, 100)
    ros.node.create_subscription(MlcSet, 'adaptive_controller/mlc', mlc.append, LATCHED)
    ros.spin_until(lambda: mlc and states, 'the nodes')
    ros.receive(Float64MultiArray, 'simulated_robot/commands')
    topic = ros.node.create_publisher(JointTrajectory, 'joint_trajectory', 10)
    ros.spin_until(topic.get_subscription_count, 'the controller')
    topic.publish(motion_message(goal=(0.4, -0.3)))
    ros.spin_until(lambda: abs(states[-1].position[0] - 0.4) < 0.05, 'the motion')
    tip = chain_from_urdf(planar).tip
    assert ros.call(SetPayload, 'simulated_robot/set_payload', set_payload(LOAD, tip)).success
    ros.spin_until(lambda: mlc[-1].samples > 100, 'learning')
    answer = ros.call(GetMlc, 'adaptive_controller/get_mlc', GetMlc.Request())
    assert answer.success and answer.mlc.samples > 100
