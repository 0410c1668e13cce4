# SPDX-License-Identifier: Apache-2.0
"""What a trajectory controller shows of itself: its reference, its error and its output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.motion.joint_state import LARGEST_EFFORT, LARGEST_STATE

#: No hardware plays trajectories faster than this; a pause (0) is played at some speed later.
FASTEST = 2.0


@dataclass(frozen=True, eq=False)
class ControllerState:
    """
    The state of a trajectory controller at one time, joints in the order of the robot.

    :param received: time of receipt [s].
    :param elapsed: time on the clock of its trajectory [s].
    :param q: (n,) reference positions [rad, m].
    :param qd: (n,) reference velocities [rad/s, m/s]; NaN = not shown.
    :param error: (n,) reference minus measured position [rad, m].
    :param output: (n,) commanded effort [N m, N]; NaN = not shown.
    :param scaling: rate of the trajectory's time, 1 = as planned.
    :param stamp: stamp of the message [s]; later than `received` where the clock of the receiver
        moves in steps.
    """

    received: float
    elapsed: float
    q: Array
    qd: Array
    error: Array
    output: Array
    scaling: float = 1.0
    stamp: float = 0.0

    @property
    def qd_or_rest(self) -> Array:
        """Reference velocities (n,) with zero for those that are not shown."""
        return np.nan_to_num(self.qd)


def controller_state(joint_names: Sequence[str], names: Sequence[str], *, received: float,
                     elapsed: float, scaling: float, q: Sequence[float], qd: Sequence[float],
                     error: Sequence[float], output: Sequence[float],
                     stamp: float = 0.0) -> ControllerState:
    """
    Return the state in a message.

    :param joint_names: n names of the robot.
    :param names: names of the message, the order of its numbers; other joints too.
    :raises StateError: a joint is missing, or a number that a reference cannot have.
    """
    missing = [name for name in joint_names if name not in names]
    if missing:
        raise StateError(f'joint {", ".join(missing)}: not in the state of the controller; '
                         'dropped')
    columns = [names.index(name) for name in joint_names]

    def row(values: Sequence[float], otherwise: float, largest: float) -> Array:
        if len(values) != len(names):
            return np.full(len(columns), otherwise)
        picked = np.array([values[column] for column in columns], dtype=np.float64)
        return np.where(np.abs(picked) <= largest, picked, otherwise)

    reference = row(q, np.nan, LARGEST_STATE)
    if np.any(np.isnan(reference)):
        raise StateError('the state of the controller has no finite reference; dropped')
    return ControllerState(
        received, elapsed, reference, row(qd, np.nan, LARGEST_STATE),
        row(error, 0.0, LARGEST_STATE), row(output, np.nan, LARGEST_EFFORT),
        scaling if 0.0 < scaling <= FASTEST else 1.0, stamp)
