# SPDX-License-Identifier: Apache-2.0
"""
What the geometry of a chain decides about its minimal parameters (Lin 1995, Theorem 2).

Everything here holds for all joint positions, not for one configuration: three parallel axes
whose offsets cancel at q = 0 only are still three different axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain

#: Unit vector of floats.
Direction = tuple[float, float, float]

#: Sine of an angle, or distance [m], below which axes are parallel, perpendicular or coincident.
GEOMETRIC_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Structure:
    """
    Joint groups of a chain; joints are counted 1..n, n + 1 means "there is none".

    :param r: first revolute joint.
    :param s: first revolute joint after r whose axis is not parallel to that of joint r
        (antiparallel counts as parallel).
    :param delta: n + 1 flags, entry 0 unused: revolute joint i has first moments k_x, k_y that
        act on the torque. Always true from joint s on, false for a prismatic joint.
    :param sigma: n + 1 flags, entry 0 unused: prismatic joint i with r < i < s is not parallel
        to joint r, so that kappa_1 and kappa_2 act on the torque.
    :param u_r: axis of joint r in the frame E_i, for r <= i < s (there it is constant).
    """

    r: int
    s: int
    delta: tuple[bool, ...]
    sigma: tuple[bool, ...]
    u_r: Mapping[int, Direction]


def parallel(a: Array, b: Array) -> bool:
    """Return whether two vectors are parallel or antiparallel; a zero vector always is."""
    size = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return float(np.linalg.norm(np.cross(a, b))) <= GEOMETRIC_TOLERANCE * size


def perpendicular(a: Array, b: Array) -> bool:
    """Return whether two vectors are perpendicular; a zero vector always is."""
    size = float(np.linalg.norm(a)) * float(np.linalg.norm(b))
    return abs(float(a @ b)) <= GEOMETRIC_TOLERANCE * size


def structure(chain: Chain) -> Structure:
    """Return the joint groups of `chain`, decided by geometry and gravity for generic q."""
    n = len(chain)
    revolute = [False, *(joint.revolute for joint in chain.joints)]
    r = next((i for i in range(1, n + 1) if revolute[i]), n + 1)
    u_r, s = _axis_of_joint_r(chain, r)
    delta = [revolute[i] and i >= s for i in range(n + 1)]
    sigma = [not revolute[i] and i in u_r and not _along_z(u_r[i]) for i in range(n + 1)]
    moves = not _gravity_and_rails_along(chain, r)
    offset = np.zeros(3)
    for i in range(r, s):
        if i > r:
            pose = chain.joints[i - 1].pose()
            offset = pose.rotation.T @ (offset + pose.translation)
        if revolute[i]:
            # joints between two revolute ones slide along u_r, else `moves` is already true
            moves = moves or float(np.linalg.norm(offset[:2])) > GEOMETRIC_TOLERANCE
            delta[i] = moves
            offset = np.zeros(3)
        moves = moves or sigma[i]
    return Structure(r, s, tuple(delta), tuple(sigma), MappingProxyType(u_r))


def parameter_bound(chain: Chain) -> int:
    """
    Return Khalil & Dombre's upper bound (9.61) of the number of minimal parameters.

    It is exact where joints 1 and 2 are revolute and not parallel, or for one joint; else it may
    be far too large: the sets themselves have the exact number.
    """
    rotary = [joint.revolute for joint in chain.joints]
    along = rotary[0] and parallel(chain.joints[0].pose().rotation[:, 2],
                                   chain.gravity_in_frame_0)
    return 7 * sum(rotary) + 4 * (len(rotary) - sum(rotary)) - 3 - rotary[0] - 2 * along


def meeting_points(chain: Chain) -> dict[int, float]:
    """
    Return where the axes of joints 1..j meet in one point, whatever the joint positions are.

    :returns: by joint j (counted from 1) the coordinate of the point along z_j from O_j [m]. Only
        joints with nothing but revolute ones before them, and from the first on whose axis is
        not that of joint 1.
    """
    points: dict[int, float] = {}
    point: float | None = None  # along z_j; None: the axes so far are one line
    for j, joint in enumerate(chain.joints, start=1):
        if not joint.revolute or (j > 1 and abs(joint.b) > GEOMETRIC_TOLERANCE):
            break
        cosine, sine = float(np.cos(joint.beta)), float(np.sin(joint.beta))
        if j > 1 and abs(sine) <= GEOMETRIC_TOLERANCE:
            point = None if point is None else cosine * point - joint.d
        elif j > 1:  # b = 0: this axis and the one before meet in O_(j-1)
            if point is not None and abs(point) > GEOMETRIC_TOLERANCE:
                break
            point = -joint.d
        if point is not None:
            points[j] = 0.0 if abs(point) <= GEOMETRIC_TOLERANCE else point
    return points


def _along_z(u: Direction) -> bool:
    return parallel(np.array(u), np.array([0.0, 0.0, 1.0]))


def _axis_of_joint_r(chain: Chain, r: int) -> tuple[dict[int, Direction], int]:
    """Return the axis of joint r in the frames r <= i < s, and s."""
    u = {r: (0.0, 0.0, 1.0)} if r <= len(chain) else {}
    for i in range(r + 1, len(chain) + 1):
        joint = chain.joints[i - 1]
        axis = _without_dust(joint.pose().rotation.T @ np.array(u[i - 1]))
        if joint.revolute and not _along_z(axis):
            return u, i
        u[i] = axis
    return u, len(chain) + 1


def _without_dust(axis: Array) -> Direction:
    """Return a unit vector whose almost exact components are exact."""
    exact = np.where(np.abs(axis) <= GEOMETRIC_TOLERANCE, 0.0, axis)
    x, y, z = exact / np.linalg.norm(exact)
    return float(x), float(y), float(z)


def _gravity_and_rails_along(chain: Chain, r: int) -> bool:
    """Return whether gravity and all prismatic joints before r are parallel to joint r."""
    if r > len(chain):
        return False
    R_0 = np.eye(3)
    axes = []
    for joint in chain.joints[:r]:
        R_0 = R_0 @ joint.pose().rotation
        axes.append(R_0[:, 2])
    return all(parallel(axes[-1], v) for v in (chain.gravity_in_frame_0, *axes[:-1]))
