# SPDX-License-Identifier: Apache-2.0
"""Robots with two arms: one feedforward node for both, and one node for each."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from sensor_msgs.msg import JointState
from support.messages import published
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros import chain_from_urdf, compile_model, payload_inertia
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode

pytestmark = pytest.mark.ros

TEXT = (URDF_FOLDER / 'demo_two_arms.urdf').read_text(encoding='utf-8')
FINGERS = ['*finger*']


@pytest.fixture(scope='module')
def model():
    return compile_model(chain_from_urdf(TEXT, locked=FINGERS))


def state_message(node, names, q):
    message = JointState(name=list(names), position=list(map(float, q)),
                         velocity=[0.0] * len(names), effort=[0.0] * len(names))
    message.header.stamp = node.get_clock().now().to_msg()
    return message


def motion(names, q0, q1):
    points = []
    for k, q in enumerate((q0, q1)):
        point = JointTrajectoryPoint(positions=list(map(float, q)), velocities=[0.0] * len(names),
                                     accelerations=[0.0] * len(names))
        point.time_from_start.sec = 2 * k
        points.append(point)
    return JointTrajectory(joint_names=list(names), points=points)


def efforts(message):
    return np.array([point.effort for point in message.points])


def test_one_node_serves_both_arms(make_node, model):
    node = make_node(FeedforwardNode, robot_description=TEXT, locked=FINGERS, blend_time=0.0,
                     hold=False)
    output = published(node, '/joint_trajectory')
    names = model.chain.joint_names
    q1 = np.linspace(-0.4, 0.4, len(names))
    node._on_trajectory(motion(names, np.zeros(len(names)), q1))
    sent = output[-1]
    assert list(sent.joint_names) == list(names)
    assert_close(efforts(sent)[-1], model.gravity_torque(q1), SAME_ALGEBRA)


def test_a_trajectory_of_one_arm_leaves_the_other_where_it_is_measured(make_node, model):
    node = make_node(FeedforwardNode, robot_description=TEXT, locked=FINGERS, blend_time=0.0,
                     hold=False)
    output = published(node, '/joint_trajectory')
    names = model.chain.joint_names
    measured = np.linspace(0.3, -0.5, len(names))
    node._joints._on_joint_state(state_message(node, names, measured))
    arm = [name for name in names if name.startswith('left')]
    goal = np.linspace(-0.2, 0.6, len(arm))
    columns = [names.index(name) for name in arm]
    node._on_trajectory(motion(arm, measured[columns], goal))
    sent = output[-1]
    assert list(sent.joint_names) == arm
    there = measured.copy()
    there[columns] = goal
    assert_close(efforts(sent)[-1], model.gravity_torque(there)[columns], SAME_ALGEBRA)


def test_without_a_joint_state_a_partial_trajectory_is_refused(make_node, model):
    node = make_node(FeedforwardNode, robot_description=TEXT, locked=FINGERS, hold=False)
    output = published(node, '/joint_trajectory')
    arm = [name for name in model.chain.joint_names if name.startswith('left')]
    node._on_trajectory(motion(arm, np.zeros(len(arm)), np.ones(len(arm))))
    assert not output and node.diagnostics.counted('dropped trajectories') == 1


def test_two_nodes_serve_an_arm_each(make_node):
    for side in ('left', 'right'):
        chain = chain_from_urdf(TEXT, base='torso', tip=f'{side}_hand')
        assert chain.serial and len(chain) == 7
        node = make_node(FeedforwardNode, robot_description=TEXT, base='torso',
                         tip=f'{side}_hand', blend_time=0.0, hold=False)
        output = published(node, '/joint_trajectory')
        q1 = np.linspace(-0.4, 0.4, 7)
        node._on_trajectory(motion(chain.joint_names, np.zeros(7), q1))
        assert_close(efforts(output[-1])[-1], compile_model(chain).gravity_torque(q1),
                     SAME_ALGEBRA)


def test_both_hands_carry_a_payload_of_their_own(make_node, model):
    node = make_node(FeedforwardNode, robot_description=TEXT, locked=FINGERS, blend_time=0.0,
                     hold=False)
    loaded = model.chain
    for tip, mass in (('left_hand', 1.0), ('right_hand', 2.5)):
        node.robot.carry(payload_inertia(mass, [0.0, 0.0, 0.1], np.zeros((3, 3))), tip)
        loaded = loaded.with_payload(mass, [0.0, 0.0, 0.1], tip=tip)
    q = np.linspace(-0.4, 0.4, len(loaded))
    assert_close(node.robot.model.gravity_torque(q), compile_model(loaded).gravity_torque(q),
                 1e-9)
