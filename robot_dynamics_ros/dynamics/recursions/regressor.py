# SPDX-License-Identifier: Apache-2.0
"""
The regressor Y with tau = Y x, x the ten standard parameters of every link.

Column k of link j is the torque that one unit of that parameter needs. Its wrench is local to
link j (Khalil & Dombre 9.88-9.89); the work it does along the unit twist of joint i, carried
outward to E_j, is the entry (i, 10 j + k). Carrying twists outward and taking dot products needs
about two thirds of the operations of pushing every column's wrench inward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.dynamics.recursions.motion import (
    LinkMotion,
    link_motion,
    motion_of_fixed_frame,
)
from robot_dynamics_ros.dynamics.scalars.frames import (
    FixedFrame,
    Frame,
    JointFrame,
    gravity_vector,
)
from robot_dynamics_ros.dynamics.scalars.pair import ZERO_PAIR, Pair, moved_twist
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.dynamics.scalars.vector import ZERO, Scalar, Vector


def link_twists(frames: Sequence[JointFrame], payload: FixedFrame | None = None,
                carrier: int | None = None) -> list[list[Pair]]:
    """
    Return the unit twists of the joints in every link frame: ``[j][i - 1]`` is joint i in E_j.

    The twist is (velocity of O_j, angular velocity of link j) at unit velocity of joint i alone;
    ZERO_PAIR where joint i does not carry link j.

    :param frames: E_0..E_n from `joint_frames`.
    :param payload: a frame fixed to a link, its twists come last; None = none.
    :param carrier: number of that link; None = n.
    """
    twists: list[list[Pair]] = [[]]
    z: Vector = (0.0, 0.0, 1.0)
    for j, frame in enumerate(frames[1:]):
        own = (ZERO, z) if frame.revolute else (z, ZERO)
        seen = [_seen(frame, twist) for twist in twists[frame.parent]]
        twists.append([*seen, *[ZERO_PAIR] * (j - len(seen)), own])
    if payload is not None:
        seen = [_seen(payload, twist) for twist in twists[-1 if carrier is None else carrier]]
        twists.append(seen + [ZERO_PAIR] * (len(frames) - 1 - len(seen)))
    return twists


def _seen(frame: Frame, twist: Pair) -> Pair:
    return ZERO_PAIR if twist is ZERO_PAIR else moved_twist(frame, twist)


def twist_powers(motion: LinkMotion, twist: Pair) -> list[Scalar]:
    """
    Return the power of the wrenches of ten unit parameters along a twist: ten regressor entries.

    :param motion: motion of the link.
    :param twist: velocity of O_j and angular velocity, in E_j.
    """
    (vx, vy, vz), (tx, ty, tz) = twist
    U, (yz, zx, xy) = motion.U, motion.products
    ax, ay, az = motion.omega_dot
    gx, gy, gz = motion.acceleration
    # columns of (9.89) for the tensor, of (9.88) and (9.89) for first moment and mass
    return [tx * ax + ty * zx - tz * xy,
            ty * U[2][1] - tx * U[2][0] + tz * (U[0][0] - U[1][1]),
            tx * U[1][0] - tz * U[1][2] + ty * (U[2][2] - U[0][0]),
            ty * ay + tz * xy - tx * yz,
            tz * U[0][2] - ty * U[0][1] + tx * (U[1][1] - U[2][2]),
            tz * az + tx * yz - ty * zx,
            vx * U[0][0] + vy * U[1][0] + vz * U[2][0] + tz * gy - ty * gz,
            vx * U[0][1] + vy * U[1][1] + vz * U[2][1] + tx * gz - tz * gx,
            vx * U[0][2] + vy * U[1][2] + vz * U[2][2] + ty * gx - tx * gy,
            vx * gx + vy * gy + vz * gz]


def regressor_rows(motion: Sequence[LinkMotion],
                   twists: Sequence[Sequence[Pair]]) -> list[list[Scalar]]:
    """
    Return Y from the motion of the links and the joint twists in their frames.

    :param motion: motion of links 0..n, and of a payload; from `link_motion` or an equal.
    :param twists: unit twists of the joints from `link_twists`.
    """
    n = len(twists[-1])
    rows: list[list[Scalar]] = [[0.0] * (10 * i) for i in range(n)]
    for link, seen in zip(motion[1:], twists[1:]):
        for row, twist in zip(rows, seen):
            row += [0.0] * 10 if twist is ZERO_PAIR else twist_powers(link, twist)
    return rows


def regressor_array(motion: Sequence[LinkMotion], frames: Sequence[JointFrame]) -> Array:
    """
    Return Y of numbers as `regressor_rows` does, transposed: (10 n, n), or (10 n, n, N) of rows.

    All joints, and then all links, are calculated at once: a scalar is an array (n, ...) in the
    twists and (n, n, ...) in the entries. Long chains need a fraction of the time.

    :param motion: motion of links 0..n, from `link_motion` or an equal.
    :param frames: E_0..E_n from `joint_frames`.
    """
    n, states = len(frames) - 1, np.shape(frames[-1].s if frames[-1].revolute else frames[-1].d)
    twists = np.zeros((n + 1, 6, n, *states))
    for j, frame in enumerate(frames[1:], 1):
        twists[j] = np.concatenate(moved_twist(frame, _pair(twists[frame.parent])))
        twists[j, 5 if frame.revolute else 2, j - 1] = 1.0
    links = LinkMotion(*(_stacked([getattr(link, name) for link in motion[1:]], states)
                         for name in ('omega', 'omega_dot', 'acceleration', 'U', 'products')))
    powers = twist_powers(links, _pair(twists[1:].swapaxes(0, 1)))
    return np.stack(powers, axis=1).reshape(10 * n, n, *states)


def _pair(parts: Array) -> Pair:
    vx, vy, vz, wx, wy, wz = parts
    return (vx, vy, vz), (wx, wy, wz)


def _stacked(values: Sequence[Any], states: tuple[int, ...]) -> Any:
    """Return vectors or matrices of n links as one whose scalars are arrays (n, 1, ...)."""
    if isinstance(values[0], tuple):
        return tuple(_stacked(parts, states) for parts in zip(*values))
    result = np.empty((len(values), 1, *states))
    for place, value in zip(result, values):
        place[...] = value
    return result


def regressor(frames: Sequence[JointFrame], qd: Sequence[Scalar], qdd: Sequence[Scalar],
              gravity: Vector, payload: FixedFrame | None = None,
              carrier: int | None = None) -> list[list[Scalar]]:
    """
    Return Y as n rows of 10 n scalars; entries of links that a joint does not carry are 0.0.

    With a payload there are ten more columns: its standard parameters in its own frame.

    :param frames: E_0..E_n from `joint_frames`.
    :param qd: n joint velocities [rad/s, m/s].
    :param qdd: n joint accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    :param payload: frame of the payload in that of its link; None = no payload.
    :param carrier: number of that link; None = n.
    """
    motion = link_motion(frames, qd, qdd, gravity)
    if payload is not None:
        motion.append(motion_of_fixed_frame(motion[-1 if carrier is None else carrier], payload))
    return regressor_rows(motion, link_twists(frames, payload, carrier))


def standard_regressor(chain: Chain, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                       payload: Pose | None = None, tip: str | None = None) -> Array:
    """
    Return Y (n, 10 m) or (N, n, 10 m) with tau = Y x, x = ``chain.standard_parameters``.

    With a payload there are ten more columns: its standard parameters in its own frame.

    :param chain: the robot; its inertias are not used.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param qd: joint velocities [rad/s, m/s], same shape.
    :param qdd: joint accelerations [rad/s^2, m/s^2], same shape.
    :param payload: frame of a payload, in the frame of its tip link; None = no payload.
    :param tip: name of that tip link; None = the first one.
    """
    state = Samples.of(chain, q=q, qd=qd, qdd=qdd)
    end = chain.tip_called(tip) if payload is not None else chain.tips[0]
    frame = None if payload is None else FixedFrame.at(end.pose @ payload)
    rows = regressor(state.frames, chain.moving_rates(state['qd']),
                     chain.moving_rates(state['qdd']), gravity_vector(chain), frame, end.joint)
    return state.matrix(reduced_rows(chain, rows))


def reduced_rows(chain: Chain, rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """
    Return the rows that the n joints feel of those of all m moving joints: G^T Y.

    :param chain: the robot.
    :param rows: m rows.
    """
    if not chain.followers:
        return [list(row) for row in rows]
    return [list(row) for row in zip(*(chain.joint_sums(column) for column in zip(*rows)))]


def reduced_matrix(chain: Chain, matrix: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """
    Return a matrix of all m moving joints as the n joints have it: G^T A G.

    :param chain: the robot.
    :param matrix: m rows of m scalars.
    """
    return [chain.joint_sums(row) for row in reduced_rows(chain, matrix)]
