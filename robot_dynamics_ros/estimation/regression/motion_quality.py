# SPDX-License-Identifier: Apache-2.0
"""
How well a motion shows the parameters: one condition number for planned and recorded motions.

Columns are the independent ones in the order of the model, divided by their length; rows are
divided by the effort that a joint has. What was measured with
which noise plays no part, so that the number of a planned motion can be compared with that of its
recording.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.estimation.regression.least_squares import (
    condition_number,
    joint_triangles,
)
from robot_dynamics_ros.estimation.regression.rows import Columns, Rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms

#: A column is independent if at least this part of it is not a combination of those before it.
_INDEPENDENT = 1e-8

_SEED = 1995


def effort_scales(model: Model, limits: Array, q: Array) -> Array:
    """
    Return the effort (n,) that each joint has [N m, N].

    :param model: model of the robot.
    :param limits: (n,) effort limits; not finite = unknown, the gravity torque stands for it.
    :param q: (N, n) positions that the gravity torque is taken at [rad, m].
    """
    gravity = np.sqrt(np.mean(model.gravity_torque(q)**2, axis=0))
    typical = np.where(gravity > 0.0, gravity, max(float(np.max(gravity)), 1.0))
    return np.where(np.isfinite(limits), limits, typical)


def shown_columns(columns: Columns) -> tuple[int, ...]:
    """
    Return the indices of columns that are independent, the first ones first.

    :param columns: columns of the minimal parameters, and of joint terms after them.
    """
    n, P = len(columns.chain), len(columns.columns)
    rng = np.random.default_rng(_SEED)
    q = rng.uniform(-np.pi, np.pi, (20 * n + 20, n))
    qd, qdd = rng.normal(size=(2, *q.shape))
    W = columns.regressor(q, qd, qdd).reshape(-1, P)
    size = np.linalg.norm(W, axis=0)
    W = W / np.where(size > 0.0, size, 1.0)
    own = np.abs(np.diag(np.linalg.qr(W, mode='r')))
    return tuple(np.flatnonzero(own > _INDEPENDENT).tolist())


def recorded_condition_number(rows: Rows, terms: TorqueTerms) -> float:
    """
    Return the condition number of a recorded motion, as `design_excitation` tells it.

    :param rows: rows with all columns of the terms.
    :param terms: minimal parameters and joint terms.
    """
    chain = terms.chain
    scales = effort_scales(terms.model, chain.effort_limits, rows.states[:, :len(chain)])
    shown = rows.of_columns(shown_columns(terms))
    triangles = joint_triangles(shown, np.ones_like(rows.tau))
    return condition_number(np.vstack([triangle[:, :-1] / scale
                                       for triangle, scale in zip(triangles, scales)]))
