# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes: descriptions, and YAML files that tell the truth."""

from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.parameter import Parameter

from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode, DynamicsServerNodeSettings
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode, FeedforwardNodeSettings
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode, SimulatedRobotNodeSettings

pytestmark = pytest.mark.ros

CONFIG = Path(__file__).resolve().parents[3] / 'config'
KINDS = {'feedforward': FeedforwardNodeSettings, 'dynamics_server': DynamicsServerNodeSettings,
         'simulated_robot': SimulatedRobotNodeSettings}
NODES = {'feedforward': FeedforwardNode, 'dynamics_server': DynamicsServerNode,
         'simulated_robot': SimulatedRobotNode}


@pytest.mark.parametrize('name', KINDS)
def test_the_yaml_file_holds_every_parameter_with_its_default(name):
    given = yaml.safe_load((CONFIG / f'{name}.yaml').read_text())['/**']['ros__parameters']
    defaults = {each.name: each.default for each in fields(KINDS[name])
                if each.default != () and each.name != 'robot_description'}
    assert given == defaults


@pytest.mark.parametrize('name', NODES)
def test_every_parameter_is_described(make_node, name):
    node = make_node(NODES[name], start=False)
    for each in fields(KINDS[name]):
        descriptor = node.describe_parameter(each.name)
        assert len(descriptor.description) > 5, each.name
        numeric = str(each.type) in ('int', 'float')
        assert bool(descriptor.floating_point_range or descriptor.integer_range) == numeric


def test_a_read_only_parameter_cannot_be_changed(make_node):
    node = make_node(FeedforwardNode, start=False)
    assert not node.set_parameters([Parameter('mode', value='stream')])[0].successful
    assert node.set_parameters([Parameter('resample_rate', value=50.0)])[0].successful
    assert node.settings.resample_rate == 50.0
    assert not node.set_parameters([Parameter('resample_rate', value=0.0)])[0].successful
