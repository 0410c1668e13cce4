# SPDX-License-Identifier: Apache-2.0
"""A motion from a CSV table, with the derivatives that it lacks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import TableError
from robot_dynamics_ros.files.csv_table import CsvTable


class MotionTable(NamedTuple):
    """Times (N,) and joint motion (N, n)."""

    t: Array
    q: Array
    qd: Array
    qdd: Array


def motion_from_table(source: CsvTable, chain: Chain) -> MotionTable:
    """
    Return the motion of a table; derivatives that it lacks are those of a cubic spline.

    :raises TableError: a column is missing, or a number is.
    """
    t = source.time()
    q = source.required_joints('q', chain.joint_names)
    qd, qdd = (source.joints(prefix, chain.joint_names) for prefix in ('qd', 'qdd'))
    for prefix, values in (('q', q), ('qd', qd), ('qdd', qdd)):
        if values is not None and not np.all(np.isfinite(values)):
            line, joint = np.argwhere(~np.isfinite(values))[0]
            raise TableError(f'{source.source}:{line + 2}: {prefix}_{chain.joint_names[joint]} is '
                             'not a finite number')
    if qd is None:
        qd = _derivative(source, t, q)
    if qdd is None:
        qdd = _derivative(source, t, qd)
    return MotionTable(t, q, qd, qdd)


def _derivative(source: CsvTable, t: Array, values: Array) -> Array:
    """Return the time derivative of a cubic spline through the values."""
    from scipy.interpolate import CubicSpline

    if len(t) < 4:
        raise TableError(f'{source.source}: {len(t)} samples are too few for derivatives; give '
                         'at least 4, or columns qd_<joint> and qdd_<joint>')
    return np.asarray(CubicSpline(t, values)(t, 1))
