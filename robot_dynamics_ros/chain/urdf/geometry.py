# SPDX-License-Identifier: Apache-2.0
"""
Where the bodies of a chain are: corners of the geometry that a URDF gives its links.

Collision geometry is taken; for a body without any, the visual one. Boxes are exact; cylinders,
capsules and spheres are replaced by polyhedra inside them, at most 2 % smaller.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.document import read_document
from robot_dynamics_ros.chain.urdf.mesh_files import mesh_vertices
from robot_dynamics_ros.chain.urdf.reader import link_poses, locked_positions
from robot_dynamics_ros.chain.urdf.tree import tree_from_urdf
from robot_dynamics_ros.chain.urdf.writer import Locked, moving_bodies
from robot_dynamics_ros.files.bounds import one_line

#: A larger coordinate is a mistake, millimetres without a scale for example [m].
_LARGEST = 100.0

#: Corners of the polygon inside a circle.
_CORNERS = 32

#: Rings of a half sphere.
_RINGS = 8


@dataclass(frozen=True, eq=False)
class BodyGeometry:
    """
    What a URDF says about the extent of a moving body, in its frame E_i.

    :param corners: (k, 3) corners of its geometry [m]; their convex hull holds the body.
    :param whole: whether all of its geometry could be read, and there is some.
    :param frames: (j, 3) origins of its links and of the joint that it carries [m].
    """

    corners: Array
    whole: bool
    frames: Array


def body_geometries(source: str | os.PathLike[str], chain: Chain, *, locked: Locked = None,
                    folders: Sequence[str | os.PathLike[str]] = ()
                    ) -> tuple[tuple[BodyGeometry, ...], tuple[Finding, ...]]:
    """
    Return the geometry of the moving bodies of a chain.

    :param source: path or text of the URDF that the chain was read from.
    :param chain: the robot.
    :param locked: joints to freeze, as given when the chain was read.
    :param folders: folders with mesh files, beside the folder of the URDF itself and the
        packages that are installed.
    :returns: one geometry per body, and findings about what could not be read.
    :raises UrdfError: the text is not a usable URDF.
    """
    tree = tree_from_urdf(source)
    elements = {link.get('name'): link for link in read_document(source).root.findall('link')}
    poses = link_poses(tree, chain.base, locked_positions(tree, locked))
    places = [Path(folder) for folder in folders]
    if not (isinstance(source, str) and '<' in source):
        places.append(Path(source).parent)
    geometries, findings = [], []
    following = [*chain.link_names[1:], chain.tip]
    for name, body, frame, after in zip(chain.link_names, moving_bodies(tree, chain, locked),
                                        chain.joint_poses(np.zeros(len(chain))), following):
        links = (name, *body.fixed_links)
        in_frame = {link: frame.inverse() @ poses[link] for link in (*links, after)}
        parts: list[Array] = []
        missing: list[str] = []
        for tag in ('collision', 'visual'):
            for link in links:
                for what, points in _shapes(elements[link], tag, places):
                    if points is None:
                        missing.append(what)
                    else:
                        pose = in_frame[link]
                        parts.append(points @ pose.rotation.T + pose.translation)
            if parts:
                break
        if missing:
            findings.append(Finding('unknown_geometry', name, 'cannot be read: '
                                    f'{", ".join(dict.fromkeys(missing))}; name the folder of the '
                                    'mesh files', float(len(missing))))
        corners = np.concatenate(parts) if parts else np.zeros((0, 3))
        geometries.append(BodyGeometry(
            corners, bool(parts) and not missing,
            np.array([pose.translation for pose in in_frame.values()])))
    return tuple(geometries), tuple(findings)


def _shapes(link: Any, tag: str, folders: Sequence[Path]) -> Iterator[tuple[str, Array | None]]:
    """Yield what each shape of a link is called, and its corners in the link frame."""
    for element in link.findall(tag):
        geometry = element.find('geometry')
        shape = next(iter(geometry), None) if geometry is not None else None
        if shape is None:
            continue
        origin = element.find('origin')
        xyz, rpy = ((0.0, 0.0, 0.0) if origin is None or origin.get(key) is None
                    else _numbers(origin, key, 3) for key in ('xyz', 'rpy'))
        points = _corners(shape, folders)
        what = one_line(shape.get('filename') or f'<{shape.tag}>')
        if points is None or xyz is None or rpy is None:
            yield what, None
        else:
            pose = Pose(_rotation(*rpy), np.array(xyz))
            yield what, points @ pose.rotation.T + pose.translation


def _corners(shape: Any, folders: Sequence[Path]) -> Array | None:
    """Return the corners (k, 3) of a shape around its own origin; None if it is not known."""
    if shape.tag == 'box':
        size = _numbers(shape, 'size', 3)
        return None if size is None else np.asarray(_box() * np.abs(size) / 2.0)
    if shape.tag in ('cylinder', 'capsule'):
        radius, length = _numbers(shape, 'radius', 1), _numbers(shape, 'length', 1)
        if radius is None or length is None:
            return None
        cap = _cap() * abs(radius[0]) if shape.tag == 'capsule' else (
            np.column_stack([_circle(), np.zeros(_CORNERS)]) * abs(radius[0]))
        shift = np.array([0.0, 0.0, abs(length[0]) / 2.0])
        return np.concatenate([cap + shift, cap * [1.0, 1.0, -1.0] - shift])
    if shape.tag == 'sphere':
        radius = _numbers(shape, 'radius', 1)
        return None if radius is None else np.asarray(
            np.concatenate([_cap(), _cap() * [1.0, 1.0, -1.0]]) * abs(radius[0]))
    if shape.tag == 'mesh':
        vertices = mesh_vertices(shape.get('filename') or '', folders)
        scale = (1.0, 1.0, 1.0) if shape.get('scale') is None else _numbers(shape, 'scale', 3)
        if vertices is None or scale is None or np.max(np.abs(vertices * scale)) > _LARGEST:
            return None
        return np.asarray(vertices * scale)
    return None


def _numbers(element: Any, attribute: str, count: int) -> tuple[float, ...] | None:
    """Return the numbers of an attribute; None if they are not usable: it is only a shape."""
    try:
        values = tuple(float(word) for word in (element.get(attribute) or '').split())
    except ValueError:
        return None
    usable = len(values) == count and all(abs(value) <= _LARGEST for value in values)
    return values if usable else None


def _box() -> Array:
    return np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def _circle() -> Array:
    angles = 2.0 * np.pi * np.arange(_CORNERS) / _CORNERS
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _cap() -> Array:
    """Return corners of the upper half of a sphere of radius 1."""
    heights = [math.pi / 2 * k / _RINGS for k in range(_RINGS)]
    rings = [np.column_stack([math.cos(angle) * _circle(), np.full(_CORNERS, math.sin(angle))])
             for angle in heights]
    return np.concatenate([*rings, [[0.0, 0.0, 1.0]]])


def _rotation(roll: float, pitch: float, yaw: float) -> Array:
    """Return the rotation of a URDF's fixed-axis angles [rad]."""
    (ca, sa), (cb, sb), (cc, sc) = ((math.cos(x), math.sin(x)) for x in (roll, pitch, yaw))
    return np.array([[cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa],
                     [sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa],
                     [-sb, cb * sa, cb * ca]])
