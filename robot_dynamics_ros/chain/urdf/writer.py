# SPDX-License-Identifier: Apache-2.0
"""
A URDF with other inertias and friction; every other byte stays what it was.

The inertia of a moving body goes wholly into the link that its joint carries, and the inertials of
links that are fixed to it are removed. Links behind joints that are frozen but can move (fingers)
keep theirs; they are taken off the body. Friction of joints that follow another one is that of
their leader.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia, payload_inertia
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.document import read_document, read_text
from robot_dynamics_ros.chain.urdf.reader import (
    Locked,
    chain_from_urdf_text,
    link_poses,
    locked_positions,
)
from robot_dynamics_ros.chain.urdf.tree import Tree, tree_from_urdf
from robot_dynamics_ros.errors import ChainError, ParameterError, UrdfError

#: A quoted text, or the end of a tag.
_QUOTED_OR_END = re.compile(rb'"[^"]*"|\'[^\']*\'|>')


@dataclass(eq=False)
class Element:
    """
    An element and where it is in the text.

    :param tag: name of the element.
    :param attributes: values of its attributes by name.
    :param start: first byte of its start tag.
    :param tag_end: byte after its start tag.
    :param end: byte after the whole element.
    :param children: elements directly inside.
    """

    tag: str
    attributes: dict[str, str]
    start: int
    tag_end: int
    end: int = 0
    children: list[Element] = field(default_factory=list)

    def child(self, tag: str) -> Element | None:
        """Return the first child with a name, if there is one."""
        return next(self.named(tag), None)

    def named(self, tag: str) -> Iterator[Element]:
        """Return the children with a name."""
        return (child for child in self.children if child.tag == tag)


class XmlText:
    """
    A text, the places of its elements, and the changes to be made.

    New text is plain ASCII, so the encoding must be one that extends ASCII.
    """

    def __init__(self, text: bytes, label: str) -> None:
        """
        Find all elements.

        :param text: well-formed XML.
        :param label: what to call it in messages.
        :raises UrdfError: not well-formed, or in an encoding such as UTF-16.
        """
        if b'\x00' in text or b'<' not in text:
            raise UrdfError(f'{label}: only texts in UTF-8 or a similar encoding can be changed; '
                            'save the file as UTF-8')
        self.text = text
        self._changes: list[tuple[int, int, bytes]] = []
        self._newline = b'\r\n' if b'\r\n' in text else b'\n'
        open_elements: list[Element] = []
        roots: list[Element] = []
        parser = expat.ParserCreate()

        def begin(tag: str, attributes: dict[str, str]) -> None:
            start = parser.CurrentByteIndex
            element = Element(tag, attributes, start, self._tag_end(start))
            (open_elements[-1].children if open_elements else roots).append(element)
            open_elements.append(element)

        def finish(tag: str) -> None:
            element = open_elements.pop()
            if self.empty(element):
                element.end = element.tag_end
            else:
                element.end = text.index(b'>', parser.CurrentByteIndex) + 1

        parser.StartElementHandler = begin
        parser.EndElementHandler = finish
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            raise UrdfError(f'{label}: not well-formed XML: {error}') from None
        self.root = roots[0]

    def _tag_end(self, start: int) -> int:
        for match in _QUOTED_OR_END.finditer(self.text, start):
            if match.group() == b'>':
                return match.end()
        raise UrdfError('a tag is not closed')  # expat has refused this already

    def empty(self, element: Element) -> bool:
        """Return whether the element is written as one tag, ``<a/>``."""
        return self.text[element.tag_end - 2:element.tag_end] == b'/>'

    def replace(self, element: Element, lines: list[str]) -> None:
        """Write other lines instead of an element, indented as it is."""
        self._changes.append((element.start, element.end,
                              self._block(lines, self._indentation(element))))

    def remove(self, element: Element) -> None:
        """Remove an element, with its lines where nothing else is on them."""
        start = element.start - len(self._indentation(element))
        end = element.end
        alone_before = start == 0 or self.text[start - 1:start] == b'\n'
        rest = re.compile(rb'[ \t]*\r?\n').match(self.text, end)
        if alone_before and rest:
            end = rest.end()
        else:
            start = element.start
        self._changes.append((start, end, b''))

    def insert_first(self, parent: Element, lines: list[str]) -> None:
        """Write lines before the first child of an element."""
        outer = self._indentation(parent)
        inner = self._indentation(parent.children[0]) if parent.children else outer + b'  '
        block = self._newline + inner + self._block(lines, inner)
        if self.empty(parent):
            name = parent.tag.encode()
            head = self.text[parent.start:parent.tag_end - 2].rstrip()
            block = head + b'>' + block + self._newline + outer + b'</' + name + b'>'
            self._changes.append((parent.start, parent.end, block))
        else:
            self._changes.append((parent.tag_end, parent.tag_end, block))

    def set_attribute(self, element: Element, name: str, value: str) -> None:
        """Give an attribute another value, or add it."""
        tag = self.text[element.start:element.tag_end]
        match = re.search(rb'\s' + re.escape(name.encode()) + rb'\s*=\s*("[^"]*"|\'[^\']*\')', tag)
        if match:
            start, end = (element.start + place for place in match.span(1))
            self._changes.append((start, end, f'"{value}"'.encode('ascii')))
        else:
            end = element.tag_end - (2 if self.empty(element) else 1)
            space = b'' if self.text[end - 1:end].isspace() else b' '
            self._changes.append((end, end, space + f'{name}="{value}"'.encode('ascii')))

    def changed(self) -> bytes:
        """Return the text with all changes."""
        text = self.text
        # later places first; of insertions at one place, the one asked for first comes first
        order = sorted(range(len(self._changes)), key=lambda k: (self._changes[k][0], k))
        for k in reversed(order):
            start, end, new = self._changes[k]
            text = text[:start] + new + text[end:]
        return text

    def _indentation(self, element: Element) -> bytes:
        """Return the blanks before an element, if there is nothing else before it on its line."""
        line = self.text[self.text.rfind(b'\n', 0, element.start) + 1:element.start]
        return line if not line.strip() else b''

    def _block(self, lines: list[str], indentation: bytes) -> bytes:
        separator = self._newline + indentation
        return separator.join(line.encode('ascii', 'xmlcharrefreplace') for line in lines)


#: What the comment in a written URDF begins with.
MARK = 'robot_dynamics_ros:'

#: Largest difference of inertias and friction after reading back, relative to the largest entry of
#: the link, or of all joints.
_READ_BACK = 1e-11


@dataclass(frozen=True, eq=False)
class MovingBody:
    """
    A moving body of a chain and the links that belong to it.

    :param frame_in_link: frame E_i in the frame of its link.
    :param fixed_links: names of the links fixed to its link.
    :param carried: inertia of what frozen joints of the body carry, in E_i.
    """

    frame_in_link: Pose
    fixed_links: tuple[str, ...]
    carried: Inertia


def carried_inertias(source: str | os.PathLike[str], chain: Chain,
                     locked: Locked = None) -> tuple[Inertia, ...]:
    """
    Return what frozen joints carry (fingers, for example), as part of each link of a chain.

    :param source: path or text of the URDF that the chain was read from.
    :param chain: the robot.
    :param locked: joints to freeze, as given when the chain was read.
    :returns: n inertias, each in its frame E_i; zero where there is nothing.
    """
    return tuple(body.carried for body in moving_bodies(tree_from_urdf(source), chain, locked))


def urdf_with_inertias(source: str | os.PathLike[str], chain: Chain, *, locked: Locked = None,
                       snap: bool = True, note: str = '') -> bytes:
    """
    Return the URDF text with the inertias and the friction of a chain, checked by reading it.

    :param source: path or text of the URDF that the chain was read from.
    :param chain: the robot with other links and joint physics.
    :param locked: joints to freeze, as given when the chain was read.
    :param snap: rounding, as chosen when the chain was read.
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
    bodies = moving_bodies(tree, chain, locked)
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
        for name, viscous, coulomb in (
                *zip(chain.joint_names, physics.viscous, physics.coulomb),
                *((each.joint.name, 0.0, 0.0) for each in chain.followers)):
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


def moving_bodies(tree: Tree, chain: Chain, locked: Locked) -> list[MovingBody]:
    """Return the moving bodies of a chain, with joints locked as when it was read."""
    frozen = locked_positions(tree, locked)
    poses = link_poses(tree, chain.base, frozen)
    frames = chain.zero_poses()
    on_chain = {joint.name for joint in chain.moving}
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
        bodies.append(MovingBody(poses[name].inverse() @ frame, tuple(fixed), carried))
    return bodies


def _inertial(name: str, link: Inertia, body: MovingBody) -> list[str]:
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
    again = _read_back(re.sub(r'^\s*<\?xml.*?\?>', '', decoded), chain, locked, snap)
    pairs: list[tuple[Array, Array]] = []
    if again is not None:
        pairs = [(a.standard_parameters, b.standard_parameters)
                 for a, b in zip(again.links, chain.links)]
        if chain.joint_physics.coupling is None:
            pairs += [(again.joint_physics.viscous, chain.joint_physics.viscous),
                      (again.joint_physics.coulomb, chain.joint_physics.coulomb)]
    if not pairs or any(np.max(np.abs(found - wanted)) > _READ_BACK * np.max(np.abs(wanted))
                        for found, wanted in pairs):
        raise UrdfError(f'{label}: read back, the changed text has other inertias or friction '
                        'than it should; was the chain read from this URDF, with the same locked '
                        'joints?')


def _read_back(text: str, chain: Chain, locked: Locked, snap: bool) -> Chain | None:
    """Return the chain with the joints of another one, a part or all of a robot; None = none."""
    for tips in ([tip.link for tip in chain.tips], None):
        try:
            again = chain_from_urdf_text(text, base=chain.base, tips=tips, gravity=chain.gravity,
                                         locked=locked, snap=snap)
        except ChainError:  # joints on the way to a tip that follow others
            continue
        if [joint.name for joint in again.moving] == [joint.name for joint in chain.moving]:
            return again
    return None
