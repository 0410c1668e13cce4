# SPDX-License-Identifier: Apache-2.0
"""
Inverse dynamics by Newton and Euler, linear in the link parameters (Khalil & Dombre 9.84-9.94).

The ten parameters of a link may be the standard ones or grouped (base) ones: both enter
linearly, the latter with zeros where they have been grouped away. In the U-matrix form used
here every parameter is multiplied by an entry of U, so zeros save the most.
"""

from __future__ import annotations

from collections.abc import Sequence

from robot_dynamics_ros.dynamics.recursions.motion import LinkMotion, link_motion, tensor_moment
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame
from robot_dynamics_ros.dynamics.scalars.pair import (
    LinkWrenches,
    Pair,
    moved_wrench,
    summed,
    wrenches_on_environment,
)
from robot_dynamics_ros.dynamics.scalars.vector import (
    Scalar,
    Vector,
    add,
    cross,
    multiply,
    scale,
)


def link_wrench(motion: LinkMotion, parameters: Sequence[Scalar]) -> Pair:
    """
    Return force [N] and moment about O_i [N m] that move one link, in E_i (9.88)-(9.89).

    :param motion: motion of the link.
    :param parameters: its ten STANDARD_PARAMETERS, standard or grouped.
    """
    first_moment = (parameters[6], parameters[7], parameters[8])
    force = add(scale(parameters[9], motion.acceleration),
                multiply(motion.U, first_moment))  # (9.88)
    moment = add(tensor_moment(motion, parameters[:6]),
                 cross(first_moment, motion.acceleration))  # (9.89)
    return force, moment


def newton_euler(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
                 qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: Vector,
                 wrench: Pair | LinkWrenches | None = None) -> list[Scalar]:
    """
    Return the n joint torques [N m, N] of the rigid links.

    What a link exerts on its parent is added up there, over all joints that it carries.

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first, standard or grouped.
    :param qd: n joint velocities [rad/s, m/s].
    :param qdd: n joint accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    :param wrench: force and moment exerted by the environment, at O_n in E_n or by link; None =
        nothing.
    """
    motion = link_motion(frames, qd, qdd, gravity)
    carried = wrenches_on_environment(wrench, len(frames) - 1)  # Khalil's f_e, m_e
    tau: list[Scalar] = []
    for i in range(len(frames) - 1, 0, -1):
        frame = frames[i]
        f, m = summed(link_wrench(motion[i], parameters[i - 1]), carried[i])  # (9.91), (9.93)
        tau.append(m[2] if frame.revolute else f[2])  # (9.94)
        carried[frame.parent] = summed(moved_wrench(frame, (f, m)), carried[frame.parent])
    tau.reverse()
    return tau
