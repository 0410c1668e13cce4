# SPDX-License-Identifier: Apache-2.0
"""The tree of links and joints that a URDF describes, in URDF frames."""

from __future__ import annotations

import math
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.chain.inertia import Inertia, skew
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.document import (
    Document,
    document_from_text,
    read_document,
    reductions,
    strip_and_check,
)
from robot_dynamics_ros.errors import ChainError, UrdfError
from robot_dynamics_ros.files.bounds import LARGEST_NUMBER, one_line

#: Part of the largest moment of inertia that a tensor may miss before a finding says so.
INERTIA_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class TreeJoint:
    """
    A joint as the URDF states it.

    :param origin: child link frame in the parent link frame, at position 0.
    :param axis: (3,) unit vector in the child link frame.
    :param mimic: name of the joint it follows, or None.
    :param multiplier: its velocity for a unit velocity of the joint it follows.
    :param offset: its position where the joint it follows is at 0 [rad, m].
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Pose
    axis: Array
    lower: float
    upper: float
    velocity_limit: float
    effort_limit: float
    damping: float
    friction: float
    reduction: float
    mimic: str | None
    multiplier: float = 1.0
    offset: float = 0.0

    @property
    def moving(self) -> bool:
        """True for anything but a fixed joint."""
        return self.type != 'fixed'

    def pose(self, position: float) -> Pose:
        """Return the child link frame in the parent link frame [rad, m]."""
        if self.type == 'prismatic':
            return self.origin @ Pose(np.eye(3), position * self.axis)
        if self.type in ('revolute', 'continuous'):
            return self.origin @ Pose(_rotation_about(self.axis, position), np.zeros(3))
        return self.origin


def _rotation_about(axis: Array, angle: float) -> Array:
    K = skew(axis)
    return np.asarray(np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K)


class Leader(NamedTuple):
    """
    What a joint follows: ``q = multiplier q_leader + offset``.

    :param leader: name of a joint that follows no other, or is frozen.
    :param multiplier: velocity for a unit velocity of the leader.
    :param offset: position where the leader is at 0 [rad, m].
    """

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class Tree:
    """
    All links and joints of a robot.

    :param label: what to call the source in messages.
    :param root: name of the link without a parent.
    :param inertias: inertia of each link, in its URDF link frame.
    :param joints: joints by name.
    """

    label: str
    robot: str
    root: str
    inertias: Mapping[str, Inertia]
    joints: Mapping[str, TreeJoint]
    findings: tuple[Finding, ...]

    def parent_joint(self, link: str) -> TreeJoint | None:
        """Return the joint that carries a link; None for the root."""
        return self._parents.get(link)

    def leader(self, name: str, frozen: Container[str] = ()) -> Leader | None:
        """
        Return what a joint follows, through other followers; None = nothing.

        :param name: the joint.
        :param frozen: joints that do not move, and so follow nothing.
        :raises ChainError: joints that follow each other, or with a ratio that no robot has.
        """
        joint, multiplier, offset = self.joints[name], 1.0, 0.0
        seen = {name}
        while joint.mimic is not None and (joint.name == name or joint.name not in frozen):
            offset += multiplier * joint.offset
            multiplier *= joint.multiplier
            joint = self.joints[joint.mimic]
            if joint.name in seen:
                raise ChainError(f"{self.label}: joint '{name}' mimics itself")
            if not max(abs(multiplier), abs(offset)) <= LARGEST_NUMBER:
                raise ChainError(f"{self.label}: joint '{name}' mimics '{joint.name}' by a ratio "
                                 f'larger than {LARGEST_NUMBER:g}, which no robot has')
            seen.add(joint.name)
        return None if joint.name == name else Leader(joint.name, multiplier, offset)

    def children(self, link: str) -> list[TreeJoint]:
        """Return the joints that a link carries."""
        return self._children.get(link, [])

    def path_to(self, link: str) -> list[TreeJoint]:
        """Return the joints from the root to a link."""
        path = []
        joint = self.parent_joint(link)
        while joint is not None:
            path.append(joint)
            joint = self.parent_joint(joint.parent)
        return path[::-1]

    @cached_property
    def _parents(self) -> dict[str, TreeJoint]:
        return {joint.child: joint for joint in self.joints.values()}

    @cached_property
    def _children(self) -> dict[str, list[TreeJoint]]:
        children: dict[str, list[TreeJoint]] = {}
        for joint in self.joints.values():
            children.setdefault(joint.parent, []).append(joint)
        return children


def tree_from_urdf(source: str | os.PathLike[str]) -> Tree:
    """
    Read a URDF, check it, and return its tree.

    :param source: path or XML text.
    :raises UrdfError: whatever makes it unusable, with source, line and element.
    """
    return _tree(read_document(source))


def tree_from_urdf_text(text: str) -> Tree:
    """
    Check the text of a URDF and return its tree; it is never taken as a path.

    :param text: XML text.
    :raises UrdfError: whatever makes it unusable, with line and element.
    """
    return _tree(document_from_text(text))


def _tree(document: Document) -> Tree:
    stripped, findings = strip_and_check(document)
    root = _check_tree(document)
    gear, gear_findings = reductions(document)
    links, joint_list = _parse_with_urchin(stripped, document)
    with_inertial = {link.get('name') for link in stripped.findall('link')
                     if link.find('inertial') is not None}
    inertias = {}
    for link in links:
        inertias[link.name] = Inertia.zero()
        if link.name in with_inertial:  # urchin invents 1 kg for a link without <inertial>
            inertias[link.name] = _link_inertia(link.inertial)
            findings += _inertia_findings(link.name, link.inertial)
    joints = {}
    for joint in joint_list:
        joints[joint.name], joint_findings = _tree_joint(joint, gear.get(joint.name, math.nan))
        findings += joint_findings
    return Tree(document.label, str(stripped.get('name')), root, inertias, joints,
                (*findings, *gear_findings))


def _parse_with_urchin(stripped: Any, document: Document) -> tuple[list[Any], list[Any]]:
    """Return links and joints; urchin's checks of the tree take quadratic time, ours do not."""
    from urchin import Joint, Link

    try:
        return ([Link._from_xml(link, '') for link in stripped.findall('link')],
                [Joint._from_xml(joint, '') for joint in stripped.findall('joint')])
    except Exception as error:  # our own checks come first; what is left is urchin's word
        raise UrdfError(f'{document.label}: {one_line(error)}') from error


def _check_tree(document: Document) -> str:
    """Check that links and joints form one tree; return the name of its root link."""
    links = {link.get('name'): link for link in document.root.findall('link')}
    if not links:
        raise document.error(document.root, 'has no <link>; this is not a robot')
    parent_of: dict[str, str] = {}
    for joint in document.root.findall('joint'):
        parent, child = joint.find('parent').get('link'), joint.find('child').get('link')
        for role, link in (('parent', parent), ('child', child)):
            if link not in links:
                raise document.error(joint, f"{role} link '{link}' does not exist")
        if child in parent_of:
            raise document.error(joint, f"link '{child}' has two parent joints; closed loops "
                                 'cannot be used, cut the loop')
        parent_of[child] = parent
    roots = [link for link in links if link not in parent_of]
    if len(roots) > 1:
        raise document.error(links[roots[1]], f'the robot has {len(roots)} root links '
                             f'({", ".join(roots[:5])}); connect them with a fixed joint')
    rooted = set(roots)
    for link in links:
        way: dict[str, None] = {}
        while link not in rooted:
            if link in way:
                raise document.error(links[link], 'is part of a loop of joints; a URDF is a tree')
            way[link] = None
            link = parent_of[link]
        rooted.update(way)
    return str(roots[0])


def _link_inertia(inertial: Any) -> Inertia:
    pose = Pose.from_matrix(inertial.origin)
    at_centre = Inertia.from_centre_of_mass(inertial.mass, np.zeros(3), inertial.inertia)
    return at_centre.seen_from(pose)


def _inertia_findings(name: str, inertial: Any) -> list[Finding]:
    findings = []
    if inertial.mass < 0.0:
        findings.append(Finding('negative_mass', name, f'mass is {inertial.mass:g} kg',
                                inertial.mass))
    moments = np.linalg.eigvalsh(inertial.inertia)
    allowed = INERTIA_TOLERANCE * max(abs(moments[0]), abs(moments[2]))
    if moments[0] < -allowed:
        findings.append(Finding('indefinite_inertia', name, 'inertia tensor is not positive '
                                f'semidefinite: smallest moment {moments[0]:.3g} kg m^2',
                                float(moments[0])))
    elif moments[2] > moments[0] + moments[1] + allowed:
        findings.append(Finding('triangle_inequality', name, 'inertia tensor belongs to no body: '
                                f'moment {moments[2]:.3g} exceeds the sum of the other two, '
                                f'{moments[0] + moments[1]:.3g} kg m^2', float(moments[2])))
    return findings


def _tree_joint(joint: Any, reduction: float) -> tuple[TreeJoint, list[Finding]]:
    findings = []
    lower, upper, velocity, effort = -math.inf, math.inf, math.nan, math.nan
    if joint.joint_type in ('revolute', 'continuous', 'prismatic'):
        velocity = _known_limit(joint.limit.velocity)
        effort = _known_limit(joint.limit.effort)
        if joint.joint_type != 'continuous':
            lower, upper = _position_limits(joint.limit)
            if lower >= upper:
                findings.append(Finding('unusable_position_limits', joint.name, 'position limits '
                                        f'[{lower:g}, {upper:g}] leave no motion; taken as '
                                        'unknown'))
                lower, upper = -math.inf, math.inf
    dynamics, mimic = joint.dynamics, joint.mimic
    return TreeJoint(
        name=joint.name, type=joint.joint_type, parent=joint.parent, child=joint.child,
        origin=Pose.from_matrix(joint.origin), axis=np.asarray(joint.axis, dtype=np.float64),
        lower=lower, upper=upper, velocity_limit=velocity, effort_limit=effort,
        damping=(dynamics.damping or 0.0) if dynamics is not None else 0.0,
        friction=(dynamics.friction or 0.0) if dynamics is not None else 0.0,
        reduction=reduction,
        mimic=mimic.joint if mimic is not None else None,
        multiplier=float(mimic.multiplier) if mimic is not None else 1.0,
        offset=float(mimic.offset) if mimic is not None else 0.0), findings


def _known_limit(value: float) -> float:
    """Return a velocity or effort limit; NaN where it is absent or larger than any robot's."""
    return value if 0.0 < value <= LARGEST_NUMBER else math.nan


def _position_limits(limit: Any) -> tuple[float, float]:
    """Return both position limits; infinite where the number only says that there is none."""
    lower, upper = (math.copysign(math.inf, value) if abs(value) > LARGEST_NUMBER else value
                    for value in (limit.lower, limit.upper))
    return lower, upper
