# SPDX-License-Identifier: Apache-2.0
"""
How far the parameters of the links may be from those of the URDF: the data decide.

A URDF that is nearly right helps where a recording says little; one without inertias, or with
those of another robot, only does harm. Several standard deviations of the prior are tried, and the
one is taken whose parameters predict blocks of time best that they were not fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.estimation.regression.least_squares import (
    integrated_correlation,
    joint_triangles,
    reweighted,
    upper_triangle,
)
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.estimation.regression.time_blocks import Blocks

#: Factors of the standard deviations that are tried; the smallest that is good enough is taken.
ROOMS = (1.0, 3.0, 10.0, 100.0, 1000.0)

#: Errors that differ by less than this part are equally good.
_EQUAL = 0.01


def chosen_room(rows: Rows, blocks: Blocks, believed: Callable[[float], Prior]) -> float:
    """
    Return the factor of the prior's standard deviations with which held-out blocks fit best.

    :param rows: rows of the training data.
    :param blocks: (N,) block of time of each row.
    :param believed: function that returns the prior for a factor.
    """
    parts = [blocks == number for number in np.unique(blocks)]
    if len(parts) < 2:
        return ROOMS[0]
    triangles, counts = [], []
    for part in parts:
        chosen = rows.of_samples(part)
        triangles.append(joint_triangles(chosen, np.ones(chosen.tau.shape)))
        counts.append(np.asarray(chosen.usable.sum(axis=0), np.float64))
    whole = reweighted(_stacked(triangles), np.maximum(sum(counts), 1.0),
                       np.ones(rows.tau.shape[1]), believed(ROOMS[-1]))
    correlation = integrated_correlation(rows.residuals(whole.x))
    errors = np.array([_held_out_error(triangles, counts, correlation, believed(room))
                       for room in ROOMS])
    return ROOMS[int(np.argmax(errors <= np.min(errors) + _EQUAL))]


def _held_out_error(triangles: Sequence[Sequence[Array]], counts: Sequence[Array],
                    correlation: Array, prior: Prior) -> float:
    """Return the mean logarithm of the joints' errors, each block predicted from the others."""
    squares, size = np.zeros((2, correlation.size))
    for k, tested in enumerate(triangles):
        others = _stacked([part for i, part in enumerate(triangles) if i != k])
        seen = np.maximum(sum(count for i, count in enumerate(counts) if i != k), 1.0)
        x = reweighted(others, seen, correlation, prior).x
        squares += [np.sum((T[:, :-1] @ x - T[:, -1]) ** 2) for T in tested]
        size += [np.sum(T[:, -1] ** 2) for T in tested]
    used = size > 0.0
    return float(np.mean(0.5 * np.log(np.maximum(squares[used] / size[used], 1e-20))))


def _stacked(parts: Sequence[Sequence[Array]]) -> list[Array]:
    """Return the triangle of every joint over several blocks."""
    return [upper_triangle(np.vstack(triangles)) for triangles in zip(*parts)]
