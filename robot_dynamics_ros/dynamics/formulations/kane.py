# SPDX-License-Identifier: Apache-2.0
"""
Inverse dynamics by Kane's equations (Angeles, Ma & Rojas 1989).

The acceleration of the mass centres is carried outward, generalised forces are projected on the
partial velocities inward. The paper's b_i is -d_i; here the joint variable d_i is used, which
also settles the paper's mixed signs of prismatic joints.
"""

from __future__ import annotations

from collections.abc import Sequence

from robot_dynamics_ros.dynamics.recursions.body import Body
from robot_dynamics_ros.dynamics.recursions.motion import acceleration_matrix
from robot_dynamics_ros.dynamics.recursions.regressor import link_twists
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame
from robot_dynamics_ros.dynamics.scalars.pair import Pair, moved_wrench, wrench_on_environment
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    multiply,
    negate,
    scale,
    subtract,
)


def kane(frames: Sequence[JointFrame], bodies: Sequence[Body], qd: Sequence[Scalar],
         qdd: Sequence[Scalar], gravity: Vector, wrench: Pair | None = None) -> list[Scalar]:
    """
    Return the n joint torques [N m, N] of the rigid links.

    :param frames: E_0..E_n from `joint_frames`.
    :param bodies: mass, mass centre and central tensor of links 1..n.
    :param qd: n joint velocities [rad/s, m/s].
    :param qdd: n joint accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    :param wrench: force and moment at O_n in E_n exerted by the environment; None = nothing.
    """
    inertia_forces, inertia_moments = _inertia_wrenches(frames, bodies, qd, qdd, gravity)
    v, x = wrench_on_environment(wrench)
    tau: list[Scalar] = []
    for i in range(len(frames) - 1, 0, -1):
        frame, u = frames[i], inertia_forces[i]
        x = add(x, add(inertia_moments[i], cross(bodies[i - 1].centre, u)))  # (46)-(48)
        v = add(v, u)  # (49)
        tau.append(x[2] if frame.revolute else v[2])  # (44), (45) for the variable d_i
        v, x = moved_wrench(frame, (v, x))
    tau.reverse()
    return tau


def kane_matrices(frames: Sequence[JointFrame], bodies: Sequence[Body], qd: Sequence[Scalar],
                  qdd: Sequence[Scalar], gravity: Vector) -> list[Scalar]:
    """
    Return the n joint torques by the matrices of partial velocities A_j and B_j (32)-(37).

    ``tau = sum_j A_j^T h'_j + B_j^T m_j p''_j``; the columns of A_j are the angular velocities of
    link j per joint velocity, those of B_j the velocities of its mass centre. The cost grows with
    the square of n: `kane` is the same sum, taken recursively.
    """
    forces, moments = _inertia_wrenches(frames, bodies, qd, qdd, gravity)
    twists = link_twists(frames)
    tau: list[Scalar] = [0.0] * (len(frames) - 1)
    for j in range(1, len(frames)):
        rho = bodies[j - 1].centre
        for i, (v, w) in enumerate(twists[j]):
            B = add(v, cross(w, rho))
            tau[i] = tau[i] + dot(w, moments[j]) + dot(B, forces[j])  # (37)
    return tau


def _inertia_wrenches(frames: Sequence[JointFrame], bodies: Sequence[Body],
                      qd: Sequence[Scalar], qdd: Sequence[Scalar],
                      gravity: Vector) -> tuple[list[Vector], list[Vector]]:
    """Return m_i p''_i and the rate of the angular momentum h'_i (2) of links 0..n, in E_i."""
    n = len(frames) - 1
    inertia_forces: list[Vector] = [ZERO]
    inertia_moments: list[Vector] = [ZERO]
    w, w_dot, W = ZERO, ZERO, (ZERO, ZERO, ZERO)
    p_ddot, rho = negate(gravity), ZERO  # the base accelerates with -g
    for i in range(1, n + 1):
        frame, body = frames[i], bodies[i - 1]
        W_inner: Matrix = W
        # (18); the summary of stage 2 prints a minus sign before W_(i-1)
        p_ddot = frame.to_link(add(p_ddot, multiply(W_inner, subtract(frame.origin, rho))))
        w, w_dot = frame.to_link(w), frame.to_link(w_dot)
        along: Vector = (0.0, 0.0, qd[i - 1])
        rate: Vector = (0.0, 0.0, qdd[i - 1])
        if frame.revolute:
            w_dot = add(w_dot, add(cross(w, along), rate))  # (13) with theta-ddot
            w = add(w, along)  # (12)
        else:
            p_ddot = add(p_ddot, add(scale(2.0, cross(w, along)), rate))  # (20) with b = -d
        W, _ = acceleration_matrix(w, w_dot)
        rho = body.centre
        p_ddot = add(p_ddot, multiply(W, rho))  # (18)
        inertia_forces.append(scale(body.mass, p_ddot))
        momentum = multiply(body.tensor, w)
        inertia_moments.append(add(multiply(body.tensor, w_dot), cross(w, momentum)))
    return inertia_forces, inertia_moments
