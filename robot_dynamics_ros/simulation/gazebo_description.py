# SPDX-License-Identifier: Apache-2.0
"""A URDF made ready for Gazebo: ros2_control with effort interfaces, and its plug-in."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from robot_dynamics_ros.errors import UrdfError
from robot_dynamics_ros.files.bounds import one_line

#: Mass [kg] and moment of inertia [kg m^2] of a root without any. It is fixed to the world, so
#: that they have no effect; sdformat leaves out a link without mass, and all joints on it.
NOMINAL_MASS, NOMINAL_INERTIA = 1.0, 0.01


def with_gazebo_control(urdf: str, joint_names: Sequence[str], controllers_file: str,
                        namespace: str = '') -> str:
    """
    Return a URDF with gz_ros2_control: effort commands, all states, fixed to the world.

    A root without mass gets a nominal one, for otherwise Gazebo cannot load the robot.

    :param urdf: text of a URDF without ros2_control.
    :param joint_names: joints to control.
    :param controllers_file: YAML of the controller manager.
    :param namespace: namespace of the controller manager; without it, the plug-in waits in the
        global namespace for a robot description that never comes, and Gazebo with it.
    :raises UrdfError: not XML, a joint that does not exist, or ros2_control is there already.
    """
    robot = _parsed(urdf)
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
    if namespace.strip('/'):
        ros = ElementTree.SubElement(plugin, 'ros')
        ElementTree.SubElement(ros, 'namespace').text = f'/{namespace.strip("/")}'
    return ElementTree.tostring(robot, encoding='unicode')


def massless_moving_links(urdf: str) -> tuple[str, ...]:
    """
    Return the links that Gazebo leaves out, with all that hangs on them: moving, but massless.

    A link without mass is no fault where a fixed joint connects it to one that has: sdformat makes
    one body of both.

    :param urdf: text of a URDF.
    :raises UrdfError: not XML.
    """
    robot = _parsed(urdf)
    moved = [_end(joint, 'child') for joint in robot.findall('joint')
             if joint.get('type') != 'fixed']
    return tuple(name for name in moved if not _has_mass(robot, name))


def _parsed(urdf: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise UrdfError(f'the robot description is not XML: {error}') from error


def _end(joint: ElementTree.Element, which: str) -> str:
    """Return the name of the parent or child link of a joint."""
    element = joint.find(which)
    return '' if element is None else element.get('link', '')


def _has_mass(robot: ElementTree.Element, name: str) -> bool:
    """Return whether a link, or one that is fixed to it as a child, has mass."""
    body = [name]
    for link in body:  # grows while it is walked
        body += [_end(joint, 'child') for joint in robot.findall('joint')
                 if joint.get('type') == 'fixed' and _end(joint, 'parent') == link
                 and _end(joint, 'child') not in body]
    return any(_mass(link) > 0.0 for link in robot.findall('link') if link.get('name') in body)


def _mass(link: ElementTree.Element) -> float:
    element = link.find('inertial/mass')
    text = '0' if element is None else element.get('value', '')
    try:
        return float(text)
    except ValueError:
        raise UrdfError(
            f'link {link.get("name")}: mass {one_line(text)} is not a number') from None


def _fix_to_the_world(robot: ElementTree.Element) -> None:
    """Add a link 'world' and a fixed joint to the root, unless the URDF has it."""
    links = {link.get('name', ''): link for link in robot.findall('link')}
    if 'world' not in links:
        roots = set(links) - {_end(joint, 'child') for joint in robot.findall('joint')}
        if len(roots) != 1:
            raise UrdfError(f'the URDF needs one root link, found {sorted(roots)}')
        ElementTree.SubElement(robot, 'link', name='world')
        joint = ElementTree.SubElement(robot, 'joint', name='world_fixed', type='fixed')
        ElementTree.SubElement(joint, 'parent', link='world')
        ElementTree.SubElement(joint, 'child', link=roots.pop())
    for joint in robot.findall('joint'):
        name = _end(joint, 'child')
        fixed = joint.get('type') == 'fixed' and _end(joint, 'parent') == 'world'
        if fixed and name in links and not _has_mass(robot, name):
            _give_nominal_mass(links[name])


def _give_nominal_mass(link: ElementTree.Element) -> None:
    for empty in link.findall('inertial'):
        link.remove(empty)
    inertial = ElementTree.SubElement(link, 'inertial')
    ElementTree.SubElement(inertial, 'mass', value=str(NOMINAL_MASS))
    moment, none = str(NOMINAL_INERTIA), '0'
    ElementTree.SubElement(inertial, 'inertia', ixx=moment, ixy=none, ixz=none, iyy=moment,
                           iyz=none, izz=moment)
