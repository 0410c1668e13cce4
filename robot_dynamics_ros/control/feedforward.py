# SPDX-License-Identifier: Apache-2.0
"""Trajectory in, the same trajectory with feedforward efforts out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.carried_effort import CarriedEffort
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.joining import Present, joined
from robot_dynamics_ros.motion.resampling import held_until, resample, with_hold
from robot_dynamics_ros.motion.trajectory import Trajectory, TrajectorySample

#: full: the whole torque; none: without the weight (the robot has its own compensation);
#: only: the weight alone.
GravityMode = Literal['full', 'none', 'only']
GRAVITY_MODES: tuple[GravityMode, ...] = get_args(GravityMode)


@dataclass(frozen=True, eq=False)
class FeedforwardSettings:
    """
    How efforts are filled into trajectories.

    :param limits: effort limits; their joint order is that of the model.
    :param rate: smallest number of points per second [1/s].
    :param gravity_mode: see feedforward_torque.
    :param maximum_points: a longer result is refused.
    :param position_limits: (2, n) lower and upper [rad, m], or None; only warned about.
    :param continuous: (n,) True for joints that turn without end; None = no joint does.
    """

    limits: EffortLimits
    rate: float = 100.0
    gravity_mode: GravityMode = 'full'
    maximum_points: int = 100_000
    position_limits: Array | None = None
    continuous: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Onset(Present):
    """
    What happens while a trajectory arrives at a controller that adds its efforts to feedback.

    :param carried: function that returns what feedback carries, of the feedforward effort (n,)
        [N m, N] at rest where the trajectory begins; None = nothing.
    :param scaling: rate at which the controller plays the time of trajectories.
    """

    carried: Callable[[Array], CarriedEffort] | None = None
    scaling: float = 1.0


@dataclass(frozen=True, eq=False)
class Feedforward:
    """
    A trajectory with efforts.

    :param trajectory: the resampled trajectory, an effort in every point.
    :param clamped: (n,) number of points of each joint whose effort was clipped at the limit, in
        the joint order of the model.
    :param warnings: warnings about this trajectory, for people.
    :param now: present time on the trajectory [s].
    :param delay: time by which its points are later than given [s]; then its time zero is now.
    :param carried: what feedback carries from now on, in the joint order of the model.
    :param whole: the same for all joints of the model, those that were not named at rest.
    """

    trajectory: Trajectory
    clamped: NDArray[np.int64]
    warnings: tuple[str, ...] = ()
    now: float = 0.0
    delay: float = 0.0
    carried: CarriedEffort | None = None
    whole: Trajectory | None = None


def feedforward_torque(model: TorqueModel, q: Array, qd: Array, qdd: Array,
                       gravity_mode: GravityMode = 'full') -> Array:
    """
    Return the torque to send ahead of the motion, with or without the weight.

    :param model: the robot.
    :param q: (n,) or (N, n) positions [rad, m]; several are a motion in the order of time.
    :param qd: velocities [rad/s, m/s].
    :param qdd: accelerations [rad/s^2, m/s^2].
    :param gravity_mode: 'full', 'none' (the robot compensates gravity itself) or 'only'.
    """
    if gravity_mode not in GRAVITY_MODES:
        raise ParameterError(f"gravity_mode must be one of {', '.join(GRAVITY_MODES)}, "
                             f"got '{gravity_mode}'")
    if gravity_mode == 'only':
        return model.gravity_torque(q)
    torque = model.torque_along(q, qd, qdd) if q.ndim == 2 else model.torque(q, qd, qdd)
    return torque - model.gravity_torque(q) if gravity_mode == 'none' else torque


def add_feedforward(model: TorqueModel, trajectory: Trajectory, settings: FeedforwardSettings,
                    onset: Onset | None = None) -> Feedforward:
    """
    Resample a trajectory and fill in the effort of every point.

    Positions, velocities and accelerations of the result describe the identical curve; the
    efforts are those of that curve, so that the linear interpolation of the controller between
    two of them stays close to the true torque. Where the first point is still to come, the
    measured state becomes the first one: the controller would blend from there anyway, but with
    an effort that it interpolates from its last command, feedback included. Efforts that feedback
    carries are left out; where they fade, the last point is held until they have.

    :param model: the robot.
    :param trajectory: the waypoints, joints in any order; their efforts are replaced. Joints of
        the robot that it does not name stand still in their measured posture.
    :param settings: limits, rate, gravity mode.
    :param onset: what happens now; None = nothing is known.
    :returns: the result, joints in the order of `trajectory`.
    :raises TrajectoryError: missing or unknown joints, too many points, ended already.
    :raises StateError: the model gives an effort that is not finite.
    """
    onset = onset or Onset()
    limits = settings.limits
    posture = None if onset.measured is None else onset.measured.q
    begun = joined(trajectory.completed(limits.joint_names, posture), onset, settings.rate,
                   settings.continuous)

    def torque(curve: TrajectorySample) -> Array:
        s = onset.scaling
        return feedforward_torque(model, curve.q, s * curve.qd, s**2 * curve.qdd,
                                  settings.gravity_mode)

    carried = None
    whole = with_hold(begun.trajectory)
    if onset.carried is not None:
        q = begun.trajectory.sample(begun.now).q
        rest = np.zeros_like(q)
        carried = onset.carried(limits.limit(torque(TrajectorySample(q, rest, rest, rest))).effort)
        if carried.fades:
            whole = held_until(whole, begun.now + carried.duration)
    dense = resample(whole, settings.rate, maximum_points=settings.maximum_points)
    # sampled from the waypoints: differences of close points would lose digits
    curve = whole.sample(dense.times)
    efforts = torque(curve)
    if carried is not None:
        efforts = efforts - carried.at(dense.times - begun.now)
    effort, clamped = limits.limit(efforts)
    warnings = _warnings(begun.trajectory, curve.q, settings)
    if begun.blind:
        warnings.insert(0, f'the first point is {begun.trajectory.times[0] - begun.now:g} s away '
                        'and there is no fresh joint state: until then the controller '
                        'interpolates the effort from its last command')
    filled = dense.with_efforts(effort)
    return Feedforward(filled.only(trajectory.joint_names), clamped, tuple(warnings), begun.now,
                       begun.delay, carried, filled)


def _warnings(waypoints: Trajectory, positions: Array,
              settings: FeedforwardSettings) -> list[str]:
    found = []
    if np.any(waypoints.degrees == 1):
        found.append('points without velocities: the velocity jumps at every waypoint, and the '
                     'efforts hold no acceleration; fill velocities and accelerations')
    if settings.position_limits is not None:
        lower, upper = settings.position_limits
        for i, name in enumerate(waypoints.joint_names):
            column = positions[:, i]
            if column.min() < lower[i] or column.max() > upper[i]:
                found.append(f'joint {name}: positions from {column.min():g} to '
                             f'{column.max():g} leave the limits {lower[i]:g} to {upper[i]:g}')
    return found
