# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of the rigid-body torque by position and velocity, and the mass matrix, in one sweep.

The equations are those of Singh, Russell & Wensing (IEEE RA-L 7, 2022) for joints with one degree
of freedom. With S the unit motion of a joint, ``P = v x S`` and ``Q = a x S + v x P`` the first
and second rate of change of S that its parent's motion causes, and I, B, f inertia, its rate of
change (in the form of the Christoffel symbols) and force of the links outside of joint i,

    d tau_i / dq_j  = S_i . (2 B P_j + I Q_j)                 for j = i or an ancestor of i,
    d tau_j / dq_i  = S_j . (2 B P_i + I Q_i + S_i x* f),
    d tau_i / dqd_j = 2 S_i . (B S_j + I P_j),
    d tau_j / dqd_i = 2 S_j . (B S_i + I P_i).

B maps an angular velocity to a force ``-e x w / 2`` and to a moment ``D w / 2``, and nothing else.
Everything of link i is at O_i, in E_i and relative to the velocity of O_i: then P and Q have no
velocities in them but the angular one, and Q of a revolute joint is (acceleration x z, U z) with
the U of Khalil & Dombre 9.90, known from the torque. Half of d tau / dqd is Christoffel's C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from robot_dynamics_ros.dynamics.recursions.composite import mixed_moments
from robot_dynamics_ros.dynamics.recursions.mass_matrix import ScalarRows
from robot_dynamics_ros.dynamics.recursions.motion import LinkMotion
from robot_dynamics_ros.dynamics.recursions.newton_euler import link_wrench
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame, TurnedFrame
from robot_dynamics_ros.dynamics.scalars.pair import (
    ZERO_PAIR,
    LinkWrenches,
    Pair,
    summed,
    wrenches_on_environment,
)
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    add_matrices,
    cross,
    dot,
    multiply,
    multiply_matrices,
    outer,
    scale,
    skew,
    symmetric,
    transpose,
)


@dataclass(frozen=True)
class TorqueDerivatives:
    """
    The torque of the rigid links at one state, and how it changes.

    :param torque: n torques [N m, N].
    :param by_q: n rows of n derivatives by the positions.
    :param by_qd: n rows of n derivatives by the velocities.
    :param by_qdd: n rows of n derivatives by the accelerations: the mass matrix of the links.
    """

    torque: list[Scalar]
    by_q: ScalarRows
    by_qd: ScalarRows
    by_qdd: ScalarRows


@dataclass(frozen=True)
class _Composite:
    """
    Links that move as one body for the joints inside of them, at O_i in E_i.

    :param mass: mass [kg].
    :param h: first moment [kg m].
    :param J: inertia tensor [kg m^2].
    :param e: twice the momentum relative to O_i [kg m/s].
    :param D: twice the angular part of B [kg m^2/s].
    :param wrench: force and moment that move them [N, N m].
    """

    mass: Scalar
    h: Vector
    J: Matrix
    e: Vector
    D: Matrix
    wrench: Pair

    @classmethod
    def of_link(cls, parameters: Sequence[Scalar], omega: Vector, wrench: Pair) -> _Composite:
        """Return one link: e = 2 omega x h, D = omega x (2 J - trace(J))."""
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = parameters
        h = (MX, MY, MZ)
        N = symmetric(XX - (YY + ZZ), XY + XY, XZ + XZ, YY - (XX + ZZ), YZ + YZ, ZZ - (XX + YY))
        return cls(M, h, symmetric(XX, XY, XZ, YY, YZ, ZZ), cross(omega, add(h, h)),
                   multiply_matrices(skew(omega), N), wrench)

    def __add__(self, other: _Composite) -> _Composite:
        return _Composite(self.mass + other.mass, add(self.h, other.h),
                          add_matrices(self.J, other.J), add(self.e, other.e),
                          add_matrices(self.D, other.D), summed(self.wrench, other.wrench))

    def shifted(self, s: Vector, c: Vector) -> _Composite:
        """
        Return the same at another point.

        :param s: vector from the new point to the old one [m].
        :param c: velocity of the old point relative to the new one [m/s].
        """
        twice = add(c, c)
        e = add(self.e, scale(self.mass, twice))
        half = add(self.h, scale(0.5 * self.mass, s))
        D = add_matrices(self.D, add_matrices(_double_cross(twice, self.h), _double_cross(e, s)))
        force, moment = self.wrench
        return _Composite(self.mass, add(self.h, scale(self.mass, s)),
                          add_matrices(self.J, mixed_moments(s, half)), e, D,
                          (force, add(moment, cross(s, force))))

    def turned(self, frame: JointFrame | TurnedFrame) -> _Composite:
        """Return the same in the axes of the parent frame."""
        return _Composite(self.mass, frame.to_parent(self.h), frame.tensor_to_parent(self.J),
                          frame.to_parent(self.e), frame.matrix_to_parent(self.D),
                          (frame.to_parent(self.wrench[0]), frame.to_parent(self.wrench[1])))


def _double_cross(a: Vector, b: Vector) -> Matrix:
    """Return -[b]x [a]x = (a . b) 1 - a b^T."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = outer(a, b)
    return ((yy + zz, -xy, -xz), (-yx, xx + zz, -yz), (-zx, -zy, xx + yy))


@dataclass(frozen=True)
class _Wrenches:
    """
    What joint i needs of the joints inside of it, at a point and in the axes of some frame.

    :param inertia: I S: wrench per acceleration of joint i.
    :param change: moment of 2 B^T S; it has no force.
    :param by_q: change of the wrench with the position of joint i.
    :param by_qd: change of the wrench with the velocity of joint i.
    """

    inertia: Pair
    change: Vector
    by_q: Pair
    by_qd: Pair

    def shifted(self, s: Vector, c: Vector) -> _Wrenches:
        """Return the same at another point; see `_Composite.shifted`."""
        (f, _), (f_q, _), (f_qd, _) = self.inertia, self.by_q, self.by_qd
        return _Wrenches((f, add(self.inertia[1], cross(s, f))),
                         add(self.change, cross(add(c, c), f)),
                         (f_q, add(self.by_q[1], cross(s, f_q))),
                         (f_qd, add(self.by_qd[1], cross(s, f_qd))))

    def turned(self, frame: JointFrame | TurnedFrame) -> _Wrenches:
        """Return the same in the axes of the parent frame."""
        inertia, by_q, by_qd = ((frame.to_parent(force), frame.to_parent(moment))
                                for force, moment in (self.inertia, self.by_q, self.by_qd))
        return _Wrenches(inertia, frame.to_parent(self.change), by_q, by_qd)


@dataclass(frozen=True)
class _Step:
    """
    The way from a link to its parent: along z, a turn, along the x of the parent.

    Where the link branches off, `branch` takes the place of the parent, and a turn about the
    parent's z and a way along it follow.

    :param frame: frame of the link.
    :param along_z: vector from its parent's x axis to O_i, in E_i [m], and its velocity.
    :param along_x: vector from the parent's origin to that point, in the parent, and its velocity.
    :param branch: frame in the parent where the link branches off; None = the parent's own.
    :param along_branch: vector from the parent's origin to that of `branch`, and its velocity.
    """

    frame: JointFrame
    along_z: tuple[Vector, Vector]
    along_x: tuple[Vector, Vector]
    branch: TurnedFrame | None
    along_branch: tuple[Vector, Vector]

    @classmethod
    def of(cls, frame: JointFrame, omega: Vector, parent_omega: Vector, speed: Scalar) -> _Step:
        """Return the step of a link with these angular velocities and its joint's velocity."""
        branch, up = frame.branch, ZERO
        if branch is not None:
            up, (x, y, _) = branch.origin, parent_omega
            along_branch = up, (up[2] * y, -(up[2] * x), 0.0)
            parent_omega = branch.to_link(parent_omega)
        (wx, wy, _), (_, py, pz) = omega, parent_omega
        sliding = 0.0 if frame.revolute else speed
        return cls(frame.inner, ((0.0, 0.0, frame.d), (frame.d * wy, -(frame.d * wx), sliding)),
                   ((frame.b, 0.0, 0.0), (0.0, frame.b * pz, -(frame.b * py))), branch,
                   along_branch if branch is not None else (ZERO, ZERO))

    def composite(self, body: _Composite) -> _Composite:
        """Return the body of a link as its parent has it."""
        moved = body.shifted(*self.along_z).turned(self.frame).shifted(*self.along_x)
        return moved if self.branch is None else (
            moved.turned(self.branch).shifted(*self.along_branch))

    def wrenches(self, at_link: _Wrenches) -> _Wrenches:
        """Return the wrenches at a link as its parent has them."""
        moved = at_link.shifted(*self.along_z).turned(self.frame).shifted(*self.along_x)
        return moved if self.branch is None else (
            moved.turned(self.branch).shifted(*self.along_branch))


def _wrenches(frame: JointFrame, body: _Composite, motion: LinkMotion) -> _Wrenches:
    """Return the wrenches of a joint at its own link."""
    (hx, hy, _), (ex, ey, _), (force, moment) = body.h, body.e, body.wrench
    u, (gx, gy, _) = _turning(motion), motion.acceleration
    Uz = _third_column(motion)
    if not frame.revolute:
        turned = (-force[1], force[0], 0.0)
        return _Wrenches(((0.0, 0.0, body.mass), (hy, -hx, 0.0)), (ey, -ex, 0.0),
                         (scale(body.mass, Uz), add(cross(body.h, Uz), turned)),
                         (scale(body.mass, add(u, u)), cross(body.h, add(u, u))))
    sideways = (gy, -gx, 0.0)
    by_q = (add(add(cross(u, body.e), scale(body.mass, sideways)),
                add(cross(Uz, body.h), (-force[1], force[0], 0.0))),
            add(add(multiply(body.D, u), cross(body.h, sideways)),
                add(multiply(body.J, Uz), (-moment[1], moment[0], 0.0))))
    double = add(u, u)
    by_qd = (add((-ey, ex, 0.0), cross(double, body.h)),
             add(transpose(body.D)[2], multiply(body.J, double)))
    return _Wrenches(((-hy, hx, 0.0), body.J[2]), body.D[2], by_q, by_qd)


def _turning(motion: LinkMotion) -> Vector:
    """Return omega x z."""
    wx, wy, _ = motion.omega
    return (wy, -wx, 0.0)


def _third_column(motion: LinkMotion) -> Vector:
    """Return U z."""
    return (motion.U[0][2], motion.U[1][2], motion.U[2][2])


def rigid_derivatives(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
                      motion: Sequence[LinkMotion], qd: Sequence[Scalar],
                      wrench: Pair | LinkWrenches | None = None) -> TorqueDerivatives:
    """
    Return the torque of the rigid links and its derivatives.

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first, standard or grouped.
    :param motion: motion of links 0..n, with gravity, from `customized_motion` or an equal.
    :param qd: n joint velocities [rad/s, m/s].
    :param wrench: constant force and moment exerted by the environment, at O_n in E_n or by
        link; None = nothing.
    """
    n = len(frames) - 1
    bodies = [_Composite.of_link(own, link.omega, link_wrench(link, own))
              for own, link in zip(parameters, motion[1:])]
    outward = wrenches_on_environment(wrench, n)[1:]
    bodies = [replace(body, wrench=summed(body.wrench, outer)) if outer is not ZERO_PAIR else body
              for body, outer in zip(bodies, outward)]
    steps = [_Step.of(frame, link.omega, motion[frame.parent].omega, speed)
             for frame, link, speed in zip(frames[1:], motion[1:], qd)]
    result = TorqueDerivatives([0.0] * n, *([[0.0] * n for _ in range(n)] for _ in range(3)))
    for i in range(n, 0, -1):
        body = bodies[i - 1]
        result.torque[i - 1] = _along(frames[i], body.wrench)
        carried = _wrenches(frames[i], body, motion[i])
        _enter(result, i, i, frames[i], carried)
        k, j = i, frames[i].parent
        while j > 0:
            carried = steps[k - 1].wrenches(carried)
            _enter(result, i, j, frames[j], carried)
            _enter_row(result, i, j, frames[j], motion[j], carried)
            k, j = j, frames[j].parent
        parent = frames[i].parent
        if parent > 0:
            bodies[parent - 1] = bodies[parent - 1] + steps[i - 1].composite(body)
    return result


def _along(frame: JointFrame, wrench: Pair) -> Scalar:
    """Return the part of a wrench that works along a joint."""
    return wrench[1][2] if frame.revolute else wrench[0][2]


def _enter(result: TorqueDerivatives, i: int, j: int, frame: JointFrame,
           carried: _Wrenches) -> None:
    """Enter how the torque of joint j depends on joint i, the same one or one outside of it."""
    result.by_q[j - 1][i - 1] = _along(frame, carried.by_q)
    result.by_qd[j - 1][i - 1] = _along(frame, carried.by_qd)
    result.by_qdd[j - 1][i - 1] = result.by_qdd[i - 1][j - 1] = _along(frame, carried.inertia)


def _enter_row(result: TorqueDerivatives, i: int, j: int, frame: JointFrame, motion: LinkMotion,
               carried: _Wrenches) -> None:
    """Enter how the torque of joint i depends on joint j inside of it."""
    (force, moment), u, Uz = carried.inertia, _turning(motion), _third_column(motion)
    double = add(u, u)
    if frame.revolute:
        gx, gy, _ = motion.acceleration
        result.by_q[i - 1][j - 1] = (dot(carried.change, u) + dot(moment, Uz)
                                     + (force[0] * gy - force[1] * gx))
        result.by_qd[i - 1][j - 1] = carried.change[2] + dot(moment, double)
    else:
        result.by_q[i - 1][j - 1] = dot(force, Uz)
        result.by_qd[i - 1][j - 1] = dot(force, double)
