# SPDX-License-Identifier: Apache-2.0
"""
Motion of the links, outward from the base (Khalil & Dombre 9.84-9.87, 9.90).

Everything of link i is in E_i. The base accelerates with -g instead of a field of gravity, so
`acceleration` is a_i - g of Lin 1995.

The motion for Slotine and Li's regressor ``Y x = A qdd_r + C(q, qd) qd_r + Q`` is the same
recursion with two velocities: the measured one qd and a reference qd_r. With Christoffel symbols
``C(q, a) b = C(q, b) a``, so the torque is the symmetric bilinear form that belongs to the
quadratic one of the ordinary recursion. Every product of two velocities is replaced by the mean of
the two mixed products, ``wx wy`` by ``(wx ry + rx wy) / 2``. For qd_r = qd it is the ordinary
motion. dA/dt - 2 C is skew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.scalars.frames import Frame, JointFrame
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    multiply,
    negate,
)


@dataclass(frozen=True)
class LinkMotion:
    """
    Motion of one link, in its own frame.

    :param omega: angular velocity [rad/s].
    :param omega_dot: angular acceleration [rad/s^2].
    :param acceleration: acceleration of O_i minus gravity [m/s^2].
    :param U: [omega_dot]x + [omega]x [omega]x (9.90) [1/s^2].
    :param products: (wy wz, wz wx, wx wy) [1/s^2].
    """

    omega: Vector
    omega_dot: Vector
    acceleration: Vector
    U: Matrix
    products: Vector


def acceleration_matrix(omega: Vector, omega_dot: Vector) -> tuple[Matrix, Vector]:
    """Return U (9.90) and the products (wy wz, wz wx, wx wy) of the angular velocity."""
    wx, wy, wz = omega
    products = (wy * wz, wz * wx, wx * wy)
    return matrix_of_products(omega_dot, (wx * wx, wy * wy, wz * wz), products), products


def matrix_of_products(omega_dot: Vector, squares: Vector, products: Vector) -> Matrix:
    """Return U (9.90) from the squares and products of the angular velocity."""
    ax, ay, az = omega_dot
    xx, yy, zz = squares
    yz, zx, xy = products
    return ((-(yy + zz), xy - az, zx + ay),
            (xy + az, -(zz + xx), yz - ax),
            (zx - ay, yz + ax, -(xx + yy)))


def tensor_moment(motion: LinkMotion, tensor: Sequence[Scalar]) -> Vector:
    """
    Return J omega_dot + omega x (J omega) [N m], linear in the six entries of J.

    With the entries of U put in, every entry of J is multiplied once per component: the first
    part of (9.89), and Psi psi(J) of Lin 1995 (60), (26).

    :param motion: motion of the link.
    :param tensor: XX, XY, XZ, YY, YZ, ZZ in the frame of the link [kg m^2].
    """
    XX, XY, XZ, YY, YZ, ZZ = tensor
    U, (yz, zx, xy) = motion.U, motion.products
    ax, ay, az = motion.omega_dot
    return (XX * ax + (ZZ - YY) * yz - XY * U[2][0] + XZ * U[1][0] + YZ * (U[1][1] - U[2][2]),
            YY * ay + (XX - ZZ) * zx + XY * U[2][1] - YZ * U[0][1] + XZ * (U[2][2] - U[0][0]),
            ZZ * az + (YY - XX) * xy - XZ * U[1][2] + YZ * U[0][2] + XY * (U[0][0] - U[1][1]))


def carried_motion(parent: LinkMotion, frame: Frame) -> tuple[Vector, Vector, Vector]:
    """Return omega, omega_dot and acceleration of a frame that does not move in its parent."""
    acceleration = frame.to_link(
        add(parent.acceleration, multiply(parent.U, frame.origin)))  # (9.87)
    return frame.to_link(parent.omega), frame.to_link(parent.omega_dot), acceleration  # (9.84)


def motion_of_fixed_frame(parent: LinkMotion, frame: Frame) -> LinkMotion:
    """
    Return the motion of a link, seen in another frame fixed to it.

    :param parent: motion of the link in its frame.
    :param frame: the other frame, e.g. that of a payload.
    """
    omega, omega_dot, acceleration = carried_motion(parent, frame)
    U, products = acceleration_matrix(omega, omega_dot)
    return LinkMotion(omega, omega_dot, acceleration, U, products)


def link_motion(frames: Sequence[JointFrame], qd: Sequence[Scalar], qdd: Sequence[Scalar],
                gravity: Vector) -> list[LinkMotion]:
    """
    Return the motion of links 0..n; entry 0 is the base.

    :param frames: E_0..E_n from `joint_frames`.
    :param qd: n joint velocities [rad/s, m/s].
    :param qdd: n joint accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    """
    motion = [LinkMotion(ZERO, ZERO, negate(gravity), (ZERO, ZERO, ZERO), ZERO)]
    for frame, speed, rate in zip(frames[1:], qd, qdd):
        omega, omega_dot, acceleration = carried_motion(motion[frame.parent], frame)
        # omega_(j-1) x qd z_j: x and y of the parent's angular velocity; z is not touched
        wx, wy, wz = omega
        if frame.revolute:
            omega = (wx, wy, wz + speed)  # (9.85)
            ax, ay, az = omega_dot
            omega_dot = (ax + wy * speed, ay - wx * speed, az + rate)  # (9.86)
        else:
            x, y, z = acceleration
            double = speed + speed
            acceleration = (x + wy * double, y - wx * double, z + rate)  # (9.87)
        U, products = acceleration_matrix(omega, omega_dot)
        motion.append(LinkMotion(omega, omega_dot, acceleration, U, products))
    return motion


def reference_motion(frames: Sequence[JointFrame], qd: Sequence[Scalar], qd_r: Sequence[Scalar],
                     qdd_r: Sequence[Scalar], gravity: Vector) -> list[LinkMotion]:
    """
    Return the mixed motion of links 0..n; entry 0 is the base, `omega` is that of `qd`.

    :param frames: E_0..E_n from `joint_frames`.
    :param qd: n joint velocities [rad/s, m/s].
    :param qd_r: n reference velocities [rad/s, m/s].
    :param qdd_r: n reference accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    """
    motion = [LinkMotion(ZERO, ZERO, negate(gravity), (ZERO, ZERO, ZERO), ZERO)]
    references = [ZERO]
    for frame, speed, speed_r, rate in zip(frames[1:], qd, qd_r, qdd_r):
        omega, omega_dot, acceleration = carried_motion(motion[frame.parent], frame)
        wx, wy, wz = omega
        rx, ry, rz = omega_r = frame.to_link(references[frame.parent])
        # twice the mean of omega x z qd_r and omega_r x z qd
        turn_x, turn_y = wy * speed_r + ry * speed, -(wx * speed_r + rx * speed)
        if frame.revolute:
            omega, omega_r = (wx, wy, wz + speed), (rx, ry, rz + speed_r)  # (9.85)
            ax, ay, az = omega_dot
            omega_dot = (ax + 0.5 * turn_x, ay + 0.5 * turn_y, az + rate)  # (9.86)
        else:
            x, y, z = acceleration
            acceleration = (x + turn_x, y + turn_y, z + rate)  # (9.87)
        references.append(omega_r)
        U, products = _mixed_matrix(omega, omega_r, omega_dot)
        motion.append(LinkMotion(omega, omega_dot, acceleration, U, products))
    return motion


def _mixed_matrix(omega: Vector, omega_r: Vector, omega_dot: Vector) -> tuple[Matrix, Vector]:
    """Return U (9.90) and the products of two angular velocities."""
    (wx, wy, wz), (rx, ry, rz) = omega, omega_r
    products = (0.5 * (wy * rz + wz * ry), 0.5 * (wz * rx + wx * rz), 0.5 * (wx * ry + wy * rx))
    return matrix_of_products(omega_dot, (wx * rx, wy * ry, wz * rz), products), products
