# SPDX-License-Identifier: Apache-2.0
"""The wrench of the environment on the tip link."""

from __future__ import annotations

from collections.abc import Sequence

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.frames import FixedFrame
from robot_dynamics_ros.dynamics.pair import ZERO_PAIR, Pair, moved_wrench, negated
from robot_dynamics_ros.dynamics.vector import Scalar


def wrench_at_last_joint(chain: Chain, wrench: Sequence[Scalar]) -> Pair:
    """
    Return the wrench on the tip link as force and moment at O_n in E_n.

    :param chain: the robot; its `tip_pose` places the tip frame in E_n.
    :param wrench: (fx, fy, fz, tx, ty, tz) exerted by the environment on the tip link, at the
        origin of the tip frame and in its axes [N, N m].
    """
    fx, fy, fz, tx, ty, tz = wrench
    return moved_wrench(FixedFrame.at(chain.tip_pose), ((fx, fy, fz), (tx, ty, tz)))


def wrench_on_environment(wrench: Pair | None) -> Pair:
    """
    Return what link n exerts beyond itself: where the inward recursions start.

    :param wrench: force and moment at O_n in E_n exerted by the environment; None = nothing.
    """
    return ZERO_PAIR if wrench is None else negated(wrench)
