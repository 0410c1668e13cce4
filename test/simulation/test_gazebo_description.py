# SPDX-License-Identifier: Apache-2.0
"""A URDF made ready for Gazebo."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
from robot_dynamics_ros.errors import UrdfError
from robot_dynamics_ros.simulation.gazebo_description import (
    massless_moving_links,
    with_gazebo_control,
)

FOLDER = Path(__file__).resolve().parent.parent.parent / 'urdf'
URDF = (FOLDER / 'planar_2r.urdf').read_text()
JOINTS = ('joint_1', 'joint_2')


def arm(*, base='', moving='', world=False, flange='fixed'):
    """Return a URDF: base, a moving link, a flange of 2 kg, perhaps a world to stand in."""
    mass = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    standing = ('<link name="world"/><joint name="stand" type="fixed"><parent link="world"/>'
                '<child link="base"/></joint>')
    return (f'<robot name="arm">{standing if world else ""}<link name="base">{base}</link>'
            f'<link name="moving">{moving}</link><link name="flange">{mass}</inertial></link>'
            '<joint name="turn" type="continuous"><parent link="base"/><child link="moving"/>'
            f'</joint><joint name="end" type="{flange}"><parent link="moving"/>'
            '<child link="flange"/></joint></robot>')


def masses(urdf):
    """Return the mass of every link of a URDF that has an inertial."""
    return {link.get('name'): float(link.find('inertial/mass').get('value'))
            for link in ElementTree.fromstring(urdf).findall('link')
            if link.find('inertial') is not None}


@pytest.mark.parametrize('path', sorted(FOLDER.glob('*.urdf')), ids=lambda path: path.stem)
def test_no_link_of_our_robots_is_without_mass_in_gazebo(path):
    text = path.read_text()
    ready = with_gazebo_control(text, chain_from_urdf(text).joint_names, 'x.yaml')
    links = {link.get('name') for link in ElementTree.fromstring(ready).findall('link')}
    assert set(masses(ready)) == links - {'world'}
    assert massless_moving_links(ready) == ()


@pytest.mark.parametrize('world', [False, True])
@pytest.mark.parametrize('base', ['', '<inertial><mass value="0"/></inertial>'])
def test_a_massless_root_gets_a_nominal_mass(base, world):
    assert masses(with_gazebo_control(arm(base=base, world=world), ('turn',), 'x.yaml')) == {
        'base': 1.0, 'flange': 2.0}


def test_a_root_whose_mass_is_in_a_link_fixed_to_it_is_left_alone():
    text = arm().replace('continuous', 'fixed')
    assert masses(with_gazebo_control(text, (), 'x.yaml')) == {'flange': 2.0}


@pytest.mark.parametrize(('moving', 'flange', 'massless'), [
    ('', 'fixed', ()), ('', 'continuous', ('moving',)),
    ('<inertial><mass value="1"/></inertial>', 'continuous', ())])
def test_a_massless_moving_link_is_named_unless_it_is_lumped_with_one_that_has_mass(
        moving, flange, massless):
    assert massless_moving_links(arm(moving=moving, flange=flange)) == massless


@pytest.mark.parametrize(('namespace', 'written'), [
    ('', None), ('/', None), ('left', '/left'), ('/cell/left/', '/cell/left')])
def test_the_plug_in_knows_its_namespace(namespace, written):
    robot = ElementTree.fromstring(with_gazebo_control(URDF, JOINTS, 'x.yaml', namespace))
    assert robot.findtext('gazebo/plugin/ros/namespace') == written


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
    (arm(base='<inertial><mass value="heavy"/></inertial>'), (), 'link base: mass heavy is no'),
])
def test_what_cannot_be_made_ready_is_refused(text, joints, message):
    with pytest.raises(UrdfError, match=message):
        with_gazebo_control(text, joints, 'x.yaml')
