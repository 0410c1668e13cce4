# SPDX-License-Identifier: Apache-2.0
"""
Motion of the links for Slotine and Li's regressor ``Y x = A qdd_r + C(q, qd) qd_r + Q``.

The controller of Slotine & Li (1987) multiplies the Coriolis matrix of the measured speed qd with
a reference speed qd_r. With Christoffel symbols ``C(q, a) b = C(q, b) a``: the torque is the
symmetric bilinear form that belongs to the quadratic one of the ordinary recursion. So every
product of two speeds is replaced by the mean of the two mixed products, ``wx wy`` by
``(wx ry + rx wy) / 2``, and the recursion (9.84)-(9.90) of Khalil & Dombre stays what it is. For
qd_r = qd it is the ordinary motion. dA/dt - 2 C is skew.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.frames import JointFrame, gravity_vector
from robot_dynamics_ros.dynamics.motion import LinkMotion, carried_motion, matrix_of_products
from robot_dynamics_ros.dynamics.regressor import link_twists, regressor_rows
from robot_dynamics_ros.dynamics.samples import Samples
from robot_dynamics_ros.dynamics.vector import ZERO, Matrix, Scalar, Vector, negate


def reference_motion(frames: Sequence[JointFrame], qd: Sequence[Scalar], qd_r: Sequence[Scalar],
                     qdd_r: Sequence[Scalar], gravity: Vector) -> list[LinkMotion]:
    """
    Return the mixed motion of links 0..n; entry 0 is the base, `omega` is that of `qd`.

    :param frames: E_0..E_n from `joint_frames`.
    :param qd: n joint speeds [rad/s, m/s].
    :param qd_r: n reference speeds [rad/s, m/s].
    :param qdd_r: n reference accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    """
    motion = [LinkMotion(ZERO, ZERO, negate(gravity), (ZERO, ZERO, ZERO), ZERO)]
    omega_r = ZERO
    for frame, speed, speed_r, rate in zip(frames[1:], qd, qd_r, qdd_r):
        omega, omega_dot, acceleration = carried_motion(motion[-1], frame)
        wx, wy, wz = omega
        rx, ry, rz = omega_r = frame.to_link(omega_r)
        # twice the mean of omega x z qd_r and omega_r x z qd
        turn_x, turn_y = wy * speed_r + ry * speed, -(wx * speed_r + rx * speed)
        if frame.revolute:
            omega, omega_r = (wx, wy, wz + speed), (rx, ry, rz + speed_r)  # (9.85)
            ax, ay, az = omega_dot
            omega_dot = (ax + 0.5 * turn_x, ay + 0.5 * turn_y, az + rate)  # (9.86)
        else:
            x, y, z = acceleration
            acceleration = (x + turn_x, y + turn_y, z + rate)  # (9.87)
        U, products = _mixed_matrix(omega, omega_r, omega_dot)
        motion.append(LinkMotion(omega, omega_dot, acceleration, U, products))
    return motion


def _mixed_matrix(omega: Vector, omega_r: Vector, omega_dot: Vector) -> tuple[Matrix, Vector]:
    """Return U (9.90) and the products of two angular velocities."""
    (wx, wy, wz), (rx, ry, rz) = omega, omega_r
    products = (0.5 * (wy * rz + wz * ry), 0.5 * (wz * rx + wx * rz), 0.5 * (wx * ry + wy * rx))
    return matrix_of_products(omega_dot, (wx * rx, wy * ry, wz * rz), products), products


def reference_regressor(frames: Sequence[JointFrame], qd: Sequence[Scalar],
                        qd_r: Sequence[Scalar], qdd_r: Sequence[Scalar],
                        gravity: Vector) -> list[list[Scalar]]:
    """Return Y(q, qd, qd_r, qdd_r) as n rows of 10 n scalars; see `reference_motion`."""
    return regressor_rows(reference_motion(frames, qd, qd_r, qdd_r, gravity),
                          link_twists(frames))


def standard_reference_regressor(chain: Chain, q: ArrayLike, qd: ArrayLike, qd_r: ArrayLike,
                                 qdd_r: ArrayLike) -> Array:
    """
    Return Y(q, qd, qd_r, qdd_r), (n, 10 n) or (N, n, 10 n), of the standard parameters.

    :param chain: the robot; its inertias are not used.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param qd: joint speeds [rad/s, m/s], same shape.
    :param qd_r: reference speeds [rad/s, m/s], same shape.
    :param qdd_r: reference accelerations [rad/s^2, m/s^2], same shape.
    """
    state = Samples.of(chain, q=q, qd=qd, qd_r=qd_r, qdd_r=qdd_r)
    return state.matrix(reference_regressor(state.frames, state['qd'], state['qd_r'],
                                            state['qdd_r'], gravity_vector(chain)))
