# SPDX-License-Identifier: Apache-2.0
"""
Newton-Euler with the fewest operations: what generated code is made from.

The equations are those of Khalil & Dombre 9.84-9.94, arranged differently in two places.

A point on axis j belongs to link j - 1 and to link j. So the third column of U_j is the column
``U_(j-1) z_j`` in the axes of E_j, and this column is carried outward instead of the angular
acceleration: x and y of omega_dot follow from it without the product with qd, and U_33 with a
square less. Where neighbouring axes are parallel or perpendicular, ``U_(j-1) z_j`` is a column
of U_(j-1) and the exchange saves three multiplications and three additions per joint.

The offset d_j along z_j is applied in E_j with that third column (Lin 1995 (30), (69)), and
inward as well (74), so that only b_j is left to apply in E_(j-1); but not while all axes are
parallel, where the third column is zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from robot_dynamics_ros.dynamics.recursions.motion import (
    LinkMotion,
    acceleration_matrix,
    motion_of_fixed_frame,
)
from robot_dynamics_ros.dynamics.recursions.newton_euler import link_wrench
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame
from robot_dynamics_ros.dynamics.scalars.pair import (
    LinkWrenches,
    Pair,
    moved_wrench,
    summed,
    wrenches_on_environment,
)
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    multiply,
    negate,
    scale,
    transpose,
)

#: Which of the two arrangements of U to use per joint; None = by the angle of the axes.
ThirdColumn: TypeAlias = Sequence[bool] | None

#: What may be made true of the tensor of a link by grouping; Khalil & Dombre choose the first.
ELIMINATIONS = ('YY = 0', 'YY = ZZ', 'XX = ZZ', 'XX = 0')


def customized_motion(frames: Sequence[JointFrame], qd: Sequence[Scalar],
                      qdd: Sequence[Scalar], gravity: Vector,
                      third_column: ThirdColumn = None) -> list[LinkMotion]:
    """
    Return the motion of links 0..n as `link_motion` does, with fewer operations.

    :param frames: E_0..E_n from `joint_frames`.
    :param qd: n joint velocities [rad/s, m/s].
    :param qdd: n joint accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    :param third_column: n flags: carry the third column of U instead of omega_dot.
    """
    return list(_motions(frames, qd, qdd, gravity, third_column))


def _motions(frames: Sequence[JointFrame], qd: Sequence[Scalar], qdd: Sequence[Scalar],
             gravity: Vector, third_column: ThirdColumn) -> Iterator[LinkMotion]:
    """Yield them one by one: what is made of one at once need not be kept until later."""
    motion = [LinkMotion(ZERO, ZERO, negate(gravity), (ZERO, ZERO, ZERO), ZERO)]
    chosen = third_column or [0.0 in (frame.sb, frame.cb) for frame in frames[1:]]
    yield motion[0]
    parallel = [True]  # all axes on the way to a link
    for whole, speed, rate, use_column in zip(frames[1:], qd, qdd, chosen):
        parent, frame = motion[whole.parent], whole.inner
        if whole.branch is not None:
            parent = motion_of_fixed_frame(parent, whole.branch)
        x_column, y_column, z_column = transpose(parent.U)
        wx, wy, wz = frame.to_link(parent.omega)
        ax, ay, az = frame.to_link(parent.omega_dot)
        if frame.revolute:
            omega = (wx, wy, wz + speed)  # (9.85)
            if use_column:
                along_axis = add(scale(frame.cb, z_column), scale(-frame.sb, y_column))
                omega_dot, U, products = _from_third_column(
                    omega, frame.to_link(along_axis), az + rate)
            else:
                omega_dot = (ax + wy * speed, ay - wx * speed, az + rate)  # (9.86)
                U, products = acceleration_matrix(omega, omega_dot)
        else:
            omega, omega_dot = (wx, wy, wz), (ax, ay, az)
            U, products = acceleration_matrix(omega, omega_dot)
            if _axes_are_exchanged_only(frame):
                U = _same_matrix(frame, parent.U)
        if parallel[whole.parent] and not use_column:
            acceleration = frame.to_link(
                add(parent.acceleration, multiply(parent.U, frame.origin)))  # (9.87)
        else:
            along_z = (U[0][2], U[1][2], U[2][2])
            acceleration = add(frame.to_link(add(parent.acceleration, scale(frame.b, x_column))),
                               scale(frame.d, along_z))
        parallel.append(parallel[whole.parent] and frame.sb == 0.0)
        if not frame.revolute:
            double = speed + speed
            acceleration = add(acceleration, (wy * double, -(wx * double), rate))  # (9.87)
        motion.append(LinkMotion(omega, omega_dot, acceleration, U, products))
        yield motion[-1]


def _from_third_column(omega: Vector, column: Vector,
                       az: Scalar) -> tuple[Vector, Matrix, Vector]:
    """Return omega_dot, U (9.90) and the products of omega from the third column of U."""
    wx, wy, wz = omega
    U13, U23, U33 = column
    yz, zx, xy = wy * wz, wz * wx, wx * wy
    xx, zz = wx * wx, wz * wz
    ax, ay = yz - U23, U13 - zx
    U: Matrix = ((U33 + (xx - zz), xy - az, U13),
                 (xy + az, -(xx + zz), U23),
                 (zx - ay, yz + ax, U33))
    return (ax, ay, az), U, (yz, zx, xy)


def _axes_are_exchanged_only(frame: JointFrame) -> bool:
    """Return whether a rail's frame has the axes of its parent in another order."""
    return all(0.0 in (cosine, sine) for cosine, sine in ((frame.cb, frame.sb),
                                                          (frame.c, frame.s)))


def _same_matrix(frame: JointFrame, matrix: Matrix) -> Matrix:
    """Return R^T X R: a matrix of the parent in the axes of this frame."""
    a, b, c = (frame.to_link(column) for column in transpose(matrix))
    a, b, c = (frame.to_link(row) for row in transpose((a, b, c)))
    return a, b, c


def customized_newton_euler(frames: Sequence[JointFrame],
                            parameters: Sequence[Sequence[Scalar]], qd: Sequence[Scalar],
                            qdd: Sequence[Scalar], gravity: Vector,
                            wrench: Pair | LinkWrenches | None = None,
                            third_column: ThirdColumn = None) -> list[Scalar]:
    """
    Return the n joint torques [N m, N] of the rigid links, as `newton_euler` does.

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first, standard or grouped.
    :param qd: n joint velocities [rad/s, m/s].
    :param qdd: n joint accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    :param wrench: force and moment exerted by the environment, at O_n in E_n or by link; None =
        nothing.
    :param third_column: n flags as for `customized_motion`.
    """
    own = customized_wrenches(frames, parameters, qd, qdd, gravity, third_column)
    carried = wrenches_on_environment(wrench, len(frames) - 1)
    tau: list[Scalar] = []
    for i in range(len(frames) - 1, 0, -1):
        frame, parent = frames[i], frames[i].parent
        f, m = summed(own[i - 1], carried[i])  # (9.91), (9.93)
        tau.append(m[2] if frame.revolute else f[2])  # (9.94)
        carried[parent] = summed(wrench_at_parent(frame, (f, m)), carried[parent])
    tau.reverse()
    return tau


def customized_wrenches(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
                        qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: Vector,
                        third_column: ThirdColumn = None) -> list[Pair]:
    """Return what moves each of the links 1..n alone; parameters are those of the torque."""
    motion = _motions(frames, qd, qdd, gravity, third_column)
    next(motion)  # of the base
    return [link_wrench(of_link, own) for of_link, own in zip(motion, parameters)]


def wrench_at_parent(whole: JointFrame, wrench: Pair) -> Pair:
    """
    Return what `moved_wrench` does, the offsets being applied one by one.

    :param whole: frame of the joint, with its branch.
    :param wrench: force and moment at its origin, in its axes.
    """
    frame, f, (mx, my, mz) = whole.inner, wrench[0], wrench[1]
    m = frame.to_parent((mx - frame.d * f[1], my + frame.d * f[0], mz))
    f = frame.to_parent(f)  # (9.92)
    m = (m[0], m[1] - frame.b * f[2], m[2] + frame.b * f[1])
    return (f, m) if whole.branch is None else moved_wrench(whole.branch, (f, m))


def regrouped(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
              eliminations: Sequence[str]) -> list[list[Scalar]]:
    """
    Return parameters of the same torque whose tensors have another special form.

    A part ``t (XX_j = 1, YY_j = 1)`` of a link on a revolute joint may belong to link j - 1 as
    well (Khalil & Dombre 9.53). Choosing t per link saves a few operations where tensors are
    diagonal.

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten grouped STANDARD_PARAMETERS per link.
    :param eliminations: one of ELIMINATIONS per link; ignored where the part cannot be moved to
        a link on a revolute joint.
    """
    result = [list(own) for own in parameters]
    for j in range(len(frames) - 1, 1, -1):
        frame, choice, parent = frames[j], eliminations[j - 1], frames[j].parent
        own, inner = result[j - 1], result[parent - 1]
        if choice == ELIMINATIONS[0] or not (frame.revolute and frames[parent].revolute):
            continue
        if parent == 0 or frame.branch is not None:
            continue
        XX, YY, ZZ = own[0], own[3], own[5]
        t = {'YY = ZZ': YY - ZZ, 'XX = ZZ': XX - ZZ, 'XX = 0': XX}[choice]
        own[0] = ZZ if choice == 'XX = ZZ' else XX - t
        own[3] = ZZ if choice == 'YY = ZZ' else YY - t
        inner[5] = inner[5] + frame.sb * frame.sb * t
        if frames[parent].parent > 0:  # a link on the base turns about z only
            inner[0] = inner[0] + t
            inner[3] = inner[3] + frame.cb * frame.cb * t
            inner[4] = inner[4] + frame.sb * frame.cb * t
    return result
