# SPDX-License-Identifier: Apache-2.0
"""
With the rest of a ROS 2 installation: `ros2 launch`, ros2_control, Gazebo.

Each test runs where the ament index has what it needs, and says what is missing elsewhere.
"""

import math
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from support.availability import skip_without_ros
from support.stack import PATIENCE, running, skip_without_stack, stack_missing

skip_without_ros()

from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.messages import motion_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
from robot_dynamics_ros.nodes.support.robot_node import LATCHED
from robot_dynamics_ros.simulation.gazebo_description import with_gazebo_control

pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parent.parent.parent
URDF = ROOT / 'urdf' / 'demo_arm.urdf'
CONTROLLERS = ROOT / 'config' / 'demo_arm_controllers.yaml'
LAUNCH = ('ros2launch', 'launch_ros')
CONTROL = (*LAUNCH, 'controller_manager', 'hardware_interface', 'joint_state_broadcaster',
           'joint_trajectory_controller', 'control_msgs')
GAZEBO = (*CONTROL, 'robot_state_publisher', 'ros_gz_sim', 'ros_gz_bridge', 'gz_ros2_control')
JOINTS = tuple(f'joint_{number}' for number in range(1, 8))
GOAL = (0.3, 0.4, -0.2, 0.5, 0.1, -0.3, 0.2)


def mock_description():
    """Return the demo arm with ros2_control's mock hardware behind effort interfaces."""
    text = URDF.read_text()
    robot = ElementTree.fromstring(
        with_gazebo_control(text, chain_from_urdf(text).joint_names, str(CONTROLLERS)))
    robot.remove(robot.find('gazebo'))
    robot.find('ros2_control/hardware/plugin').text = 'mock_components/GenericSystem'
    for state in robot.findall('ros2_control/joint/state_interface'):
        ElementTree.SubElement(state, 'param', name='initial_value').text = '0.0'
    return ElementTree.tostring(robot, encoding='unicode')


def efforts_of_the_controller(ros, topic):
    """Return a list that fills with the efforts that the trajectory controller commands."""
    from control_msgs.msg import JointTrajectoryControllerState

    efforts = []
    ros.node.create_subscription(JointTrajectoryControllerState, topic,
                                 lambda message: efforts.append(list(message.output.effort)),
                                 qos_profile_sensor_data)
    return efforts


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    assert 'no_such_package, the program no_such_program' in stack_missing(
        ['robot_dynamics_ros', 'no_such_package'], ['sh', 'no_such_program'])
    assert stack_missing(['robot_dynamics_ros'], ['sh']) == ''
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'nothing'))
    assert 'robot_dynamics_ros' in stack_missing(['robot_dynamics_ros'], [])


def test_the_mock_hardware_has_every_joint_of_the_controllers():
    robot = ElementTree.fromstring(mock_description())
    parameters = yaml.safe_load(CONTROLLERS.read_text())['/**']['joint_trajectory_controller']
    assert [joint.get('name') for joint in robot.findall('ros2_control/joint')
            ] == parameters['ros__parameters']['joints']


def test_ros2_launch_shows_the_arguments():
    skip_without_stack(LAUNCH)
    shown = subprocess.run(['ros2', 'launch', 'robot_dynamics_ros', 'robot.launch.py',
                            '--show-args'], capture_output=True, text=True, timeout=PATIENCE)
    assert shown.returncode == 0, shown.stderr
    for name in ('controller_action', 'effort_limits', 'effort_source', 'learn'):
        assert f"'{name}':" in shown.stdout


@pytest.mark.ros2_control
def test_the_stock_controller_takes_our_gains_and_efforts(ros, tmp_path):
    skip_without_stack(CONTROL)
    ros.node.create_publisher(String, '/robot_description', LATCHED).publish(
        String(data=mock_description()))
    efforts = efforts_of_the_controller(ros, '/joint_trajectory_controller/controller_state')
    states = []
    ros.node.create_subscription(JointState, '/joint_states', states.append, 10)
    with running(['ros2', 'run', 'controller_manager', 'ros2_control_node', '--ros-args',
                  '--params-file', str(CONTROLLERS)], tmp_path / 'manager.txt'):
        spawned = subprocess.run(
            ['ros2', 'run', 'controller_manager', 'spawner', 'joint_state_broadcaster',
             'joint_trajectory_controller'], capture_output=True, text=True, timeout=PATIENCE)
        assert spawned.returncode == 0, (tmp_path / 'manager.txt').read_text() + spawned.stderr
        ros.spin_until(lambda: states and efforts, 'states of robot and controller', PATIENCE)
        with running(['ros2', 'launch', 'robot_dynamics_ros', 'robot.launch.py',
                      f'description_file:={URDF}'], tmp_path / 'launch.txt'):
            topic = ros.node.create_publisher(JointTrajectory, '/joint_trajectory', 10)
            ros.spin_until(topic.get_subscription_count, 'the feedforward node', PATIENCE)
            topic.publish(motion_message(goal=GOAL, names=JOINTS))
            # the mock does not move, so that only an accepted trajectory makes the efforts large
            ros.spin_until(lambda: len(efforts[-1]) == len(GOAL)
                           and max(map(abs, efforts[-1])) > 1.0, 'efforts', PATIENCE)
        assert all(math.isfinite(each) for row in efforts for each in row)


@pytest.mark.ros2_control
def test_the_stock_effort_controller_takes_the_weight_of_a_floating_arm(ros, tmp_path):
    skip_without_stack((*CONTROL, 'forward_command_controller'))
    name = 'forward_effort_controller'
    controllers = tmp_path / 'controllers.yaml'
    controllers.write_text(yaml.safe_dump({
        'controller_manager': {'ros__parameters': {
            'update_rate': 200,
            'joint_state_broadcaster': {'type': 'joint_state_broadcaster/JointStateBroadcaster'},
            name: {'type': 'forward_command_controller/ForwardCommandController'}}},
        name: {'ros__parameters': {'joints': list(JOINTS), 'interface_name': 'effort'}}}))
    ros.node.create_publisher(String, '/robot_description', LATCHED).publish(
        String(data=mock_description()))
    weight = compile_model(chain_from_urdf(URDF.read_text())).gravity_torque([0.0] * len(JOINTS))
    states = []
    ros.node.create_subscription(JointState, '/joint_states', states.append, 10)
    with running(['ros2', 'run', 'controller_manager', 'ros2_control_node', '--ros-args',
                  '--params-file', str(controllers)], tmp_path / 'manager.txt'):
        spawned = subprocess.run(
            ['ros2', 'run', 'controller_manager', 'spawner', 'joint_state_broadcaster', name],
            capture_output=True, text=True, timeout=PATIENCE)
        assert spawned.returncode == 0, (tmp_path / 'manager.txt').read_text() + spawned.stderr
        ros.spin_until(lambda: states, 'states of the robot', PATIENCE)
        with running(['ros2', 'launch', 'robot_dynamics_ros', 'robot.launch.py', 'mode:=float',
                      f'controller_name:={name}', f'description_file:={URDF}'],
                     tmp_path / 'launch.txt'):

            def carried():  # the mock shows what it is commanded, and does not move
                efforts = dict(zip(states[-1].name, states[-1].effort))
                return all(math.isclose(efforts[joint], each, abs_tol=1e-3)
                           for joint, each in zip(JOINTS, weight))

            ros.spin_until(carried, 'the weight', PATIENCE)


@pytest.mark.gazebo
@pytest.mark.parametrize('path', sorted(URDF.parent.glob('*.urdf')), ids=lambda path: path.stem)
def test_sdformat_keeps_every_link_and_joint(tmp_path, path):
    skip_without_stack((), ['gz'])
    text = path.read_text()
    ready = tmp_path / path.name
    ready.write_text(with_gazebo_control(text, chain_from_urdf(text).joint_names, 'x.yaml', 'arm'))
    done = subprocess.run(['gz', 'sdf', '-p', str(ready)], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    model = ElementTree.fromstring(done.stdout[done.stdout.index('<sdf'):]).find('model')
    links = {link.get('name') for link in model.findall('link')}
    joints = {joint.get('name'): joint for joint in model.findall('joint')}
    assert set(chain_from_urdf(text).joint_names) <= set(joints)
    for joint in joints.values():
        assert {joint.findtext('parent'), joint.findtext('child')} <= links | {'world'}
    assert model.findtext('plugin/ros/namespace') == '/arm'


@pytest.mark.gazebo
@pytest.mark.parametrize('namespace', ['', 'arm'])
def test_the_demo_arm_moves_in_gazebo(ros, tmp_path, monkeypatch, namespace):
    skip_without_stack(GAZEBO, ['ros2', 'gz'])
    monkeypatch.setenv('GZ_PARTITION', tmp_path.name)  # no other simulation on this machine
    prefix = f'/{namespace}' if namespace else ''
    efforts = efforts_of_the_controller(
        ros, f'{prefix}/joint_trajectory_controller/controller_state')
    states = []
    ros.node.create_subscription(JointState, f'{prefix}/joint_states', states.append, 10)
    output = tmp_path / 'launch.txt'
    with running(['ros2', 'launch', 'robot_dynamics_ros', 'gazebo.launch.py', 'gui:=false',
                  'learn:=true', f'namespace:={namespace}'], output) as process:
        ros.spin_until(lambda: (states and efforts) or process.poll() is not None,
                       'states of robot and controller', PATIENCE)
        assert process.poll() is None, output.read_text()
        topic = ros.node.create_publisher(JointTrajectory, f'{prefix}/joint_trajectory', 10)
        ros.spin_until(topic.get_subscription_count, 'the feedforward node', PATIENCE)
        ros.wait_for_publishers(f'{prefix}/identification/mlc')
        topic.publish(motion_message(goal=GOAL, names=JOINTS))

        def arrived():
            position = dict(zip(states[-1].name, states[-1].position))
            return all(abs(position[name] - goal) < 0.05
                       for name, goal in zip(JOINTS, GOAL))

        ros.spin_until(arrived, 'the motion', PATIENCE)
        assert max(map(abs, efforts[-1])) > 1.0
