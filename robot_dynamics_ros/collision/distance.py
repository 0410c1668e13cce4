# SPDX-License-Identifier: Apache-2.0
"""
Distances between parts in many postures at once.

Capsules around the parts bound all distances from below, for all postures at once. Only what may
be near is given to coal: convex hulls first, then triangles, where a hull touches and the mesh
does not. The floor needs no coal: its distance is that of the lowest corner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.collision.kinematics import BodyFrames, body_frames
from robot_dynamics_ros.collision.parts import Part, coal_module

if TYPE_CHECKING:
    from robot_dynamics_ros.collision.scene import CollisionScene

#: Number that stands for the floor in the first column of the pairs.
FLOOR = -1

#: Nearest points closer than this say nothing about the direction between them [m].
_DIRECTION = 1e-7

Indices = NDArray[np.int64]


class Distances(NamedTuple):
    """
    Distances of M pairs of parts.

    :param value: (M,) distances [m]; negative: how deep convex parts overlap; 0: meshes touch.
    :param direction: (M, 3) unit vector from the first part to the second, in the base frame.
    :param point: (M, 3) point of the second part that is nearest to the first, in the base frame.
    """

    value: Array
    direction: Array
    point: Array


class Postures:
    """
    Distances of the pairs of a scene in N postures, computed when asked for.

    :param scene: robot and surroundings.
    :param q: (N, n) joint positions [rad, m].
    """

    def __init__(self, scene: CollisionScene, q: Array) -> None:
        self.scene, self.q = scene, q
        self.frames: BodyFrames = body_frames(scene.chain, q)
        self._transforms: dict[tuple[int, int], Any] = {}

    def bounds(self) -> Array:
        """Return lower bounds (N, P) of the distances of all pairs [m]."""
        a, b = self.scene.pairs.T
        ends, radius = self._capsules()
        result = np.empty((len(self.q), len(a)))
        floor = a == FLOOR
        if np.any(floor):
            heights = ends @ self.scene.up
            lowest = np.min(heights, axis=-1) - radius
            result[:, floor] = lowest[:, b[floor]] - self.scene.floor_height
        both = ~floor
        first, second = ends[:, a[both]], ends[:, b[both]]
        result[:, both] = (segment_distances(first[:, :, 0], first[:, :, 1], second[:, :, 0],
                                             second[:, :, 1])
                           - radius[a[both]] - radius[b[both]])
        return result

    def _capsules(self) -> tuple[Array, Array]:
        """Return the ends (N, parts, 2, 3) of all capsules, and their radii (parts,)."""
        ends, radii, bodies = self.scene.capsules
        R, p = self.frames.rotation[bodies], self.frames.origin[bodies]
        moved = np.einsum('kNij,kej->Nkei', R, ends) + p.transpose(1, 0, 2)[:, :, None]
        return moved, radii

    def distances(self, sample: Indices, pair: Indices, enough: Array, *,
                  triangles: bool = True) -> Distances:
        """
        Return the distances of some pairs in some postures.

        :param sample: (M,) numbers of the postures.
        :param pair: (M,) numbers of the pairs.
        :param enough: (M,) distance from which the hull of a mesh is good enough [m].
        :param triangles: False = the convex pieces of a mesh are good enough, where they are not
            much closer than its triangles.
        """
        M = len(sample)
        value = np.empty(M)
        nearest, normal = np.empty((2, M, 3)), np.empty((M, 3))
        scene, result = self.scene, self.scene.result
        parts, hulls, exact, by_pieces = (scene.part_numbers, scene.hulls, scene.exact.tolist(),
                                          scene.by_pieces.tolist())
        asked = zip(sample.tolist(), pair.tolist(), enough.tolist())
        for k, (i, number, needed) in enumerate(asked):
            a, b = parts[number]
            if a == FLOOR:
                value[k], nearest[1, k] = self._over_floor(i, b)
                nearest[0, k] = nearest[1, k] - value[k] * scene.up
                normal[k] = scene.up
                continue
            at = self._transform(i, a), self._transform(i, b)
            found = self._ask(hulls[number], at)
            if exact[number] and found < needed:
                found = self._between_pieces(number, i, at)
                if found < needed and (triangles or not by_pieces[number]):
                    found = max(0.0, self._ask(scene.meshes[number], at))
            value[k] = found
            nearest[0, k], nearest[1, k] = result.getNearestPoint1(), result.getNearestPoint2()
            if found <= _DIRECTION:
                normal[k] = result.normal
        apart = (value > _DIRECTION)[:, None]
        way = (nearest[1] - nearest[0]) / np.where(apart, value[:, None], 1.0)
        return Distances(value, np.where(apart, way, normal), nearest[1])

    def _ask(self, compute: Any, at: tuple[Any, Any]) -> float:
        """Return the distance of two shapes at their places; coal's result has the points."""
        result = self.scene.result
        result.clear()
        return float(compute(*at, self.scene.request, result))

    def _between_pieces(self, pair: int, i: int, at: tuple[Any, Any]) -> float:
        """Return the distance of the nearest pieces of two parts, asked last."""
        first, second = (self.scene.parts[number] for number in self.scene.part_numbers[pair])
        middles = [self.frames.rotation[part.body, i] @ part.pieces.middles.T
                   + self.frames.origin[part.body, i][:, None] for part in (first, second)]
        gaps = middles[0][:, :, None] - middles[1][:, None]
        bounds = (np.sqrt(np.einsum('xij,xij->ij', gaps, gaps)) - first.pieces.radii[:, None]
                  - second.pieces.radii).ravel()
        order = np.argsort(bounds, kind='stable').tolist()
        low = bounds.tolist()
        functions = self.scene.pieces[pair]
        best, nearest, last = np.inf, order[0], -1
        for last in order:
            if low[last] >= best:
                break
            found = self._ask(functions[last], at)
            if found < best:
                best, nearest = found, last
        return best if nearest == last else self._ask(functions[nearest], at)

    def _transform(self, i: int, number: int) -> Any:
        """Return where a part is, for coal."""
        part = self.scene.parts[number]
        own = part.shape.mesh is None  # a primitive has a frame of its own
        key = (i, number) if own else (i, -1 - part.body)
        found = self._transforms.get(key)
        if found is None:
            R, p = self.frames.rotation[part.body, i], self.frames.origin[part.body, i]
            if own:
                pose = part.shape.pose
                R, p = R @ pose.rotation, R @ pose.translation + p
            found = self._transforms[key] = coal_module().Transform3s(R, p)
        return found

    def true_distance(self, i: int, pair: int) -> float:
        """Return the distance of the triangles of a pair; 0 also where one holds the other."""
        found = self._ask(self.scene.meshes[pair], self._places(i, pair))
        return 0.0 if found <= 0.0 or self.enclosed(i, pair) else found

    def piece_distance(self, i: int, pair: int) -> float:
        """Return the distance of the convex pieces of a pair."""
        return self._between_pieces(pair, i, self._places(i, pair))

    def enclosed(self, i: int, pair: int) -> bool:
        """Return whether one mesh of a pair is inside the other: triangles alone do not tell."""
        a, b = self.scene.part_numbers[pair]
        return (a != FLOOR and self._ask(self.scene.hulls[pair], self._places(i, pair)) <= 0.0
                and (self._holds(i, a, b) or self._holds(i, b, a)))

    def _places(self, i: int, pair: int) -> tuple[Any, Any]:
        """Return where the parts of a pair are, for coal."""
        a, b = self.scene.part_numbers[pair]
        return self._transform(i, a), self._transform(i, b)

    def _holds(self, i: int, outer: int, inner: int) -> bool:
        """Return whether a mesh encloses a corner of another part."""
        around, part = self.scene.parts[outer], self.scene.parts[inner]
        R, p = self.frames.rotation[:, i], self.frames.origin[:, i]
        corner = R[part.body] @ part.points[0] + p[part.body]
        return around.encloses(R[around.body].T @ (corner - p[around.body]))

    def _over_floor(self, i: int, number: int) -> tuple[float, Array]:
        """Return the height of the lowest point of a part over the floor, and the point."""
        height, point = self.lowest(i, self.scene.parts[number])
        return height - self.scene.floor_height, point

    def lowest(self, i: int, part: Part) -> tuple[float, Array]:
        """Return the height of the lowest point of a part above the base, and the point [m]."""
        R, p = self.frames.rotation[part.body, i], self.frames.origin[part.body, i]
        up = self.scene.up
        heights = part.points @ (R.T @ up)
        k = int(np.argmin(heights))
        return (float(heights[k] + up @ p) - part.radius,
                R @ part.points[k] + p - part.radius * up)

    def slopes(self, sample: Indices, pair: Indices, found: Distances) -> Array:
        """
        Return the derivatives (M, n) of distances by the joint positions [m/rad, m/m].

        :param sample: (M,) numbers of the postures.
        :param pair: (M,) numbers of the pairs.
        :param found: distances of these.
        """
        chain, scene = self.scene.chain, self.scene
        first, second = scene.bodies[scene.pairs[pair, 0]], scene.bodies[scene.pairs[pair, 1]]
        first = np.where(scene.pairs[pair, 0] == FLOOR, 0, first)
        result = np.zeros((len(sample), len(chain.moving)))
        carried = np.zeros((len(chain.moving) + 1, len(chain.moving)))  # by which joints
        for body in range(1, len(chain.moving) + 1):
            carried[body, [i - 1 for i in chain.path(body)]] = 1.0
        for j, joint in enumerate(chain.moving):
            moved = carried[second, j] - carried[first, j]  # 1: the second body, -1: the first
            rows = np.flatnonzero(moved)
            at = sample[rows]
            axis = self.frames.rotation[j + 1, at, :, 2]
            way = (np.cross(axis, found.point[rows] - self.frames.origin[j + 1, at])
                   if joint.revolute else axis)
            result[rows, j] = moved[rows] * np.einsum('ki,ki->k', found.direction[rows], way)
        return np.asarray(result @ chain.coupling[0])


def segment_distances(a0: Array, a1: Array, b0: Array, b1: Array) -> Array:
    """Return the distances (...) between segments a0-a1 and b0-b1 (..., 3)."""
    u, v, w = a1 - a0, b1 - b0, a0 - b0
    a, b, c = (np.einsum('...i,...i->...', x, y) for x, y in ((u, u), (u, v), (v, v)))
    d, e = (np.einsum('...i,...i->...', x, w) for x in (u, v))
    tiny = 1e-18
    determinant = a * c - b * b
    s = np.clip(np.where(determinant > 1e-12 * a * c, (b * e - c * d)
                         / np.where(determinant > tiny, determinant, 1.0), 0.0), 0.0, 1.0)
    t = np.clip((b * s + e) / np.where(c > tiny, c, 1.0) * (c > tiny), 0.0, 1.0)
    s = np.clip((b * t - d) / np.where(a > tiny, a, 1.0) * (a > tiny), 0.0, 1.0)
    t = np.clip((b * s + e) / np.where(c > tiny, c, 1.0) * (c > tiny), 0.0, 1.0)
    gap = w + s[..., None] * u - t[..., None] * v
    return np.asarray(np.sqrt(np.einsum('...i,...i->...', gap, gap)))
