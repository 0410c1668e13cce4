# SPDX-License-Identifier: Apache-2.0
"""
Newton-Euler in terms of the minimal linear combinations (Lin 1995 (57)-(93)).

First the inertia constants of composite bodies, a constant that is not a minimal linear
combination of the chain being 0.0, and from them the tensors D_i, (38)-(43). Then three
groups of joints: i < r translate only, r <= i < s turn about one direction only, i >= s are
general. With the structure GENERAL all joints are treated as general ones, (57)-(75). The base
accelerates with -g (76), so a_i stands for the paper's a_i - g.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.minimal.structure import Structure
from robot_dynamics_ros.dynamics.recursions.composite import InertiaConstants
from robot_dynamics_ros.dynamics.recursions.motion import (
    LinkMotion,
    acceleration_matrix,
    tensor_moment,
)
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame
from robot_dynamics_ros.dynamics.scalars.pair import Pair, wrench_on_environment
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
    negate,
    scale,
    scale_matrix,
    skew,
    symmetric,
)

#: One joint group: every joint by the general form (57)-(75). It needs the constants of all
#: joints, also of those before joint s.
GENERAL = Structure(r=1, s=1, delta=(), sigma=(), u_r={})


@dataclass(frozen=True)
class LinConstants:
    """
    Constants of joints 1..n, in lists with an unused entry 0; everything in E_i.

    :param m_hat: mass of the composite body i [kg].
    :param k: constant part of its first moment [kg m].
    :param U: constant part of its tensor without (U)_22: the entries 11-22, 12, 13, 23 and 33 of
        U - diag((U)_22, (U)_22, 0) [kg m^2].
    :param kappa_1: combination (86) of first moments [kg m].
    :param kappa_2: combination (87) of first moments [kg m].
    """

    m_hat: Sequence[Scalar]
    k: Sequence[Vector]
    U: Sequence[tuple[Scalar, Scalar, Scalar, Scalar, Scalar]]
    kappa_1: Sequence[Scalar]
    kappa_2: Sequence[Scalar]

    @classmethod
    def from_names(cls, n: int, values: Mapping[str, Scalar]) -> LinConstants:
        """
        Sort named minimal parameters.

        :param n: number of joints.
        :param values: values by names such as ``U2_11-22``, ``k2_x``, ``m3``, ``kap1_3``;
            missing = 0.
        """
        joints = range(n + 1)

        def get(name: str) -> Scalar:
            return values.get(name, 0.0)

        return cls(
            m_hat=[get(f'm{i}') for i in joints],
            k=[(get(f'k{i}_x'), get(f'k{i}_y'), get(f'k{i}_z')) for i in joints],
            U=[(get(f'U{i}_11-22'), get(f'U{i}_12'), get(f'U{i}_13'), get(f'U{i}_23'),
                get(f'U{i}_33')) for i in joints],
            kappa_1=[get(f'kap1_{i}') for i in joints],
            kappa_2=[get(f'kap2_{i}') for i in joints])

    @classmethod
    def of_all_joints(cls, constants: InertiaConstants) -> LinConstants:
        """Return the constants of every joint, for the structure GENERAL; no kappas."""
        n = len(constants.k) - 1
        U = [(V[0][0] - V[1][1], V[0][1], V[0][2], V[1][2], V[2][2]) for V in constants.U]
        return cls(constants.m_hat, constants.k, U, [0.0] * (n + 1), [0.0] * (n + 1))

    def representative(self, structure: Structure) -> InertiaConstants:
        """
        Return inertia constants of composite bodies that have these minimal parameters.

        Many constants have them; all of them need the same torque, so the simplest will do:
        what is not a minimal parameter is zero.

        :param structure: joint groups of the chain.
        """
        k = list(self.k)
        for i, moving in enumerate(structure.sigma):
            if moving:
                x, y, z = structure.u_r[i]
                across = 1.0 / (1.0 - z * z)
                k[i] = (-y * across * self.kappa_1[i], x * across * self.kappa_1[i],
                        across * self.kappa_2[i])  # solves (86), (87)
        U = [symmetric(a, xy, xz, 0.0, yz, zz) for a, xy, xz, yz, zz in self.U]
        return InertiaConstants(list(self.m_hat), k, U)


def d_tensors(frames: Sequence[JointFrame], constants: LinConstants,
              structure: Structure) -> list[tuple[Scalar, ...]]:
    """
    Return D_i of the revolute joints as (11, 12, 13, 22, 23, 33); entry 0 and prismatic: empty.

    For joints before s only the entry 33 is known and needed (93); the others are 0.0.
    (43) is printed with an index too few: the entry 22 of G belongs to the NEXT revolute joint.

    :param frames: E_0..E_n from `joint_frames`.
    :param constants: the inertia constants.
    :param structure: joint groups.
    """
    n = len(frames) - 1
    D: list[tuple[Scalar, ...]] = [()] * (n + 1)
    G_22: Scalar = 0.0  # (G_m)_22 in E_i of the revolute joint worked on last
    U_33: Scalar = 0.0
    m = n + 1
    for i in range(n, 0, -1):
        if not frames[i].revolute:
            continue
        g, h, u = G_22, 0.0, (0.0, 0.0, 0.0)
        if m <= n:
            u = frames[m].axis_in_parent
            for k in range(m - 1, i, -1):
                u = frames[k].to_parent(u)
            h = -U_33 - g  # G_m in E_i is g I + h u u^T (43)
        a, xy, xz, yz, zz = constants.U[i]
        G_33 = g + h * (u[2] * u[2])
        if i >= structure.s:
            tensor = symmetric(a + h * (u[0] * u[0] - u[1] * u[1]), xy + h * (u[0] * u[1]),
                               xz + h * (u[0] * u[2]), 0.0, yz + h * (u[1] * u[2]),
                               zz + G_33)  # (42)
            for k in range(i + 1, m):
                W = _first_moment_tensor(frames[i + 1:k + 1], constants.k[k])
                tensor = add_matrices(tensor, scale_matrix(frames[k].d, W))  # (91)
            D[i] = (*tensor[0], tensor[1][1], tensor[1][2], tensor[2][2])
        else:
            D_33 = zz + G_33
            for k in range(i + 1, m):
                D_33 = D_33 + (2.0 * constants.kappa_2[k]) * frames[k].d  # (93)
            D[i] = (0.0, 0.0, 0.0, 0.0, 0.0, D_33)
        G_22, U_33, m = g + h * (u[1] * u[1]), zz, i
    return D


def _first_moment_tensor(between: Sequence[JointFrame], k: Vector) -> Matrix:
    """Return W_k in E_i (92); `between` are the frames i+1..k, all prismatic."""
    x, y, z = k
    W = symmetric(2.0 * z, 0.0, -x, 2.0 * z, -y, 0.0)
    for frame in reversed(between):
        W = frame.tensor_to_parent(W)
    return W


def lin_newton_euler(frames: Sequence[JointFrame], constants: LinConstants, structure: Structure,
                     qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: Vector,
                     wrench: Pair | None = None) -> list[Scalar]:
    """
    Return the n joint torques [N m, N] of the rigid links.

    :param frames: E_0..E_n from `joint_frames`.
    :param constants: the minimal linear combinations; with `structure` GENERAL the inertia
        constants of all composite bodies.
    :param structure: joint groups of the chain, or GENERAL.
    :param qd: n joint velocities [rad/s, m/s].
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
    :param a_star: a_i without h_star (70), which the paper has in E_(i-1).
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
                omega_dot = (ax + y * speed, ay - x * speed, az + rate)  # (58)
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
