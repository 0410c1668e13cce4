# SPDX-License-Identifier: Apache-2.0
"""
Room around a motion during the search: a barrier that keeps pairs of parts apart.

Distances are computed at samples. What a sample misses is covered by a little more than the
margin here, and proved for the result (`collision.motion`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.collision.distance import Distances, Indices, Postures
from robot_dynamics_ros.collision.scene import CollisionScene

#: Distance that is kept beside the margin, because a motion dips between samples: at most this
#: [m], and at most this part of the room of a pair.
_SLACK, _SLACK_PART = 0.005, 0.2

#: Pairs that are looked at first: most motions that are too close are so there.
_FIRST = 24


class NearPairs(NamedTuple):
    """
    Pairs that are near but not too close, in some postures.

    :param postures: all postures.
    :param sample: (M,) numbers of the postures.
    :param pair: (M,) numbers of the pairs.
    :param found: their distances.
    :param room: (M,) part of its room that each pair has, between 0 and 1.
    """

    postures: Postures
    sample: Indices
    pair: Indices
    found: Distances
    room: Array


class LastDistances:
    """
    Distances that were found last at the samples of a motion.

    No distance changes faster than `CollisionScene.levers` say: while a search changes a motion
    little, these tell that most pairs are still far apart.

    :param scene: robot and surroundings.
    """

    def __init__(self, scene: CollisionScene) -> None:
        self._scene = scene
        self._q = np.empty((0, len(scene.pairs), len(scene.chain)))
        self._value = np.empty((0, len(scene.pairs)))

    def bounds(self, q: Array) -> Array:
        """Return lower bounds (N, P) of the distances [m]; -inf where nothing is known."""
        if len(q) != len(self._q):
            self._q = np.zeros((len(q), *self._q.shape[1:]))
            self._value = np.full((len(q), len(self._scene.pairs)), -np.inf)
        change = np.einsum('ikj,kj->ik', np.abs(q[:, None] - self._q), self._scene.levers)
        return np.asarray(self._value - change)

    def keep(self, q: Array, sample: Indices, pair: Indices, value: Array) -> None:
        """Remember distances (M,) of some pairs in some of the postures (N, n)."""
        self._q[sample, pair], self._value[sample, pair] = q[sample], value


@dataclass(frozen=True, eq=False)
class RoomBarrier:
    """
    Barrier of all pairs of a scene: ``-(1 - h)^2 log h``, with h the part of its room.

    :param scene: robot and surroundings.
    :param slack: (P,) distance that is kept beside the margins [m].
    :param last: distances of the motion that was looked at last.
    """

    scene: CollisionScene
    slack: Array
    last: LastDistances

    @classmethod
    def around(cls, scene: CollisionScene, start: Array) -> RoomBarrier:
        """
        Return the barrier of motions from a free posture.

        Where the convex pieces of meshes are too close there, triangles are compared instead.

        :param scene: robot and surroundings.
        :param start: (n,) posture that keeps all margins [rad, m].
        """
        slack = np.minimum(_SLACK, _SLACK_PART * scene.rooms)
        postures = Postures(scene, start[None])
        coarse = [int(k) for k in np.flatnonzero(scene.by_pieces)
                  if postures.piece_distance(0, int(k)) <= (scene.margins + slack)[k]]
        fine = scene.by_pieces.copy()
        fine[coarse] = False
        near = np.flatnonzero(postures.bounds()[0] < scene.margins + 2.0 * slack)
        enough = (scene.margins + 2.0 * slack)[near]
        found = postures.distances(np.zeros_like(near), near, enough)
        slack[near] = np.minimum(slack[near], 0.5 * (found.value - scene.margins[near]))
        scene = replace(scene, by_pieces=fine)
        return cls(scene, slack, LastDistances(scene))

    def look(self, q: Array, *, barrier: bool = True) -> NearPairs | None:
        """
        Return what is near; None if something is too close.

        :param q: (N, n) positions [rad, m].
        :param barrier: False = only whether something is too close matters.
        """
        scene = self.scene
        postures = Postures(scene, q)
        floor = scene.margins + self.slack
        width = scene.rooms - self.slack
        near = floor + (width if barrier else 0.0)
        bounds = postures.bounds()
        sample, pair = np.nonzero((bounds < near) & (self.last.bounds(q) < near))
        order = np.argsort((bounds[sample, pair] - floor[pair]) / width[pair], kind='stable')
        sample, pair = sample[order], pair[order]
        parts = []
        for part in (slice(0, _FIRST), slice(_FIRST, None)):
            i, k = sample[part], pair[part]
            found = postures.distances(i, k, near[k], triangles=False)
            self.last.keep(q, i, k, found.value)
            if np.any(found.value <= floor[k]):
                return None
            parts.append(found)
        found = Distances(*(np.concatenate(values) for values in zip(*parts)))
        room = (found.value - floor[pair]) / width[pair]
        some = np.flatnonzero(room < 1.0)
        return NearPairs(postures, sample[some], pair[some],
                         Distances(*(values[some] for values in found)), room[some])

    def value(self, near: NearPairs) -> float:
        """Return the barrier, as a mean over the postures."""
        h = near.room
        return -float(np.sum((1.0 - h)**2 * np.log(h))) / len(near.postures.q)

    def slope(self, near: NearPairs) -> Array:
        """Return the derivatives (N, n) of the barrier by the positions."""
        h = near.room
        by_room = 2.0 * (1.0 - h) * np.log(h) - (1.0 - h)**2 / h
        by_distance = by_room / (self.scene.rooms - self.slack)[near.pair]
        slopes = near.postures.slopes(near.sample, near.pair, near.found)
        result = np.zeros_like(near.postures.q)
        np.add.at(result, near.sample, by_distance[:, None] * slopes)
        return result / len(result)
