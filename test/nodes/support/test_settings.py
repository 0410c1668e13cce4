# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes: descriptions, and YAML files that tell the truth."""

import importlib.util
import re
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.parameter import Parameter

from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support.config_file import config_text

pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parents[3]


def load_script():
    spec = importlib.util.spec_from_file_location('write_config',
                                                  ROOT / 'environment' / 'write_config.py')
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


NODES = load_script().NODES


def test_every_node_of_a_launch_file_has_a_yaml_file():
    files = {path.stem for path in (ROOT / 'config').glob('*.yaml')}
    demos = {'demo_arm_controllers', 'demo_arm_joints', 'demo_two_arms_joints'}
    assert files - demos == set(NODES)


@pytest.mark.parametrize('name', NODES)
def test_the_yaml_file_is_up_to_date(name):
    text = (ROOT / 'config' / f'{name}.yaml').read_text(encoding='utf-8')
    assert text == config_text(name, NODES[name].settings_type), 'environment/write_config.py'


@pytest.mark.parametrize('name', NODES)
def test_the_yaml_file_holds_every_parameter_with_its_default(name):
    text = (ROOT / 'config' / f'{name}.yaml').read_text(encoding='utf-8')
    assert max(map(len, text.splitlines())) <= 99
    given = yaml.safe_load(text)['/**']['ros__parameters']
    settings = fields(NODES[name].settings_type)
    assert given == {each.name: each.default for each in settings
                     if each.default != () and each.name != 'robot_description'}
    examples = yaml.safe_load(re.sub(r'(?m)^    # (?=\w+: )', '    ', text))['/**'][
        'ros__parameters']
    assert list(examples) == [each.name for each in settings] + [
        each.name for each in NODES[name].settings_type.of_joints]


@pytest.mark.parametrize('name', NODES)
def test_examples_are_accepted(make_node, planar, name):
    """All arrays as in the file, for a robot with these joints."""
    examples = {each.name: yaml.safe_load(each.metadata['example'])
                for each in fields(NODES[name].settings_type) if each.default == ()}
    del examples['locked'], examples['tips']  # names of another robot
    examples |= {'damping': [40.0, 2.0]} if 'damping' in examples else {}
    if any(each.name == 'unchecked' for each in fields(NODES[name].settings_type)):
        examples['unchecked'] = True  # this robot has no collision geometry
    node = make_node(NODES[name], robot_description=planar, **examples)
    assert node.robot.chain.gravity.tolist() == [0.0, 0.0, -9.81]
    for each in NODES[name].settings_type.of_joints:
        assert any(known.startswith(f'{each.name}.joint_1')
                   for known in node.get_parameters_by_prefix('')), each.name


@pytest.mark.parametrize('name', NODES)
def test_every_parameter_is_described(make_node, name):
    node = make_node(NODES[name], start=False)
    for each in fields(NODES[name].settings_type):
        descriptor = node.describe_parameter(each.name)
        assert len(descriptor.description) > 5, each.name
        numeric = str(each.type) in ('int', 'float')
        assert bool(descriptor.floating_point_range or descriptor.integer_range) == numeric


def test_a_changeable_parameter_can_always_be_changed(make_node, planar):
    node = make_node(FeedforwardNode, start=False, robot_description=planar)
    for rate, step in ((50.0, node.trigger_configure), (60.0, node.trigger_cleanup)):
        assert node.set_parameters([Parameter('resample_rate', value=rate)])[0].successful
        assert node.settings.resample_rate == rate
        assert not node.set_parameters([Parameter('resample_rate', value=0.0)])[0].successful
        step()


def test_another_parameter_can_be_changed_while_the_node_is_unconfigured(make_node, planar):
    node = make_node(FeedforwardNode, start=False, robot_description=planar)
    changes = [Parameter('mode', value='stream'), Parameter('stream_rate', value=123.0)]
    assert all(result.successful for result in node.set_parameters(changes))
    node.trigger_configure()
    assert any(each.topic_name.endswith('/commands') for each in node.publishers)
    for name, value in (('mode', 'trajectory'), ('effort_limits.joint_1', 5.0)):
        result = node.set_parameters([Parameter(name, value=value)])[0]
        assert not result.successful
        assert f'{name} can be changed while the node is unconfigured only' in result.reason
    assert node.set_parameters(changes)[0].successful, 'nothing changes'
    assert node.settings.mode == 'stream'
    node.trigger_cleanup()
    for name, value in (('mode', 'trajectory'), ('effort_limits.joint_1', 5.0)):
        assert node.set_parameters([Parameter(name, value=value)])[0].successful
    node.trigger_configure()
    assert any(each.topic_name.endswith('/joint_trajectory') for each in node.publishers)
    assert node.get_parameter('effort_limits.joint_1').value == 5.0


def test_a_parameter_of_the_wrong_kind_is_refused_while_unconfigured_too(make_node):
    node = make_node(FeedforwardNode, start=False)
    assert not node.set_parameters([Parameter('mode', value='fast')])[0].successful
    assert node.settings.mode == 'trajectory'


def test_a_limit_of_a_joint_that_the_robot_does_not_have_is_reported(make_node, planar, capfd):
    make_node(FeedforwardNode, robot_description=planar, effort_limits__joint_1=5.0,
              effort_limits__jiont_2=5.0)
    text = capfd.readouterr().err
    assert 'effort_limits.jiont_2 is ignored: the joints of the chain are joint_1' in text
    assert 'effort_limits.joint_1' not in text
