# SPDX-License-Identifier: Apache-2.0
"""A Trajectory from waypoints as they come in a message: rows that may be empty or wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.errors import TrajectoryError

Rows = Sequence[Sequence[float]]


def trajectory_from_waypoints(joint_names: Sequence[str], times: Sequence[float], *,
                              positions: Rows, velocities: Rows, accelerations: Rows,
                              efforts: Rows | None = None) -> Trajectory:
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


def _table(field: str, rows: Rows, joint_names: Sequence[str]) -> Array:
    """Return the rows as an (N, n) array with NaN for an empty row."""
    n = len(joint_names)
    required = field == 'positions'
    for point, row in enumerate(rows):
        if len(row) != n and (len(row) or required):
            advice = '' if len(row) else '; a trajectory without positions is not supported'
            raise TrajectoryError(f'point {point} has {len(row)} {field}, expected {n}, one per '
                                  f'joint{advice}')
    empty = [np.nan] * n
    table = np.array([row if len(row) else empty for row in rows], dtype=np.float64)
    for point, joint in np.argwhere(~np.isfinite(table)):
        if len(rows[point]):
            raise TrajectoryError(f'joint {joint_names[joint]}: {field} of point {point} is not '
                                  f'finite ({table[point, joint]})')
    return table
