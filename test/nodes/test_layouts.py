# SPDX-License-Identifier: Apache-2.0
"""Layouts for Foxglove, PlotJuggler and RViz: they show topics and fields that our nodes have."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from support.availability import skip_without_ros

skip_without_ros()

from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.messages import published

from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode
from robot_dynamics_ros.nodes.excitation import ExcitationNode
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.identification import IdentificationNode
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode

pytestmark = pytest.mark.ros

CONFIG = Path(__file__).resolve().parents[2] / 'config'

#: Panels of Foxglove (and of Lichtblick, which is open) and the keys that they read; others are
#: silently ignored, as the title of a plot once was.
TITLES = {'foxglovePanelTitle', 'lichtblickPanelTitle'}
PANELS = {
    '3D': {'followTf', 'scene', 'transforms', 'topics', 'layers'},
    'DiagnosticSummary': {'minLevel', 'pinnedIds', 'hardwareIdFilter', 'topicToRender',
                          'sortByLevel'},
    'Gauge': TITLES | {'path', 'minValue', 'maxValue', 'colorMap', 'colorMode', 'gradient',
                       'reverse'},
    'RawMessages': {'topicPath', 'diffEnabled', 'diffMethod', 'diffTopicPath',
                    'showFullMessageForDiff'},
    'Plot': TITLES | {'paths', 'showXAxisLabels', 'showYAxisLabels', 'yAxisLabel', 'showLegend',
                      'legendDisplay', 'isSynced', 'xAxisVal', 'followingViewWidth'},
}
SERIES = {'value', 'enabled', 'timestampMethod', 'label', 'color'}

#: Elements of a layout of PlotJuggler with the attributes that it reads, and what is inside them.
ELEMENTS = {
    'root': (set(), {'tabbed_widget', 'use_relative_time_offset'}),
    'tabbed_widget': ({'name', 'parent'}, {'Tab', 'currentTabIndex'}),
    'Tab': ({'containers', 'tab_name'}, {'Container'}),
    'Container': (set(), {'DockSplitter'}),
    'DockSplitter': ({'count', 'orientation', 'sizes'}, {'DockArea'}),
    'DockArea': ({'name'}, {'plot'}),
    'plot': ({'flip_x', 'flip_y', 'mode', 'style'}, {'range', 'limitY', 'curve'}),
    'range': ({'bottom', 'left', 'right', 'top'}, set()),
    'limitY': (set(), set()),
    'curve': ({'color', 'name'}, set()),
    'currentTabIndex': ({'index'}, set()),
    'use_relative_time_offset': ({'enabled'}, set()),
}

#: Properties of the displays of RViz, by the names that its source gives them.
DISPLAY = {'Class', 'Name', 'Enabled'}
QUALITY = {'Value', 'Depth', 'Durability Policy', 'History Policy', 'Reliability Policy'}
PROPERTIES = {
    'Grid': {'Cell Size', 'Plane Cell Count', 'Alpha'},
    'RobotModel': {'Description Source', 'Description Topic', 'Visual Enabled',
                   'Collision Enabled', 'Mass Properties'},
    'TF': {'Marker Scale'},
    'Effort': {'Topic'},
}


@pytest.fixture
def topics(make_node, planar):
    """Return the message type of every topic that the nodes publish, or read."""
    nodes = [make_node(kind, robot_description=planar, **parameters) for kind, parameters in (
        (SimulatedRobotNode, {}), (FeedforwardNode, {}), (IdentificationNode, {}),
        (DynamicsServerNode, {'publish_shares': True}),
        (ExcitationNode, {'duration': 2.0, 'harmonics': 2, 'unchecked': True}))]
    found = {each.topic_name: each.msg_type for node in nodes for each in node.publishers}
    return {**found, '/robot_description': String}  # where nodes get their robot from


def has(kind, path):
    """Return whether a message type has a field; a number in brackets asks for an array."""
    name, place = re.fullmatch(r'(\w+)(\[\d+\])?', path).groups()
    field = kind.get_fields_and_field_types().get(name)
    return field is not None and (place is None) == ('sequence' not in field)


def test_foxglove_plots_what_is_published(topics):
    layout = json.loads((CONFIG / 'robot_dynamics_foxglove.json').read_text(encoding='utf-8'))
    panels = layout['configById']

    def leaves(part):
        return [part] if isinstance(part, str) else [*leaves(part['first']),
                                                     *leaves(part['second'])]
    assert sorted(leaves(layout['layout'])) == sorted(panels)
    for name, panel in panels.items():
        assert set(panel) <= PANELS[name.partition('!')[0]], name
        assert len({panel.get(key) for key in TITLES}) == 1, f'{name}: each reads its own key'
        assert all(set(path) == SERIES for path in panel.get('paths', ())), name
    paths = [path['value'] for panel in panels.values() for path in panel.get('paths', ())]
    paths.append(panels['Gauge!progress']['path'])
    assert len(paths) > 10
    for path in paths:
        topic, _, field = path.partition('.')
        assert has(topics[topic], field), path
    whole = [panels['RawMessages!mlc']['topicPath'],
             panels['DiagnosticSummary!state']['topicToRender'],
             panels['3D!robot']['layers']['robot']['topic']]
    assert set(whole) <= set(topics)


def test_plotjuggler_plots_what_is_published(topics):
    root = ElementTree.parse(CONFIG / 'robot_dynamics_plotjuggler.xml').getroot()
    curves = [curve.get('name') for curve in root.iter('curve')]
    assert root.tag == 'root' and len(curves) > 20
    for curve in curves:
        topic = max((each for each in topics if curve.startswith(f'{each}/')), key=len)
        rest = curve.removeprefix(f'{topic}/')
        if topics[topic] is JointState:  # PlotJuggler puts the name of the joint in between
            joint, rest = rest.split('/')
            assert re.fullmatch(r'joint_\d', joint)
            assert JointState.get_fields_and_field_types()[rest] == 'sequence<double>'
        else:
            assert has(topics[topic], rest), curve
    for element in root.iter():
        attributes, inside = ELEMENTS[element.tag]
        assert set(element.keys()) == attributes and {each.tag for each in element} <= inside
    for splitter in root.iter('DockSplitter'):
        areas = splitter.findall('DockArea')
        assert int(splitter.get('count')) == len(areas) == len(splitter.get('sizes').split(';'))


def test_rviz_shows_what_is_published(topics):
    layout = yaml.safe_load((CONFIG / 'robot_dynamics.rviz').read_text(encoding='utf-8'))
    displays = {each['Class'].rpartition('/')[2]: each
                for each in layout['Visualization Manager']['Displays']}
    assert set(PROPERTIES) == set(displays)
    for name, display in displays.items():
        assert set(display) - DISPLAY <= PROPERTIES[name], name
        assert all(set(topic) == QUALITY for topic in
                   [display[key] for key in ('Topic', 'Description Topic') if key in display])
    assert topics[displays['RobotModel']['Description Topic']['Value']] is String
    assert displays['RobotModel']['Description Topic']['Durability Policy'] == 'Transient Local'
    assert topics[displays['Effort']['Topic']['Value']] is JointState


def test_joint_states_have_a_frame_without_which_rviz_draws_no_efforts(make_node, planar):
    robot = make_node(SimulatedRobotNode, now=100.0, robot_description=planar)
    states = published(robot, '/joint_states')
    robot.now += 0.01
    robot.tick(0.01)
    assert states[-1].header.frame_id == 'base_link'


def test_the_check_sees_a_field_that_does_not_exist():
    assert has(JointState, 'effort[0]') and not has(JointState, 'effort')
    assert not has(JointState, 'torque[0]') and has(String, 'data')
