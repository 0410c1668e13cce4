# SPDX-License-Identifier: Apache-2.0
"""
What the joints of a robot can plausibly measure: the limits of the chain, with wide margins.

A robot may be a little beyond the limits of its URDF, and the limits may be cautious. What is far
beyond them was not measured, but is a broken message, a counter that ran over or a wrong bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask, freeze
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.motion.joint_state import LARGEST_EFFORT, LARGEST_STATE

#: Positions may be outside their limits by this part of the range.
_POSITION_MARGIN = 0.5
#: Velocities and torques may be this many times their limits.
_VELOCITY_MARGIN, _TORQUE_MARGIN = 3.0, 5.0
#: Largest velocity where no limit is known [rad/s, m/s].
_LARGEST_VELOCITY = 1e3


@dataclass(frozen=True, eq=False)
class PlausibleRange:
    """
    Positions ``middle +- reach``, and the largest velocities and torques of n joints.

    :param middle: (n,) middle of the positions [rad, m].
    :param reach: (n,) largest distance from the middle [rad, m].
    :param velocity: (n,) largest velocities [rad/s, m/s].
    :param torque: (n,) largest torques [N m, N].
    """

    middle: Array
    reach: Array
    velocity: Array
    torque: Array

    def __post_init__(self) -> None:
        """Copy the arrays and make them read-only."""
        freeze(self, 'middle', 'reach', 'velocity', 'torque')

    @classmethod
    def of_chain(cls, chain: Chain) -> PlausibleRange:
        """Return the range that the limits of a chain allow; limits that are not known: huge."""
        lower, upper = chain.position_limits
        known = np.isfinite(lower) & np.isfinite(upper)
        low, high = np.where(known, lower, 0.0), np.where(known, upper, 0.0)
        reach = np.where(known, (0.5 + _POSITION_MARGIN) * (high - low), LARGEST_STATE)
        return cls(0.5 * (low + high), reach,
                   np.nan_to_num(_VELOCITY_MARGIN * chain.velocity_limits,
                                 nan=_LARGEST_VELOCITY),
                   np.nan_to_num(_TORQUE_MARGIN * chain.effort_limits, nan=LARGEST_EFFORT))

    def has_state(self, q: Array, qd: Array | None) -> Mask:
        """
        Return where all positions and velocities of a sample are in range and finite (...,).

        :param q: (..., n) positions [rad, m].
        :param qd: (..., n) velocities [rad/s, m/s]; None = not measured.
        """
        inside = np.abs(q - self.middle) <= self.reach
        if qd is not None:
            inside = inside & (np.abs(qd) <= self.velocity)
        return np.asarray(np.all(inside, axis=-1), dtype=np.bool_)

