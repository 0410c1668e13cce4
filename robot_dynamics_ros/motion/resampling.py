# SPDX-License-Identifier: Apache-2.0
"""More points on the same curve, for a controller that interpolates efforts linearly."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Resolution of the time in a trajectory message [s].
NANOSECOND = 1e-9


def resample(trajectory: Trajectory, rate: float, *, maximum_points: int = 100_000) -> Trajectory:
    """
    Return the same curve with more points, without efforts.

    Every waypoint stays as it is; points are added between at equal distances, on whole
    nanoseconds, filled as far as both neighbours are, so that the curve of
    joint_trajectory_controller through the result is the identical one.

    :param trajectory: the waypoints.
    :param rate: smallest number of points per second [1/s].
    :param maximum_points: a longer result is refused.
    :raises TrajectoryError: a rate that is not positive, or more than `maximum_points` points.
    """
    if not (np.isfinite(rate) and rate > 0.0):
        raise TrajectoryError(f'resample rate must be positive and finite, got {rate}')
    durations = np.diff(trajectory.times)
    # a segment of exactly k periods gets k pieces, whatever the rounding of its duration
    pieces = np.maximum(1.0, np.ceil(durations * rate - 1e-6))
    total = 1.0 + float(np.sum(pieces))
    if total > maximum_points:
        raise TrajectoryError(f'{trajectory.duration:g} s at {rate:g} points per second are '
                              f'{total:.0f} points, more than the {maximum_points} allowed; '
                              'lower the rate or split the trajectory')
    counts = pieces.astype(np.int64)
    segment = np.append(np.repeat(np.arange(durations.size), counts), durations.size)
    part = np.arange(segment.size) - np.append(0, np.cumsum(counts))[segment]
    waypoint, added = part == 0, np.flatnonzero(part)
    home = segment[added]
    times = trajectory.times[segment].copy()
    times[added] += part[added] / counts[home] * durations[home]
    times[added] = np.round(times[added] / NANOSECOND) * NANOSECOND
    curve = trajectory.sample(times)
    fields = {'positions': curve.q, 'velocities': curve.qd, 'accelerations': curve.qdd}
    for degree, (field, values) in zip((1, 3, 5), fields.items()):
        values[added[trajectory.degrees[home] < degree]] = np.nan
        values[waypoint] = getattr(trajectory, field)
    return Trajectory(trajectory.joint_names, times, **fields)


def with_hold(trajectory: Trajectory) -> Trajectory:
    """
    Return the trajectory with a point at rest one nanosecond after an accelerated end.

    The controller keeps the effort of the last point for ever. Planners often end at rest with
    the deceleration still filled in; holding that torque would push the arm away. A trajectory
    that ends at rest without acceleration, or in motion, is returned as it is.
    """
    velocity, acceleration = trajectory.velocities[-1], trajectory.accelerations[-1]
    if np.any(np.nan_to_num(velocity)) or not np.any(np.nan_to_num(acceleration)):
        return trajectory
    rest = Trajectory(trajectory.joint_names, trajectory.times[-1:] + NANOSECOND,
                      trajectory.positions[-1:], trajectory.velocities[-1:],
                      np.zeros((1, len(trajectory.joint_names))))
    return trajectory.joined_with(rest)


def held_until(trajectory: Trajectory, time: float) -> Trajectory:
    """
    Return the trajectory with its last point once more at a later time [s].

    A trajectory that lasts as long, or that ends in motion, is returned as it is.
    """
    if trajectory.duration >= time or np.any(np.nan_to_num(trajectory.velocities[-1])):
        return trajectory
    last = Trajectory(trajectory.joint_names, np.array([time]), trajectory.positions[-1:],
                      trajectory.velocities[-1:], trajectory.accelerations[-1:])
    return trajectory.joined_with(last)
