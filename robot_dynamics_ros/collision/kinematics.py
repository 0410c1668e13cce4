# SPDX-License-Identifier: Apache-2.0
"""Where bodies are in many postures, and how fast joints can move their points at most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.collision.parts import Part


class BodyFrames(NamedTuple):
    """
    Frames of the base (0) and of E_1..E_m in the frame of the base link, in N postures.

    :param rotation: (m + 1, N, 3, 3) axes.
    :param origin: (m + 1, N, 3) origins [m].
    """

    rotation: Array
    origin: Array


def body_frames(chain: Chain, q: Array) -> BodyFrames:
    """
    Return the frames of all bodies.

    :param chain: the robot.
    :param q: (N, n) joint positions [rad, m].
    """
    N, m = len(q), len(chain.moving)
    rotation, origin = np.empty((m + 1, N, 3, 3)), np.empty((m + 1, N, 3))
    rotation[0], origin[0] = np.eye(3), 0.0
    base = (np.broadcast_to(chain.base_pose.rotation, (N, 3, 3)),
            np.broadcast_to(chain.base_pose.translation, (N, 3)))
    q = np.stack(list(chain.moving_positions(list(q.T))), axis=1)
    for i, (joint, parent) in enumerate(zip(chain.moving, chain.parents)):
        R, p = (rotation[parent], origin[parent]) if parent else base
        at_zero = joint.pose(0.0)
        p = p + R @ at_zero.translation
        R = R @ at_zero.rotation
        if joint.revolute:
            turn = np.zeros((N, 3, 3))
            turn[:, 0, 0] = turn[:, 1, 1] = np.cos(q[:, i])
            turn[:, 1, 0] = np.sin(q[:, i])
            turn[:, 0, 1] = -turn[:, 1, 0]
            turn[:, 2, 2] = 1.0
            R = R @ turn
        else:
            p = p + R[:, :, 2] * q[:, i, None]
        rotation[i + 1], origin[i + 1] = R, p
    return BodyFrames(rotation, origin)


def levers(chain: Chain, part: Part, lower: Array, upper: Array) -> Array:
    """
    Return how far a unit of each moving joint moves any point of a part at most [m/rad, m/m].

    Seen from the axis of the joint that carries it, the part lies in a sphere around a point of
    the axis. Seen from the axis before, so does the sphere, and so on: the bounds hold in every
    posture inside the limits.

    :param chain: the robot.
    :param part: part of a moving body; joints after that body do not move it.
    :param lower: (n,) lowest positions [rad, m]; used for prismatic joints.
    :param upper: (n,) highest positions [rad, m]; used for prismatic joints.
    """
    result = np.zeros(len(chain.moving))
    low, high = (np.array(chain.moving_positions(list(limits))) for limits in (lower, upper))
    lower, upper = np.minimum(low, high), np.maximum(low, high)
    points, radius = part.points, part.radius
    for number in reversed(chain.path(part.body)):
        i, joint = number - 1, chain.moving[number - 1]
        off_axis = float(np.max(np.hypot(points[:, 0], points[:, 1]))) + radius
        height = 0.5 * (float(np.min(points[:, 2])) + float(np.max(points[:, 2])))
        centre = np.array([0.0, 0.0, height])
        if joint.revolute:
            result[i] = off_axis
            radius += float(np.max(np.linalg.norm(points - centre, axis=1)))
            points = centre[None]
        else:
            result[i] = 1.0
            points = np.concatenate([points + [0.0, 0.0, lower[i]], points + [0.0, 0.0, upper[i]]])
        pose = joint.pose(0.0)
        points = points @ pose.rotation.T + pose.translation
    return result
