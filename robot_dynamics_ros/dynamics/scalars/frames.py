# SPDX-License-Identifier: Apache-2.0
"""
Normal driving-axis frames at a joint position, over scalars (Lin 1995 (4)-(5), fig. 1).

E_i in E_(i-1) is Tx(b) Rx(beta) Tz(d) Rz(theta): two planar rotations, so that a vector changes
its frame with 8 multiplications and 4 additions, fewer where the geometry is special. In a tree
the parent of E_i is E_a(i), and a third planar rotation comes first where a link carries several
joints (Khalil & Dombre, chapter 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint import exact_cos_sin
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.dynamics.scalars.vector import (
    Function,
    Matrix,
    Scalar,
    Vector,
    add,
    multiply,
    symmetric,
    transpose,
    vector,
)


class Frame(Protocol):
    """A frame in its parent: where its origin is, and how vectors change between the two."""

    @property
    def origin(self) -> Vector:
        """Origin in the parent frame [m]."""

    def to_parent(self, v: Vector) -> Vector:
        """Return the coordinates in the parent frame of a vector given in this one."""

    def to_link(self, v: Vector) -> Vector:
        """Return the coordinates in this frame of a vector given in the parent frame."""


@dataclass(frozen=True)
class FixedFrame:
    """
    A frame fixed to a link, at any pose: the tip, or a payload.

    :param rotation: axes of the frame as columns in the axes of the link.
    :param origin: its origin in the frame of the link [m].
    """

    rotation: Matrix
    origin: Vector

    @classmethod
    def at(cls, pose: Pose) -> FixedFrame:
        """Return the frame at `pose` in the frame of its link."""
        a, b, c = (vector(row) for row in pose.rotation)
        return cls((a, b, c), vector(pose.translation))

    def to_parent(self, v: Vector) -> Vector:
        """Return the coordinates in the frame of the link."""
        return multiply(self.rotation, v)

    def to_link(self, v: Vector) -> Vector:
        """Return the coordinates in this frame of a vector given in the frame of the link."""
        return multiply(transpose(self.rotation), v)


@dataclass(frozen=True)
class TurnedFrame:
    """
    A frame Rz(gamma) Tz(epsilon) in a link: where the place of a further joint starts from.

    :param cg: cosine of gamma.
    :param sg: sine of gamma.
    :param epsilon: offset along z [m].
    """

    cg: float
    sg: float
    epsilon: float

    @property
    def origin(self) -> Vector:
        """Origin in the frame of the link [m]."""
        return (0.0, 0.0, self.epsilon)

    def to_parent(self, v: Vector) -> Vector:
        """Return the coordinates in the frame of the link."""
        x, y, z = v
        return (self.cg * x - self.sg * y, self.sg * x + self.cg * y, z)

    def to_link(self, v: Vector) -> Vector:
        """Return the coordinates in this frame of a vector given in the frame of the link."""
        x, y, z = v
        return (self.cg * x + self.sg * y, self.cg * y - self.sg * x, z)

    def tensor_to_parent(self, tensor: Matrix) -> Matrix:
        """Return R X R^T for a symmetric X given in this frame."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = tensor
        xx, xy, yy = _turned(self.cg, self.sg, xx, xy, yy)
        return symmetric(xx, xy, self.cg * xz - self.sg * yz, yy, self.sg * xz + self.cg * yz, zz)

    def matrix_to_parent(self, matrix: Matrix) -> Matrix:
        """Return R X R^T for any X given in this frame."""
        return _turned_matrix(self.cg, self.sg, matrix, 2)


@dataclass(frozen=True)
class JointFrame:
    """
    The frame E_i in its parent: E_(i-1) in a serial chain.

    :param revolute: True for a revolute joint (Lin's K*), False for a prismatic one (K).
    :param b: distance along x_(i-1) [m], constant.
    :param cb: cosine of the constant angle beta about x_(i-1).
    :param sb: sine of beta.
    :param d: offset along z_i [m]; holds q of a prismatic joint.
    :param c: cosine of theta about z_i; theta holds q of a revolute joint.
    :param s: sine of theta.
    :param parent: number of the parent frame; 0 = the base.
    """

    revolute: bool
    b: float
    cb: float
    sb: float
    d: Scalar
    c: Scalar
    s: Scalar
    parent: int = 0

    @property
    def branch(self) -> TurnedFrame | None:
        """Frame in the parent that b, beta, d, theta start from; None = the parent's own."""
        return None

    @property
    def inner(self) -> JointFrame:
        """This frame, seen from `branch`."""
        return self

    @property
    def foot(self) -> Vector:
        """Where the origin would be in the parent at d = 0 [m]."""
        return (self.b, 0.0, 0.0)

    @property
    def rotation(self) -> Matrix:
        """R_i (5): the axes of E_i as columns in E_(i-1)."""
        c, s, cb, sb = self.c, self.s, self.cb, self.sb
        return ((c, -s, 0.0), (s * cb, c * cb, -sb), (s * sb, c * sb, cb))

    @property
    def origin(self) -> Vector:
        """s_i: from O_(i-1) to O_i in E_(i-1) [m] (4)."""
        return (self.b, -self.d * self.sb, self.d * self.cb)

    @property
    def axis_in_parent(self) -> Vector:
        """Unit vector z_i in E_(i-1), constant."""
        return (0.0, -self.sb, self.cb)

    def to_parent(self, v: Vector) -> Vector:
        """Return the coordinates in E_(i-1) of a vector given in E_i: R_i v."""
        x, y, z = v
        t = self.s * x + self.c * y
        return (self.c * x - self.s * y, self.cb * t - self.sb * z, self.sb * t + self.cb * z)

    def to_link(self, v: Vector) -> Vector:
        """Return the coordinates in E_i of a vector given in E_(i-1): R_i^T v."""
        x, y, z = v
        t = self.cb * y + self.sb * z
        return (self.c * x + self.s * t, self.c * t - self.s * x, self.cb * z - self.sb * y)

    def tensor_to_parent(self, tensor: Matrix) -> Matrix:
        """Return R_i X R_i^T for a symmetric X given in E_i."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = tensor
        xx, xy, yy = _turned(self.c, self.s, xx, xy, yy)
        xz, yz = self.c * xz - self.s * yz, self.s * xz + self.c * yz
        yy, yz, zz = _turned(self.cb, self.sb, yy, yz, zz)
        xy, xz = self.cb * xy - self.sb * xz, self.sb * xy + self.cb * xz
        return symmetric(xx, xy, xz, yy, yz, zz)

    def matrix_to_parent(self, matrix: Matrix) -> Matrix:
        """Return R_i X R_i^T for any X given in E_i."""
        return _turned_matrix(self.cb, self.sb, _turned_matrix(self.c, self.s, matrix, 2), 0)


@dataclass(frozen=True)
class BranchFrame(JointFrame):
    """
    The frame of a joint that is not the first one its link carries.

    Where the recursions use b, beta, d or theta themselves, they go from `branch` to this frame.

    :param turned: the frame in the parent that b, beta, d, theta start from.
    """

    turned: TurnedFrame = TurnedFrame(1.0, 0.0, 0.0)

    @property
    def branch(self) -> TurnedFrame | None:
        """Frame in the parent that b, beta, d, theta start from."""
        return self.turned

    @property
    def inner(self) -> JointFrame:
        """This frame, seen from `branch`."""
        return JointFrame(self.revolute, self.b, self.cb, self.sb, self.d, self.c, self.s,
                          self.parent)

    @property
    def foot(self) -> Vector:
        """Where the origin would be in the parent at d = 0 [m]."""
        return add(self.turned.to_parent(super().foot), self.turned.origin)

    @property
    def rotation(self) -> Matrix:
        """The axes of E_i as columns in the parent."""
        a, b, c = (self.turned.to_parent(column) for column in transpose(super().rotation))
        return transpose((a, b, c))

    @property
    def origin(self) -> Vector:
        """Origin of E_i in the parent [m]."""
        return add(self.turned.to_parent(super().origin), self.turned.origin)

    @property
    def axis_in_parent(self) -> Vector:
        """Unit vector z_i in the parent, constant."""
        return self.turned.to_parent(super().axis_in_parent)

    def to_parent(self, v: Vector) -> Vector:
        """Return the coordinates in the parent of a vector given in E_i."""
        return self.turned.to_parent(super().to_parent(v))

    def to_link(self, v: Vector) -> Vector:
        """Return the coordinates in E_i of a vector given in the parent."""
        return super().to_link(self.turned.to_link(v))

    def tensor_to_parent(self, tensor: Matrix) -> Matrix:
        """Return R X R^T for a symmetric X given in E_i."""
        return self.turned.tensor_to_parent(super().tensor_to_parent(tensor))

    def matrix_to_parent(self, matrix: Matrix) -> Matrix:
        """Return R X R^T for any X given in E_i."""
        return self.turned.matrix_to_parent(super().matrix_to_parent(matrix))


def _turned(c: Scalar, s: Scalar, aa: Scalar, ab: Scalar,
            bb: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Return the entries aa, ab, bb of a symmetric matrix turned in the plane of a and b."""
    if isinstance(s, float) and s == 0.0:  # a constant angle 0 or pi
        return aa, ab, bb
    if isinstance(c, float) and c == 0.0:  # a constant right angle
        return bb, -ab, aa
    p = s * (aa - bb) + c * (ab + ab)
    return aa - s * p, c * p - ab, bb + s * p


def _turned_matrix(c: Scalar, s: Scalar, matrix: Matrix, k: int) -> Matrix:
    """Return R X R^T of a rotation about axis k."""
    i, j = (k + 1) % 3, (k + 2) % 3
    X = [list(row) for row in matrix]
    aa, ab, ba, bb = X[i][i], X[i][j], X[j][i], X[j][j]
    if isinstance(s, float) and s == 0.0:  # a constant angle 0 or pi
        pass
    elif isinstance(c, float) and c == 0.0:  # a constant right angle
        X[i][i], X[i][j], X[j][i], X[j][j] = bb, -ba, -ab, aa
    else:
        p = s * (aa - bb) + c * (ab + ba)
        X[i][i], X[i][j] = aa - s * p, c * p - ba
        X[j][i], X[j][j] = c * p - ab, bb + s * p
    X[i][k], X[j][k] = c * X[i][k] - s * X[j][k], s * X[i][k] + c * X[j][k]
    X[k][i], X[k][j] = c * X[k][i] - s * X[k][j], s * X[k][i] + c * X[k][j]
    first, second, third = (vector(row) for row in X)
    return first, second, third


#: The base: list entry 0, so that ``frames[i]`` is the paper's E_i.
BASE_FRAME = JointFrame(revolute=False, b=0.0, cb=1.0, sb=0.0, d=0.0, c=1.0, s=0.0)


def joint_frames(chain: Chain, q: Sequence[Scalar], cos: Function,
                 sin: Function) -> list[JointFrame]:
    """
    Return the frames of the base and of the m moving joints; entry 0 is the base.

    :param chain: the robot.
    :param q: n joint positions [rad, m], scalars.
    :param cos: cosine of such a scalar.
    :param sin: sine of such a scalar.
    """
    frames = [BASE_FRAME]
    for joint, parent, position in zip(chain.moving, chain.parents, chain.moving_positions(q)):
        cb, sb = exact_cos_sin(joint.beta)
        d, theta = joint.d, joint.theta
        if joint.revolute:
            angle = position + theta
            c, s = cos(angle), sin(angle)
        else:
            d, (c, s) = position + d, exact_cos_sin(theta)
        if not joint.branches_off:
            frames.append(JointFrame(joint.revolute, joint.b, cb, sb, d, c, s, parent))
        else:
            turned = TurnedFrame(*exact_cos_sin(joint.gamma), joint.epsilon)
            frames.append(BranchFrame(joint.revolute, joint.b, cb, sb, d, c, s, parent, turned))
    return frames


def gravity_vector(chain: Chain) -> Vector:
    """Return the gravitational acceleration in E_0 [m/s^2] as three floats."""
    return vector(chain.gravity_in_frame_0)
