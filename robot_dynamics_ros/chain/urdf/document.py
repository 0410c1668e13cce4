# SPDX-License-Identifier: Apache-2.0
"""
URDF text to checked XML: everything is looked at before any other library sees it.

Document types and entities are refused, nothing is expanded and nothing is fetched. Every number
and name that dynamics needs is checked here, so that a mistake is reported with its line.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.errors import UrdfError

#: A larger text is refused [bytes].
MAXIMUM_SIZE = 16 * 2**20

#: Joint types of the URDF standard.
JOINT_TYPES = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')

_TENSOR = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_WITHOUT_DYNAMICS = ('visual', 'collision')
_KEPT_IN_LINK = ('inertial',)
_KEPT_IN_JOINT = ('origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic')


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
        return UrdfError(f'{self.label}:{element.sourceline}: {describe(element)}: {message}')


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
    text, label = read_text(source)
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
        raise UrdfError(f'{label}: not well-formed XML: {error.msg}') from None
    if root.getroottree().docinfo.doctype:
        raise UrdfError(f'{label}: has a DOCTYPE; document types and entities are refused, '
                        'write the values out')
    if root.tag != 'robot':
        raise UrdfError(f'{label}:{root.sourceline}: the root element is <{root.tag}>, a URDF '
                        'has <robot>; an SDF or MJCF must be converted first')
    if any('xacro' in (uri or '') for uri in root.nsmap.values()) and any(
            'xacro' in str(element.tag) for element in root.iter()):
        raise UrdfError(f'{label}: contains xacro macros; expand it first (`xacro FILE`) or give '
                        'the path of a file that ends in .xacro')
    return Document(root, label)


def read_text(source: str | os.PathLike[str]) -> tuple[bytes, str]:
    """
    Return the XML of a path (.xacro expanded) or text, and what to call it in messages.

    :raises UrdfError: no such file, too large, or xacro fails.
    """
    if isinstance(source, str) and ('<' in source or not source.strip()):
        return source.encode(), 'URDF text'
    path = Path(source)
    if not path.is_file():
        raise UrdfError(f'{path}: no such file; give the path of a URDF or its text')
    if path.suffix == '.xacro':
        return _expand_xacro(path), path.name
    if path.stat().st_size > MAXIMUM_SIZE:
        raise UrdfError(f'{path.name}: {path.stat().st_size} bytes is more than the limit of '
                        f'{MAXIMUM_SIZE}; is this really a URDF?')
    return path.read_bytes(), path.name


def _expand_xacro(path: Path) -> bytes:
    try:
        import xacro
    except ImportError:
        raise UrdfError(f'{path.name}: the xacro module is not installed; `pip install xacro`, '
                        'source ROS 2, or expand the file first') from None
    try:
        return bytes(xacro.process_file(str(path)).toxml().encode())
    except Exception as error:  # xacro evaluates expressions: anything can come out of it
        raise UrdfError(f'{path.name}: xacro failed: {error}') from None


def strip_and_check(document: Document) -> tuple[Any, list[Finding]]:
    """
    Return a copy with only what dynamics needs, every name and number checked.

    :returns: the stripped <robot> element, and findings about what was ignored or assumed.
    :raises UrdfError: with source, line and element.
    """
    from lxml import etree

    robot = etree.Element('robot', name=document.root.get('name') or 'robot')
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
        kept = _KEPT_IN_LINK if element.tag == 'link' else _KEPT_IN_JOINT
        copy = etree.SubElement(robot, element.tag, **element.attrib)
        for child in element:
            if child.tag in kept:
                if copy.find(child.tag) is not None:
                    raise document.error(child, 'occurs twice; keep one')
                copy.append(_copy(etree, child))
            elif child.tag not in _WITHOUT_DYNAMICS:
                ignored[f'{element.tag}/{child.tag}'] += 1
        if element.tag == 'link':
            _check_link(document, element)
        else:
            findings += _check_joint(document, element, copy)
    findings += _drop_unknown_mimics(robot)
    for tag, count in sorted(ignored.items()):
        findings.append(Finding('ignored_element', '', f'<{tag}> is not used ({count} times)'))
    return robot, findings


def _drop_unknown_mimics(robot: Any) -> list[Finding]:
    findings = []
    joints = {joint.get('name'): joint for joint in robot.findall('joint')}
    for name, joint in joints.items():
        mimic = joint.find('mimic')
        if mimic is not None and mimic.get('joint') not in joints:
            joint.remove(mimic)
            findings.append(Finding('unknown_mimic', name, f"mimics '{mimic.get('joint')}', "
                                    'which does not exist; taken as an ordinary joint'))
    return findings


def _copy(etree: Any, element: Any) -> Any:
    copy = etree.Element(element.tag, **element.attrib)
    for child in element:
        copy.append(_copy(etree, child))
    return copy


def _name(document: Document, element: Any) -> str:
    name = element.get('name')
    if not name or not name.strip():
        raise document.error(element, 'has no name')
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
        raise document.error(element, f"{attribute}='{text}' must be {what}")
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


def _check_joint(document: Document, joint: Any, copy: Any) -> list[Finding]:
    findings = []
    name = joint.get('name')
    if joint.get('type') not in JOINT_TYPES:
        raise document.error(joint, f"type '{joint.get('type')}' is unknown; the URDF standard "
                             f'has {", ".join(JOINT_TYPES)}')
    _check_origin(document, joint)
    for tag in ('parent', 'child'):
        child = joint.find(tag)
        if child is None or not child.get('link'):
            raise document.error(joint, f'<{tag} link="..."/> is missing')
    moving = joint.get('type') in ('revolute', 'continuous', 'prismatic')
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
    if moving:
        _complete_limit(copy)
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
        joints = [joint.get('name') for joint in transmission.iter('joint') if joint.get('name')]
        text = next((element.text for element in transmission.iter(
            'mechanicalReduction', 'mechanical_reduction') if element.text), None)
        try:
            value = float(text) if text is not None else math.nan
        except ValueError:
            value = math.nan
        if text is not None and (not math.isfinite(value) or value == 0.0 or len(joints) != 1):
            findings.append(Finding(
                'ignored_transmission', joints[0] if joints else '',
                f"transmission '{transmission.get('name', '')}' is not understood "
                f"(reduction '{text}', joints: {', '.join(joints) or 'none'}) and not used"))
        elif text is not None:
            result[joints[0]] = value
    return result, findings
