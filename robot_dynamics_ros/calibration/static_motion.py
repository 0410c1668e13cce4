# SPDX-License-Identifier: Apache-2.0
"""
A slow motion through a few postures and back, in which weight and friction show.

The way back is the way there: every posture is passed in both directions, so that friction and
weight can be told apart. Postures are chosen such that the weight on every joint changes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import gravity_torque
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.motion.waypoints import trajectory_through_stops

#: Part of the position range that is kept free at each end.
_MARGIN = 0.05
#: Nothing of interest happens faster: largest velocity of a joint that turns or slides.
_TURNING, _SLIDING = 0.3, 0.1  # [rad/s, m/s]
#: Random postures to choose from, and how often a smaller reach is tried where none is free.
_CANDIDATES, _TRIES = 60, 4


def static_motion(chain: Chain, start: ArrayLike, *, postures: int = 5, reach: float = 0.8,
                  velocity: float = 0.15, seed: int = 0,
                  free: Callable[[Trajectory], bool] = lambda motion: True) -> Trajectory:
    """
    Return a slow motion from a posture through others and back, at rest at both ends.

    :param chain: the robot.
    :param start: (n,) posture at both ends [rad, m].
    :param postures: number of postures beside the start.
    :param reach: largest distance of a joint from the start [rad, m].
    :param velocity: largest part of the velocity limits to use.
    :param seed: seed of the postures.
    :param free: function that returns whether a motion touches nothing.
    :raises ExcitationError: the start is outside the limits, or no posture can be reached.
    """
    first = np.asarray(start, dtype=np.float64)
    lower, upper = chain.position_limits
    if first.shape != (len(chain),) or np.any(first < lower) or np.any(first > upper):
        raise ExcitationError('static test: the start must be one position per joint, inside '
                              'the limits')
    rng, stops = np.random.default_rng(seed), [first]
    inner = _MARGIN * np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    for _ in range(postures):
        following = _next(chain, stops, rng, reach, (lower + inner, upper - inner), velocity, free)
        if following is not None:
            stops.append(following)
    if len(stops) < 3:
        raise ExcitationError('static test: fewer than two postures can be reached without '
                              'touching anything; choose another start')
    return _through(chain, [*stops, *stops[-2::-1]], velocity)


def _next(chain: Chain, stops: list[Array], rng: np.random.Generator, reach: float,
          inside: tuple[Array, Array], velocity: float,
          free: Callable[[Trajectory], bool]) -> Array | None:
    """Return the free posture in which the weights differ most from those so far, or None."""
    first = stops[0]
    before = gravity_torque(chain, np.array(stops))
    for attempt in range(_TRIES):
        room = reach * 0.6 ** attempt
        trials = np.clip(rng.uniform(first - room, first + room, (_CANDIDATES, first.size)),
                         np.minimum(inside[0], first), np.maximum(inside[1], first))
        weights = gravity_torque(chain, trials)
        size = np.std(np.concatenate([before, weights]), axis=0) + 1e-9
        new = np.min(np.abs(weights[:, None] - before[None]) / size, axis=1)
        # the joint whose weight changes least counts, and so does how far all joints move
        gain = np.mean(np.minimum(new, 1.0), axis=1)
        gain += 0.3 * np.mean(np.abs(trials - stops[-1]), axis=1) / reach
        for k in np.argsort(-gain)[:8]:
            if free(_through(chain, [stops[-1], trials[k]], velocity)):
                return np.asarray(trials[k])
    return None


def _through(chain: Chain, stops: list[Array], velocity: float) -> Trajectory:
    """Return a motion through postures, at rest in each."""
    slow = np.array([_TURNING if joint.revolute else _SLIDING for joint in chain.joints])
    speeds = np.fmin(velocity * chain.velocity_limits, slow)
    return trajectory_through_stops(chain.joint_names, np.array(stops), speeds, 0.5)
