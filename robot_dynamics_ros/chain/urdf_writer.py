# SPDX-License-Identifier: Apache-2.0
"""
A URDF with other inertias and friction; everything else stays byte for byte.

The inertia of a moving body goes wholly into the link that its joint carries, and the inertials of
links that are fixed to it are removed. Links behind joints that are frozen but can move (fingers)
keep theirs; they are taken off the body.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.document import read_document, read_text
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.payload import payload_inertia
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.tree import Tree, tree_from_urdf
from robot_dynamics_ros.chain.urdf import chain_from_urdf, link_poses, locked_positions
from robot_dynamics_ros.chain.xml_text import XmlText
from robot_dynamics_ros.errors import ParameterError, UrdfError

#: What the comment in a written URDF begins with.
MARK = 'robot_dynamics_ros:'

#: Largest difference of inertias and friction after reading back, relative to the largest entry of
#: the link, or of all joints.
_READ_BACK = 1e-11

Locked = Mapping[str, float] | Sequence[str] | None


@dataclass(frozen=True, eq=False)
class _Body:
    """A moving body: frame E_i in its link, links fixed to it, inertia it carries, in E_i."""

    frame_in_link: Pose
    fixed_links: tuple[str, ...]
    carried: Inertia


def carried_inertias(source: str | os.PathLike[str], chain: Chain,
                     locked: Locked = None) -> tuple[Inertia, ...]:
    """
    Return what frozen joints carry (fingers, for example), as part of each link of a chain.

    :param source: path or text of the URDF that the chain was read from.
    :param chain: the robot.
    :param locked: as it was given when the chain was read.
    :returns: n inertias, each in its frame E_i; zero where there is nothing.
    """
    return tuple(body.carried for body in _bodies(tree_from_urdf(source), chain, locked))


def urdf_with_inertias(source: str | os.PathLike[str], chain: Chain, *, locked: Locked = None,
                       snap: bool = True, note: str = '') -> bytes:
    """
    Return the URDF text with the inertias and the friction of a chain, checked by reading it.

    :param source: path or text of the URDF that the chain was read from.
    :param chain: the robot with other links and joint physics.
    :param locked: as it was given when the chain was read.
    :param snap: as it was given when the chain was read.
    :param note: text for a comment at the top.
    :raises UrdfError: the text cannot be changed, or does not belong to the chain.
    :raises ParameterError: a link with inertia that no body can have.
    """
    read_document(source)
    text, label = read_text(source)
    tree = tree_from_urdf(source)
    xml = XmlText(text, label)
    links = {element.attributes['name']: element for element in xml.root.named('link')}
    joints = {element.attributes['name']: element for element in xml.root.named('joint')}
    missing = [name for name in chain.joint_names if name not in joints]
    if missing:
        raise UrdfError(f"{label}: joint '{missing[0]}' of the chain does not exist")
    bodies = _bodies(tree, chain, locked)
    for name, link, body in zip(chain.link_names, chain.links, bodies):
        lines = _inertial(name, link, body)
        old = links[name].child('inertial')
        if old is not None and lines:
            xml.replace(old, lines)
        elif old is not None:
            xml.remove(old)
        elif lines:
            xml.insert_first(links[name], lines)
        for fixed in body.fixed_links:
            inertial = links[fixed].child('inertial')
            if inertial is not None:
                xml.remove(inertial)
    physics = chain.joint_physics
    if physics.coupling is None:  # else friction belongs to motors, which a URDF does not know
        for name, viscous, coulomb in zip(chain.joint_names, physics.viscous, physics.coulomb):
            values = {'damping': repr(float(viscous)), 'friction': repr(float(coulomb))}
            dynamics = joints[name].child('dynamics')
            if dynamics is not None:
                for attribute, value in values.items():
                    xml.set_attribute(dynamics, attribute, value)
            elif viscous or coulomb:
                words = ' '.join(f'{attribute}="{value}"' for attribute, value in values.items())
                xml.insert_first(joints[name], [f'<dynamics {words}/>'])
    result = _with_note(xml.changed(), label, note)
    _check(result, chain, locked, snap, label)
    return result


def _bodies(tree: Tree, chain: Chain, locked: Locked) -> list[_Body]:
    frozen = locked_positions(tree, locked)
    poses = link_poses(tree, chain.base, frozen)
    frames = chain.joint_poses(np.zeros(len(chain)))
    on_chain = set(chain.joint_names)
    bodies = []
    for name, frame in zip(chain.link_names, frames):
        to_frame = frame.inverse()
        fixed, carried = [], Inertia.zero()
        waiting = [(name, True)]
        while waiting:
            link, rigid = waiting.pop()
            if not rigid:
                carried = carried + tree.inertias[link].seen_from(to_frame @ poses[link])
            elif link != name:
                fixed.append(link)
            waiting += [(joint.child, rigid and not joint.moving) for joint in tree.children(link)
                        if joint.name not in on_chain]
        bodies.append(_Body(poses[name].inverse() @ frame, tuple(fixed), carried))
    return bodies


def _inertial(name: str, link: Inertia, body: _Body) -> list[str]:
    """Return the lines of <inertial>; none for a body without mass and inertia."""
    own = Inertia.from_standard_parameters(link.standard_parameters
                                           - body.carried.standard_parameters)
    if not np.any(own.standard_parameters):
        return []
    own = own.seen_from(body.frame_in_link)
    try:
        payload_inertia(own.mass, own.centre_of_mass, own.central_tensor)
    except ParameterError as error:
        raise ParameterError(f'link {name}: no body has this inertia ({error}); make the '
                             'estimate physically consistent first') from error
    J = own.central_tensor
    entries = {'ixx': J[0, 0], 'ixy': J[0, 1], 'ixz': J[0, 2], 'iyy': J[1, 1], 'iyz': J[1, 2],
               'izz': J[2, 2]}
    return ['<inertial>',
            f'  <origin xyz="{_numbers(own.centre_of_mass)}" rpy="0 0 0"/>',
            f'  <mass value="{own.mass!r}"/>',
            '  <inertia ' + ' '.join(f'{key}="{float(value)!r}"'
                                     for key, value in entries.items()) + '/>',
            '</inertial>']


def _numbers(values: Array) -> str:
    return ' '.join(repr(float(value)) for value in values)


def _with_note(text: bytes, label: str, note: str) -> bytes:
    """Return the text with a comment after the start tag, in place of an older one."""
    if not note:
        return text
    xml = XmlText(text, label)
    start = xml.root.tag_end
    older = re.compile(rb'\s*<!-- ' + MARK.encode() + rb'.*?-->', re.DOTALL).match(text, start)
    if older:
        text = text[:start] + text[older.end():]
    xml = XmlText(text, label)
    words = re.sub('-(?=-)', '- ', f'{MARK} {note}')  # two hyphens would end the comment
    xml.insert_first(xml.root, [f'<!-- {words} -->'])
    return xml.changed()


def _check(text: bytes, chain: Chain, locked: Locked, snap: bool, label: str) -> None:
    """Read the text back and compare."""
    encoding = re.match(rb'<\?xml[^>]*encoding=["\']([\w.-]+)', text)
    decoded = text.decode(encoding.group(1).decode() if encoding else 'utf-8-sig')
    again = chain_from_urdf(re.sub(r'^\s*<\?xml.*?\?>', '', decoded), base=chain.base,
                            tip=chain.tip, gravity=chain.gravity, locked=locked, snap=snap)
    pairs = [(a.standard_parameters, b.standard_parameters)
             for a, b in zip(again.links, chain.links)]
    if chain.joint_physics.coupling is None:
        pairs += [(again.joint_physics.viscous, chain.joint_physics.viscous),
                  (again.joint_physics.coulomb, chain.joint_physics.coulomb)]
    for found, wanted in pairs:
        if np.max(np.abs(found - wanted)) > _READ_BACK * np.max(np.abs(wanted)):
            raise UrdfError(f'{label}: read back, the changed text has other inertias or '
                            'friction than it should; was the chain read from this URDF, with '
                            'the same locked joints?')
