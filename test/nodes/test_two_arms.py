# SPDX-License-Identifier: Apache-2.0
"""Robots with two arms: one feedforward node for both, and one node for each."""

import re
from contextlib import ExitStack

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from builtin_interfaces.msg import Time
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import JointState
from support.messages import published
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_interfaces.srv import GetDynamics, SetPayload
from robot_dynamics_ros import chain_from_urdf, compile_model, payload_inertia
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.identification import IdentificationNode
from robot_dynamics_ros.nodes.payload_identification import PayloadIdentificationNode
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode
from robot_dynamics_ros.nodes.support.conversion import payload_to_message, stamp

pytestmark = pytest.mark.ros

TEXT = (URDF_FOLDER / 'demo_two_arms.urdf').read_text(encoding='utf-8')
FINGERS = ['*finger*']


@pytest.fixture(scope='module')
def model():
    return compile_model(chain_from_urdf(TEXT, locked=FINGERS))


def state_message(node, names, q):
    message = JointState(name=list(names), position=list(map(float, q)),
                         velocity=[0.0] * len(names), effort=[0.0] * len(names))
    message.header.stamp = stamp(node.now)
    return message


def motion(names, q0, q1, time=2):
    points = []
    for k, q in enumerate((q0, q1)):
        point = JointTrajectoryPoint(positions=list(map(float, q)), velocities=[0.0] * len(names),
                                     accelerations=[0.0] * len(names))
        point.time_from_start.sec = time * k
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
    node.receive(motion(names, np.zeros(len(names)), q1))
    sent = output[-1]
    assert list(sent.joint_names) == list(names)
    assert_close(efforts(sent)[-1], model.gravity_torque(q1), SAME_ALGEBRA)


@pytest.mark.parametrize('parameters', [{'locked': FINGERS}, {'tip': 'left_hand'}])
def test_the_first_line_says_which_joints_are_in_and_how_to_leave_some_out(make_node, capfd,
                                                                           parameters):
    node = make_node(FeedforwardNode, robot_description=TEXT, **parameters)
    chain = node.robot.chain
    line = next(line for line in capfd.readouterr().err.splitlines() if 'demo_two_arms' in line)
    assert f'{len(chain)} joints from base_link to {chain.tip_names}' in line
    assert ', '.join(chain.joint_names) in line
    assert 'leave joints out with the parameters tip, tips or locked' in line


def test_a_payload_is_learned_at_the_hand_that_is_named(make_node, capfd):
    node = make_node(PayloadIdentificationNode, start=False, robot_description=TEXT,
                     locked=FINGERS)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'payload_tip:=left_hand or payload_tip:=right_hand' in capfd.readouterr().err
    node = make_node(PayloadIdentificationNode, robot_description=TEXT, locked=FINGERS,
                     payload_tip='right_hand')
    assert node._estimator.estimate.tip == 'right_hand'


def test_a_trajectory_of_one_arm_leaves_the_other_where_it_is_measured(make_node, model):
    node = make_node(FeedforwardNode, robot_description=TEXT, locked=FINGERS, blend_time=0.0,
                     hold=False)
    output = published(node, '/joint_trajectory')
    names = model.chain.joint_names
    measured = np.linspace(0.3, -0.5, len(names))
    node.receive(state_message(node, names, measured))
    arm = [name for name in names if name.startswith('left')]
    goal = np.linspace(-0.2, 0.6, len(arm))
    columns = [names.index(name) for name in arm]
    node.receive(motion(arm, measured[columns], goal))
    sent = output[-1]
    assert list(sent.joint_names) == arm
    there = measured.copy()
    there[columns] = goal
    assert_close(efforts(sent)[-1], model.gravity_torque(there)[columns], SAME_ALGEBRA)


def test_without_a_joint_state_a_partial_trajectory_is_refused(make_node, model):
    node = make_node(FeedforwardNode, robot_description=TEXT, locked=FINGERS, hold=False)
    output = published(node, '/joint_trajectory')
    arm = [name for name in model.chain.joint_names if name.startswith('left')]
    node.receive(motion(arm, np.zeros(len(arm)), np.ones(len(arm))))
    assert not output and node.diagnostics.counted('dropped trajectories') == 1


def test_joints_that_nobody_names_are_frozen_and_thaw(make_node, model, capfd):
    node = make_node(FeedforwardNode, robot_description=TEXT, blend_time=0.0, hold=False,
                     now=100.0)
    everything, names = node.robot.chain.joint_names, model.chain.joint_names
    assert len(everything) == 17 and len(names) == 15
    measured = np.linspace(0.3, -0.5, len(names))
    for k in range(12):
        node.now = 100.0 + 0.1 * k
        node.receive(state_message(node, names, measured))
    assert node.robot.chain.joint_names == names
    arm = [name for name in names if name.startswith('left')]
    output = published(node, '/joint_trajectory')
    node.receive(motion(arm, measured[[names.index(name) for name in arm]], np.zeros(len(arm))))
    assert list(output[-1].joint_names) == arm
    there = np.where([name in arm for name in names], 0.0, measured)
    assert_close(efforts(output[-1])[-1],
                 model.gravity_torque(there)[[names.index(name) for name in arm]], SAME_ALGEBRA)
    told = capfd.readouterr().err
    assert told.count('never name them: left_finger_joint at 0, right_finger_joint at 0.') == 1
    node.receive(state_message(node, everything, np.zeros(17)))
    assert node.robot.chain.joint_names == everything


FORK = '<robot name="fork"><link name="base"/>' + ''.join(f"""<link name="{side}_arm"><inertial>
<origin xyz="0.3 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{side}" type="revolute"><parent link="base"/><child link="{side}_arm"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="3" effort="50"/></joint>
""" for side in ('left', 'right')) + '</robot>'


@pytest.mark.parametrize(('first', 'kept'), [(('left', 'right'), 2), (('left',), 1)])
def test_what_is_learned_of_joints_is_not_lost_when_nobody_names_them_any_more(
        make_node, first, kept):
    node = make_node(IdentificationNode, robot_description=FORK, now=100.0)
    for k in range(30):
        node.now = 100.0 + 0.1 * k
        names = first if k < 15 else ('left',)
        node.receive(state_message(node, names, np.zeros(len(names))))
        node.catch_up()
    assert len(node.robot.chain) == kept


def test_commands_without_names_never_change_their_joints(make_node, model):
    node = make_node(FeedforwardNode, robot_description=TEXT, mode='stream', now=100.0)
    for k in range(12):
        node.now = 100.0 + 0.1 * k
        node.receive(state_message(node, model.chain.joint_names, np.zeros(15)))
    assert len(node.robot.chain) == 17
    assert node.diagnostics.counted('dropped joint states') == 12


def test_two_nodes_serve_an_arm_each(make_node):
    for side in ('left', 'right'):
        chain = chain_from_urdf(TEXT, base='torso', tip=f'{side}_hand')
        assert chain.serial and len(chain) == 7
        node = make_node(FeedforwardNode, robot_description=TEXT, base='torso',
                         tip=f'{side}_hand', blend_time=0.0, hold=False)
        output = published(node, '/joint_trajectory')
        q1 = np.linspace(-0.4, 0.4, 7)
        node.receive(motion(chain.joint_names, np.zeros(7), q1))
        assert_close(efforts(output[-1])[-1], compile_model(chain).gravity_torque(q1),
                     SAME_ALGEBRA)


def test_two_nodes_in_one_namespace_serve_an_arm_each_over_dds(ros, make_node, model):
    names, outputs, sent = model.chain.joint_names, {}, {}
    states = ros.node.create_publisher(JointState, 'joint_states', 10)
    measured = np.linspace(0.3, -0.5, len(names))
    with ExitStack() as stack:
        for side in ('left', 'right'):
            node = make_node(
                FeedforwardNode, robot_description=TEXT, base='torso', tip=f'{side}_hand',
                blend_time=0.0, hold=False, cli_args=[
                    '--ros-args', '-r', f'__node:={side}_feedforward',
                    '-r', f'joint_trajectory:={side}_arm/joint_trajectory',
                    '-r', f'~/joint_trajectory:={side}_controller/joint_trajectory'])
            stack.enter_context(ros.spinning(node))
            sent[side] = ros.node.create_publisher(JointTrajectory,
                                                   f'{side}_arm/joint_trajectory', 10)
            outputs[side] = []
            ros.node.create_subscription(JointTrajectory, f'{side}_controller/joint_trajectory',
                                         outputs[side].append, 10)
        goals = {side: np.linspace(-0.4, 0.4, 7) * sign
                 for side, sign in (('left', 1.0), ('right', -1.0))}
        for side, goal in goals.items():
            arm = [name for name in names if name.startswith(side)]
            start = measured[[names.index(name) for name in arm]]

            def send(arm=arm, start=start, goal=goal, side=side):
                states.publish(state_message(node, names, measured))
                sent[side].publish(motion(arm, start, goal))
            ros.send_until(send, lambda side=side: outputs[side], f'efforts of the {side} arm')
    for side, goal in goals.items():
        chain = chain_from_urdf(TEXT, base='torso', tip=f'{side}_hand')
        assert all(message.joint_names == list(chain.joint_names) for message in outputs[side])
        assert_close(efforts(outputs[side][0])[-1], compile_model(chain).gravity_torque(goal),
                     SAME_ALGEBRA)


def test_joint_states_of_the_other_arm_are_nobodys_trouble(make_node):
    node = make_node(FeedforwardNode, robot_description=TEXT, base='torso', tip='left_hand',
                     now=100.0)
    left = node.robot.chain.joint_names
    right = [name.replace('left', 'right') for name in left]
    node.receive(state_message(node, right, np.zeros(7)))
    assert node.diagnostics.counted('dropped joint states') == 1, 'no other has come so far'
    for k in range(4):
        node.now = 100.1 + 0.1 * k
        node.receive(state_message(node, (left, right)[k % 2], np.zeros(7)))
    assert node.diagnostics.counted('joint states') == 2
    assert node.diagnostics.counted('dropped joint states') == 1


def test_the_services_of_a_tree_answer_for_all_joints_in_any_order(make_node, model):
    node = make_node(DynamicsServerNode, robot_description=TEXT, locked=FINGERS)
    names = model.chain.joint_names[::-1]
    q, qd, qdd = np.random.default_rng(3).uniform(-1.0, 1.0, (3, len(names)))
    answer = node.call(GetDynamics.Request(
        joint_names=list(names), position=q.tolist(), velocity=qd.tolist(),
        acceleration=qdd.tolist()))
    assert answer.success, answer.message
    assert_close(answer.torque, model.torque(q[::-1], qd[::-1], qdd[::-1])[::-1], SAME_ALGEBRA)
    M = np.reshape(answer.mass_matrix, (15, 15))
    assert_close(M, model.mass_matrix(q[::-1])[::-1, ::-1], SAME_ALGEBRA)
    assert not M[:7, 7:14].any(), 'the arms do not feel each other'


def test_both_arms_are_tracked_over_dds(ros, make_node):
    # the clock is that of the simulation: a slow machine changes nothing
    common = {'robot_description': TEXT, 'locked': FINGERS,
              'joints_file': str(URDF_FOLDER.parent / 'config' / 'demo_two_arms_joints.yaml')}
    controller = 'simulated_robot/joint_trajectory'
    robot = make_node(SimulatedRobotNode, parameter_error=0.0, publish_clock=True,
                      real_time_factor=10.0, simulation_rate=500.0, publish_rate=50.0, **common)
    node = make_node(FeedforwardNode, use_sim_time=True, hold=False, blend_time=0.0, **common,
                     cli_args=['--ros-args', '-r', f'~/joint_trajectory:={controller}'])
    cell, names = robot.simulation, node.robot.chain.joint_names
    errors, worst = [], []
    ros.node.create_subscription(JointState, 'joint_states', lambda message: errors.append(
        np.abs(cell.controller.error(cell.time, cell.robot.q)).max()), 10)
    rest, away = np.zeros(len(names)), np.linspace(-0.3, 0.3, len(names))
    with ros.spinning(robot), ros.spinning(node):
        # the first one empties the integral, which has carried the weight
        for topic, start, goal, pause in (('joint_trajectory', rest, away, 2.0),
                                          ('joint_trajectory', away, rest, 0.1),
                                          (controller, rest, away, 0.1)):
            sent = ros.node.create_publisher(JointTrajectory, topic, 10)
            ros.spin_until(sent.get_subscription_count, f'a subscriber of {topic}')
            errors.clear()
            sent.publish(motion(names, start, goal, time=1))
            ros.spin_until(lambda goal=goal: np.allclose(
                cell.controller.desired(cell.time).q, goal, atol=1e-9), 'the end of the motion')
            end = cell.time + pause
            ros.spin_until(lambda end=end: cell.time > end, 'rest')
            worst.append(max(errors))
    _, with_feedforward, with_pid_alone = worst
    assert with_pid_alone > 0.03
    assert with_feedforward < 0.1 * with_pid_alone


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


def payload_message(tip, mass):
    return payload_to_message(payload_inertia(mass, [0.0, 0.0, 0.1], np.zeros((3, 3))), tip,
                              Time())


def test_payloads_of_both_hands_stay_when_joints_are_frozen(make_node, model):
    node = make_node(FeedforwardNode, robot_description=TEXT, now=100.0)
    loaded = model.chain
    for tip, mass in (('left_hand', 1.0), ('right_hand', 2.5)):
        node.receive(payload_message(tip, mass))
        loaded = loaded.with_payload(mass, [0.0, 0.0, 0.1], tip=tip)
    for k in range(12):
        node.now = 100.0 + 0.1 * k
        node.receive(state_message(node, loaded.joint_names, np.zeros(15)))
    assert node.robot.chain.joint_names == loaded.joint_names
    q = np.linspace(-0.4, 0.4, 15)
    assert_close(node.robot.model.gravity_torque(q), compile_model(loaded).gravity_torque(q), 1e-9)


@pytest.mark.parametrize('mass', [1.0, 0.0])
def test_a_payload_that_names_no_hand_is_refused(make_node, mass, capfd):
    node = make_node(FeedforwardNode, robot_description=TEXT, locked=FINGERS)
    node.receive(payload_message('', mass))
    assert node.diagnostics.counted('refused payloads') == 1
    assert "expected the tip link 'left_hand' or 'right_hand'" in capfd.readouterr().err


@pytest.mark.parametrize('engine', ['own', 'mujoco'])
def test_the_simulated_robot_carries_a_payload_in_either_hand(make_node, engine):
    if engine == 'mujoco':
        pytest.importorskip('mujoco')
    text = re.sub('<dynamics[^>]*>', '', TEXT)  # at rest friction hides everything
    node = make_node(SimulatedRobotNode, robot_description=text, locked=FINGERS, engine=engine,
                     parameter_error=0.0)
    loaded, arm, q = chain_from_urdf(text, locked=FINGERS), node.simulation.robot, np.zeros(15)
    for tip, mass in (('left_hand', 1.0), ('right_hand', 2.5)):
        answer = node.call(SetPayload.Request(payload=payload_message(tip, mass)))
        assert answer.success, answer.message
        loaded = loaded.with_payload(mass, [0.0, 0.0, 0.1], tip=tip)
    expected = compile_model(loaded).forward_dynamics(arm.q, q, q)
    arm.advance(q)
    assert_close(arm.qd / arm.step, expected, 0.01)
