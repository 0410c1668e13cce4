# SPDX-License-Identifier: Apache-2.0
"""
Whether a motion keeps all distances, also between samples.

A joint moves no point of a part faster than its velocity times the part's distance from its axis.
Between two times the distance of a pair can therefore shrink only so much. Where that does not
prove the margin, the interval is halved, until the margin is proved or a violation is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.collision.distance import Postures
from robot_dynamics_ros.collision.scene import CollisionScene

#: Longest time between two samples before intervals are halved [s].
_STEP = 0.02

#: How often an interval is halved before the motion counts as too close.
_HALVINGS = 20


class Motion(Protocol):
    """A motion that can be checked: `Trajectory`, `FourierTrajectory`, a straight `Segment`."""

    @property
    def duration(self) -> float:
        """Duration [s]."""

    def sample(self, times: ArrayLike, /) -> Any:
        """Return the motion at N times; its attribute or first entry q is (N, n)."""

    def knots(self) -> Array:
        """Return times (K,) where its curve changes, with both ends [s]."""

    def largest_velocities(self, begin: Array, end: Array, /) -> Array:
        """Return upper bounds (M, n) of the velocities in M intervals without a knot inside."""


@dataclass(frozen=True)
class Segment:
    """
    The straight way between two postures, in one unit of time.

    :param first: (n,) posture at its begin [rad, m].
    :param last: (n,) posture at its end [rad, m].
    """

    first: Array
    last: Array
    duration: float = 1.0

    def sample(self, times: ArrayLike) -> tuple[Array]:
        """Return the positions (N, n)."""
        t = np.asarray(times, dtype=np.float64)[:, None]
        return (self.first + t * (self.last - self.first),)

    def knots(self) -> Array:
        """Return both ends."""
        return np.array([0.0, 1.0])

    def largest_velocities(self, begin: Array, end: Array) -> Array:
        """Return the velocities (M, n), the same everywhere."""
        return np.broadcast_to(np.abs(self.last - self.first), (len(begin), len(self.first)))


@dataclass(frozen=True)
class Clearance:
    """
    How close a motion comes.

    :param kept: True = every pair is proved to keep its margin, also between samples.
    :param distance: smallest distance of a pair that is checked, at the samples [m].
    :param pair: names of the two links, or of a link and what surrounds it; empty = no pairs.
    :param time: time of the smallest distance [s].
    :param lowest: height of the lowest moving point above the origin of the base link [m].
    :param lowest_link: name of its link.
    """

    kept: bool
    distance: float
    pair: tuple[str, str]
    time: float
    lowest: float
    lowest_link: str

    def __str__(self) -> str:
        """Return one line for people."""
        return (f'lowest point {self.lowest:.3f} m above the base ({self.lowest_link}); smallest '
                f'distance {1000 * self.distance:.0f} mm ({self.pair[0]} - {self.pair[1]}) at '
                f'{self.time:.2f} s')


@dataclass(frozen=True)
class Violation:
    """
    Where a motion is too close.

    :param pair: number of the pair.
    :param time: time [s].
    :param distance: distance there [m].
    """

    pair: int
    time: float
    distance: float


def check_times(motion: Motion, step: float = _STEP) -> Array:
    """Return times from the begin to the end of a motion, at most `step` [s] apart."""
    knots = motion.knots()
    parts = [np.linspace(a, b, int(np.ceil((b - a) / step)) + 1)[:-1]
             for a, b in pairwise(knots)]
    return np.concatenate([*parts, knots[-1:]])


def first_violation(scene: CollisionScene, motion: Motion, step: float = _STEP
                    ) -> Violation | None:
    """
    Return a place where a motion does not keep a margin; None = it is proved to keep them all.

    :param scene: robot and surroundings.
    :param motion: motion of its joints.
    :param step: longest time between the first samples [s].
    """
    times = check_times(motion, step)
    postures = Postures(scene, _positions(motion, times))
    excess = postures.bounds() - scene.margins
    shrink = _shrinkage(scene, motion, times[:-1], times[1:])
    open_ = excess[:-1] + excess[1:] < shrink
    asked = np.zeros_like(excess, dtype=bool)
    asked[:-1] |= open_
    asked[1:] |= open_
    sample, pair = np.nonzero(asked)
    needed = np.maximum(np.pad(shrink, ((0, 1), (0, 0))), np.pad(shrink, ((1, 0), (0, 0))))
    found = postures.distances(sample, pair, scene.margins[pair] + needed[sample, pair]).value
    excess[sample, pair] = found - scene.margins[pair]
    worst = int(np.argmin(excess[sample, pair])) if len(sample) else 0
    if len(sample) and excess[sample[worst], pair[worst]] < 0.0:
        return Violation(int(pair[worst]), float(times[sample[worst]]), float(found[worst]))
    interval, pair = np.nonzero(excess[:-1] + excess[1:] < shrink)
    return _halve(scene, motion, pair, times[interval], times[interval + 1],
                  excess[interval, pair], excess[interval + 1, pair])


def _halve(scene: CollisionScene, motion: Motion, pair: Any, begin: Array, end: Array,
           first: Array, last: Array) -> Violation | None:
    """Halve intervals of pairs until all are proved, or one is not."""
    for _ in range(_HALVINGS):
        if not len(pair):
            return None
        middle = 0.5 * (begin + end)
        times, place = np.unique(middle, return_inverse=True)
        postures = Postures(scene, _positions(motion, times))
        half = np.take_along_axis(_shrinkage(scene, motion, begin, end), pair[:, None], 1)[:, 0]
        found = postures.distances(place, pair, scene.margins[pair] + half).value
        excess = found - scene.margins[pair]
        worst = int(np.argmin(excess))
        if excess[worst] < 0.0:
            return Violation(int(pair[worst]), float(middle[worst]), float(found[worst]))
        pair = np.concatenate([pair, pair])
        begin, end = np.concatenate([begin, middle]), np.concatenate([middle, end])
        first, last = np.concatenate([first, excess]), np.concatenate([excess, last])
        shrink = np.take_along_axis(_shrinkage(scene, motion, begin, end), pair[:, None], 1)[:, 0]
        open_ = first + last < shrink
        pair, begin, end, first, last = (x[open_] for x in (pair, begin, end, first, last))
    if not len(pair):
        return None
    return Violation(int(pair[0]), float(begin[0]), float(first[0] + scene.margins[pair[0]]))


def clearance(scene: CollisionScene, motion: Motion, step: float = _STEP) -> Clearance:
    """
    Return how close a motion comes, and whether it is proved to keep all margins.

    :param scene: robot and surroundings.
    :param motion: motion of its joints: a `Trajectory`, for example.
    :param step: longest time between samples [s].
    """
    times = check_times(motion, step)
    postures = Postures(scene, _positions(motion, times))
    violation = first_violation(scene, motion, step)
    height, link = _lowest(postures)
    if not len(scene.pairs):
        return Clearance(True, np.inf, ('', ''), 0.0, height, link)
    sample, pair, distance = _smallest(postures)
    time = float(times[sample])
    if violation is not None and violation.distance < distance:
        pair, distance, time = violation.pair, violation.distance, violation.time
    return Clearance(violation is None, distance, scene.pair_name(pair), time, height, link)


def _positions(motion: Motion, times: Array) -> Array:
    sampled = motion.sample(times)
    return np.asarray(sampled[0])


def _shrinkage(scene: CollisionScene, motion: Motion, begin: Array, end: Array) -> Array:
    """Return how much the distances (M, P) can change in M intervals at most [m]."""
    velocities = motion.largest_velocities(begin, end)
    return np.asarray((velocities * (end - begin)[:, None]) @ scene.levers.T)


def _smallest(postures: Postures) -> tuple[int, int, float]:
    """Return posture, pair and value of the smallest distance: the least bounds come first."""
    bounds = postures.bounds()
    order = np.argsort(bounds, axis=None, kind='stable')
    best = (0, 0, np.inf)
    for start in range(0, len(order), 64):
        sample, pair = np.unravel_index(order[start:start + 64], bounds.shape)
        if bounds[sample[0], pair[0]] >= best[2]:
            break
        found = postures.distances(sample, pair, np.full(len(sample), np.inf)).value
        k = int(np.argmin(found))
        if found[k] < best[2]:
            best = (int(sample[k]), int(pair[k]), float(found[k]))
    return best


def _lowest(postures: Postures) -> tuple[float, str]:
    """Return the height of the lowest moving point above the base [m], and its link."""
    scene, best = postures.scene, (np.inf, '')
    for part in scene.parts:
        if part.body:
            R, p = postures.frames.rotation[part.body], postures.frames.origin[part.body]
            heights = (scene.up @ R) @ part.points.T
            lowest = float(np.min(np.min(heights, axis=1) + p @ scene.up)) - part.radius
            best = min(best, (lowest, part.name))
    return best
