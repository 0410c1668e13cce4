# SPDX-License-Identifier: Apache-2.0
"""
The scene: a robot's collision geometry, its surroundings, and the pairs that must stay apart.

Distances are kept to the robot itself, to obstacles and to the floor. What is not checked is
listed (`left_out`), never silent.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.document import read_document
from robot_dynamics_ros.chain.urdf.geometry import mesh_folders
from robot_dynamics_ros.chain.urdf.reader import Locked, link_poses, locked_positions
from robot_dynamics_ros.chain.urdf.shapes import Shape, link_shapes
from robot_dynamics_ros.chain.urdf.tree import Tree, tree_from_urdf
from robot_dynamics_ros.collision.distance import FLOOR
from robot_dynamics_ros.collision.kinematics import levers
from robot_dynamics_ros.collision.obstacles import Obstacle
from robot_dynamics_ros.collision.pairs import LeftOut, candidate_pairs, choose_pairs
from robot_dynamics_ros.collision.parts import Part, coal_module
from robot_dynamics_ros.errors import CollisionError

#: Smallest distance that is kept, unless told otherwise [m].
MARGIN = 0.02

#: Gravity may be off -z of the base by this before the floor is asked for [rad].
_UPRIGHT = 0.02


@dataclass(frozen=True, eq=False)
class CollisionScene:
    """
    A robot and its surroundings, with the pairs of parts that are kept apart.

    Make one with `collision_scene`.

    :param chain: the robot.
    :param parts: shapes of links, then of obstacles.
    :param obstacles: number of obstacles among the parts.
    :param up: (3,) unit vector against gravity, in the frame of the base link.
    :param floor: height of the floor above the origin of the base link [m]; None = no floor.
    :param margin: smallest distance to be kept [m].
    :param pairs: (P, 2) numbers of the parts of each pair, the one nearer to the base first;
        FLOOR = the floor.
    :param margins: (P,) smallest distance of each pair [m]; smaller than `margin` where the robot
        is built closer.
    :param rooms: (P,) distance over the margin from which a pair is not near any more [m].
    :param exact: (P,) whether triangles are compared where the hulls are too close.
    :param by_pieces: (P,) whether convex pieces are about as far apart as the triangles.
    :param left_out: pairs that are not checked, and why.
    :param findings: what else was noticed.
    """

    chain: Chain
    parts: tuple[Part, ...]
    obstacles: int
    up: Array
    floor: float | None
    margin: float
    pairs: NDArray[np.int64]
    margins: Array
    rooms: Array
    exact: NDArray[np.bool_]
    by_pieces: NDArray[np.bool_]
    left_out: tuple[LeftOut, ...]
    findings: tuple[Finding, ...]

    @property
    def floor_height(self) -> float:
        """Height of the floor above the base [m]; -inf = no floor."""
        return -np.inf if self.floor is None else self.floor

    def pair_name(self, pair: int) -> tuple[str, str]:
        """Return the names of the two links, or of a link and what surrounds it."""
        a, b = self.pairs[pair]
        return ('the floor' if a == FLOOR else self.parts[a].name), self.parts[b].name

    @cached_property
    def bodies(self) -> NDArray[np.int64]:
        """Number of the body (parts,) of each part."""
        return np.array([part.body for part in self.parts], dtype=np.int64)

    @cached_property
    def part_numbers(self) -> list[tuple[int, int]]:
        """Numbers of the parts of each pair, for loops."""
        return [(int(a), int(b)) for a, b in self.pairs]

    @property
    def surroundings(self) -> NDArray[np.bool_]:
        """True (P,) for pairs of a link with the floor or an obstacle."""
        first = self.pairs[:, 0]
        return np.asarray((first == FLOOR) | (first >= len(self.parts) - self.obstacles))

    @cached_property
    def capsules(self) -> tuple[Array, Array, NDArray[np.int64]]:
        """Ends (parts, 2, 3), radii and bodies (parts,) of the capsules around all parts."""
        ends, radii = zip(*(part.capsule for part in self.parts))
        return np.array(ends), np.array(radii), self.bodies

    @cached_property
    def levers(self) -> Array:
        """How much a unit of each joint can change each distance at most (P, n)."""
        chain, limits = self.chain, sampled_range(self.chain)
        of_part = np.array([levers(chain, part, *limits) for part in self.parts])
        carried = np.zeros((len(chain.moving) + 1, len(chain.moving)), dtype=bool)
        for body in range(1, len(carried)):
            carried[body, [number - 1 for number in chain.path(body)]] = True
        first, second = self.pairs.T
        fixed = first == FLOOR
        by_first = carried[np.where(fixed, 0, self.bodies[first])]
        by_second = carried[self.bodies[second]]
        # What carries both moves neither against the other; in a tree, each may move alone.
        alone = (np.where(by_first & ~by_second, of_part[first], 0.0)
                 + np.where(by_second & ~by_first, of_part[second], 0.0))
        return np.asarray(alone @ np.abs(chain.coupling[0]))

    @cached_property
    def hulls(self) -> list[Any]:
        """Functions of coal for the distances of the hulls."""
        return [None if a == FLOOR else coal_module().ComputeDistance(
            self.parts[a].convex, self.parts[b].convex) for a, b in self.pairs]

    @cached_property
    def meshes(self) -> list[Any]:
        """Functions of coal for the distances of the triangles; None for two primitives."""
        return [None if a == FLOOR or all(self.parts[k].triangles is None for k in (a, b))
                else coal_module().ComputeDistance(
                    *(self.parts[k].triangles or self.parts[k].convex for k in (a, b)))
                for a, b in self.pairs]

    @cached_property
    def pieces(self) -> _PieceDistances:
        """Functions of coal for the distances of the convex pieces, by the number of the pair."""
        return _PieceDistances(self)

    @cached_property
    def request(self) -> Any:
        """What coal is asked for."""
        return coal_module().DistanceRequest()

    @cached_property
    def result(self) -> Any:
        """Where coal writes its answer."""
        return coal_module().DistanceResult()


class _PieceDistances(dict[int, list[Any]]):
    """Functions of coal for each pair of pieces, made when they are first used."""

    def __init__(self, scene: CollisionScene) -> None:
        super().__init__()
        self._scene = scene

    def __missing__(self, pair: int) -> list[Any]:
        a, b = (self._scene.parts[k].pieces.shapes for k in self._scene.pairs[pair])
        self[pair] = [coal_module().ComputeDistance(first, second)
                      for first in a for second in b]
        return self[pair]


def sampled_range(chain: Chain) -> tuple[Array, Array]:
    """Return position limits (n,) of postures: half a turn to both sides where there are none."""
    lower, upper = chain.position_limits
    free = ~np.isfinite(upper - lower)
    return np.where(free, -np.pi, lower), np.where(free, np.pi, upper)


Floor = float | Literal['base'] | None


def collision_scene(source: str | os.PathLike[str], chain: Chain, *, locked: Locked = None,
                    folders: Sequence[str | os.PathLike[str]] = (),
                    srdf: str | os.PathLike[str] | None = None,
                    obstacles: Sequence[Obstacle] = (), floor: Floor = 'base',
                    margin: float = MARGIN) -> CollisionScene:
    """
    Return the scene of a robot.

    :param source: path or text of the URDF that the chain was read from.
    :param chain: the robot. Joints beside the chain stay at their locked position, or at 0.
    :param locked: joints to freeze, as given when the chain was read.
    :param folders: folders with mesh files, beside the folder of the URDF itself and the
        packages that are installed.
    :param srdf: path or text of an SRDF whose disabled pairs are left out; None = none.
    :param obstacles: what stands around the robot, see `read_obstacles`.
    :param floor: height of the floor above the origin of the base link, against gravity [m];
        'base' = 0, the plane through the base; None = no floor.
    :param margin: smallest distance to keep [m].
    :raises CollisionError: no collision geometry, geometry that cannot be read, a floor that is
        not given where gravity is not along -z of the base, or coal is not installed.
    :raises UrdfError: the text is not a usable URDF.
    """
    if not (np.isfinite(margin) and margin >= 0.0):
        raise CollisionError(f'the margin must be a distance of at least 0 m, got {margin}')
    coal_module()
    up, height = _floor(chain, floor)
    tree = tree_from_urdf(source)
    parts, findings = _robot_parts(source, tree, chain, locked, folders)
    parts += [Part(obstacle.name, 0, obstacle.shape) for obstacle in obstacles]
    pairs, left_out = candidate_pairs(tree, parts, height is not None, srdf)
    every = CollisionScene(chain, tuple(parts), len(obstacles), up, height, margin, pairs,
                           np.full(len(pairs), margin), np.zeros(len(pairs)),
                           np.zeros(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool),
                           tuple(left_out), tuple(findings))
    choice = choose_pairs(every, *sampled_range(chain))
    kept = choice.kept
    narrow = sorted({(*every.pair_name(int(k)), float(choice.margins[k]))
                     for k in np.flatnonzero(kept & (choice.margins < margin))},
                    key=lambda each: each[2])
    if narrow:
        findings.append(Finding(
            'narrow_gap', '', 'built closer together than twice the margin, these pairs keep half '
            'of their widest gap: ' + ', '.join(f'{a} - {b} {1000 * gap:.1f} mm'
                                             for a, b, gap in narrow), narrow[0][2]))
    return replace(every, pairs=pairs[kept], margins=choice.margins[kept],
                   rooms=choice.rooms[kept], exact=choice.exact[kept],
                   by_pieces=choice.by_pieces[kept],
                   left_out=(*left_out, *choice.left_out), findings=tuple(findings))


def _floor(chain: Chain, floor: Floor) -> tuple[Array, float | None]:
    """Return the direction up and the height of the floor."""
    size = float(np.linalg.norm(chain.gravity))
    up = -chain.gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    upright = size > 0.0 and up[2] >= np.cos(_UPRIGHT)
    if floor == 'base' and not upright:
        raise CollisionError(
            f'gravity is not along -z of {chain.base}, so the floor is not known: give its height '
            'above the origin of the base, against gravity (--floor METRES, parameter floor, in '
            'Python floor=...), or say that there is none (--no-floor, floor: none, floor=None)')
    if floor is None:
        return up, None
    height = 0.0 if floor == 'base' else float(floor)
    if not np.isfinite(height):
        raise CollisionError(f'the height of the floor must be finite, got {height}')
    return up, height


def _robot_parts(source: str | os.PathLike[str], tree: Tree, chain: Chain, locked: Locked,
                 folders: Sequence[str | os.PathLike[str]]
                 ) -> tuple[list[Part], list[Finding]]:
    """Return the collision shapes of all links, in the frames of their bodies."""
    root = read_document(source).root
    elements = {link.get('name'): link for link in root.findall('link')}
    poses = link_poses(tree, chain.base, locked_positions(tree, locked))
    frames = [Pose.identity(), *chain.zero_poses()]
    places = mesh_folders(source, folders, root)
    parts: list[Part] = []
    unread: list[str] = []
    bare: list[str] = []
    for link, body in body_of_links(tree, chain).items():
        in_body = frames[body].inverse() @ poses[link]
        before = len(parts)
        for what, shape in link_shapes(elements[link], 'collision', places):
            if shape is None:
                unread.append(f'{link}: {what}')
            elif not shape.size or max(shape.size) > 0.0:
                parts.append(Part(link, body, Shape(shape.kind, shape.size, in_body @ shape.pose,
                                                    shape.mesh)))
        if body and len(parts) == before and elements[link].find('visual') is not None:
            bare.append(link)
    if unread:
        raise CollisionError(
            f'collision geometry that cannot be read: {"; ".join(unread[:5])}'
            f'{" ..." if len(unread) > 5 else ""}; name the folder that holds the '
            'package (--meshes FOLDER, parameter mesh_folders, in Python folders=[...])')
    if not any(part.body for part in parts):
        raise CollisionError(f'{chain.robot} has no collision geometry between {chain.base} and '
                             f'{chain.tip_names}: motions cannot be checked')
    findings = [] if not bare else [Finding(
        'no_collision_geometry', '', 'links with a visual but no collision geometry are not '
        f'checked: {", ".join(bare)}', float(len(bare)))]
    return parts, findings


def body_of_links(tree: Tree, chain: Chain) -> dict[str, int]:
    """Return the body of every link: 1..n, or 0 where the chain does not move it."""
    number = {joint.name: i for i, joint in enumerate(chain.moving, 1)}
    bodies = {tree.root: 0}
    waiting = [tree.root]
    while waiting:
        link = waiting.pop()
        for joint in tree.children(link):
            bodies[joint.child] = number.get(joint.name, bodies[link])
            waiting.append(joint.child)
    return bodies
