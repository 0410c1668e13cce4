# SPDX-License-Identifier: Apache-2.0
import re
from dataclasses import replace

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import load_robot
from robot_dynamics_ros.view import live_text
from robot_dynamics_ros.view.live_text import LiveText


@pytest.fixture(scope='module')
def estimate():
    text = (URDF_FOLDER / 'demo_arm.urdf').read_text()
    text = re.sub(r'name="joint_(\d)"', r'name="left_arm_shoulder_pan_[red]joint_\1"', text)
    first = load_robot(text).estimate
    physics = replace(first.joint_physics, viscous=np.full(7, 123.456))
    return replace(first, residual_rms=np.full(7, 1234.5), joint_physics=physics,
                   mlc=first.mlc.with_values(-987.654 * first.mlc.values))


@pytest.mark.parametrize('width', [60, 80, 132])
def test_no_line_is_wider_than_the_terminal(estimate, width):
    text = LiveText(estimate)
    for _ in range(40):
        text.take(estimate)
    lines = text.lines(estimate, 1234.5, 0.5, width)
    assert max(map(len, lines)) <= width
    joints = [line for line in lines if line.startswith('left_')]
    assert len(joints) == 7
    assert all('1234.500' in line and '> 123.46' in line for line in joints)


def test_every_column_has_a_head_and_lines_up(estimate):
    lines = LiveText(estimate).lines(estimate, 1.0, float('nan'))
    head = next(line for line in lines if line.startswith('parameter'))
    row = lines[lines.index(head) + 1]
    assert re.split(r'\s{2,}', head) == ['parameter', 'URDF', 'learned', 'std. dev.', 'unit']
    assert head.index('unit') == row.index('kg')
    assert '-' in row.split()  # no standard deviation


def test_a_low_terminal_gets_fewer_lines(estimate):
    text = LiveText(estimate)
    assert len(text.lines(estimate, 1.0, 0.5, 80, 10)) == 9
    assert len(text.lines(estimate, 1.0, 0.5, 80, 50)) == 21


def test_without_rich_there_is_the_headline(estimate, monkeypatch):
    monkeypatch.setattr(live_text, 'find_spec', lambda name: None)
    first, second = LiveText(estimate).lines(estimate, 1.0, 0.5)
    assert 'FROM_URDF' in first and 'pip install rich' in second
