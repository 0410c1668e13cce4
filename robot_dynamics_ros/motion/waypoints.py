# SPDX-License-Identifier: Apache-2.0
"""Waypoints to a trajectory: rows of a message, some empty or wrong, or postures of rest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.trajectory import Trajectory

PointRows = Sequence[Sequence[float]]

#: Largest velocity of a motion of fifth degree from rest to rest, over its mean velocity.
REST_TO_REST_PEAK = 1.875


def trajectory_from_waypoints(joint_names: Sequence[str], times: Sequence[float], *,
                              positions: PointRows, velocities: PointRows,
                              accelerations: PointRows,
                              efforts: PointRows | None = None) -> Trajectory:
    """
    Return the trajectory through waypoints.

    :param joint_names: n names.
    :param times: (N,) time from start [s].
    :param positions: N rows of n numbers [rad, m].
    :param velocities: N rows of n or of no numbers [rad/s, m/s].
    :param accelerations: N rows of n or of no numbers [rad/s^2, m/s^2].
    :param efforts: N rows of n or of no numbers [N m, N]; None: without.
    :raises TrajectoryError: a row of another length, a number that is not finite, and all that
        a Trajectory refuses.
    """
    given = {'positions': positions, 'velocities': velocities, 'accelerations': accelerations}
    if efforts is not None:
        given['efforts'] = efforts
    fields = {field: _table(field, rows, joint_names) for field, rows in given.items()}
    return Trajectory(tuple(joint_names), np.asarray(times, dtype=np.float64), **fields)


def trajectory_through_stops(joint_names: tuple[str, ...], stops: Array, velocities: Array,
                             shortest: float) -> Trajectory:
    """
    Return a motion along straight connections, at rest in every posture (minimum jerk).

    :param joint_names: n names.
    :param stops: (K, n) postures [rad, m].
    :param velocities: (n,) largest velocity [rad/s, m/s], positive.
    :param shortest: shortest time of a connection [s].
    """
    lengths = np.abs(np.diff(stops, axis=0))
    durations = np.max(REST_TO_REST_PEAK * lengths / velocities, axis=1, initial=0.0)
    times = np.concatenate([[0.0], np.cumsum(np.maximum(shortest, durations))])
    rest = np.zeros_like(stops)
    return Trajectory(joint_names, times, stops, rest, rest)


def _table(field: str, rows: PointRows, joint_names: Sequence[str]) -> Array:
    """Return the rows as an (N, n) array with NaN for an empty row."""
    n = len(joint_names)
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    odd = (lengths != n) & ((lengths != 0) | (field == 'positions'))
    if np.any(odd):
        point = int(np.argmax(odd))
        check_row_length(field, int(lengths[point]), point, n)
    table = np.full((len(rows), n), np.nan)
    # one flat run through all numbers: numpy would ask every row what it is
    filled = lengths != 0
    values = np.fromiter(chain.from_iterable(rows), np.float64, count=int(lengths.sum()))
    table[filled] = values.reshape(-1, n)
    if not np.all(np.isfinite(values)):
        for i in np.flatnonzero(filled):
            check_filled(field, table[i:i + 1], joint_names, first=int(i))
    return table


def check_row_length(field: str, length: int, point: int, n: int) -> None:
    """
    Refuse a row of a waypoint that is neither full nor, where that is allowed, empty.

    :param field: name of the field.
    :param length: number of values.
    :param point: index of the waypoint.
    :param n: number of joints.
    :raises TrajectoryError: another length.
    """
    if length != n and (length or field == 'positions'):
        advice = '' if length else '; a trajectory without positions is not supported'
        raise TrajectoryError(f'point {point} has {length} {field}, expected {n}, one per '
                              f'joint{advice}')


def check_filled(field: str, rows: Array, joint_names: Sequence[str], *, first: int) -> None:
    """
    Refuse a number that is not finite in rows that are filled.

    :param field: name of the field.
    :param rows: (N, n) values.
    :param joint_names: n names.
    :param first: index of the waypoint of row 0.
    :raises TrajectoryError: NaN or infinity.
    """
    bad = ~np.isfinite(rows)
    if np.any(bad):
        point, joint = (int(index) for index in np.argwhere(bad)[0])
        raise TrajectoryError(f'joint {joint_names[joint]}: {field} of point {first + point} is '
                              f'not finite ({rows[point, joint]})')
