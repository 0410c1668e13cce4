# SPDX-License-Identifier: Apache-2.0
"""Wrenches: carried from a link to its parent, and from the tip frame to the last joint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.frames import JointFrame
from robot_dynamics_ros.dynamics.vector import Matrix, Scalar, Vector, add, cross, multiply, vector

#: Force [N] and moment about the origin of a frame [N m], in the axes of that frame.
Wrench: TypeAlias = tuple[Vector, Vector]


def moved_wrench(frame: JointFrame, wrench: Wrench) -> Wrench:
    """
    Return a wrench at O_i in E_i as the same wrench at O_(i-1) in E_(i-1).

    :param frame: E_i.
    :param wrench: force and moment about O_i, in E_i.
    """
    force = frame.to_parent(wrench[0])
    return force, add(frame.to_parent(wrench[1]), cross(frame.origin, force))


def wrench_at_last_joint(chain: Chain, wrench: Sequence[Scalar]) -> Wrench:
    """
    Return the wrench on the tip link as force and moment at O_n in E_n.

    :param chain: the robot; its `tip_pose` places the tip frame in E_n.
    :param wrench: (fx, fy, fz, tx, ty, tz) exerted by the environment on the tip link, at the
        origin of the tip frame and in its axes [N, N m].
    """
    a, b, c = (vector(row) for row in chain.tip_pose.rotation)
    R: Matrix = (a, b, c)
    force = multiply(R, (wrench[0], wrench[1], wrench[2]))
    moment = multiply(R, (wrench[3], wrench[4], wrench[5]))
    return force, add(moment, cross(vector(chain.tip_pose.translation), force))
