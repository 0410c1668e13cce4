# SPDX-License-Identifier: Apache-2.0
"""Pairs of a linear and an angular vector at one point: twists, their rates, and wrenches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.dynamics.scalars.frames import FixedFrame, Frame
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    negate,
    scale,
    subtract,
)

#: Linear and angular part, in the axes of one frame and at its origin.
Pair: TypeAlias = tuple[Vector, Vector]

ZERO_PAIR: Pair = (ZERO, ZERO)

#: Wrenches exerted by the environment at O_i in E_i, by the number i of the link.
LinkWrenches: TypeAlias = Mapping[int, Pair]


def summed(a: Pair, b: Pair) -> Pair:
    """Return a + b."""
    if b is ZERO_PAIR:
        return a
    return add(a[0], b[0]), add(a[1], b[1])


def difference(a: Pair, b: Pair) -> Pair:
    """Return a - b."""
    return subtract(a[0], b[0]), subtract(a[1], b[1])


def scaled(factor: Scalar, a: Pair) -> Pair:
    """Return factor * a."""
    return scale(factor, a[0]), scale(factor, a[1])


def negated(a: Pair) -> Pair:
    """Return -a."""
    return negate(a[0]), negate(a[1])


def power(twist: Pair, wrench: Pair) -> Scalar:
    """Return the power of a wrench along a twist [W]."""
    return dot(twist[0], wrench[0]) + dot(twist[1], wrench[1])


def carried_twist(by: Pair, twist: Pair) -> Pair:
    """Return the rate of a twist that is carried along by the unit motion `by`."""
    v, w = by
    return add(cross(w, twist[0]), cross(v, twist[1])), cross(w, twist[1])


def carried_wrench(by: Pair, wrench: Pair) -> Pair:
    """Return the rate of a wrench that is carried along by the unit motion `by`."""
    v, w = by
    return cross(w, wrench[0]), add(cross(w, wrench[1]), cross(v, wrench[0]))


def moved_twist(frame: Frame, twist: Pair) -> Pair:
    """
    Return the twist of a body at the origin of `frame` and in its axes.

    :param frame: the frame.
    :param twist: the twist at the origin of its parent frame, in the axes of that.
    """
    v, omega = twist
    return frame.to_link(add(v, cross(omega, frame.origin))), frame.to_link(omega)


def moved_wrench(frame: Frame, wrench: Pair) -> Pair:
    """
    Return a wrench at the origin of the parent of `frame` and in the parent's axes.

    :param frame: the frame.
    :param wrench: force and moment about the origin of `frame`, in its axes.
    """
    force = frame.to_parent(wrench[0])
    return force, add(frame.to_parent(wrench[1]), cross(frame.origin, force))


def wrench_at_last_joint(chain: Chain, wrench: Sequence[Scalar]) -> Pair:
    """
    Return the wrench on the tip link as force and moment at O_n in E_n.

    :param chain: the robot; its `tip_pose` places the tip frame in E_n.
    :param wrench: (fx, fy, fz, tx, ty, tz) exerted by the environment on the tip link, at the
        origin of the tip frame and in its axes [N, N m].
    """
    return _wrench_at(chain.tip_pose, wrench)


def wrenches_at_joints(chain: Chain, wrench: Sequence[Scalar]) -> LinkWrenches:
    """
    Return the wrenches on the tip links as force and moment at O_i in E_i.

    :param chain: the robot.
    :param wrench: six entries for each of `chain.tips`, as for `wrench_at_last_joint`.
    """
    result: dict[int, Pair] = {}
    for k, tip in enumerate(chain.tips):
        at_joint = _wrench_at(tip.pose, wrench[6 * k:6 * k + 6])
        result[tip.joint] = summed(at_joint, result.get(tip.joint, ZERO_PAIR))
    return result


def _wrench_at(pose: Pose, wrench: Sequence[Scalar]) -> Pair:
    fx, fy, fz, tx, ty, tz = wrench
    return moved_wrench(FixedFrame.at(pose), ((fx, fy, fz), (tx, ty, tz)))


def wrench_on_environment(wrench: Pair | None) -> Pair:
    """
    Return what link n exerts beyond itself: where the inward recursions start.

    :param wrench: force and moment at O_n in E_n exerted by the environment; None = nothing.
    """
    return ZERO_PAIR if wrench is None else negated(wrench)


def wrenches_on_environment(wrench: Pair | LinkWrenches | None, n: int) -> list[Pair]:
    """
    Return what the links 0..n exert beyond the robot: where the inward recursions start.

    :param wrench: exerted by the environment: at O_n in E_n, or by link; None = nothing.
    :param n: number of links.
    """
    result = [ZERO_PAIR] * (n + 1)
    if wrench is not None:
        for link, pair in (wrench if isinstance(wrench, Mapping) else {n: wrench}).items():
            result[link] = negated(pair)
    return result
