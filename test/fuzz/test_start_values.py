# SPDX-License-Identifier: Apache-2.0
"""Nodes started with hostile parameters; ``make fuzz`` tries more values."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()
pytest.importorskip('robot_dynamics_test_interfaces.action', reason='make setup')

from dataclasses import fields

from fuzz.nodes import NODES
from fuzz.start_values import VALUES, WORST, cases, own_cases, start

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('name', [name for name in NODES if own_cases(name, WORST)])
@pytest.mark.filterwarnings('ignore:.*encountered in:RuntimeWarning')
def test_a_start_works_or_ends_with_one_line_of_our_own(ros, name):
    for case in own_cases(name, WORST):
        start(name, *case, ros.node.context)  # raises where it does neither


def test_every_setting_of_every_node_is_tried():
    tried = {(setting, kind) for name in NODES for setting, kind, _ in own_cases(name)}
    every = {(each.name, str(each.type)) for kind, _ in NODES.values()
             for each in fields(kind.settings_type)}
    assert tried == every
    assert {kind for _, kind in every} == set(VALUES) == set(WORST)


@pytest.mark.parametrize(('name', 'setting', 'value', 'text'), [
    ('dynamics_server', 'gravity', [0.0, 0.0, 1e308], 'gravity must be three finite numbers of at '
     'most 10000 m/s^2'),
    ('dynamics_server', 'gravity', [1.0] * 5000, 'gravity must be three finite numbers'),
    ('dynamics_server', 'base', 'a\nb', "base link 'a\\nb' does not exist"),
    ('dynamics_server', 'locked', ['a\nb'], "joint 'a\\nb' to be locked does not exist"),
    ('dynamics_server', 'joints_file', 'a\0b', 'cannot be read: embedded null byte'),
    ('feedforward_trajectory', 'mode', 'a\nb', "one of trajectory, stream, float, got 'a\\nb'"),
    ('feedforward_relay', 'controller_action', 'a b', 'must be a name of ROS'),
    ('feedforward_relay', 'controller_action', 'x' * 5000, 'at most 200 characters'),
    ('tracking_experiment', 'topics', ['', 'b'], "characters), got ''"),
    ('tracking_experiment', 'topics', ['a\0', 'b'], 'must be a name of ROS'),
    ('identification', 'checkpoint_file', 'x' * 5000, ''),
    ('identification', 'checkpoint_file', 'a\0b', ''),
    ('adaptive_controller', 'learn', ['a\nb'], "'a\\nb' cannot be learned"),
    ('adaptive_controller', 'learning_time', 5e-324, 'gains must be finite'),
    ('excitation', 'trajectory_file', 'a\nb', 'cannot be read'),
])
@pytest.mark.filterwarnings('ignore:.*encountered in:RuntimeWarning')
def test_what_is_wrong_is_said(ros, name, setting, value, text):
    kind = next(kind for each, kind, _ in cases(name) if each == setting)
    said = start(name, setting, kind, value, ros.node.context)
    assert text in said and (text or not said)
