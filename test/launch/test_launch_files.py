# SPDX-License-Identifier: Apache-2.0
"""Launch files under the real launch: the right nodes, and demos that run and end."""

import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from support.availability import launch_missing
from support.launch_stand_in import launched

if reason := launch_missing():
    pytest.skip(reason, allow_module_level=True)

from launch import LaunchContext, LaunchDescription
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from launch.utilities import perform_substitutions
from launch_ros.actions import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger
from support.messages import motion_message
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = sorted(path.name for path in (ROOT / 'launch').glob('*.launch.py'))


def load(name) -> LaunchDescription:
    return get_launch_description_from_python_launch_file(str(ROOT / 'launch' / name))


def started(name, **arguments):
    """Return the nodes a launch file starts, without starting them."""
    context = LaunchContext()
    context.launch_configurations.update(arguments)
    nodes, waiting = [], list(load(name).entities)
    while waiting:
        entity = waiting.pop(0)
        if isinstance(entity, Node):
            nodes.append(entity)
        else:
            waiting = [*(entity.visit(context) or []), *waiting]
    return nodes


@pytest.mark.parametrize('name', FILES)
def test_the_stand_in_finds_what_launch_finds(name):
    stand_in = launched(ROOT / 'launch' / name)
    if name != 'gazebo.launch.py':  # includes a file of a package that is mostly not here
        assert [node.node_executable for node in started(name)] == [
            node.executable for node in stand_in.nodes]
    arguments = {}
    for argument in load(name).get_launch_arguments():
        arguments.setdefault(argument.name, argument)
    context = LaunchContext()
    assert {key: perform_substitutions(context, each.default_value)
            for key, each in arguments.items()} == {
        key: each.default_value for key, each in stand_in.arguments.items()}


@pytest.mark.parametrize(('name', 'executables'), [
    ('adaptive_controller.launch.py', ['adaptive_controller']),
    ('adaptive_demo.launch.py', ['adaptive_controller', 'simulated_robot']),
    ('calibrate.launch.py', ['calibration']),
    ('feedforward.launch.py', ['feedforward']),
    ('robot.launch.py', ['feedforward', 'dynamics_server']),
    ('demo.launch.py', ['feedforward', 'dynamics_server', 'identification', 'simulated_robot',
                        'live_view']),
])
def test_the_right_nodes_are_started(name, executables):
    assert [node.node_executable for node in started(name)] == executables


def test_learning_and_exciting_are_switches():
    assert [node.node_executable for node in started('robot.launch.py', learn='true')] == [
        'feedforward', 'dynamics_server', 'identification']
    assert [node.node_executable for node in started('demo.launch.py', learn='false',
                                                     excite='true')] == [
        'feedforward', 'dynamics_server', 'simulated_robot', 'excitation']


def test_gazebo_gets_a_controlled_robot_a_clock_and_controllers():
    context = LaunchContext()
    made = []
    for entity in load('gazebo.launch.py').entities[:-1]:
        made += entity.visit(context) or []
    executables = [node.node_executable for node in made if isinstance(node, Node)]
    assert executables == ['robot_state_publisher', 'create', 'parameter_bridge', 'spawner']


#: Starts a launch file by the real launch service; names and values of arguments follow its path.
SCRIPT = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
service = LaunchService(noninteractive=True)
service.include_launch_description(LaunchDescription([IncludeLaunchDescription(
    PythonLaunchDescriptionSource(sys.argv[1]),
    launch_arguments=zip(sys.argv[2::2], sys.argv[3::2]))]))
sys.exit(service.run())
"""


@contextmanager
def launched_file(place, name, **arguments):
    """Run a launch file, and end it as Ctrl-C would."""
    output = place / 'launch.txt'
    # Ctrl-C alone has to end the nodes, however long a busy machine takes
    words = [word for pair in {**arguments, 'sigterm_timeout': '200'}.items() for word in pair]
    with output.open('wb') as file:
        process = subprocess.Popen(
            [sys.executable, '-c', SCRIPT, str(ROOT / 'launch' / f'{name}.launch.py'), *words],
            stdout=file, stderr=subprocess.STDOUT)
    try:
        yield process, output
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(150)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


@pytest.mark.parametrize(('name', 'commands', 'kind', 'processes'), [
    ('demo', 'joint_trajectory', None, 5),
    ('adaptive_demo', 'commands', Float64MultiArray, 2)])
def test_the_demo_launch_files_run_and_end(ros, tmp_path, name, commands, kind, processes):
    with launched_file(tmp_path, name, namespace='arm', joints_file='',
                       description_file=str(ROOT / 'urdf' / 'planar_2r.urdf'),
                       effort_limits='{joint_9: 5}') as (process, output):
        states = []
        ros.node.create_subscription(JointState, '/arm/joint_states', states.append, 10)
        ros.spin_until(lambda: states or process.poll() is not None, 'joint states')
        assert process.poll() is None, output.read_text()
        topic = ros.node.create_publisher(JointTrajectory, '/arm/joint_trajectory', 10)
        ros.spin_until(topic.get_subscription_count, 'who takes the trajectory')
        ros.wait_for_publishers(f'/arm/simulated_robot/{commands}')
        if kind is not None:  # efforts come as soon as the arm is under control
            ros.receive(kind, f'/arm/simulated_robot/{commands}')
        topic.publish(motion_message(goal=(0.5, -0.4)))
        ros.spin_until(lambda: abs(states[-1].position[0] - 0.5) < 0.05, 'the motion')
    text = output.read_text()
    assert process.returncode == 0, text
    assert text.count('process has finished cleanly') == processes, text
    assert 'parameter effort_limits.joint_9 is ignored' in text, 'it has to arrive at the node'


def test_calibrate_is_launched_confirmed_and_stopped(ros, tmp_path):
    description = tmp_path / 'settings.yaml'
    description.write_text(yaml.safe_dump({'/**': {'ros__parameters': {
        'robot_description': (ROOT / 'urdf' / 'planar_2r.urdf').read_text()}}}))
    ros.start('robot_dynamics_ros.nodes.simulated_robot', '--ros-args', '--params-file',
              str(description), '-r', '__ns:=/arm')
    ros.receive(JointState, '/arm/joint_states')
    folder = tmp_path / 'calibrated'
    with launched_file(tmp_path, 'calibrate', namespace='arm', joints_file='', unchecked='true',
                       description_file=str(ROOT / 'urdf' / 'planar_2r.urdf'),
                       controller_name='simulated_robot', folder=str(folder)
                       ) as (process, output):
        said, latched = [], QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        ros.node.create_subscription(String, '/arm/calibration/status',
                                     lambda message: said.append(message.data), latched)

        def status(*words):
            ros.spin_until(lambda: process.poll() is not None or (
                said and all(word in said[-1] for word in words)), f'{words} in the status')
            assert process.poll() is None, output.read_text()

        def confirm():
            while not ros.call(Trigger, '/arm/calibration/next', Trigger.Request()).success:
                assert process.poll() is None, output.read_text()

        status('WAITING', 'nothing moves')
        confirm()  # refused until it has found the controller
        status('WAITING', 'static test')
        confirm()
        status('MOVING')
        assert ros.call(Trigger, '/arm/calibration/stop', Trigger.Request()).success
        status('STOPPED')
    assert process.returncode == 0, output.read_text()
    assert 'static test: stopped' in (folder / 'log.txt').read_text()
