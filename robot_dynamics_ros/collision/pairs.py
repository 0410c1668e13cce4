# SPDX-License-Identifier: Apache-2.0
"""
Which parts are kept apart: all that move against each other, but for those listed as left out.

Left out are links that a joint connects, pairs that an SRDF disables, and pairs that touch in
every posture.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.urdf.document import read_text
from robot_dynamics_ros.chain.urdf.tree import Tree
from robot_dynamics_ros.collision.distance import FLOOR, Postures
from robot_dynamics_ros.collision.parts import Part
from robot_dynamics_ros.errors import CollisionError, UrdfError
from robot_dynamics_ros.files.bounds import one_line

if TYPE_CHECKING:
    from robot_dynamics_ros.collision.scene import CollisionScene

#: Postures in which all pairs are looked at, and their seed.
_POSTURES, _SEED = 200, 1995

#: A pair that is farther apart than its margin by this is not near [m].
ROOM = 0.03

#: Postures in which the triangles of a pair are looked at whose hulls are too close.
_LOOKS = 6

#: Distances of hulls and triangles that differ by less are the same [m].
_SAME = 1e-3

#: Part of their distance by which convex pieces may be closer than triangles.
_COARSE = 0.3


class LeftOut(NamedTuple):
    """
    A pair that is not checked.

    :param first: name of a link, an obstacle or the floor.
    :param second: name of a link.
    :param reason: why it is not checked.
    """

    first: str
    second: str
    reason: str


def candidate_pairs(tree: Tree, parts: Sequence[Part], floor: bool,
                    srdf: str | os.PathLike[str] | None
                    ) -> tuple[NDArray[np.int64], list[LeftOut]]:
    """
    Return the pairs (P, 2) of parts that move against each other, and what is left out of them.

    :param tree: the robot's links and joints.
    :param parts: shapes of links and obstacles.
    :param floor: whether there is a floor.
    :param srdf: path or text of an SRDF; None = none.
    """
    disabled = set() if srdf is None else disabled_pairs(srdf)
    with_shape = {part.name for part in parts}
    pairs: list[tuple[int, int]] = []
    left_out: dict[tuple[str, str], LeftOut] = {}
    for b, second in enumerate(parts):
        if second.body and floor:
            pairs.append((FLOOR, b))
        for a, first in enumerate(parts):
            if first.body >= second.body:
                continue
            names = (first.name, second.name)
            if frozenset(names) in disabled:
                left_out[names] = LeftOut(*names, 'disabled in the SRDF')
            elif first.name in tree.inertias and _adjacent(tree, *names, with_shape):
                left_out[names] = LeftOut(*names, 'connected by a joint')
            else:
                pairs.append((a, b))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), list(left_out.values())


def _adjacent(tree: Tree, first: str, second: str, with_shape: set[str]) -> bool:
    """Return whether one moving joint connects two links, with no other shape in between."""
    moving, link = 0, second
    while link != first:
        joint = tree.parent_joint(link)
        if joint is None or (link != second and link in with_shape):
            return False
        moving += joint.moving
        link = joint.parent
    return moving == 1


def disabled_pairs(srdf: str | os.PathLike[str]) -> set[frozenset[str]]:
    """
    Return the pairs of links whose collisions an SRDF disables.

    :param srdf: path or text of the SRDF.
    :raises CollisionError: it cannot be read.
    """
    try:
        text, label = read_text(srdf)
        root = etree.fromstring(text, etree.XMLParser(resolve_entities=False, no_network=True))
    except (UrdfError, etree.XMLSyntaxError) as error:
        raise CollisionError(f'SRDF cannot be read: {one_line(error)}') from error
    if root.tag != 'robot':
        raise CollisionError(f'{label}: is not an SRDF: its root is <{one_line(root.tag)}>')
    return {frozenset((element.get('link1', ''), element.get('link2', '')))
            for element in root.findall('disable_collisions')}


class PairChoice(NamedTuple):
    """
    What postures tell about candidate pairs.

    :param kept: (P,) pairs to check.
    :param margins: (P,) smallest distance to keep [m].
    :param rooms: (P,) widest distance over the margin, at most ROOM [m].
    :param exact: (P,) whether triangles are compared where hulls are too close.
    :param by_pieces: (P,) whether convex pieces are about as far apart as the triangles.
    :param left_out: pairs that touch in every posture.
    """

    kept: NDArray[np.bool_]
    margins: Array
    rooms: Array
    exact: NDArray[np.bool_]
    by_pieces: NDArray[np.bool_]
    left_out: list[LeftOut]


def choose_pairs(scene: CollisionScene, lower: Array, upper: Array) -> PairChoice:
    """
    Look at all pairs in random postures and choose how each is checked.

    A pair that is never farther apart than d keeps at least d / 2: robots are built with narrow
    gaps, which no motion can widen.

    :param scene: scene with all candidate pairs.
    :param lower: (n,) lowest positions [rad, m].
    :param upper: (n,) highest positions [rad, m].
    :raises CollisionError: a link touches its surroundings in every posture.
    """
    q = np.random.default_rng(_SEED).uniform(lower, upper, (_POSTURES, len(lower)))
    postures = Postures(scene, q)
    found = postures.bounds()
    sample, pair = np.nonzero(found < 2.0 * scene.margin + ROOM)
    hulls = postures.distances(sample, pair, np.full(len(sample), -np.inf))
    found[sample, pair] = hulls.value
    exact, by_pieces = np.zeros((2, len(scene.pairs)), dtype=bool)
    for k in range(len(scene.pairs)):
        close = np.flatnonzero(found[:, k] < scene.margin)[:_LOOKS]
        if len(close) and scene.meshes[k] is not None:
            true = [postures.true_distance(int(i), k) for i in close]
            exact[k] = bool(np.any(true > np.maximum(found[close, k], 0.0) + _SAME))
            found[close, k] = true
            by_pieces[k] = exact[k]
            if exact[k] and np.max(found[:, k]) < 2.0 * scene.margin:
                # where a robot is built closely, pieces must be fine
                coarse = np.maximum([postures.piece_distance(int(i), k) for i in close], 0.0)
                by_pieces[k] = bool(np.all(true - coarse < np.maximum(_COARSE * np.array(true),
                                                                      _SAME)))
    largest = np.max(found, axis=0)
    kept = largest > 0.0
    left_out: dict[tuple[str, str], LeftOut] = {}
    for k in np.flatnonzero(~kept).tolist():
        names = scene.pair_name(k)
        if scene.surroundings[k] and scene.bodies[scene.pairs[k, 1]] > 1:
            raise CollisionError(f'{names[1]} touches {names[0]} in each of {_POSTURES} random '
                                 'postures; check where it is (--floor, obstacles)')
        left_out[names] = LeftOut(*names, 'touch in every posture')
    margins = np.minimum(scene.margin, 0.5 * largest)
    return PairChoice(kept, margins, np.minimum(ROOM, largest - margins), exact, by_pieces,
                      list(left_out.values()))
