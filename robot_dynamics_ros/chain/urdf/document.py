# SPDX-License-Identifier: Apache-2.0
"""
URDF text to checked XML: everything is looked at before any other library sees it.

Document types and entities are refused, nothing is expanded and nothing is fetched. Every number
and name that dynamics needs is checked here, so that a mistake is reported with its line.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.chain.urdf.xacro_file import XacroFile, expand_xacro
from robot_dynamics_ros.errors import UrdfError
from robot_dynamics_ros.files.bounds import LARGEST_NUMBER, one_line, read_bounded

#: A larger text is refused [bytes].
MAXIMUM_SIZE = 4 * 2**20

#: A robot with more links is refused.
MAXIMUM_LINKS = 1000

#: A longer name is refused.
_LONGEST_NAME = 256

#: Kinds of elements without meaning for dynamics that get a finding of their own.
_MOST_IGNORED = 20

#: Joint types of the URDF standard.
JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')

_TENSOR = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_WITHOUT_DYNAMICS = ('visual', 'collision')
_MOVING = ('revolute', 'continuous', 'prismatic')

#: Elements that dynamics needs, by the element that holds them. Nothing else is handed on.
_KEPT = {'link': ('inertial',), 'inertial': ('origin', 'mass', 'inertia'),
         'joint': ('origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic')}

#: Their attributes that are words, and those that are numbers, with how many.
_WORDS = {'link': ('name',), 'joint': ('name', 'type'), 'parent': ('link',), 'child': ('link',),
          'mimic': ('joint',)}
_NUMBERS = {'origin': {'xyz': 3, 'rpy': 3}, 'mass': {'value': 1}, 'axis': {'xyz': 3},
            'inertia': dict.fromkeys(_TENSOR, 1), 'dynamics': {'damping': 1, 'friction': 1},
            'limit': dict.fromkeys(('lower', 'upper', 'velocity', 'effort'), 1),
            'mimic': {'multiplier': 1, 'offset': 1}}


#: Declaration of an encoding, which is about bytes and means nothing in a text.
_ENCODING = re.compile(
    r'^(<\?xml[^>?]{0,100}?)\s{1,9}encoding\s{0,9}=\s{0,9}["\'][\w.-]{0,40}["\']')


@dataclass(frozen=True, eq=False)
class Document:
    """
    A parsed URDF.

    :param root: the <robot> element (lxml).
    :param label: what to call the source in messages: file name or 'URDF text'.
    """

    root: Any
    label: str

    def error(self, element: Any, message: str) -> UrdfError:
        """Return an error that names the source, the line and the element."""
        return UrdfError(f'{self.label}:{element.sourceline}: {one_line(describe(element))}: '
                         f'{one_line(message, 1000)}')


def describe(element: Any) -> str:
    """Return e.g. ``<limit> of joint 'elbow'``."""
    named = element
    while named is not None and not (named.tag in ('link', 'joint') and named.get('name')):
        named = named.getparent()
    if named is None:
        return f'<{element.tag}>'
    owner = f"{named.tag} '{named.get('name')}'"
    return owner if named is element else f'<{element.tag}> of {owner}'


def read_document(source: str | os.PathLike[str]) -> Document:
    """
    Read a URDF from a path or from its text, and refuse what is not one.

    :param source: path of a .urdf or .xacro file, or the XML text itself.
    :raises UrdfError: missing, empty, too large, not XML, not a URDF, or with a document type.
    """
    return _parsed(*read_text(source))


def document_from_text(text: str) -> Document:
    """
    Read a URDF from its text; nothing in it is ever taken as the path of a file.

    :param text: the XML text.
    :raises UrdfError: empty, too large, not XML, not a URDF, or with a document type.
    """
    return _parsed(_encoded(text), 'URDF text')


def _parsed(text: bytes, label: str) -> Document:
    from lxml import etree

    if not text.strip():
        raise UrdfError(f'{label}: the file is empty; a URDF starts with <robot name="...">')
    if len(text) > MAXIMUM_SIZE:
        raise UrdfError(f'{label}: {len(text)} bytes is more than the limit of {MAXIMUM_SIZE}; '
                        'is this really a URDF?')
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False,
                             huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text, parser)
    except etree.XMLSyntaxError as error:
        raise UrdfError(f'{label}: not well-formed XML: {one_line(error.msg)}') from None
    if root.getroottree().docinfo.doctype:
        raise UrdfError(f'{label}: has a DOCTYPE; document types and entities are refused, '
                        'write the values out')
    if root.tag != 'robot':
        raise UrdfError(f'{label}:{root.sourceline}: the root element is <{one_line(root.tag)}>, '
                        'a URDF has <robot>; an SDF or MJCF must be converted first')
    if any('xacro' in (uri or '') for uri in root.nsmap.values()) and any(
            'xacro' in str(element.tag) for element in root.iter()):
        raise UrdfError(f'{label}: contains xacro macros; expand it first (`xacro FILE`) or give '
                        'the path of a file that ends in .xacro')
    return Document(root, label)


def read_text(source: str | os.PathLike[str]) -> tuple[bytes, str]:
    """
    Return the XML of a path (.xacro expanded) or text, and what to call it in messages.

    :param source: a string with ``<`` in it, or an empty one, is the text; all else is a path.
    :raises UrdfError: no such file, too large, or xacro fails.
    """
    if isinstance(source, str) and ('<' in source or not source.strip()):
        return _encoded(source), 'URDF text'
    path = Path(source)
    try:
        known = path.is_file()
    except OSError:  # a name that is too long
        known = False
    if not known:
        raise UrdfError(f'{one_line(path)}: no such file; give the path of a URDF or its text')
    if path.suffix == '.xacro':
        return expand_xacro(source), path.name
    if isinstance(source, XacroFile) and source.arguments:
        raise UrdfError(f'{path.name}: takes no xacro arguments '
                        f'({", ".join(source.arguments)}); its name does not end in .xacro')
    return read_bounded(path, MAXIMUM_SIZE, UrdfError), path.name


def _encoded(text: str) -> bytes:
    """Return the text as the parser takes it: an encoding that it declares is no longer its."""
    try:
        return _ENCODING.sub(r'\1', text, count=1).encode()
    except UnicodeEncodeError:
        raise UrdfError('URDF text: has half a character (a surrogate)') from None


def strip_and_check(document: Document) -> tuple[Any, list[Finding]]:
    """
    Return a copy with only what dynamics needs, every name and number checked.

    :returns: the stripped <robot> element, and findings about what was ignored or assumed.
    :raises UrdfError: with source, line and element.
    """
    from lxml import etree

    robot = etree.Element('robot', name=_name(document, document.root, 'robot'))
    if len(document.root.findall('link')) > MAXIMUM_LINKS:
        raise document.error(document.root, f'has more than {MAXIMUM_LINKS} links; is this '
                             'really a robot?')
    findings: list[Finding] = []
    ignored: Counter[str] = Counter()
    names: set[tuple[str, str]] = set()
    for element in document.root:
        if element.tag not in ('link', 'joint'):
            if element.tag not in ('material', 'transmission', 'ros2_control'):
                ignored[str(element.tag)] += 1
            continue
        key = (element.tag, _name(document, element))
        if key in names:
            raise document.error(element, f'a {key[0]} with this name exists already; names must '
                                 'be unique')
        names.add(key)
        for child in element:
            if child.tag not in (*_KEPT[element.tag], *_WITHOUT_DYNAMICS):
                ignored[f'{element.tag}/{child.tag}'] += 1
        if element.tag == 'link':
            _check_link(document, element)
        else:
            findings += _check_joint(document, element)
        robot.append(_stripped(document, element))
    findings += _drop_unknown_mimics(robot)
    for tag, count in sorted(ignored.items())[:_MOST_IGNORED]:
        findings.append(Finding('ignored_element', '',
                                f'<{one_line(tag)}> is not used ({count} times)'))
    return robot, findings


def _drop_unknown_mimics(robot: Any) -> list[Finding]:
    findings = []
    joints = {joint.get('name'): joint for joint in robot.findall('joint')}
    for name, joint in joints.items():
        mimic = joint.find('mimic')
        if mimic is not None and mimic.get('joint') not in joints:
            joint.remove(mimic)
            other = one_line(mimic.get('joint'))
            findings.append(Finding('unknown_mimic', name, f"mimics '{other}', which does not "
                                    'exist; taken as an ordinary joint'))
    return findings


def _stripped(document: Document, element: Any) -> Any:
    """Return a copy with only the elements and attributes that dynamics needs."""
    from lxml import etree

    copy = etree.Element(element.tag)
    for attribute in _WORDS.get(element.tag, ()):
        if element.get(attribute) is not None:
            copy.set(attribute, element.get(attribute))
    for attribute, count in _NUMBERS.get(element.tag, {}).items():
        if element.get(attribute) is not None:
            values = numbers_in(document, element, attribute, count)
            copy.set(attribute, ' '.join(map(repr, values)))
    still = element.tag == 'joint' and element.get('type') not in _MOVING
    for tag in _KEPT.get(element.tag, ()):
        child, *more = element.findall(tag) or [None]
        if more:
            raise document.error(more[0], 'occurs twice; keep one')
        if child is not None and not (tag == 'axis' and (still or child.get('xyz') is None)):
            copy.append(_stripped(document, child))
    if element.tag == 'joint' and not still:
        _complete_limit(copy)
    return copy


def _name(document: Document, element: Any, default: str = '') -> str:
    name = element.get('name') or default
    if not name.strip():
        raise document.error(element, 'has no name')
    if not name.isprintable() or len(name) > _LONGEST_NAME:
        raise document.error(element, f'a name must be printable and have at most {_LONGEST_NAME} '
                             'characters')
    return str(name)


def number(document: Document, element: Any, attribute: str, default: float | None = None
           ) -> float:
    """Return a finite number from an attribute; `default` None means that it is required."""
    text = element.get(attribute)
    if text is None:
        if default is None:
            raise document.error(element, f"attribute '{attribute}' is missing")
        return default
    return numbers_in(document, element, attribute, 1)[0]


def numbers_in(document: Document, element: Any, attribute: str, count: int) -> list[float]:
    """Return exactly `count` finite numbers from an attribute."""
    text = element.get(attribute)
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if len(values) != count or not all(map(math.isfinite, values)):
        what = 'one finite number' if count == 1 else f'{count} finite numbers'
        raise document.error(element, f"{attribute}='{one_line(text)}' must be {what}")
    # a limit may be as large as it likes: that means that there is none
    if element.tag != 'limit' and max(map(abs, values)) > LARGEST_NUMBER:
        raise document.error(element, f"{attribute}='{one_line(text)}' is larger than "
                             f'{LARGEST_NUMBER:g}, which no robot is')
    return values


def _check_origin(document: Document, element: Any) -> None:
    origin = element.find('origin')
    if origin is not None:
        for attribute in ('xyz', 'rpy'):
            if origin.get(attribute) is not None:
                numbers_in(document, origin, attribute, 3)


def _check_link(document: Document, link: Any) -> None:
    inertial = link.find('inertial')
    if inertial is None:
        return
    _check_origin(document, inertial)
    for tag, attributes in (('mass', ('value',)), ('inertia', _TENSOR)):
        child = inertial.find(tag)
        if child is None:
            raise document.error(inertial, f'<{tag}> is missing; remove <inertial> for a link '
                                 'without mass')
        for attribute in attributes:
            number(document, child, attribute)


def _check_joint(document: Document, joint: Any) -> list[Finding]:
    findings = []
    name = joint.get('name')
    if joint.get('type') not in JOINT_TYPES:
        raise document.error(joint, f"type '{one_line(joint.get('type'))}' is unknown; the URDF "
                             f'standard has {", ".join(JOINT_TYPES)}')
    _check_origin(document, joint)
    for tag in ('parent', 'child'):
        child = joint.find(tag)
        if child is None or not child.get('link'):
            raise document.error(joint, f'<{tag} link="..."/> is missing')
    moving = joint.get('type') in _MOVING
    axis = joint.find('axis')
    if axis is None or axis.get('xyz') is None:
        if moving:
            findings.append(Finding('missing_axis', name, 'has no <axis>; the URDF standard says '
                                    '(1, 0, 0)'))
    elif moving and math.hypot(*numbers_in(document, axis, 'xyz', 3)) < 1e-6:
        raise document.error(axis, 'the axis is zero; give its direction, e.g. xyz="0 0 1"')
    for tag, attributes in (('limit', ('lower', 'upper', 'velocity', 'effort')),
                            ('dynamics', ('damping', 'friction')),
                            ('mimic', ('multiplier', 'offset'))):
        child = joint.find(tag)
        if child is not None:
            for attribute in attributes:
                number(document, child, attribute, default=0.0)
    mimic = joint.find('mimic')
    if mimic is not None and not mimic.get('joint'):
        raise document.error(mimic, "attribute 'joint' is missing")
    return findings


def _complete_limit(joint: Any) -> None:
    """Write out what is unknown: the parser behind us requires limits."""
    limit = joint.find('limit')
    if limit is None:
        limit = joint.makeelement('limit')
        joint.append(limit)
    if limit.get('lower') is None and limit.get('upper') is None:
        limit.set('lower', '-inf')
        limit.set('upper', 'inf')
    for attribute in ('lower', 'upper', 'velocity', 'effort'):
        limit.set(attribute, limit.get(attribute, '0'))


def reductions(document: Document) -> tuple[dict[str, float], list[Finding]]:
    """
    Read gear reductions of <transmission> elements leniently.

    :returns: reduction by joint name, and a finding for every transmission not understood.
    """
    result: dict[str, float] = {}
    findings = []
    for transmission in document.root.iter('transmission'):
        if next(transmission.iterancestors('transmission'), None) is not None:
            continue  # it was read with the outer one
        joints = [joint.get('name') for joint in transmission.iter('joint') if joint.get('name')]
        text = next((element.text for element in transmission.iter(
            'mechanicalReduction', 'mechanical_reduction') if element.text), None)
        try:
            value = float(text) if text is not None else math.nan
        except ValueError:
            value = math.nan
        if text is not None and (not 0.0 < abs(value) <= LARGEST_NUMBER or len(joints) != 1):
            findings.append(Finding(
                'ignored_transmission', one_line(joints[0]) if joints else '', one_line(
                    f"transmission '{transmission.get('name', '')}' is not understood "
                    f"(reduction '{text}', joints: {', '.join(joints) or 'none'}) and not used")))
        elif text is not None:
            result[joints[0]] = value
    return result, findings
