# SPDX-License-Identifier: Apache-2.0
"""Shapes that a URDF gives its links: primitives and meshes, each in the frame of its link."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.mesh_files import Mesh, read_mesh
from robot_dynamics_ros.files.bounds import one_line

#: A larger coordinate is a mistake, millimetres without a scale for example [m].
_LARGEST = 100.0

#: Corners of the polygon inside a circle.
_CORNERS = 32

#: Rings of a half sphere.
_RINGS = 8


@dataclass(frozen=True, eq=False)
class Shape:
    """
    One shape of a link.

    :param kind: 'box', 'sphere', 'cylinder', 'capsule' or 'mesh'.
    :param size: edges of a box; radius of a sphere; radius and length along z of a cylinder or
        of the straight part of a capsule [m]; empty for a mesh.
    :param pose: frame of the shape in the frame of its link.
    :param mesh: triangles of a mesh in the frame of the shape, scaled [m]; None for a primitive.
    """

    kind: str
    size: tuple[float, ...]
    pose: Pose
    mesh: Mesh | None = None

    def corners(self) -> Array:
        """Return corners (k, 3) of a polyhedron inside the shape, in the frame of its link [m]."""
        if self.mesh is not None:
            points = self.mesh.vertices
        elif self.kind == 'box':
            points = _box() * np.array(self.size) / 2.0
        else:
            radius, length = self.size[0], (*self.size, 0.0)[1]
            cap = radius * (np.column_stack([_circle(), np.zeros(_CORNERS)])
                            if self.kind == 'cylinder' else _cap())
            shift = np.array([0.0, 0.0, length / 2.0])
            points = np.concatenate([cap + shift, cap * [1.0, 1.0, -1.0] - shift])
        return np.asarray(points @ self.pose.rotation.T + self.pose.translation)


def link_shapes(link: Any, tag: str, folders: Sequence[Path]
                ) -> Iterator[tuple[str, Shape | None]]:
    """
    Yield what each shape of a link is called, and the shape; None if it cannot be read.

    :param link: element <link>.
    :param tag: 'collision' or 'visual'.
    :param folders: folders with mesh files, beside the packages that are installed.
    """
    for element in link.findall(tag):
        geometry = element.find('geometry')
        shape = next(iter(geometry), None) if geometry is not None else None
        if shape is None:
            continue
        origin = element.find('origin')
        xyz, rpy = ((0.0, 0.0, 0.0) if origin is None or origin.get(key) is None
                    else _numbers(origin, key, 3) for key in ('xyz', 'rpy'))
        what = one_line(shape.get('filename') or f'<{shape.tag}>')
        if xyz is None or rpy is None:
            yield what, None
        else:
            yield what, _shape(shape, Pose(rotation_from_rpy(*rpy), np.array(xyz)), folders)


def _shape(shape: Any, pose: Pose, folders: Sequence[Path]) -> Shape | None:
    """Return a shape; None if it is not known."""
    if shape.tag == 'mesh':
        scale = (1.0, 1.0, 1.0) if shape.get('scale') is None else _numbers(shape, 'scale', 3)
        mesh = read_mesh(shape.get('filename') or '', folders)
        if mesh is None or scale is None:
            return None
        vertices = mesh.vertices * scale
        if np.max(np.abs(vertices)) > _LARGEST:
            return None
        return Shape('mesh', (), pose, Mesh(vertices, mesh.faces))
    if shape.tag == 'box':
        size = _numbers(shape, 'size', 3)
    elif shape.tag == 'sphere':
        size = _numbers(shape, 'radius', 1)
    elif shape.tag in ('cylinder', 'capsule'):
        radius, length = _numbers(shape, 'radius', 1), _numbers(shape, 'length', 1)
        size = None if radius is None or length is None else (*radius, *length)
    else:
        return None
    return None if size is None else Shape(shape.tag, tuple(map(abs, size)), pose)


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


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Return the rotation (3, 3) of a URDF's fixed-axis angles [rad]."""
    (ca, sa), (cb, sb), (cc, sc) = ((math.cos(x), math.sin(x)) for x in (roll, pitch, yaw))
    return np.array([[cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa],
                     [sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa],
                     [-sb, cb * sa, cb * ca]])
