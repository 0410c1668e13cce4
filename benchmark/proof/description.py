# SPDX-License-Identifier: Apache-2.0
"""URDFs as other readers want them: the same robot, without what they stumble over."""

from __future__ import annotations

import numpy as np
from lxml import etree

from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.errors import ParameterError

_TENSOR = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


def rigid_links(urdf: str | bytes) -> str:
    """
    Return a URDF with nothing but links, inertias and joints.

    Friction is left out, so that no reader adds it to the torque of the rigid links; shapes, so
    that none looks for meshes or collisions; and frames at the end of the robot, because DART and
    Bullet give 1 kg to a link without <inertial>.
    """
    robot = _root(urdf)
    for element in robot.xpath('.//dynamics | .//visual | .//collision'):
        element.getparent().remove(element)
    while frames := [joint for joint in robot.iterfind("joint[@type='fixed']")
                     if _is_end_frame(robot, joint.find('child').get('link'))]:
        for joint in frames:
            link = joint.find('child').get('link')
            robot.remove(joint)
            robot.remove(robot.find(f"link[@name='{link}']"))
    return _text(robot)


def _is_end_frame(robot: etree._Element, link: str) -> bool:
    """Return whether a link has no inertia and carries nothing."""
    return (robot.find(f"link[@name='{link}']/inertial") is None
            and robot.find(f"joint/parent[@link='{link}']") is None)


def root_link(urdf: str) -> str:
    """Return the name of the link that is nobody's child."""
    robot = _root(urdf)
    children = {child.get('link') for child in robot.iterfind('joint/child')}
    links = [str(link.get('name')) for link in robot.iterfind('link')]
    return next(link for link in links if link not in children)


def impossible_link(urdf: str) -> str:
    """
    Return a link with an inertia that no body can have, or ''.

    Some readers quietly put another inertia in its place.
    """
    for link in _root(urdf).iterfind('link'):
        inertia = link.find('inertial/inertia')
        if inertia is None:
            continue
        xx, xy, xz, yy, yz, zz = (float(inertia.get(name, 0.0)) for name in _TENSOR)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        try:
            payload_inertia(1.0, np.zeros(3), tensor)  # whatever its mass is
        except ParameterError:
            return str(link.get('name'))
    return ''


def with_element(urdf: str, *path: tuple[str, dict[str, str]]) -> str:
    """Return a URDF with a chain of elements, each inside the one before, below <robot>."""
    robot = _root(urdf)
    place = robot
    for tag, attributes in path:
        place = etree.SubElement(place, tag, attributes)
    return _text(robot)


def with_rounder_inertias(urdf: str, share: float) -> str:
    """Return a URDF in which every moment of inertia is larger by a share of the largest one."""
    robot = _root(urdf)
    for inertia in robot.iterfind('link/inertial/inertia'):
        moments = {name: float(inertia.get(name)) for name in ('ixx', 'iyy', 'izz')}
        for name, value in moments.items():
            inertia.set(name, repr(value + share * max(moments.values())))
    return _text(robot)


def _root(urdf: str | bytes) -> etree._Element:
    text = urdf.encode() if isinstance(urdf, str) else urdf
    return etree.fromstring(text, etree.XMLParser(resolve_entities=False))


def _text(robot: etree._Element) -> str:
    return str(etree.tostring(robot, encoding='unicode'))
