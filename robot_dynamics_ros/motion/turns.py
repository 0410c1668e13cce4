# SPDX-License-Identifier: Apache-2.0
"""
Joints that turn without end: which turn a motion begins in.

joint_trajectory_controller moves a joint of type continuous the short way to the first point of a
trajectory: it takes the present position in the turn that is nearest to that point. Between two
points of a trajectory it never wraps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array

#: Both ways are equally long within this [rad].
TIE = 1e-9


def in_nearest_turn(q: Array, goal: Array, continuous: NDArray[np.bool_] | None) -> Array:
    """
    Return positions (n,) [rad, m] with whole turns added, so that a goal is near.

    Where both ways are half a turn, the way is the one that the unwrapped numbers show.

    :param q: (n,) present positions [rad, m].
    :param goal: (n,) positions to go to [rad, m].
    :param continuous: (n,) True for joints that turn without end; None = no joint does.
    """
    if continuous is None or not np.any(continuous):
        return q
    way = np.remainder(goal - q + np.pi, 2.0 * np.pi) - np.pi
    tie = np.abs(np.abs(way) - np.pi) < TIE
    way = np.where(tie, np.copysign(np.pi, np.where(goal > q, 1.0, -1.0)), way)
    return np.where(continuous, goal - way, q)
