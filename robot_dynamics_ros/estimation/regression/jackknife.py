# SPDX-License-Identifier: Apache-2.0
"""
Standard deviations of a least squares by the jackknife: the fit without one block of time.

The covariance of a least squares assumes that the model is right, and that its residuals tell how
large and how long the errors are. But a friction law is never quite right, its errors last as long
as a motion lasts, and some tens of unknowns absorb much of what a short recording has of them. So
the data are divided into blocks of time; how far the unknowns move when one of them is left out
shows how far they would move in another recording, whatever the reason.

A block shows this for every unknown only once, so the spread of a single unknown is known badly.
It is therefore averaged with that of all unknowns, each relative to the spread expected from the
residuals. What the prior contributes is not seen by leaving out data and stays as it is: the
standard deviation of an unknown that the data hardly change is that of the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.estimation.regression.least_squares import (
    Fit,
    joint_triangles,
    upper_triangle,
)
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.estimation.regression.time_blocks import block_numbers
from robot_dynamics_ros.estimation.settings import Method

#: Number of blocks. Chosen on simulated recordings (`benchmark/studies/coverage.py`): more blocks
#: are too short for errors that last, fewer make the standard deviations uncertain.
BLOCKS = 8

#: The average over all unknowns counts as much as this many blocks of a single one.
_AVERAGE = 5.0

#: Unknowns count in that average if the data have at least this part in their variance.
_BY_DATA = 0.5

#: Rounding errors of the part of an unknown's information that is in one block.
_ROUNDING = 1e-9

#: Robust weights leave at least this part of the residuals alone.
_STRAIGHT = 0.3


def jackknifed(fit: Fit, rows: Rows, prior: Prior, method: Method = 'robust') -> Fit:
    """
    Return a fit with the covariance that leaving out blocks of time shows.

    The correlations between the unknowns are those of the least squares; their standard
    deviations are multiplied. Nothing changes where there is only one block.

    :param fit: result of a least squares.
    :param rows: rows that it was fitted to.
    :param prior: belief about the unknowns that it started from.
    :param method: kind of least squares.
    """
    free = ~fit.fixed
    parts = [part[:, [*np.flatnonzero(free), -1]] for part in _block_triangles(fit, rows, method)]
    if len(parts) < 2 or not np.any(free):
        return fit
    factor = np.ones(free.size)
    factor[free] = (jackknife_deviations(parts, prior.standard_deviations[free])
                    / np.linalg.norm(np.linalg.pinv(fit.triangle)[free], axis=1))
    return replace(fit, covariance=fit.covariance * np.outer(factor, factor),
                   triangle=fit.triangle / factor)


def jackknife_deviations(parts: Sequence[Array], prior: Array) -> Array:
    """
    Return the standard deviations (u,) of unknowns, from blocks of their weighted rows.

    :param parts: two or more blocks, each a matrix (m, u + 1) with the Gram matrix of its rows
        [Y | residuals].
    :param prior: (u,) standard deviations of the prior.
    """
    one = np.eye(prior.size)
    inverse = np.linalg.inv(upper_triangle(np.vstack(
        [one, *(part[:, :-1] * prior for part in parts)])))
    whole = np.sum(inverse ** 2, axis=1)
    by_prior = np.sum((inverse @ inverse.T) ** 2, axis=1)
    by_data = np.maximum(whole - by_prior, 0.0)
    moved = np.zeros(prior.size)
    for part in parts:
        known = (part[:, :-1] * prior) @ inverse
        left = (1.0 + _ROUNDING) * np.eye(len(part)) - known @ known.T
        move = inverse @ (known.T @ np.linalg.solve(left, part[:, -1]))
        moved += np.minimum(move ** 2, 1.0)  # without any data an unknown returns to the prior
    spread = moved * (len(parts) - 1) / len(parts)
    with np.errstate(divide='ignore', invalid='ignore'):
        ratio = np.where(by_data > 0.0, spread / by_data, 1.0)
    by_data_mostly = by_data > _BY_DATA * whole
    average = float(np.mean(ratio[by_data_mostly])) if np.any(by_data_mostly) else 1.0
    seen = len(parts) - 1.0
    ratio = (_AVERAGE * average + seen * ratio) / (_AVERAGE + seen)
    return np.asarray(prior * np.sqrt(ratio * by_data + by_prior))


def _block_triangles(fit: Fit, rows: Rows, method: Method) -> list[Array]:
    """
    Return for every block of time a matrix with the Gram matrix of its rows [Y | residuals].

    A residual beyond Huber's limit pulls with the force of one at the limit and does not yield;
    rows without weights, a lower stiffness of all, and these pulls in the place of the residuals
    are the same to first order (Huber 1981, section 7.6).
    """
    residuals = rows.residuals(fit.x)
    variances = fit.residual_sigma ** 2 * fit.correlation
    if method == 'ordinary':
        variances = np.full(variances.size, np.mean(variances))
    straight = np.maximum(np.sum((fit.weights == 1.0) & rows.usable, axis=0) / rows.counts(),
                          _STRAIGHT)
    pulls = replace(rows, tau=fit.weights * residuals / straight)
    weights = np.broadcast_to(straight / variances, rows.tau.shape)
    joints = rows.tau.shape[1]
    blocks, _ = block_numbers(rows.stretch, rows.states[:, :joints], BLOCKS)
    return [upper_triangle(np.vstack(joint_triangles(pulls.of_samples(chosen),
                                                     weights[chosen])))
            for number in np.unique(blocks) if np.any(rows.usable[chosen := blocks == number])]
