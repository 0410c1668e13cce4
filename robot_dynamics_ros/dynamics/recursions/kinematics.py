# SPDX-License-Identifier: Apache-2.0
"""
Kinematics: where the links are, and how the tip moves with the joints.

Outward from the base every frame costs twelve multiplications where the axes are parallel or
perpendicular. Seen from the tip, the same recursion runs inward: that gives a Jacobian in the axes
of the tip for the same price, without turning it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.recursions.mass_matrix import ScalarRows
from robot_dynamics_ros.dynamics.scalars.frames import FixedFrame, JointFrame, TurnedFrame
from robot_dynamics_ros.dynamics.scalars.pair import ZERO_PAIR, Pair, moved_twist
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Scalar,
    Vector,
    add,
    cross,
    negate,
    scale,
    subtract,
)


@dataclass(frozen=True)
class Place:
    """
    A frame seen from another one.

    :param x: its unit vector x.
    :param y: its unit vector y.
    :param z: its unit vector z: the axis of its joint.
    :param origin: its origin [m].
    """

    x: Vector
    y: Vector
    z: Vector
    origin: Vector

    @classmethod
    def at(cls, frame: FixedFrame) -> Place:
        """Return the place of a frame in its parent."""
        x, y, z = zip(*frame.rotation)
        return cls(x, y, z, frame.origin)

    def turned(self, v: Vector) -> Vector:
        """Return a vector given in the axes of the frame in those that it is seen from."""
        return add(add(scale(v[0], self.x), scale(v[1], self.y)), scale(v[2], self.z))

    def fixed(self, frame: FixedFrame) -> Place:
        """Return the place of a frame that is fixed to this one."""
        inner = Place.at(frame)
        return Place(self.turned(inner.x), self.turned(inner.y), self.turned(inner.z),
                     add(self.origin, self.turned(inner.origin)))

    def moved(self, frame: JointFrame) -> Place:
        """Return the place of a joint frame whose parent this is: Tx(b) Rx(beta) Tz(d) Rz."""
        if frame.branch is not None:
            return self._turned_about_z(frame.branch, 1.0).moved(frame.inner)
        y = add(scale(frame.cb, self.y), scale(frame.sb, self.z))
        z = subtract(scale(frame.cb, self.z), scale(frame.sb, self.y))
        return Place(add(scale(frame.c, self.x), scale(frame.s, y)),
                     subtract(scale(frame.c, y), scale(frame.s, self.x)), z,
                     add(self.origin, add(scale(frame.b, self.x), scale(frame.d, z))))

    def parent(self, frame: JointFrame) -> Place:
        """Return the place of the parent of a joint frame that is here."""
        if frame.branch is not None:
            return self.parent(frame.inner)._turned_about_z(frame.branch, -1.0)
        x = subtract(scale(frame.c, self.x), scale(frame.s, self.y))
        y = add(scale(frame.s, self.x), scale(frame.c, self.y))
        return Place(x, subtract(scale(frame.cb, y), scale(frame.sb, self.z)),
                     add(scale(frame.sb, y), scale(frame.cb, self.z)),
                     subtract(self.origin, add(scale(frame.b, x), scale(frame.d, self.z))))

    def _turned_about_z(self, branch: TurnedFrame, sense: float) -> Place:
        """Return the place of `branch` (sense 1), or of the frame whose branch is here (-1)."""
        c, s = branch.cg, sense * branch.sg
        return Place(add(scale(c, self.x), scale(s, self.y)),
                     subtract(scale(c, self.y), scale(s, self.x)), self.z,
                     add(self.origin, scale(sense * branch.epsilon, self.z)))

    @property
    def matrix(self) -> list[list[Scalar]]:
        """The homogeneous matrix (4, 4)."""
        rows = zip(self.x, self.y, self.z, self.origin)
        return [*(list(row) for row in rows), [0.0, 0.0, 0.0, 1.0]]


def places(frames: Sequence[JointFrame], base: FixedFrame) -> list[Place]:
    """
    Return the places of E_0..E_n in the frame of the base link.

    :param frames: E_0..E_n from `joint_frames`.
    :param base: E_0 in the frame of the base link.
    """
    result = [Place.at(base)]
    for frame in frames[1:]:
        result.append(result[frame.parent].moved(frame))
    return result


def places_from_tip(frames: Sequence[JointFrame], tip: FixedFrame, joint: int) -> list[Place]:
    """
    Return the places of E_0..E_n in the frame of the tip link.

    Frames of joints that do not carry the tip are left where the tip is: nobody asks for them.

    :param frames: E_0..E_n from `joint_frames`.
    :param tip: frame of the tip link in E_n.
    :param joint: number of the joint that carries the tip link.
    """
    x, y, z = tip.rotation  # rows: the axes of E_n, seen from the tip
    place = Place(x, y, z, negate(tip.to_link(tip.origin)))
    result = [place] * len(frames)
    number = joint
    while number > 0:
        result[number] = place
        place, number = place.parent(frames[number]), frames[number].parent
    result[0] = place
    return result


def jacobian(frames: Sequence[JointFrame], seen: Sequence[Place], point: Vector,
             joint: int) -> ScalarRows:
    """
    Return J (6, n): velocity of a point of the tip link and angular velocity, per joint velocity.

    :param frames: E_0..E_n from `joint_frames`.
    :param seen: places of E_0..E_n in the frame whose axes are used.
    :param point: the point, in that frame [m].
    :param joint: number of the joint that carries the tip link. Joints that do not carry it
        have columns of zeros.
    """
    columns: list[tuple[Scalar, ...]] = [(*ZERO, *ZERO)] * (len(frames) - 1)
    number = joint
    while number > 0:
        frame, place = frames[number], seen[number]
        columns[number - 1] = (
            (*cross(place.z, subtract(point, place.origin)), *place.z) if frame.revolute
            else (*place.z, *ZERO))
        number = frame.parent
    return [list(row) for row in zip(*columns)]


def link_velocities(frames: Sequence[JointFrame], qd: Sequence[Scalar]) -> list[Pair]:
    """
    Return V_j and omega_j of links 0..n in E_j (Khalil & Dombre 9.17, 9.18); entry 0 is the base.

    :param frames: E_0..E_n from `joint_frames`.
    :param qd: n joint velocities [rad/s, m/s].
    """
    result = [ZERO_PAIR]
    for frame, speed in zip(frames[1:], qd):
        (x, y, z), (wx, wy, wz) = moved_twist(frame, result[frame.parent])
        result.append(((x, y, z), (wx, wy, wz + speed)) if frame.revolute
                      else ((x, y, z + speed), (wx, wy, wz)))
    return result
