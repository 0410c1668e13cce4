# SPDX-License-Identifier: Apache-2.0
"""
The space that a body can fill, and what that says about its inertia.

A mass distribution between two parallel planes ``low <= d r <= high`` has
``integral (high - d r)(d r - low) dm >= 0``, which is linear in the pseudo-inertia P. Written for
every face of a convex hull, these conditions keep the centre of mass in the hull, and the second
moments those of a body that is not larger than the hull in any of these directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import ConvexHull

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.estimation.consistency.body_space import pseudo_inertia

#: Smallest extent of a hull [m]: a flat one has no inside.
_THINNEST = 2e-3

#: A hull with more corners is replaced by the hull of those that are extreme in this number of
#: directions, which lies inside it.
_DIRECTIONS = 200

#: Without geometry, a body may reach this part of the arm's length beyond what is known of it.
REACH_MARGIN = 0.15

#: Length of an arm whose frames coincide [m].
_SHORTEST_ARM = 0.1


@dataclass(frozen=True, eq=False)
class BodyHull:
    """
    A convex polyhedron around a body, in its frame E_i.

    :param corners: (k, 3) corners [m].
    :param normals: (f, 3) outward unit normals of the faces.
    :param offsets: (f,) distances of the faces from the origin [m]: ``normals @ r <= offsets``.
    :param measured: whether it is the geometry of the body; False = an assumption from the reach.
    """

    corners: Array
    normals: Array
    offsets: Array
    measured: bool

    def __post_init__(self) -> None:
        """Copy the arrays and make them read-only."""
        freeze(self, 'corners', 'normals', 'offsets')

    @classmethod
    def around(cls, points: Array, *, measured: bool = True) -> BodyHull:
        """Return the convex hull of points (k, 3); flat ones get a little thickness."""
        spread = points - points.mean(axis=0)
        axes = np.linalg.svd(spread, full_matrices=False)[2]
        extents = np.ptp(spread @ axes.T, axis=0) if len(points) > 2 else np.zeros(3)
        if len(points) < 4 or np.min(extents) < _THINNEST:
            points = (points[:, None] + 0.5 * _THINNEST * _CUBE).reshape(-1, 3)
        hull = ConvexHull(points)
        if len(hull.vertices) > _DIRECTIONS:
            outermost = np.unique(np.argmax(points @ _directions().T, axis=0))
            points = points[outermost]
            hull = ConvexHull(points)
        faces = np.unique(np.round(hull.equations, 9), axis=0)  # triangles of one face are one
        return cls(points[np.sort(hull.vertices)], faces[:, :3], -faces[:, 3], measured)

    @cached_property
    def conditions(self) -> Array:
        """Matrices M (f, 4, 4) with ``trace(M P) >= 0`` for every body inside."""
        low = np.min(self.normals @ self.corners.T, axis=1)
        upper = np.column_stack([self.normals, -self.offsets])
        lower = np.column_stack([self.normals, -low])
        product = upper[:, :, None] * lower[:, None, :]
        return np.asarray(-0.5 * (product + product.transpose(0, 2, 1)))

    @cached_property
    def solid(self) -> Inertia:
        """A body of 1 kg and uniform density that fills the hull."""
        hull = ConvexHull(self.corners)
        centre = self.corners.mean(axis=0)
        first, second, volume = np.zeros(3), np.zeros((3, 3)), 0.0
        for face in hull.simplices:
            edges = self.corners[face] - centre
            part = abs(float(np.linalg.det(edges))) / 6.0
            total = edges.sum(axis=0)
            volume += part
            first += part * total / 4.0
            second += part * (edges.T @ edges + np.outer(total, total)) / 20.0
        c = first / volume
        central = second / volume - np.outer(c, c)
        return Inertia.from_centre_of_mass(1.0, centre + c,
                                           np.trace(central) * np.eye(3) - central)

    @property
    def volume(self) -> float:
        """Volume [m^3]."""
        return float(ConvexHull(self.corners).volume)

    def fullness(self, body: Inertia) -> float:
        """Return how much of the hull the second moments of a body need: 1 = all, in some way."""
        return 1.0 - float(np.min(self._slacks(body) / self._slacks(self.solid)))

    def holds(self, body: Inertia) -> bool:
        """Return whether the inertia of a body can be that of one inside the hull."""
        return bool(np.all(self._slacks(body) >= -1e-9))

    def _slacks(self, body: Inertia) -> Array:
        """Return the conditions of a body, per mass and squared extent."""
        P = pseudo_inertia(body) / body.mass if body.mass > 0.0 else np.zeros((4, 4))
        return np.asarray(np.einsum('fij,ij->f', self.conditions, P)
                          / float(np.max(self.extents))**2)

    @property
    def extents(self) -> Array:
        """Extents (3,) along the axes of the frame [m]."""
        return np.asarray(np.ptp(self.corners, axis=0))

    def distance_outside(self, point: Array) -> float:
        """Return how far a point is beyond the farthest face [m]; 0 = inside."""
        return max(float(np.max(self.normals @ point - self.offsets)), 0.0)


def reach_hulls(chain: Chain, bodies: Sequence[Inertia],
                known: Sequence[Array] | None = None) -> tuple[BodyHull, ...]:
    """
    Return boxes for bodies without geometry: what is known of each, and a margin.

    Known are the joints it lies between, the stroke of prismatic joints, and where the URDF puts
    its mass; the margin is a part (REACH_MARGIN) of the length of the arm.

    :param chain: the robot.
    :param bodies: inertia of each body, in its frame E_i.
    :param known: further points (k, 3) of each body, in its frame E_i; None = none.
    """
    strokes = [np.array([q for q in (joint.lower, joint.upper) if np.isfinite(q)])
               for joint in chain.moving]
    outward: list[list[Array]] = [[] for _ in chain.moving]  # from a joint to those it carries
    for joint, parent in zip(chain.moving, chain.parents):
        if parent:
            outward[parent - 1].append(joint.pose().translation)
    for tip in chain.tips:
        outward[tip.joint - 1].append(tip.pose.translation)
    length = float(sum(max((np.linalg.norm(end) for end in ends), default=0.0)
                       for ends in outward))
    hulls = []
    for i, body in enumerate(bodies):
        points = [np.zeros((1, 3)), *(end[None] for end in outward[i]),
                  *([known[i]] if known is not None else []), _extent(body)]
        if not chain.moving[i].revolute:
            points.append(-strokes[i][:, None] * np.array([0.0, 0.0, 1.0]))
        for k, (joint, parent) in enumerate(zip(chain.moving, chain.parents)):
            if parent == i + 1 and not joint.revolute:
                pose = joint.pose()
                points.append(pose.translation + strokes[k][:, None] * pose.rotation[:, 2])
        corners = np.concatenate(points)
        margin = REACH_MARGIN * max(length, _SHORTEST_ARM)
        low, high = corners.min(axis=0) - margin, corners.max(axis=0) + margin
        hulls.append(BodyHull.around(0.5 * (low + high) + 0.5 * (high - low) * _CUBE,
                                     measured=False))
    return tuple(hulls)


def _extent(body: Inertia) -> Array:
    """Return the corners of the uniform box that has a body's inertia; none without mass."""
    if body.mass <= 0.0:
        return np.zeros((0, 3))
    moments, axes = np.linalg.eigh(0.5 * np.trace(body.central_tensor) * np.eye(3)
                                   - body.central_tensor)
    half = np.sqrt(3.0 * np.maximum(moments, 0.0) / body.mass)
    return np.asarray(body.centre_of_mass + (_CUBE * half) @ axes.T)


#: Corners of a cube around the origin, half a side of 1.
_CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def _directions() -> Array:
    """Return directions (k, 3) that are spread evenly, the axes among them."""
    k = np.arange(_DIRECTIONS) + 0.5
    height, turn = 1.0 - 2.0 * k / _DIRECTIONS, np.pi * (1.0 + np.sqrt(5.0)) * k
    ring = np.sqrt(1.0 - height**2)
    spiral = np.column_stack([ring * np.cos(turn), ring * np.sin(turn), height])
    return np.concatenate([np.eye(3), -np.eye(3), spiral])
