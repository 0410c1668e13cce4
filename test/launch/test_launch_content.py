# SPDX-License-Identifier: Apache-2.0
"""What launch files say, with a stand-in for launch: nodes, parameters, remappings, arguments."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from support.availability import skip_without_ros
from support.launch_stand_in import launched

skip_without_ros()

from robot_dynamics_ros.calibration.folder import CalibrationFolder, ChainChoice
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.nodes.support.robot_node import RobotNode

pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = 'robot_dynamics_ros'
#: Every launch file, and the arguments that make it start all nodes that it may start.
CASES = {
    'adaptive_controller': [{}],
    'adaptive_demo': [{}],
    'calibrate': [{}, {'payload': 'true', 'unchecked': 'true', 'floor': '-0.1'}],
    'demo': [{}, {'learn': 'false', 'excite': 'true'}],
    'feedforward': [{}, {'mode': 'stream'}, {'mode': 'float'}],
    'gazebo': [{}, {'learn': 'true', 'namespace': 'arm', 'gui': 'false'}],
    'robot': [{}, {'mode': 'float', 'controller_name': 'forward_effort_controller'},
              {'learn': 'true', 'publish_shares': 'true'},
              {'effort_limits': '{joint_1: 12}', 'controller_action': 'arm/follow'}],
}
STARTED = [pytest.param(name, case, id=f'{name}-{number}')
           for name, cases in CASES.items() for number, case in enumerate(cases)]


def path(name):
    return ROOT / 'launch' / f'{name}.launch.py'


def our_nodes(name, case):
    nodes = [node for node in launched(path(name), **case).nodes if node.package == OURS]
    assert nodes
    return nodes


def settings_of(executable):
    """Return the declared parameters of a node: type by name, and prefixes of joint settings."""
    module = import_module(f'{OURS}.nodes.{executable}')
    [kind] = [each for each in vars(module).values() if isinstance(each, type)
              and issubclass(each, RobotNode) and each.__module__ == module.__name__]
    return ({each.name: str(each.type) for each in fields(kind.settings_type)},
            [each.name for each in kind.settings_type.of_joints])


def names_of(executable):
    """Return topics, services and actions of a node, by the policy that a started node gave."""
    policy = ElementTree.parse(ROOT / 'security' / 'policies.xml')
    [profile] = [each for each in policy.iter('profile') if each.get('node') == executable]
    return {each.text for group in profile for each in group}


def test_there_are_these_launch_files():
    assert {file.name for file in (ROOT / 'launch').iterdir() if file.is_file()} == {
        path(name).name for name in CASES}


@pytest.mark.parametrize(('name', 'case'), STARTED)
def test_every_executable_is_an_entry_point_and_has_the_name_of_its_node(
        name, case, entry_points):
    for node in our_nodes(name, case):
        assert node.executable in entry_points
        assert node.name == node.executable
        assert callable(import_module(f'{OURS}.nodes.{node.executable}').main)


@pytest.mark.parametrize(('name', 'case'), STARTED)
def test_every_parameter_is_declared_with_this_type(name, case):
    for node in our_nodes(name, case):
        declared, of_joints = settings_of(node.executable)
        declared['use_sim_time'] = 'bool'
        for key, value in node.values.items():
            prefix = key.partition('.')[0]
            expected = 'float' if prefix in of_joints else declared.get(key)
            assert type(value).__name__ == expected, f'{node.executable}: {key}'
        for file in node.files:
            assert set(yaml.safe_load(Path(file).read_text())) == {'/**'}


@pytest.mark.parametrize(('name', 'case'), STARTED)
def test_every_remapping_names_something_that_the_node_has(name, case):
    for node in our_nodes(name, case):
        assert {source for source, _ in node.remappings} <= names_of(node.executable)
        for _, target in node.remappings:
            assert re.fullmatch(r'\w+(/\w+)*', target), 'relative, so that namespaces hold'


@pytest.mark.parametrize('name', CASES)
def test_every_argument_is_explained_there_and_in_the_documentation(name):
    text = (ROOT / 'docs' / 'launch.md').read_text()
    rows = dict(re.findall(r'^\| `(\w+)` \| (.*?) \|', text, re.MULTILINE))
    files = re.findall(r'^\| `(\w+)\.launch\.py` \|', text, re.MULTILINE)
    assert name in files
    arguments = launched(path(name)).arguments
    assert {'namespace', 'description_file', 'controller_name', 'use_sim_time', 'params_file',
            'log_level', 'autostart', 'effort_limits'} <= set(arguments)
    for argument in arguments.values():
        assert len(argument.description) > 10, argument.name
        default = Path(argument.default_value).name or 'empty'
        assert default in re.findall(r'[\w.{}]+', rows[argument.name]), \
            f'docs/launch.md: {argument.name} has the default {default} in {name}.launch.py'
        for choice in argument.choices or ():
            assert f'`{choice}`' in text, choice


def test_the_documentation_has_no_argument_that_no_launch_file_takes():
    text = (ROOT / 'docs' / 'launch.md').read_text()
    rows = {name for name, _ in re.findall(r'^\| `(\w+)` \| (.*?) \|', text, re.MULTILINE)}
    assert rows == {name for file in CASES for name in launched(path(file)).arguments}


def test_commands_in_pages_have_arguments_of_their_launch_file():
    seen = 0
    for page in [ROOT / 'README.md', *(ROOT / 'docs').rglob('*.md')]:
        text = page.read_text(encoding='utf-8').replace('\\\n', ' ')
        for file, words in re.findall(r'^ *ros2 launch robot_dynamics_ros (\w+)\.launch\.py(.*)$',
                                      text, re.MULTILINE):
            # launch takes an argument that no file declares, too, and says nothing
            assert set(re.findall(r'(?<=\s)(\w+):=', words)) <= set(
                launched(path(file)).arguments), (page.name, file, words)
            seen += 1
    assert seen > 10


def test_gazebo_gets_a_controlled_robot_a_clock_and_controllers():
    result = launched(path('gazebo'))
    assert [node.executable for node in result.nodes if node.package != OURS] == [
        'robot_state_publisher', 'create', 'parameter_bridge', 'spawner']
    [gazebo] = result.foreign
    assert gazebo.source.location.parts[0].package == 'ros_gz_sim'
    assert result.messages == []
    needed = (ROOT / 'launch' / 'gazebo.launch.py').read_text().partition('"""')[2]
    for package in {node.package for node in result.nodes} - {OURS}:
        assert package in needed.partition('"""')[0], 'the file says what it needs'


@pytest.mark.parametrize(('namespace', 'written'), [('', None), ('arm', '/arm')])
def test_the_plug_in_of_gazebo_lives_in_the_namespace_of_the_nodes(namespace, written):
    result = launched(path('gazebo'), namespace=namespace)
    publisher = result.node('robot_state_publisher')
    robot = ElementTree.fromstring(publisher.values['robot_description'])
    assert robot.findtext('gazebo/plugin/ros/namespace') == written
    assert {node.namespace for node in result.nodes if node.executable != 'parameter_bridge'
            } == {namespace}


def test_in_gazebo_the_efforts_come_from_the_controller():
    node = launched(path('gazebo'), learn='true', controller_name='arm').node('identification')
    assert node.values['effort_source'] == 'controller_state'
    assert ('controller_state', 'arm/controller_state') in node.remappings
    assert node.values['use_sim_time'] is True


def test_elsewhere_the_efforts_are_measured_unless_the_user_says_otherwise():
    node = launched(path('robot'), learn='true').node('identification')
    assert node.values['effort_source'] == 'joint_states'
    node = launched(path('robot'), learn='true', effort_source='commands').node('identification')
    assert node.values['effort_source'] == 'commands'
    assert ('commands', 'joint_trajectory_controller/commands') in node.remappings


def test_a_massless_moving_link_is_warned_about(tmp_path):
    text = (ROOT / 'urdf' / 'planar_2r.urdf').read_text()
    start = text.index('<inertial>', text.index('<link name="link_1"'))
    end = text.index('</inertial>', start) + len('</inertial>')
    description = tmp_path / 'light.urdf'
    description.write_text(text[:start] + text[end:])
    [message] = launched(path('gazebo'), description_file=str(description)).messages
    assert 'link link_1 moves, but has no mass' in message


def test_effort_limits_and_the_action_of_the_controller_reach_the_node():
    values = launched(path('robot'), effort_limits='{joint_1: 80, joint_2: 1.5}',
                      controller_action='arm/follow').node('feedforward').values
    assert values['effort_limits.joint_1'] == 80.0 and values['effort_limits.joint_2'] == 1.5
    assert values['controller_action'] == 'arm/follow'
    assert not [key for key in launched(path('robot')).node('feedforward').values
                if key.startswith('effort_limits')]


def test_a_parameters_file_reaches_the_nodes_that_compute_torques():
    result = launched(path('robot'), parameters_file='parameters.yaml', learn='true')
    assert {node.name: node.values.get('parameters_file') for node in result.nodes} == {
        'feedforward': 'parameters.yaml', 'dynamics_server': 'parameters.yaml',
        'identification': None}
    assert 'parameters_file' not in launched(path('robot')).node('feedforward').values


@pytest.mark.parametrize('name', CASES)
def test_joint_states_may_have_another_name(name):
    for node in launched(path(name), joint_states='franka/joint_states').nodes:
        if node.package == OURS:
            assert ('joint_states', 'franka/joint_states') in node.remappings


@pytest.mark.parametrize('text', ['{joint_1: strong}', '80', '{joint_1', '{joint_1: .nan}'])
def test_effort_limits_that_are_none_are_refused(text):
    with pytest.raises(ParameterError, match='effort_limits'):
        launched(path('feedforward'), effort_limits=text)


def test_a_calibration_brings_description_joints_and_parameters(tmp_path):
    folder = CalibrationFolder(tmp_path / 'arm')
    text = (ROOT / 'urdf' / 'planar_2r.urdf').read_text()
    folder.begin(text, 'format: 1\n', 'planar_2r', ChainChoice(tip='link_2'))
    result = launched(path('robot'), calibration=str(folder.path), learn='true')
    for name in ('feedforward', 'dynamics_server'):
        values = result.node(name).values
        assert values['robot_description'] == text and values['tip'] == 'link_2'
        assert values['joints_file'] == str(folder.joints)
        assert values['parameters_file'] == str(folder.parameters)
    assert 'parameters_file' not in result.node('identification').values
    given = launched(path('robot'), calibration=str(folder.path), joints_file='mine.yaml',
                     parameters_file='better.yaml')
    assert given.node('feedforward').values['joints_file'] == 'mine.yaml'
    assert given.node('feedforward').values['parameters_file'] == 'better.yaml'
    with pytest.raises(ParameterError):
        launched(path('robot'), calibration=str(tmp_path / 'nothing'))
