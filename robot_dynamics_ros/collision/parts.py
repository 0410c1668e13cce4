# SPDX-License-Identifier: Apache-2.0
"""Parts that may collide: shapes of links and of the surroundings, as coal (an extra) has them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.urdf.shapes import Shape
from robot_dynamics_ros.collision.pieces import convex_pieces
from robot_dynamics_ros.errors import CollisionError

#: Corners of the polygon around the circle of a cylinder.
_CORNERS = 32


def coal_module() -> Any:
    """
    Return the collision library.

    :raises CollisionError: it is not installed.
    """
    try:
        import coal
    except ImportError:
        raise CollisionError('collisions are checked with coal, which is not installed: '
                             'pip install coal (or apt install ros-$ROS_DISTRO-coal)') from None
    return coal


def _hull(points: Array) -> Any:
    """Return the convex hull of points (k, 3), by scipy."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return ConvexHull(points)
    except QhullError:
        return ConvexHull(points, qhull_options='QJ')  # flat: moved a little


def _coal_hull(points: Array) -> Any:
    """
    Return the convex hull of points (k, 3) for coal.

    coal refuses corners with hundreds of neighbours, as in the fan that a round cap is cut into.
    Points that are moved a little have no flat caps; a box around them is the last resort.
    """
    from scipy.spatial import ConvexHull

    box = np.array([[x, y, z] for x, y, z in product(*zip(points.min(axis=0),
                                                          points.max(axis=0)))])
    for corners, make in ((points, _hull), (points, lambda p: ConvexHull(p, qhull_options='QJ')),
                          (box, _hull)):
        try:
            return _coal_convex(corners, make(corners))
        except RuntimeError:
            continue
    raise CollisionError('a mesh has a hull that coal cannot use')


def _coal_convex(points: Array, hull: Any) -> Any:
    coal = coal_module()
    number = np.full(len(points), -1)
    kept = np.sort(hull.vertices)
    number[kept] = np.arange(len(kept))
    corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in points[kept]:
        corners.append(point)
    a, b, c = points[hull.simplices].transpose(1, 0, 2)
    outward = np.einsum('ki,ki->k', np.cross(b - a, c - a), hull.equations[:, :3]) > 0.0
    order = np.where(outward[:, None], hull.simplices, hull.simplices[:, ::-1])
    for face in number[order].tolist():
        faces.append(coal.Triangle(*face))
    return coal.Convex(corners, faces)


def _ball(points: Array) -> tuple[Array, float]:
    """Return middle (3,) and radius of a ball around points (k, 3)."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return middle, float(np.max(np.linalg.norm(points - middle, axis=1)))


class Pieces(NamedTuple):
    """
    Convex pieces that hold a part.

    :param shapes: pieces for coal, in the frame of the body (a primitive: in its own).
    :param middles: (k, 3) middles of balls around them, in the frame of the body [m].
    :param radii: (k,) radii of the balls [m].
    """

    shapes: list[Any]
    middles: Array
    radii: Array


@dataclass(frozen=True, eq=False)
class Part:
    """
    One shape that moves with a body.

    :param name: name of its link, or of the obstacle.
    :param body: number of the body it belongs to, 1..n; 0 = base and surroundings.
    :param shape: shape; its pose is in the frame E_i of the body (base: frame of the base link).
    """

    name: str
    body: int
    shape: Shape

    @cached_property
    def points(self) -> Array:
        """Corners (k, 3) in the frame of the body: within `radius` of their hull is the part."""
        shape, pose = self.shape, self.shape.pose
        if shape.mesh is not None:
            points = shape.mesh.vertices[np.sort(_hull(shape.mesh.vertices).vertices)]
        elif shape.kind == 'box':
            signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            points = signs * np.array(shape.size) / 2.0
        elif shape.kind == 'sphere':
            points = np.zeros((1, 3))
        elif shape.kind == 'capsule':
            points = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]) * shape.size[1]
        else:
            angles = 2.0 * np.pi * np.arange(_CORNERS) / _CORNERS
            around = shape.size[0] / np.cos(np.pi / _CORNERS)
            points = np.concatenate([np.column_stack([
                around * np.cos(angles), around * np.sin(angles), np.full(_CORNERS, z)])
                for z in (-0.5 * shape.size[1], 0.5 * shape.size[1])])
        return np.asarray(points @ pose.rotation.T + pose.translation)

    @property
    def radius(self) -> float:
        """Radius [m] of a sphere or capsule around its `points`; 0 for other shapes."""
        return self.shape.size[0] if self.shape.kind in ('sphere', 'capsule') else 0.0

    @cached_property
    def capsule(self) -> tuple[Array, float]:
        """Ends (2, 3) and radius [m] of a capsule that holds the part, in the body's frame."""
        points = self.points
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        off_centre = points - points.mean(axis=0)
        axes = np.linalg.eigh(off_centre.T @ off_centre)[1].T
        axis, across = axes[2], axes[:2]
        sideways = (points - middle) @ across.T
        middle = middle + 0.5 * (sideways.min(axis=0) + sideways.max(axis=0)) @ across
        along = (points - middle) @ axis
        off = np.linalg.norm(points - middle - np.outer(along, axis), axis=1)
        radius = float(np.max(off))
        reach = np.sqrt(np.maximum(radius**2 - off**2, 0.0))
        low, high = float(np.min(along + reach)), float(np.max(along - reach))
        if low > high:
            low = high = 0.5 * (low + high)
        return np.array([middle + low * axis, middle + high * axis]), radius + self.radius

    @cached_property
    def pieces(self) -> Pieces:
        """Convex pieces of a mesh; of a primitive, itself."""
        if self.triangles is None:
            middle, radius = _ball(self.points)
            return Pieces([self.convex], middle[None], np.array([radius + self.radius]))
        assert self.shape.mesh is not None
        pose = self.shape.pose
        corners = [points @ pose.rotation.T + pose.translation
                   for points in convex_pieces(self.shape.mesh)]
        middles, radii = zip(*map(_ball, corners))
        return Pieces([_coal_hull(points) for points in corners], np.array(middles),
                      np.array(radii))

    @cached_property
    def convex(self) -> Any:
        """The part for coal; a mesh is its convex hull."""
        coal, shape = coal_module(), self.shape
        if shape.mesh is not None:
            return _coal_hull(self.points)
        kinds = {'box': coal.Box, 'sphere': coal.Sphere, 'capsule': coal.Capsule,
                 'cylinder': coal.Cylinder}
        return kinds[shape.kind](*shape.size)

    @cached_property
    def triangles(self) -> Any:
        """The triangles of the mesh for coal; None for a primitive or a mesh without any."""
        if self.shape.mesh is None or not len(self.shape.mesh.faces):
            return None
        coal, pose, mesh = coal_module(), self.shape.pose, self.shape.mesh
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(mesh.faces), len(mesh.vertices))
        model.addVertices(mesh.vertices @ pose.rotation.T + pose.translation)
        model.addTriangles(np.ascontiguousarray(mesh.faces))
        model.endModel()
        return model

    def encloses(self, point: Array) -> bool:
        """
        Return whether a point is inside the mesh, by its winding number.

        :param point: (3,) point in the frame of the body [m].
        """
        if self.shape.mesh is None:
            return False
        pose, mesh = self.shape.pose, self.shape.mesh
        corners = mesh.vertices @ pose.rotation.T + pose.translation - point
        a, b, c = corners[mesh.faces].transpose(1, 0, 2)
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        volume = np.einsum('ki,ki->k', a, np.cross(b, c))
        products = (la * lb * lc + np.einsum('ki,ki->k', a, b) * lc
                    + np.einsum('ki,ki->k', b, c) * la + np.einsum('ki,ki->k', c, a) * lb)
        return abs(float(np.sum(np.arctan2(volume, products)))) > np.pi
