# SPDX-License-Identifier: Apache-2.0
"""Trajectory in, the same trajectory with feedforward efforts out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.chain.pose import Array
from robot_dynamics_ros.control.effort_limits import EffortLimits
from robot_dynamics_ros.control.resampling import resample, with_hold
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.errors import ParameterError

#: full: the whole torque; none: without the weight (the robot has its own compensation);
#: only: the weight alone.
GravityMode = Literal['full', 'none', 'only']
GRAVITY_MODES: tuple[GravityMode, ...] = get_args(GravityMode)


@dataclass(frozen=True, eq=False)
class Feedforward:
    """
    A trajectory with efforts.

    :param trajectory: the resampled trajectory, an effort in every point.
    :param clamped: (n,) number of points of each joint whose effort was cut at the limit.
    """

    trajectory: Trajectory
    clamped: NDArray[np.int64]


def feedforward_torque(model: TorqueModel, q: Array, qd: Array, qdd: Array,
                       gravity_mode: GravityMode = 'full') -> Array:
    """
    Return the torque to send ahead of the motion, with or without the weight.

    :param model: the robot.
    :param q: (n,) or (N, n) positions [rad, m].
    :param qd: velocities [rad/s, m/s].
    :param qdd: accelerations [rad/s^2, m/s^2].
    :param gravity_mode: 'full', 'none' (the robot compensates gravity itself) or 'only'.
    """
    if gravity_mode not in GRAVITY_MODES:
        raise ParameterError(f"gravity_mode must be one of {', '.join(GRAVITY_MODES)}, "
                             f"got '{gravity_mode}'")
    if gravity_mode == 'only':
        return model.gravity_torque(q)
    torque = model.torque(q, qd, qdd)
    return torque - model.gravity_torque(q) if gravity_mode == 'none' else torque


def add_feedforward(model: TorqueModel, trajectory: Trajectory, *, limits: EffortLimits,
                    rate: float, gravity_mode: GravityMode = 'full',
                    maximum_points: int = 100_000) -> Feedforward:
    """
    Resample a trajectory and fill in the effort of every point.

    Positions, velocities and accelerations of the result describe the identical curve; the
    efforts are those of that curve, so that the linear interpolation of the controller between
    two of them is at most one sample away from the true torque.

    :param model: the robot; its joint order is that of `trajectory`.
    :param trajectory: the waypoints; their efforts are replaced.
    :param limits: of the efforts.
    :param rate: at least this many points per second [1/s].
    :param gravity_mode: see feedforward_torque.
    :param maximum_points: a longer result is refused.
    :raises TrajectoryError: too many points.
    :raises StateError: the model gives an effort that is not finite.
    """
    dense = with_hold(resample(trajectory, rate, maximum_points=maximum_points))
    # the curve of the waypoints, not of the added points: differences of close positions lose
    # digits; at and after the hold point both are the same
    curve = trajectory.sample(dense.times)
    at_rest = dense.times > trajectory.times[-1]
    curve.qdd[at_rest] = 0.0
    torque = feedforward_torque(model, curve.q, curve.qd, curve.qdd, gravity_mode)
    effort, clamped = limits.limit(torque)
    return Feedforward(dense.with_efforts(effort), clamped)
