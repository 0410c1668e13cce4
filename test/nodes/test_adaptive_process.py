# SPDX-License-Identifier: Apache-2.0
"""The adaptive controller and the simulated robot as processes: a load appears in motion."""

import numpy as np
import pytest

pytest.importorskip('robot_dynamics_interfaces.msg', reason='needs ROS 2')

from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from support.messages import payload_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_interfaces.srv import GetMlc, SetPayload
from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.control.demonstration import demonstration_motion
from robot_dynamics_ros.control.tracking import Tracking
from robot_dynamics_ros.nodes.conversion import seconds, stamp, trajectory_to_message

pytestmark = [pytest.mark.ros, pytest.mark.slow]

NODES = 'robot_dynamics_ros.nodes.'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LOAD = 1.0
LOAD_AT, DURATION = 4.0, 10.0


def run_motion(ros, parameter_file, planar, **parameters):
    """Return the tracking of a motion in which a load appears, and the last ~/mlc."""
    chain = chain_from_urdf(planar)
    motion = demonstration_motion(chain, duration=DURATION)
    first = motion.positions[0].tolist()
    ros.start(f'{NODES}simulated_robot', *parameter_file(
        robot_description=planar, publish_clock=True, publish_rate=200.0, simulation_rate=400.0,
        initial_position=first, parameter_error=0.1))
    ros.start(f'{NODES}adaptive_controller', *parameter_file(
        robot_description=planar, use_sim_time=True, joint_state_timeout=0.5, **parameters),
        '--remap', '~/commands:=simulated_robot/commands')
    states, mlc = [], []
    ros.node.create_subscription(JointState, 'joint_states', states.append, 100)
    ros.node.create_subscription(MlcSet, 'adaptive_controller/mlc', mlc.append, LATCHED)
    ros.spin_until(lambda: mlc and states, 'the nodes')
    topic = ros.node.create_publisher(JointTrajectory, 'joint_trajectory', 10)
    ros.spin_until(topic.get_subscription_count, 'the controller')
    now = lambda: seconds(states[-1].header.stamp)  # noqa: E731
    begin = now() + 1.0
    topic.publish(trajectory_to_message(motion, Header(stamp=stamp(begin))))
    ros.spin_until(lambda: now() > begin + LOAD_AT, 'half of the motion')
    assert ros.call(SetPayload, 'simulated_robot/set_payload', SetPayload.Request(
        payload=payload_message(LOAD, chain.tip))).success
    ros.spin_until(lambda: now() > begin + DURATION, 'the end of the motion', 60.0)
    assert ros.call(GetMlc, 'adaptive_controller/get_mlc', GetMlc.Request()).success
    times = [seconds(state.header.stamp) - begin for state in states]
    return Tracking.of(motion, times, [list(state.position) for state in states]), mlc[-1]


def level(tracking, begin, end):
    during = (tracking.times >= begin) & (tracking.times < end)
    return float(np.sqrt(np.mean(tracking.errors[during]**2)))


def test_tracking_recovers_from_a_load_that_appears_in_motion(ros, parameter_file, planar):
    tracking, mlc = run_motion(ros, parameter_file, planar)
    before = level(tracking, LOAD_AT - 2.0, LOAD_AT)
    disturbed = level(tracking, LOAD_AT, LOAD_AT + 1.0)
    after = level(tracking, LOAD_AT + 3.0, DURATION)
    assert disturbed > 2.0 * after
    assert after < 3.0 * before
    assert mlc.state in (MlcSet.LEARNING, MlcSet.FROZEN) and mlc.samples > 100
