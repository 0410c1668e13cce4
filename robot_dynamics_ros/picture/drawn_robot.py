# SPDX-License-Identifier: Apache-2.0
"""All links of a robot description as solids, and where they are at a posture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.document import read_document
from robot_dynamics_ros.chain.urdf.geometry import mesh_folders
from robot_dynamics_ros.chain.urdf.reader import link_poses
from robot_dynamics_ros.chain.urdf.shapes import link_shapes
from robot_dynamics_ros.chain.urdf.tree import Leader, Tree, TreeJoint, tree_from_urdf
from robot_dynamics_ros.errors import ChainError
from robot_dynamics_ros.picture.solids import Colour, Solid, bounds, rod, shape_solid

#: Colours of links that have none, in turns, so that neighbours differ.
_TONES: tuple[Colour, ...] = ((0.86, 0.87, 0.89), (0.56, 0.62, 0.70))

#: Thickness of a stick over the size of the robot.
_STICK = 0.018

#: Joints with one degree of freedom, which a number can move.
_MOVABLE = ('revolute', 'continuous', 'prismatic')

#: Range of a slider for a joint without position limits [rad, m].
_NO_LIMIT = {'prismatic': 1.0}


@dataclass(frozen=True, eq=False)
class DrawnRobot:
    """
    A robot description that can be looked at: also a tree, a hand, or a robot without meshes.

    :param tree: links and joints.
    :param solids: solids of each link, in its URDF frame.
    :param followers: joints that mimic another one.
    :param findings: links that are not drawn as their description wants it, and why.
    """

    tree: Tree
    solids: Mapping[str, tuple[Solid, ...]]
    followers: Mapping[str, Leader]
    findings: tuple[Finding, ...]

    @cached_property
    def joints(self) -> tuple[TreeJoint, ...]:
        """Joints that a number can move, without those that follow another one."""
        return tuple(joint for joint in self.tree.joints.values()
                     if joint.type in _MOVABLE and joint.name not in self.followers)

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Return lowest and highest position of each joint [rad, m], finite."""
        result = {}
        for joint in self.joints:
            wide = _NO_LIMIT.get(joint.type, np.pi)
            result[joint.name] = (joint.lower if np.isfinite(joint.lower) else -wide,
                                  joint.upper if np.isfinite(joint.upper) else wide)
        return result

    def rest(self) -> dict[str, float]:
        """Return zero for every joint, or the nearest position inside its limits [rad, m]."""
        return {name: min(max(0.0, low), high) for name, (low, high) in self.ranges().items()}

    def link_poses(self, positions: Mapping[str, float]) -> dict[str, Pose]:
        """
        Return every link in the frame of the root.

        :param positions: position of each joint by name [rad, m]; 0 for those without.
        """
        return link_poses(self.tree, self.tree.root, self._whole(positions))

    def placed(self, positions: Mapping[str, float]) -> list[Solid]:
        """Return all solids in the frame of the root; argument as of `link_poses`."""
        poses = self.link_poses(positions)
        return [solid.moved(poses[link]) for link, parts in self.solids.items()
                for solid in parts]

    @cached_property
    def size(self) -> float:
        """Length of the diagonal of a box around the robot at rest [m]."""
        low, high = bounds(self.placed(self.rest()))
        return float(np.linalg.norm(high - low))

    def _whole(self, positions: Mapping[str, float]) -> dict[str, float]:
        """Return the positions with those of joints that follow others."""
        return {**positions, **{
            name: offset + multiplier * positions.get(leader, 0.0)
            for name, (leader, multiplier, offset) in self.followers.items()}}


def drawn_robot(source: str | os.PathLike[str], *,
                folders: Sequence[str | os.PathLike[str]] = ()) -> DrawnRobot:
    """
    Return a robot description as solids.

    Visual shapes are taken; where one cannot be read, the collision shapes of its link; where
    these cannot be read either, sticks to the joints that the link carries.

    :param source: path or text of a URDF.
    :param folders: folders with mesh files, beside the folder of the URDF itself and the
        packages that are installed.
    :raises UrdfError: the text is not a usable URDF.
    """
    root = read_document(source).root
    tree = tree_from_urdf(source)
    places = mesh_folders(source, folders, root)
    materials = {material.get('name'): material for material in root.findall('material')}
    solids: dict[str, tuple[Solid, ...]] = {}
    unread, findings = set(), []
    for element in root.findall('link'):
        name = element.get('name')
        tone = _TONES[len(tree.path_to(name)) % len(_TONES)]
        solids[name], missing = _link_solids(element, places, materials, tone)
        if missing:
            unread.add(name)
            instead = 'its collision shapes are' if solids[name] else 'a stick is'
            findings.append(Finding('not_drawn', name, f'{instead} drawn instead of '
                                    f'{", ".join(dict.fromkeys(missing))}, which cannot be '
                                    'read; name the folder of the mesh files '
                                    '(--meshes)'))
    followers = {name: leader for name in tree.joints if (leader := _leader(tree, name))}
    if not any(solids.values()):  # a skeleton is better than nothing
        unread = set(solids)
    return DrawnRobot(tree, _with_sticks(tree, solids, unread), followers, tuple(findings))


def _link_solids(element: Any, places: Sequence[Any], materials: Mapping[str, Any], tone: Colour
                 ) -> tuple[tuple[Solid, ...], list[str]]:
    """Return the solids of a link, and what could not be read of its visual shapes."""
    visuals = [visual for visual in element.findall('visual')
               if visual.find('geometry') is not None and len(visual.find('geometry'))]
    missing, drawn = [], []
    for visual, (what, shape) in zip(visuals, link_shapes(element, 'visual', places)):
        if shape is None:
            missing.append(what)
        else:
            drawn.append(shape_solid(shape, *_colour(visual, materials, tone)))
    if missing or not visuals:
        collision = [shape_solid(shape, tone) for _, shape in
                     link_shapes(element, 'collision', places) if shape is not None]
        drawn = collision or drawn
    return tuple(drawn), missing


def _colour(visual: Any, materials: Mapping[str, Any], tone: Colour) -> tuple[Colour, float]:
    """Return colour and opacity of a visual shape."""
    material = visual.find('material')
    if material is not None and material.find('color') is None:
        material = materials.get(material.get('name'))
    colour = None if material is None else material.find('color')
    try:
        values = [float(word) for word in ('' if colour is None else colour.get('rgba')).split()]
    except (AttributeError, ValueError):
        values = []
    if len(values) != 4 or not all(0.0 <= value <= 1.0 for value in values):
        return tone, 1.0
    return (values[0], values[1], values[2]), values[3] or 1.0


def _leader(tree: Tree, name: str) -> Leader | None:
    """Return what a joint follows; joints that follow each other rest, and can be moved."""
    try:
        return tree.leader(name)
    except ChainError:
        return None


def _with_sticks(tree: Tree, solids: Mapping[str, tuple[Solid, ...]], unread: Set[str]
                 ) -> dict[str, tuple[Solid, ...]]:
    """Return the solids, and sticks to the next joints for unread links that have none."""
    poses = link_poses(tree, tree.root, {})
    points = np.concatenate([[pose.translation for pose in poses.values()],
                             *(solid.vertices @ poses[link].rotation.T + poses[link].translation
                               for link, parts in solids.items() for solid in parts)])
    radius = 0.5 * _STICK * max(float(np.linalg.norm(np.ptp(points, axis=0))), 1e-3)
    result = {}
    for link, parts in solids.items():
        tone = _TONES[len(tree.path_to(link)) % len(_TONES)]
        carried = [joint for joint in tree.children(link)
                   if float(np.linalg.norm(joint.origin.translation)) > 1e-6]
        parent = tree.parent_joint(link)
        if not parts and link in unread:
            parts = tuple(rod(np.zeros(3), joint.origin.translation, radius, tone)
                          for joint in carried)
            if parent is not None and parent.type in _MOVABLE:  # the joint, along its axis
                parts = (*parts, rod(-2.0 * radius * parent.axis, 2.0 * radius * parent.axis,
                                     1.6 * radius, _TONES[1]))
        result[link] = parts
    return result
