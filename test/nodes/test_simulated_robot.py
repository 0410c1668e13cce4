# SPDX-License-Identifier: Apache-2.0
"""The simulated robot node: what it publishes, what it obeys, what it refuses."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import Float64MultiArray
from support.messages import JOINTS, motion_message, payload_message, published, trajectory_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.srv import SetPayload
from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode

pytestmark = pytest.mark.ros


@pytest.fixture
def make_robot(make_node, planar):
    def make(**parameters):
        return make_node(SimulatedRobotNode, now=100.0, robot_description=planar, **parameters)
    return make


def advance(node, duration):
    """Let the time of a node's clock pass [s]."""
    node.now += duration
    node.tick(1.0 / node.settings.publish_rate)


def test_joint_states_come_with_all_joints(make_robot):
    node = make_robot(initial_position=[0.3, -0.2])
    states = published(node, '/joint_states')
    advance(node, 0.0)
    assert states[0].name == ['joint_1', 'joint_2']
    np.testing.assert_allclose(states[0].position, [0.3, -0.2])
    assert len(states[0].velocity) == len(states[0].effort) == 2


def test_missing_interfaces_are_nan_at_full_length(make_robot):
    node = make_robot(missing_interfaces=['velocity', 'effort'])
    states = published(node, '/joint_states')
    advance(node, 0.01)
    assert np.isnan(states[0].velocity).tolist() == [True, True]
    assert np.isnan(states[0].effort).tolist() == [True, True]


def test_a_trajectory_is_followed_and_an_empty_one_refused(make_robot):
    node = make_robot()
    node.receive(motion_message(goal=(0.2, -0.1)))
    cell = node.simulation
    assert cell.controller.desired(cell.time + 1.0).q.tolist() == [0.2, -0.1]
    node.receive(JointTrajectory(joint_names=list(JOINTS)))
    assert cell.controller.desired(cell.time + 1.0).q.tolist() == [0.2, -0.1]
    assert node.diagnostics.counted('dropped trajectories') == 1


def test_commands_are_applied(make_robot):
    node = make_robot()
    states = published(node, '/joint_states')
    node.receive(Float64MultiArray(data=[1.0, 2.0]))
    advance(node, 0.01)
    assert list(states[0].effort) == [1.0, 2.0]


@pytest.mark.parametrize('data', [[np.nan, 0.0], [1.0], [], [np.inf, 1.0], [1.0, 2.0, 3.0]])
def test_a_bad_command_is_dropped(make_robot, data):
    node = make_robot()
    node.receive(Float64MultiArray(data=data))
    assert node.diagnostics.counted('dropped commands') == 1
    before = node.simulation.robot.q.copy()
    for _ in range(5):
        advance(node, 0.1)
    np.testing.assert_allclose(node.simulation.robot.q, before, atol=0.05)  # still holds


def test_a_bad_trajectory_is_dropped(make_robot):
    node = make_robot()
    short = trajectory_message([{'time': 0.0, 'positions': [0.0, 0.0], 'effort': [1.0]}])
    for message in (motion_message(goal=(np.nan, 0.0)), short,
                    motion_message(names=('joint_1', 'elbow'))):
        node.receive(message)
    assert node.diagnostics.counted('dropped trajectories') == 3


def test_the_true_parameters_differ_by_the_seeded_error(make_robot, planar):
    nominal = chain_from_urdf(planar).standard_parameters
    one, same, other = (make_robot(seed=seed).simulation.robot.chain.standard_parameters
                        for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)
    assert not np.allclose(one, nominal)
    exact = make_robot(parameter_error=0.0).simulation.robot.chain.standard_parameters
    np.testing.assert_array_equal(exact, nominal)


def test_a_load_is_hung_on_while_it_runs(make_robot):
    node = make_robot(parameter_error=0.0)
    before = node.simulation.robot.model.gravity_torque([0.0, 0.0])
    request = SetPayload.Request(payload=payload_message(2.0, 'link_2', (0.1, 0.0, 0.0)))
    assert node.call(request).success
    after = node.simulation.robot.model.gravity_torque([0.0, 0.0])
    np.testing.assert_allclose(after - before, [2.0 * 9.81 * 0.6, 2.0 * 9.81 * 0.1])
    request.payload.inertia.m = -1.0
    assert not node.call(request).success


def test_mujoco_moves_the_same_arm(make_robot):
    pytest.importorskip('mujoco', reason='needs the extra `simulation`')
    arms = [make_robot(engine=engine, simulation_rate=2000.0).simulation
            for engine in ('own', 'mujoco')]
    for cell in arms:
        cell.command([3.0, 1.0])
        cell.advance_to(cell.time + 0.2, at_most=500)
    np.testing.assert_allclose(arms[1].robot.q, arms[0].robot.q, rtol=0.01)
    load = payload_message(2.0, 'link_2', (0.1, 0.0, 0.0))
    node = make_robot(engine='mujoco')
    assert node.call(SetPayload.Request(payload=load)).success


def test_gains_can_be_given_per_joint(make_robot):
    node = make_robot(gains__joint_2__p=77.0, gains__joint_2__i=0.0, gains__joint_2__d=0.0,
                      initial_position=[0.3, -0.2])
    states = published(node, '/joint_states')
    for _ in range(20):
        advance(node, 1.0 / node.settings.simulation_rate)  # one step, so states tell all errors
    q, effort = (np.array([getattr(state, field) for state in states])
                 for field in ('position', 'effort'))
    proportional = 77.0 * (np.array([0.3, -0.2]) - q[:-1])
    np.testing.assert_allclose(effort[1:, 1], proportional[:, 1], rtol=1e-9)
    assert np.all(np.abs(effort[1:, 0]) > 2.0 * np.abs(proportional[:, 0])), 'its own gains'


def test_joints_without_a_rotor_that_pid_will_lose_are_named(make_robot, tmp_path, capfd):
    """The wrist of an xArm 7, 1.4e-4 kg m^2 by its URDF, was half a radian behind."""
    joints = tmp_path / 'joints.yaml'
    joints.write_text('joints: {joint_2: {limits: {effort: 9000.0}, rotor_inertia: 60.0}}')
    make_robot(joints_file=str(joints))
    assert 'rotor_inertia' not in capfd.readouterr().err
    joints.write_text('joints: {joint_2: {limits: {effort: 9000.0}}}')
    make_robot(joints_file=str(joints))
    assert 'very light for their effort limits: joint_2 (0.36)' in capfd.readouterr().err


def test_elastic_joints_come_from_the_joints_file(make_robot, tmp_path):
    file = tmp_path / 'joints.yaml'
    file.write_text('joints: {joint_1: {stiffness: 900.0, rotor_inertia: 0.1}}')
    node = make_robot(joints_file=str(file))
    advance(node, 0.05)
    arm = node.simulation.robot
    assert arm.q_motor[0] != arm.q[0]
    assert arm.q_motor[1] == arm.q[1]


def test_a_clock_set_back_makes_it_hold(make_robot):
    node = make_robot()
    node.receive(motion_message())
    node.now -= 50.0
    node.clock_set_back()
    cell = node.simulation
    assert cell.time == pytest.approx(node.now)
    np.testing.assert_array_equal(cell.controller.desired(cell.time).q, cell.robot.q)


@pytest.mark.parametrize(('parameters', 'message'), [
    ({'initial_position': [1.0]}, 'initial_position has 1 values, expected 2'),
    ({'joints_file': 'nowhere.yaml'}, 'nowhere.yaml: cannot be read'),
    ({'engine': 'mujoco', 'joints_file': 'elastic.yaml'}, "engine 'mujoco' has no elastic joints"),
    ({'publish_clock': True, 'use_sim_time': True}, 'exclude each other'),
])
def test_a_robot_that_cannot_be_is_refused_at_start(make_node, planar, parameters, message,
                                                    tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'elastic.yaml').write_text('joints: {joint_1: {stiffness: 9.0}}')
    node = make_node(SimulatedRobotNode, start=False, robot_description=planar, **parameters)
    assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
    assert message in node.diagnostics.status().message


class LockedRobot(SimulatedRobotNode):
    """A robot whose real time the test turns."""

    real_time = 1000.0


def test_in_lockstep_every_joint_state_waits_for_its_efforts(make_node, planar):
    node = make_node(LockedRobot, robot_description=planar, publish_clock=True, lockstep=True,
                     publish_rate=100.0)
    states, clock = published(node, '/joint_states'), published(node, '/clock')
    for _ in range(3):
        node.real_time += 0.01
        node.tick(0.01)
        node.tick(0.01)  # at once: no second state with the same stamp
    assert len(states) == 3, 'nobody commands efforts yet'
    for _ in range(3):
        node.receive(Float64MultiArray(data=[1.0, 2.0]))
        before = len(states), node.simulation.time
        node.real_time += 10.0  # a long pause of the machine
        node.tick(0.01)
        node.tick(0.01)
        assert len(states) == before[0] + 1
        assert node.simulation.time == pytest.approx(before[1] + 0.01)
    assert clock[-1].clock == states[-1].header.stamp
    node.real_time += 2.0  # whoever commanded has gone
    node.tick(0.01)
    assert len(states) == 7
    node.receive(motion_message())
    for _ in range(2):
        node.real_time += 0.01
        node.tick(0.01)
    assert len(states) == 9
