# SPDX-License-Identifier: Apache-2.0
"""Solids to be drawn: triangles with a colour, made from shapes or for arrows and ellipsoids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.mesh_files import Mesh
from robot_dynamics_ros.chain.urdf.shapes import Shape

Colour = tuple[float, float, float]

RED, GREEN, BLUE = (0.86, 0.20, 0.18), (0.17, 0.62, 0.29), (0.13, 0.42, 0.86)
ORANGE, GREY = (0.85, 0.51, 0.0), (0.55, 0.58, 0.62)

#: Half length of an arrow's head over its radius, and radius of the head over that of the shaft.
_HEAD_LENGTH, _HEAD_RADIUS = 5.0, 2.2

#: An ellipsoid is at least this long in every direction [m], so that a thin body can be seen.
_THINNEST = 1e-3


@dataclass(frozen=True, eq=False)
class Solid:
    """
    Triangles of one colour.

    :param vertices: (v, 3) corners [m].
    :param faces: (t, 3) numbers of the corners of each triangle.
    :param colour: red, green and blue, each 0 to 1.
    :param opacity: 0 = invisible, 1 = opaque.
    """

    vertices: Array
    faces: NDArray[np.int64]
    colour: Colour = GREY
    opacity: float = 1.0

    def moved(self, pose: Pose) -> Solid:
        """Return the solid in the frame that `pose` is given in."""
        return replace(self, vertices=self.vertices @ pose.rotation.T + pose.translation)


def shape_solid(shape: Shape, colour: Colour, opacity: float = 1.0) -> Solid:
    """
    Return a shape of a link as a solid, in the frame of the link.

    :param shape: the shape.
    :param colour: its colour.
    :param opacity: its opacity.
    """
    points = shape.corners()
    mesh = convex_mesh(points) if shape.mesh is None else Mesh(points, shape.mesh.faces)
    return Solid(mesh.vertices, mesh.faces, colour, opacity)


def convex_mesh(points: Array) -> Mesh:
    """Return the convex hull of points (k, 3), triangles seen anticlockwise from outside."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):  # flat, or a single point
        return Mesh(points, np.zeros((0, 3), dtype=np.int64))
    faces = np.array(hull.simplices, dtype=np.int64)
    a, b, c = points[faces].transpose(1, 0, 2)
    inward = np.einsum('ki,ki->k', np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return Mesh(points, faces)


def rod(start: ArrayLike, end: ArrayLike, radius: float, colour: Colour = GREY) -> Solid:
    """
    Return a cylinder between two points; a ball where they are equal.

    :param start: (3,) one end [m].
    :param end: (3,) other end [m].
    :param radius: radius [m].
    :param colour: its colour.
    """
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(end - start))
    if length < 1e-9:
        return shape_solid(Shape('sphere', (radius,), Pose(np.eye(3), start)), colour)
    middle = Pose(_along((end - start) / length), 0.5 * (start + end))
    return shape_solid(Shape('cylinder', (radius, length), middle), colour)


def arrow(start: ArrayLike, end: ArrayLike, radius: float, colour: Colour) -> list[Solid]:
    """Return shaft and head of an arrow; arguments as of `rod`."""
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    way = end - start
    length = float(np.linalg.norm(way))
    if length < 1e-9:
        return []
    head = min(_HEAD_LENGTH * radius, 0.5 * length)
    neck = end - head * way / length
    across = _along(way / length)[:, :2]
    angles = 2.0 * np.pi * np.arange(24) / 24
    ring = neck + _HEAD_RADIUS * radius * np.column_stack(
        [np.cos(angles), np.sin(angles)]) @ across.T
    tip = convex_mesh(np.concatenate([ring, end[None]]))
    return [rod(start, neck, radius, colour), Solid(tip.vertices, tip.faces, colour)]


def frame_arrows(pose: Pose, size: float) -> list[Solid]:
    """
    Return x, y, z of a frame as arrows in red, green and blue.

    :param pose: the frame.
    :param size: length of the arrows [m].
    """
    return [part for k, colour in enumerate((RED, GREEN, BLUE))
            for part in arrow(pose.translation, pose.translation + size * pose.rotation[:, k],
                              0.035 * size, colour)]


def inertia_ellipsoid(inertia: Inertia, colour: Colour, opacity: float = 1.0) -> Solid | None:
    """
    Return the ellipsoid of even density with the same mass, centre and inertia.

    None for a body without mass. A tensor that belongs to no body is drawn as the nearest
    ellipsoid: half axes that would be imaginary are almost nothing.

    :param inertia: a body, in the frame that the ellipsoid is wanted in.
    :param colour: its colour.
    :param opacity: its opacity.
    """
    if not inertia.mass > 0.0:
        return None
    moments, axes = np.linalg.eigh(inertia.central_tensor)
    squares = 2.5 * (np.sum(moments) - 2.0 * moments) / inertia.mass
    half_axes = np.sqrt(np.maximum(squares, _THINNEST**2))
    unit = shape_solid(Shape('sphere', (1.0,), Pose.identity()), colour, opacity)
    if np.linalg.det(axes) < 0.0:
        axes = axes * [1.0, 1.0, -1.0]
    return replace(unit, vertices=(unit.vertices * half_axes) @ axes.T
                   + inertia.centre_of_mass)


def bounds(solids: Sequence[Solid]) -> tuple[Array, Array]:
    """Return the lowest and the highest corner of a box around solids (3,), (3,) [m]."""
    points = [solid.vertices for solid in solids if len(solid.vertices)]
    if not points:
        return np.full(3, -0.5), np.full(3, 0.5)
    together = np.concatenate(points)
    return together.min(axis=0), together.max(axis=0)


def _along(direction: Array) -> Array:
    """Return a rotation whose z axis is a unit vector."""
    helper = np.eye(3)[int(np.argmin(np.abs(direction)))]
    x = np.cross(helper, direction)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(direction, x), direction])
