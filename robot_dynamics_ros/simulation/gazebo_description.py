# SPDX-License-Identifier: Apache-2.0
"""A URDF made ready for Gazebo: ros2_control with effort interfaces, and its plug-in."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from robot_dynamics_ros.errors import UrdfError


def with_gazebo_control(urdf: str, joint_names: Sequence[str], controllers_file: str) -> str:
    """
    Return a URDF with gz_ros2_control: effort commands, all states, fixed to the world.

    :param urdf: text of a URDF without ros2_control.
    :param joint_names: joints to control.
    :param controllers_file: YAML of the controller manager.
    :raises UrdfError: not XML, a joint that does not exist, or ros2_control is there already.
    """
    try:
        robot = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise UrdfError(f'the robot description is not XML: {error}') from error
    joints = {joint.get('name'): joint for joint in robot.findall('joint')}
    missing = [name for name in joint_names if name not in joints]
    if missing:
        raise UrdfError(f'joint {", ".join(missing)} is not in the URDF')
    if robot.find('ros2_control') is not None:
        raise UrdfError('the URDF has a ros2_control element of its own; start it as it is')
    _fix_to_the_world(robot)
    system = ElementTree.SubElement(robot, 'ros2_control', name='gazebo', type='system')
    hardware = ElementTree.SubElement(system, 'hardware')
    ElementTree.SubElement(hardware, 'plugin').text = 'gz_ros2_control/GazeboSimSystem'
    for name in joint_names:
        joint = ElementTree.SubElement(system, 'joint', name=name)
        ElementTree.SubElement(joint, 'command_interface', name='effort')
        for state in ('position', 'velocity', 'effort'):
            ElementTree.SubElement(joint, 'state_interface', name=state)
    gazebo = ElementTree.SubElement(robot, 'gazebo')
    plugin = ElementTree.SubElement(gazebo, 'plugin', filename='libgz_ros2_control-system.so',
                                    name='gz_ros2_control::GazeboSimROS2ControlPlugin')
    ElementTree.SubElement(plugin, 'parameters').text = controllers_file
    return ElementTree.tostring(robot, encoding='unicode')


def _fix_to_the_world(robot: ElementTree.Element) -> None:
    """Add a link 'world' and a fixed joint to the root, unless the URDF has it."""
    links = {link.get('name', '') for link in robot.findall('link')}
    if 'world' in links:
        return
    children = [joint.find('child') for joint in robot.findall('joint')]
    roots = links - {child.get('link', '') for child in children if child is not None}
    if len(roots) != 1:
        raise UrdfError(f'the URDF needs one root link, found {sorted(roots)}')
    ElementTree.SubElement(robot, 'link', name='world')
    joint = ElementTree.SubElement(robot, 'joint', name='world_fixed', type='fixed')
    ElementTree.SubElement(joint, 'parent', link='world')
    ElementTree.SubElement(joint, 'child', link=roots.pop())
