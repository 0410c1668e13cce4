# SPDX-License-Identifier: Apache-2.0
"""
What the geometry of a chain decides about its minimal parameters (Lin 1995, Theorem 2).

Everything here holds for all joint positions, not for one configuration: three parallel axes
whose offsets cancel at q = 0 only are still three different axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint import Joint

#: Unit vector of floats.
Direction = tuple[float, float, float]

#: Sine of an angle, or distance [m], below which axes are parallel, perpendicular or coincident.
GEOMETRIC_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Structure:
    """
    Joint groups of a chain; joints are counted 1..n, n + 1 means "there is none".

    In a tree every way from the base to a joint is a chain with an r and an s of its own: what a
    link shows depends on the joints that carry it.

    :param r: first revolute joint; in a tree, that of the first way that has one.
    :param s: first revolute joint after r whose axis is not parallel to that of joint r
        (antiparallel counts as parallel); in a tree as for `r`.
    :param delta: n + 1 flags, entry 0 unused: revolute joint i has first moments k_x, k_y that
        act on the torque. Always true from joint s on, false for a prismatic joint.
    :param sigma: n + 1 flags, entry 0 unused: prismatic joint i with r < i < s is not parallel
        to joint r, so that kappa_1 and kappa_2 act on the torque.
    :param u_r: axis of joint r in the frame E_i, for r <= i < s (there it is constant).
    :param stages: n + 1 of BEFORE_R, BEFORE_S, FROM_S, entry 0 unused: where joint i is on its
        way from the base.
    """

    r: int
    s: int
    delta: tuple[bool, ...]
    sigma: tuple[bool, ...]
    u_r: Mapping[int, Direction]
    stages: tuple[int, ...] = ()


def parallel(a: Array, b: Array) -> bool:
    """Return whether two vectors are parallel or antiparallel; a zero vector always is."""
    size = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(np.linalg.norm(np.cross(a, b))) <= GEOMETRIC_TOLERANCE * size


def perpendicular(a: Array, b: Array) -> bool:
    """Return whether two vectors are perpendicular; a zero vector always is."""
    size = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return abs(float(a @ b)) <= GEOMETRIC_TOLERANCE * size


#: Where a joint is on its way from the base: before the first revolute joint r; from r on, while
#: revolute axes are parallel to that of r; from the first one s that is not.
BEFORE_R, BEFORE_S, FROM_S = range(3)


@dataclass(frozen=True)
class _Way:
    """What the way from the base to a link decides about the joints that it carries."""

    stage: int
    rotation: Array  # of its frame in E_0, while it is constant
    rails: tuple[Array, ...]  # axes of the prismatic joints before r, in E_0
    u_r: Direction  # axis of joint r in its frame
    moves: bool  # first moments of parallel revolute joints act on the torque
    offset: Array  # from the last revolute axis to its origin


def structure(chain: Chain) -> Structure:
    """Return the joint groups of `chain`, decided by geometry and gravity for generic q."""
    m = len(chain.moving)
    gravity = chain.gravity_in_frame_0
    ways = [_Way(BEFORE_R, np.eye(3), (), (0.0, 0.0, 1.0), False, np.zeros(3))]
    delta, sigma = [False] * (m + 1), [False] * (m + 1)
    u_r: dict[int, Direction] = {}
    for i, (joint, parent) in enumerate(zip(chain.moving, chain.parents), start=1):
        way = _next_way(ways[parent], joint, gravity)
        ways.append(way)
        if way.stage == BEFORE_S:
            u_r[i] = way.u_r
            sigma[i] = not joint.revolute and not _along_z(way.u_r)
        delta[i] = joint.revolute and (way.stage == FROM_S or way.moves)
    stages = tuple(way.stage for way in ways)
    r, s = (next((i for i in range(1, m + 1) if stages[i] >= stage), m + 1)
            for stage in (BEFORE_S, FROM_S))
    return Structure(r, s, tuple(delta), tuple(sigma), MappingProxyType(u_r), stages)


def _next_way(way: _Way, joint: Joint, gravity: Array) -> _Way:
    """Return the way to the link of a joint that a link carries."""
    pose = joint.pose()
    R_0 = way.rotation @ pose.rotation
    if way.stage == FROM_S:
        return way
    if way.stage == BEFORE_R:
        if not joint.revolute:
            return replace(way, rotation=R_0, rails=(*way.rails, R_0[:, 2]))
        moves = not all(parallel(R_0[:, 2], v) for v in (gravity, *way.rails))
        return replace(way, stage=BEFORE_S, moves=moves)
    axis = _without_dust(pose.rotation.T @ np.array(way.u_r))
    if joint.revolute and not _along_z(axis):
        return replace(way, stage=FROM_S)
    offset = pose.rotation.T @ (way.offset + pose.translation)
    if joint.revolute:
        # joints between two revolute ones slide along u_r, else `moves` is already true
        moves = way.moves or float(np.linalg.norm(offset[:2])) > GEOMETRIC_TOLERANCE
        return replace(way, u_r=axis, moves=moves, offset=np.zeros(3))
    return replace(way, u_r=axis, moves=way.moves or not _along_z(axis), offset=offset)


def parameter_bound(chain: Chain) -> int:
    """
    Return Khalil & Dombre's upper bound (9.61) of the number of minimal parameters.

    It is exact where joints 1 and 2 are revolute and not parallel, or for one joint; else it may
    be far too large: the sets themselves have the exact number. In a tree what the first joint
    cannot show is taken off for every joint on the base.
    """
    bound = 0
    for joint, parent in zip(chain.moving, chain.parents):
        bound += 7 if joint.revolute else 4
        if parent == 0:
            along = joint.revolute and parallel(joint.pose().rotation[:, 2],
                                                chain.gravity_in_frame_0)
            bound -= 3 + joint.revolute + 2 * along
    return bound


def meeting_points(chain: Chain) -> dict[int, float]:
    """
    Return where the axes on the way to joint j meet in one point, whatever the positions are.

    :returns: by joint j (counted from 1) the coordinate of the point along z_j from O_j [m]. Only
        joints with nothing but revolute ones before them, and from the first on whose axis is
        not that of the first one.
    """
    points: dict[int, float] = {}
    on_line = {0}  # joints whose axis is that of the first one
    for j, (joint, parent) in enumerate(zip(chain.moving, chain.parents), start=1):
        if not joint.revolute or not (parent in on_line or parent in points):
            continue
        if parent == 0:
            on_line.add(j)
            continue
        if abs(joint.b) > GEOMETRIC_TOLERANCE:
            continue
        cosine, sine = float(np.cos(joint.beta)), float(np.sin(joint.beta))
        if abs(sine) > GEOMETRIC_TOLERANCE:  # b = 0: this axis meets that of its parent
            if parent in points and abs(points[parent] - joint.epsilon) > GEOMETRIC_TOLERANCE:
                continue
            point = -joint.d
        elif parent in points:
            point = cosine * (points[parent] - joint.epsilon) - joint.d
        else:
            on_line.add(j)
            continue
        points[j] = 0.0 if abs(point) <= GEOMETRIC_TOLERANCE else point
    return points


def _along_z(u: Direction) -> bool:
    return parallel(np.array(u), np.array([0.0, 0.0, 1.0]))


def _without_dust(axis: Array) -> Direction:
    """Return a unit vector whose almost exact components are exact."""
    exact = np.where(np.abs(axis) <= GEOMETRIC_TOLERANCE, 0.0, axis)
    x, y, z = exact / np.linalg.norm(exact)
    return float(x), float(y), float(z)
