# SPDX-License-Identifier: Apache-2.0
"""
Limits of an exciting motion: positions, velocities, accelerations, efforts, height.

Heights are those of the tip and of every link, to keep the motion above a plane.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.urdf.reader import sample_positions
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.dynamics.scalars.vector import Vector, add, dot, vector
from robot_dynamics_ros.errors import ExcitationError

#: Part of the position range that is kept free at each end.
POSITION_MARGIN = 0.02

#: How far a joint without position limits (continuous) may turn from its start [rad].
FREE_TURN = np.pi

#: Part of the permitted effort from which friction leaves too little for a motion.
STUCK = 0.8


@dataclass(frozen=True, eq=False)
class ExcitationLimits:
    """
    Limits of a motion that starts in a posture; an unknown limit is infinite.

    :param start: (n,) posture at both ends [rad, m].
    :param lower: (n,) lowest positions [rad, m].
    :param upper: (n,) highest positions [rad, m].
    :param velocity: (n,) highest velocities [rad/s, m/s].
    :param acceleration: (n,) highest accelerations [rad/s^2, m/s^2].
    :param effort: (n,) highest efforts [N m, N].
    :param height: lowest height of tip and centres of mass, see `HeightPoints` [m]; -inf = none.
    """

    start: Array
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array
    height: float


def motion_limits(chain: Chain, *, start: ArrayLike | None = None, share: float = 0.8,
                  acceleration: ArrayLike | None = None,
                  height: float | None = None) -> ExcitationLimits:
    """
    Return the limits that the URDF (and joints.yaml) set to a motion from a posture.

    :param chain: the robot.
    :param start: (n,) posture [rad, m]; None = zero, or the middle of the range where zero is
        outside.
    :param share: fraction of the velocity, acceleration and effort limits that may be used: the
        model is not yet known, so the controller needs a reserve.
    :param acceleration: acceleration limit for all joints or (n,) [rad/s^2, m/s^2]; None =
        whatever the efforts allow.
    :param height: lowest height of tip and centres of mass above the base [m]; None = any.
    :raises ExcitationError: naming the joint: a limit is missing, leaves no motion, or the start
        is outside.
    """
    n, names = len(chain), chain.joint_names
    if not 0.0 < share <= 1.0:
        raise ExcitationError(f'share of the limits must be between 0 and 1, got {share:g}')
    lower, upper = chain.position_limits
    for joint, low, high in zip(chain.joints, lower, upper):
        if not low < high:
            raise ExcitationError(f'joint {joint.name}: position limits [{low:g}, {high:g}] '
                                  'allow no motion')
        if not joint.revolute and not np.isfinite(high - low):
            raise ExcitationError(f'joint {joint.name}: slides but has no position limits; give '
                                  'them in the URDF or in joints.yaml (limits: lower, upper)')
    free = ~np.isfinite(upper - lower)
    margin = np.where(free, 0.0, POSITION_MARGIN * np.where(free, 0.0, upper - lower))
    low, high = lower + margin, upper - margin
    if start is None:
        middle = 0.5 * (np.where(free, 0.0, low) + np.where(free, 0.0, high))
        posture = np.where((low < 0.0) & (high > 0.0), 0.0, middle)
    else:
        posture = np.array(start, dtype=np.float64)
        if posture.shape != (n,) or not np.all(np.isfinite(posture)):
            raise ExcitationError(f'start must be {n} finite numbers: {", ".join(names)}')
    low = np.where(free, np.maximum(low, posture - FREE_TURN), low)
    high = np.where(free, np.minimum(high, posture + FREE_TURN), high)
    for name, q, a, b in zip(names, posture, low, high):
        if not a < q < b:
            raise ExcitationError(f'joint {name}: the start {q:g} is not inside [{a:g}, {b:g}] '
                                  '(position limits with a margin); move the joint first')
    velocity = share * chain.velocity_limits
    if np.any(np.isnan(velocity)):
        name = names[int(np.flatnonzero(np.isnan(velocity))[0])]
        raise ExcitationError(f'joint {name}: no velocity limit is known; give it in the URDF, '
                              'in joints.yaml (limits: velocity) or as --velocity-limit')
    effort = share * np.nan_to_num(chain.effort_limits, nan=np.inf)
    rate = share * np.broadcast_to(np.inf if acceleration is None else
                                   np.asarray(acceleration, dtype=np.float64), n)
    if not np.all(rate > 0.0):
        raise ExcitationError(f'acceleration limits must be positive, got {rate / share}')
    unlimited = np.isinf(effort) & np.isinf(rate)
    if np.any(unlimited):
        name = names[int(np.flatnonzero(unlimited)[0])]
        raise ExcitationError(f'joint {name}: neither an effort nor an acceleration limit is '
                              'known; give one of them (--effort-limit, --acceleration)')
    return ExcitationLimits(posture, low, high, velocity, rate, effort,
                        -np.inf if height is None else float(height))


def stuck_joints(chain: Chain, limits: ExcitationLimits) -> list[str]:
    """
    Return a line for every joint that can hardly move, and with it no other one.

    :param chain: the robot.
    :param limits: limits of its motion.
    """
    dry = np.nan_to_num(chain.joint_physics.coulomb)
    return [f'{name}: its friction takes {friction:g} of the {allowed:g} [N m, N] that may be '
            f'used, which makes the whole motion slow and its condition number large; lock it '
            f'(--lock {name}=0), or correct its friction or effort limit in joints.yaml'
            for name, friction, allowed in zip(chain.joint_names, dry, limits.effort)
            if friction >= STUCK * allowed]


def check_start(model: Model, points: HeightPoints, limits: ExcitationLimits) -> None:
    """
    Refuse a start that the robot cannot hold or that is below the lowest height.

    :param model: model of the robot.
    :param points: points whose height is limited.
    :param limits: limits of the motion, with its start.
    :raises ExcitationError: naming the joint or the link.
    """
    gravity = np.abs(model.gravity_torque(limits.start))
    for name, effort, limit in zip(model.chain.joint_names, gravity, limits.effort):
        if effort >= limit:
            raise ExcitationError(f'joint {name}: holding the start needs {effort:.3g} of the '
                                  f'{limit:.3g} [N m, N] that may be used; choose another start '
                                  'or a larger share of the limits')
    for name, height in zip(points.names, points.heights(limits.start[None])[0]):
        if height <= limits.height:
            raise ExcitationError(f'{name} starts at height {height:.3f} m, not above the lowest '
                                  f'height of {limits.height:g} m; choose another start or height')


#: A point whose height varies less than this cannot be raised or lowered [m].
_STILL = 1e-6


@dataclass(frozen=True, eq=False)
class HeightPoints:
    """
    The tip and the centres of mass of the links, as far as joints can raise or lower them.

    Centres of mass, because frame origins may lie far outside of a link. Heights are measured
    against gravity (without gravity: along z) from the origin of the base link.

    :param chain: the robot.
    :param names: names of the points, for messages.
    :param links: number of the link each point belongs to, 1..n.
    :param points: position of each point in E_i [m].
    """

    chain: Chain
    names: tuple[str, ...]
    links: tuple[int, ...]
    points: tuple[Vector, ...]

    @classmethod
    def of(cls, chain: Chain) -> HeightPoints:
        """Return the points of a chain."""
        candidates = [(f'the centre of mass of {name}', i, vector(link.centre_of_mass))
                      for i, (name, link) in enumerate(zip(chain.link_names, chain.links), 1)
                      if link.mass > 0.0]
        candidates += [(f'the tip {tip.link}', tip.joint, vector(tip.pose.translation))
                       for tip in chain.tips]
        everything = cls(chain, *zip(*candidates))
        moving = np.ptp(everything.heights(sample_positions(chain)), axis=0) > _STILL
        kept = [each for each, moves in zip(candidates, moving) if moves]
        return cls(chain, *zip(*kept)) if kept else cls(chain, (), (), ())

    def heights(self, q: Array) -> Array:
        """
        Return the height of every point (N, points) [m].

        :param q: (N, n) joint positions [rad, m].
        """
        gravity = self.chain.gravity
        size = float(np.linalg.norm(gravity))
        up = -gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
        up_in_0 = vector(self.chain.base_pose.rotation.T @ up)
        base = float(up @ self.chain.base_pose.translation)
        frames = Samples.of(self.chain, q=q).frames
        result = np.empty((len(q), len(self.points)))
        for k, (link, point) in enumerate(zip(self.links, self.points)):
            for number in reversed(self.chain.path(link)):
                frame = frames[number]
                point = add(frame.to_parent(point), frame.origin)
            result[:, k] = dot(up_in_0, point) + base
        return result
