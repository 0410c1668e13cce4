# SPDX-License-Identifier: Apache-2.0
"""Free postures, and free ways from one posture to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.collision.distance import Postures
from robot_dynamics_ros.collision.motion import Segment, first_violation
from robot_dynamics_ros.collision.scene import CollisionScene, sampled_range
from robot_dynamics_ros.errors import CollisionError
from robot_dynamics_ros.motion.motion_limits import FREE_VELOCITY
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.motion.waypoints import trajectory_through_stops

#: Part of the position range that free postures keep from its ends.
_RANGE_MARGIN = 0.05

#: Random postures: number of blocks, and postures in a block.
_BLOCKS, _BLOCK = 16, 100

#: Largest step of a tree of ways, as a part of the range of each joint; nodes at most.
_STRIDE, _NODES = 0.15, 2000

#: Tries to make a way shorter.
_SHORTCUTS = 40


#: Length of the way that counts as one step of a proof [rad, m per joint range].
_PROOF_STEP = 0.05


class PostureClearance(NamedTuple):
    """
    The closest pair of a posture.

    :param room: part of its room that the closest pair has: 0 = at its margin, negative = too
        close, 1 = not near to anything.
    :param distance: distance of that pair [m].
    :param pair: names of the two links, or of a link and what surrounds it.
    """

    room: float
    distance: float
    pair: tuple[str, str]


def posture_clearance(scene: CollisionScene, q: ArrayLike) -> PostureClearance:
    """
    Return how close the closest pair of a posture is, relative to the room that it can have.

    :param scene: robot and surroundings.
    :param q: (n,) joint positions [rad, m].
    """
    postures = Postures(scene, np.asarray(q, dtype=np.float64)[None])
    return _clearance(postures, 0, _least_rooms(postures)[0], -np.inf)


def _least_rooms(postures: Postures) -> Array:
    """Return lower bounds (N, P) of the part of its room that each pair has."""
    scene = postures.scene
    return np.asarray((postures.bounds() - scene.margins) / scene.rooms)


def _clearance(postures: Postures, i: int, least: Array, enough: float,
               triangles: bool = True) -> PostureClearance:
    """Return the clearance of a posture, or of the first pair that has no more room than that."""
    scene = postures.scene
    best = (1.0, np.inf, -1)
    for pair in np.argsort(least, kind='stable'):
        if least[pair] >= best[0] or best[0] <= enough:
            break
        # of a pair that is not near, the distance of the hulls is enough
        near = (scene.margins + scene.rooms)[[pair]]
        found = float(postures.distances(np.array([i]), np.array([pair]), near,
                                         triangles=triangles).value[0])
        if scene.exact[pair] and found > 0.0 and postures.enclosed(i, int(pair)):
            found = 0.0
        best = min(best, (float((found - scene.margins[pair]) / scene.rooms[pair]), found,
                          int(pair)))
    return PostureClearance(best[0], best[1], ('', '') if best[2] < 0 else
                            scene.pair_name(best[2]))


def find_free_posture(scene: CollisionScene, *, near: ArrayLike | None = None, seed: int = 0,
                      room: float = 0.8,
                      accept: Callable[[Array], bool] = lambda q: True) -> Array:
    """
    Return a posture (n,) with room around it, near to another one [rad, m].

    Random postures are taken from an ever larger neighbourhood, until one has `room`; else the
    one with the most room is taken.

    :param scene: robot and surroundings.
    :param near: (n,) posture to stay near to [rad, m]; None = the middle of the range.
    :param seed: seed of the random postures.
    :param room: part of its room that the closest pair of a good posture has, see
        `posture_clearance`; a smaller one is found nearer.
    :param accept: further condition on a posture (n,).
    :raises CollisionError: none of the random postures is free.
    """
    lower, upper = sampled_range(scene.chain)
    edge = _RANGE_MARGIN * (upper - lower)
    lower, upper = lower + edge, upper - edge
    wanted = np.clip(0.5 * (lower + upper) if near is None else near, lower, upper)
    best, refused = _most_room(scene, wanted, (lower, upper), seed, room, accept, False)
    if best is None:  # convex pieces may touch where triangles do not
        best, refused = _most_room(scene, wanted, (lower, upper), seed, room, accept, True)
    if best is None:
        raise CollisionError(
            f'none of {_BLOCKS * _BLOCK} random postures keeps {scene.margin:g} m distance from '
            'everything' + (f' and can be held ({refused} are free)' if refused else '')
            + '; check the floor, the obstacles, the margin' + (
                ' and the effort limits' if refused else ''))
    return best


def _most_room(scene: CollisionScene, wanted: Array, limits: tuple[Array, Array], seed: int,
               room: float, accept: Callable[[Array], bool], triangles: bool
               ) -> tuple[Array | None, int]:
    """Return a posture (n,) with the most room, None = none is free; and how many are refused."""
    lower, upper = limits
    span = upper - lower
    rng = np.random.default_rng(seed)
    best: Array | None = None
    least, refused = 0.0, 0
    for block in range(_BLOCKS):
        reach = 2.0**((block - _BLOCKS + 4) / 3) * span
        candidates = rng.uniform(np.maximum(lower, wanted - reach),
                                 np.minimum(upper, wanted + reach), (_BLOCK, len(span)))
        far = np.max(np.abs(candidates - wanted) / span, axis=1)
        postures = Postures(scene, candidates)
        bounds = _least_rooms(postures)
        hopeful = np.min(bounds, axis=1, initial=1.0)
        for k in np.lexsort((far, -hopeful)):
            found = _clearance(postures, int(k), bounds[k], least, triangles).room
            if found <= least:
                continue
            if not accept(candidates[k]):
                refused += 1
                continue
            best, least = candidates[k], found
            if found >= room:
                return best, refused
    return best, refused


def relaxed_at(scene: CollisionScene, q: ArrayLike) -> CollisionScene:
    """
    Return the scene with margins that a posture keeps, to leave a posture that is too close.

    A pair that is closer than its margin keeps half of its distance there.

    :raises CollisionError: a pair touches.
    """
    postures = Postures(scene, np.asarray(q, dtype=np.float64)[None])
    bounds, margins = postures.bounds()[0], scene.margins.copy()
    for pair in np.flatnonzero(bounds < margins):
        found = float(postures.distances(np.array([0]), np.array([pair]),
                                         np.full(1, np.inf)).value[0])
        if found <= 0.0:
            raise CollisionError(f'{" and ".join(scene.pair_name(int(pair)))} touch in this '
                                 'posture: move the robot by hand first')
        margins[pair] = min(margins[pair], 0.5 * found)
    return scene if np.array_equal(margins, scene.margins) else replace(scene, margins=margins)


def free_path(scene: CollisionScene, first: ArrayLike, last: ArrayLike, *,
              seed: int = 0) -> Array:
    """
    Return postures (K, n) from one posture to another whose straight connections are free.

    The straight way where it is free; else two random trees that grow towards each other
    (RRT-Connect), made shorter afterwards. The way back is the same way.

    :param scene: robot and surroundings.
    :param first: (n,) posture to begin with [rad, m]. Where it is closer than a margin, that pair
        keeps half of its distance.
    :param last: (n,) posture to reach [rad, m].
    :param seed: seed of the random trees.
    :raises CollisionError: no way was found, or a pair touches at an end.
    """
    q0, q1 = (np.asarray(q, dtype=np.float64) for q in (first, last))
    room = relaxed_at(relaxed_at(scene, q0), q1)
    lower, upper = sampled_range(scene.chain)
    lower, upper = np.minimum(lower, np.minimum(q0, q1)), np.maximum(upper, np.maximum(q0, q1))
    if _free(room, q0, q1):
        return np.array([q0, q1])
    rng = np.random.default_rng(seed)
    trees: list[tuple[list[Array], list[int]]] = [([q0], [-1]), ([q1], [-1])]
    for _ in range(_NODES):
        target = rng.uniform(lower, upper)
        reached = _extend(room, trees[0], target, upper - lower)
        if reached is not None:
            while True:
                other = _extend(room, trees[1], reached, upper - lower)
                if other is None:
                    break
                if np.array_equal(other, reached):
                    ways = [_way(*tree) for tree in trees]
                    if not np.array_equal(ways[0][0], q0):
                        ways.reverse()
                    return _shortened(room, np.array([*ways[0], *ways[1][::-1][1:]]), rng)
        trees.reverse()
    raise CollisionError('no free way to this posture was found; move the robot nearer to it by '
                         'hand, or choose another posture')


def _extend(scene: CollisionScene, tree: tuple[list[Array], list[int]], target: Array,
            span: Array) -> Array | None:
    """Grow a tree by one step towards a posture; return the new posture, None = not free."""
    nodes, parents = tree
    away = np.max(np.abs(np.array(nodes) - target) / span, axis=1)
    near = int(np.argmin(away))
    step = min(1.0, _STRIDE / max(float(away[near]), 1e-12))
    new = target if step == 1.0 else nodes[near] + step * (target - nodes[near])
    if not _free(scene, nodes[near], new):
        return None
    nodes.append(new)
    parents.append(near)
    return new


def _way(nodes: list[Array], parents: list[int]) -> list[Array]:
    """Return the way from the root of a tree to its newest node."""
    way, k = [], len(nodes) - 1
    while k >= 0:
        way.append(nodes[k])
        k = parents[k]
    return way[::-1]


def _shortened(scene: CollisionScene, way: Array, rng: np.random.Generator) -> Array:
    """Return a way without detours that a straight connection can replace."""
    for _ in range(_SHORTCUTS):
        if len(way) < 3:
            break
        i, j = sorted(rng.choice(len(way), 2, replace=False))
        if j > i + 1 and _free(scene, way[i], way[j]):
            way = np.concatenate([way[:i + 1], way[j:]])
    return way


def _free(scene: CollisionScene, first: Array, last: Array) -> bool:
    lower, upper = sampled_range(scene.chain)
    length = float(np.max(np.abs(last - first) / (upper - lower)))
    step = min(1.0, _PROOF_STEP / max(length, 1e-9))
    return first_violation(scene, Segment(first, last), step) is None


def slow_trajectory(scene: CollisionScene, path: ArrayLike, *, speed: float = 0.1,
                    shortest: float = 1.0) -> Trajectory:
    """
    Return a slow motion along straight connections, at rest in every posture (minimum jerk).

    :param scene: robot and surroundings.
    :param path: (K, n) postures, of `free_path` for example [rad, m].
    :param speed: largest part of the velocity limits.
    :param shortest: shortest time of a connection [s].
    """
    stops = np.atleast_2d(np.asarray(path, dtype=np.float64))
    limits = speed * np.nan_to_num(scene.chain.velocity_limits, nan=FREE_VELOCITY)
    return trajectory_through_stops(scene.chain.joint_names, stops, limits, shortest)
