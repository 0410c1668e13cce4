# SPDX-License-Identifier: Apache-2.0
"""
Newton-Euler in terms of the minimal linear combinations (Lin 1995 (57)-(93)).

Three groups of joints: i < r translate only, r <= i < s turn about one direction only, i >= s are
general. With the structure GENERAL all joints are treated as general ones, (57)-(75). The base
accelerates with -g (76), so a_i stands for the paper's a_i - g.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.frames import JointFrame
from robot_dynamics_ros.dynamics.lin_constants import LinConstants, d_tensors
from robot_dynamics_ros.dynamics.motion import LinkMotion, acceleration_matrix, tensor_moment
from robot_dynamics_ros.dynamics.pair import Pair
from robot_dynamics_ros.dynamics.structure import Structure
from robot_dynamics_ros.dynamics.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    add_matrices,
    cross,
    dot,
    multiply,
    negate,
    scale,
    scale_matrix,
    skew,
    symmetric,
)
from robot_dynamics_ros.dynamics.wrench import wrench_on_environment


def lin_newton_euler(frames: Sequence[JointFrame], constants: LinConstants, structure: Structure,
                     qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: Vector,
                     wrench: Pair | None = None) -> list[Scalar]:
    """
    Return the n joint torques [N m, N] of the rigid links.

    :param frames: E_0..E_n from `joint_frames`.
    :param constants: the minimal linear combinations; with `structure` GENERAL the inertia
        constants of all composite bodies.
    :param structure: joint groups of the chain, or GENERAL.
    :param qd: n joint speeds [rad/s, m/s].
    :param qdd: n joint accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    :param wrench: force and moment at O_n in E_n exerted by the environment; None = nothing.
    """
    n, r, s = len(frames) - 1, structure.r, structure.s
    D = d_tensors(frames, constants, structure)
    motion = _motion(frames, structure, qd, qdd, gravity)
    tau: list[Scalar] = [0.0] * n
    # mu_(n+1) = -f_E and zeta_(n+1) = -t_E, already in E_n and at O_n
    mu, zeta = wrench_on_environment(wrench)
    for i in range(n, s - 1, -1):
        frame = frames[i]
        mu_bar, zeta_bar, rho = _general(motion[i], frame, constants, D[i], i)
        tau[i - 1] = rho + mu[2]  # (68), prismatic
        mu, zeta = add(mu_bar, mu), add(zeta_bar, zeta)
        if frame.revolute:
            tau[i - 1] = zeta[2]  # (68)
        zeta = frame.to_parent(add(zeta, cross((0.0, 0.0, frame.d), mu)))  # (74)
        mu = frame.to_parent(mu)  # (66)
        zeta = add(zeta, cross((frame.b, 0.0, 0.0), mu))  # (75)
    # (88) with (90); without a joint s it is the wrench on the last link that is projected
    zeta_z = dot(structure.u_r[s - 1], zeta) if r < s else 0.0
    for i in range(s - 1, r - 1, -1):
        frame, u = frames[i], structure.u_r[i]
        mu_bar, zeta_bar_z, rho = _about_one_direction(
            motion[i], frame, constants, D[i], u, qd[i - 1], i)
        tau[i - 1] = rho + mu[2]
        mu, zeta_z = add(mu_bar, mu), zeta_bar_z + zeta_z
        if frame.revolute:
            tau[i - 1] = u[2] * zeta_z  # (68); u_z is the sign of an antiparallel joint
        zeta_z = zeta_z + dot(u, cross((0.0, 0.0, frame.d), mu))  # (89)
        mu = frame.to_parent(mu)
        if i > r:
            zeta_z = zeta_z + dot(structure.u_r[i - 1], cross((frame.b, 0.0, 0.0), mu))  # (90)
    for i in range(r - 1, 0, -1):
        m_hat = constants.m_hat[i]
        tau[i - 1] = m_hat * motion[i].link.acceleration[2] + mu[2]  # (78), (68)
        mu = frames[i].to_parent(add((0.0, 0.0, m_hat * qdd[i - 1]), mu))  # (79)
    return tau


@dataclass(frozen=True)
class _Motion:
    """
    Motion of link i with the parts of its acceleration that Lin's form keeps apart, in E_i.

    :param link: omega, omega_dot, a_i, Omega_i.
    :param a_star: a_i without the motion along a prismatic joint i (70).
    :param h_ddot: relative and Coriolis acceleration of a prismatic joint (61).
    :param h_star: h_ddot and the part of the offset d_i (69).
    :param w: angular velocity about the axis of joint r (80); for r <= i < s.
    :param w_dot: angular acceleration about it (81).
    """

    link: LinkMotion
    a_star: Vector = ZERO
    h_ddot: Vector = ZERO
    h_star: Vector = ZERO
    w: Scalar = 0.0
    w_dot: Scalar = 0.0


def _motion(frames: Sequence[JointFrame], structure: Structure, qd: Sequence[Scalar],
            qdd: Sequence[Scalar], gravity: Vector) -> list[_Motion]:
    """Return the forward recursion: links 0..n, entry 0 is the base."""
    still: Matrix = (ZERO, ZERO, ZERO)
    motion = [_Motion(LinkMotion(ZERO, ZERO, negate(gravity), still, ZERO))]  # (76)
    for i in range(1, len(frames)):
        frame, before, speed, rate = frames[i], motion[-1], qd[i - 1], qdd[i - 1]
        parent = before.link
        w, w_dot = before.w, before.w_dot
        omega, omega_dot, Omega, products = ZERO, ZERO, still, ZERO
        if i >= structure.s:
            omega, omega_dot = frame.to_link(parent.omega), frame.to_link(parent.omega_dot)
            if frame.revolute:
                (x, y, z), (ax, ay, az) = omega, omega_dot
                omega_dot = (ax + y * speed, ay - x * speed, az + rate)  # (58) with qdd
                omega = (x, y, z + speed)  # (57)
            Omega, products = acceleration_matrix(omega, omega_dot)  # (59)
        elif i >= structure.r:
            u = structure.u_r[i]
            if frame.revolute:
                w, w_dot = w + u[2] * speed, w_dot + u[2] * rate  # (80), (81)
            omega, omega_dot = scale(w, u), scale(w_dot, u)
            Omega = _axial_acceleration_matrix(u, w, w_dot)  # (59) for omega = u w
        offset = frame.origin if frame.revolute else (frame.b, 0.0, 0.0)
        a_star = frame.to_link(add(parent.acceleration, multiply(parent.U, offset)))  # (70)
        h_ddot = h_star = ZERO
        if not frame.revolute:
            double = speed + speed
            h_ddot = (omega[1] * double, -omega[0] * double, rate)  # (61), (82) with qdd
            h_star = add(h_ddot, multiply(Omega, (0.0, 0.0, frame.d)))  # (69)
        a = add(a_star, h_star)  # (71)
        motion.append(_Motion(LinkMotion(omega, omega_dot, a, Omega, products), a_star, h_ddot,
                              h_star, w, w_dot))
    return motion


def _axial_acceleration_matrix(u: Vector, w: Scalar, w_dot: Scalar) -> Matrix:
    """Return Omega (59) of a turn about a constant unit vector: w_dot [u]x + w^2 (u u^T - I)."""
    x, y, z = u
    centripetal = scale_matrix(w * w, symmetric(x * x - 1.0, x * y, x * z,
                                                y * y - 1.0, y * z, z * z - 1.0))
    return add_matrices(scale_matrix(w_dot, skew(u)), centripetal)


def _general(motion: _Motion, frame: JointFrame, constants: LinConstants, D: Sequence[Scalar],
             i: int) -> tuple[Vector, Vector, Scalar]:
    """Return mu_bar, zeta_bar and rho of a joint i >= s."""
    link, k = motion.link, constants.k[i]
    if frame.revolute:
        k_xy = (k[0], k[1], 0.0)
        zeta_bar = add(cross(k_xy, link.acceleration), tensor_moment(link, D))  # (73)
        return multiply(link.U, k_xy), zeta_bar, 0.0  # (72)
    m_hat = constants.m_hat[i]
    arm = cross((0.0, 0.0, m_hat * frame.d), motion.a_star)  # a* in E_i, not in E_(i-1)
    rho = m_hat * link.acceleration[2] + dot(link.U[2], k)  # (63)
    return scale(m_hat, motion.h_star), add(arm, cross(k, motion.h_ddot)), rho  # (72), (73)


def _about_one_direction(motion: _Motion, frame: JointFrame, constants: LinConstants,
                         D: Sequence[Scalar], u: Vector, speed: Scalar,
                         i: int) -> tuple[Vector, Scalar, Scalar]:
    """Return mu_bar, the component of zeta_bar along joint r, and rho; r <= i < s."""
    link, w, w_dot = motion.link, motion.w, motion.w_dot
    x, y, _ = link.acceleration
    if frame.revolute:
        k_x, k_y, _ = constants.k[i]
        zeta_bar = u[2] * (k_x * y - k_y * x) + w_dot * D[5]  # (85)
        return multiply(link.U, (k_x, k_y, 0.0)), zeta_bar, 0.0  # (84)
    m_hat, kappa_1, kappa_2 = constants.m_hat[i], constants.kappa_1[i], constants.kappa_2[i]
    x, y, _ = motion.a_star
    _, _, rate = motion.h_ddot
    zeta_bar = ((m_hat * frame.d) * (u[1] * x - u[0] * y) + kappa_1 * rate
                + kappa_2 * (w * (speed + speed)))  # (85) with qdd in the second term
    rho = m_hat * link.acceleration[2] + kappa_1 * w_dot - kappa_2 * (w * w)  # (83)
    return scale(m_hat, motion.h_star), zeta_bar, rho  # (84)
