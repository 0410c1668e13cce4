# SPDX-License-Identifier: Apache-2.0
"""A URDF made ready for Gazebo."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
from robot_dynamics_ros.errors import UrdfError
from robot_dynamics_ros.simulation.gazebo_description import with_gazebo_control

URDF = (Path(__file__).resolve().parent.parent.parent / 'urdf' / 'planar_2r.urdf').read_text()
JOINTS = ('joint_1', 'joint_2')


def test_every_joint_has_an_effort_command_and_all_states():
    robot = ElementTree.fromstring(with_gazebo_control(URDF, JOINTS, '/config/controllers.yaml'))
    joints = robot.findall('ros2_control/joint')
    assert [joint.get('name') for joint in joints] == list(JOINTS)
    for joint in joints:
        assert [each.get('name') for each in joint.findall('command_interface')] == ['effort']
        assert [each.get('name') for each in joint.findall('state_interface')] == [
            'position', 'velocity', 'effort']
    assert robot.findtext('gazebo/plugin/parameters') == '/config/controllers.yaml'


def test_the_dynamics_stay_the_same():
    before = chain_from_urdf(URDF)
    after = chain_from_urdf(with_gazebo_control(URDF, JOINTS, 'x.yaml'), base=before.base)
    np.testing.assert_array_equal(after.standard_parameters, before.standard_parameters)


def test_a_robot_that_stands_in_the_world_already_is_left_there():
    standing = with_gazebo_control(URDF, JOINTS, 'x.yaml')
    standing = standing[:standing.index('<ros2_control')] + '</robot>'
    again = ElementTree.fromstring(with_gazebo_control(standing, JOINTS, 'x.yaml'))
    assert [link.get('name') for link in again.findall('link')].count('world') == 1


@pytest.mark.parametrize(('text', 'joints', 'message'), [
    ('<robot', JOINTS, 'not XML'),
    (URDF, ('elbow',), 'joint elbow is not in the URDF'),
    (with_gazebo_control(URDF, JOINTS, 'x.yaml'), JOINTS, 'ros2_control element of its own'),
    ('<robot name="a"><link name="b"/><link name="c"/></robot>', (), 'one root link'),
])
def test_what_cannot_be_made_ready_is_refused(text, joints, message):
    with pytest.raises(UrdfError, match=message):
        with_gazebo_control(text, joints, 'x.yaml')
