# SPDX-License-Identifier: Apache-2.0
"""
Least squares for the unknowns of the torque: ordinary, weighted by joint, robust.

The rows of every joint are reduced to a triangle by QR, never to normal equations, and only over
the columns that act on that joint. Joints are weighted by their residuals (iteratively
reweighted). Filtered residuals are correlated in time, so N samples carry less information than N
independent ones: their variance is multiplied by the integrated correlation. Robust weights
(Huber) limit the influence of single samples.

`essential_parameters` tells which unknowns the data need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.estimation.settings import Method

#: Huber's constant: residuals beyond this many standard deviations count linearly.
HUBER = 1.345
_PASSES = 25

#: Iterations end when no unknown moves by more than this part of its standard deviation, and no
#: residual's standard deviation by more than this part of itself.
_SETTLED, _SAME_SIZE = 1e-3, 0.02
_SETTLED_ROBUST = 0.02

#: The first pass gives the prior's standard deviations this factor.
_ROOM = 1e3

#: Residuals below this part of the torque are rounding errors; weights grow no further there.
_FLOOR = 1e-11


@dataclass(frozen=True, eq=False)
class Fit:
    """
    The result of a least squares.

    :param x: (u,) values of the unknowns.
    :param covariance: (u, u) covariance of the unknowns.
    :param residual_sigma: (n,) standard deviation of the residuals of each joint [N m, N].
    :param correlation: (n,) number of samples that carry the information of one independent one.
    :param weights: (N, n) robust weights between 0 and 1.
    :param triangle: (u, u) upper triangle with ``covariance = (triangle^T triangle)^-1``.
    :param fixed: (u,) unknowns held at zero because they cannot be negative.
    """

    x: Array
    covariance: Array
    residual_sigma: Array
    correlation: Array
    weights: Array
    triangle: Array
    fixed: Mask

    @property
    def standard_deviations(self) -> Array:
        """Standard deviations of the unknowns (u,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def condition_number(self) -> float:
        """Condition number of the weighted rows, columns scaled; infinite if rank-deficient."""
        return condition_number(self.triangle[:, ~self.fixed])


def condition_number(A: Array) -> float:
    """Return the condition number of a matrix whose columns are scaled to equal length."""
    lengths = np.linalg.norm(A, axis=0)
    if A.size == 0 or not np.all(lengths > 0.0):
        return float('inf')
    singular = np.linalg.svd(A / lengths, compute_uv=False)
    return float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float('inf')


def upper_triangle(A: Array) -> Array:
    """Return R of A = Q R: the same Gram matrix in as few rows as possible."""
    return np.asarray(np.linalg.qr(A, mode='r'))


def joint_triangles(rows: Rows, weights: Array) -> list[Array]:
    """
    Return for every joint a matrix (r, u + 1) with the same Gram matrix as its rows [Y | tau].

    :param rows: regression rows.
    :param weights: (N, n) weights of the squared residuals.
    """
    result = []
    for j in range(rows.tau.shape[1]):
        use = rows.usable[:, j]
        Y = rows.Y[use, j]
        acting = np.flatnonzero(np.any(Y != 0.0, axis=0))
        A = np.column_stack([Y[:, acting], rows.tau[use, j]]) * np.sqrt(weights[use, j])[:, None]
        R = upper_triangle(A)
        triangle = np.zeros((len(R), rows.Y.shape[2] + 1))
        triangle[:, [*acting, -1]] = R
        result.append(triangle)
    return result


def solve(triangles: Sequence[Array], variances: Array, prior: Prior,
          free: Mask) -> tuple[Array, Array]:
    """
    Return x (u,) and the triangle (u, u) of the weighted problem with prior.

    :param triangles: triangle of every joint.
    :param variances: (n,) variance of an independent residual of each joint.
    :param prior: belief about the unknowns.
    :param free: (u,) unknowns to solve for; the others are zero.
    """
    u, sigma = free.size, prior.standard_deviations
    stacked = np.vstack([*(T / np.sqrt(v) for T, v in zip(triangles, variances)),
                         np.column_stack([np.diag(1.0 / sigma), prior.mean / sigma])[free]])
    R = upper_triangle(stacked[:, [*np.flatnonzero(free), u]])
    size = int(free.sum())
    x = np.zeros(u)
    x[free] = np.linalg.solve(R[:size, :size], R[:size, size])
    triangle = np.zeros((size, u))
    triangle[:, free] = R[:size, :size]
    return x, triangle


@dataclass(frozen=True, eq=False)
class Solution:
    """
    The solution with every joint weighted by its own residuals.

    :param x: (u,) values of the unknowns.
    :param triangle: (free, u) triangle of the weighted problem.
    :param free: (u,) False where held at zero.
    :param residual_sigma: (n,) standard deviation of the residuals of each joint.
    """

    x: Array
    triangle: Array
    free: Mask
    residual_sigma: Array


def reweighted(triangles: Sequence[Array], counts: Array, correlation: Array, prior: Prior, *,
               alike: bool = False, free: Mask | None = None) -> Solution:
    """
    Solve repeatedly, with the variance of every joint from its own residuals.

    :param triangles: triangle of every joint.
    :param counts: (n,) number of rows that each stands for.
    :param correlation: (n,) integrated correlation in time.
    :param prior: belief about the unknowns.
    :param alike: the same variance for all joints (ordinary least squares).
    :param free: (u,) unknowns to solve for, the others are zero; None = all.
    """
    u = prior.mean.size
    solved_for = np.ones(u, dtype=np.bool_) if free is None else free
    torque = np.array([np.linalg.norm(T[:, u]) for T in triangles]) / np.sqrt(counts)
    floor = _FLOOR * np.maximum(torque, 1e-3 * np.max(torque) + 1e-300)
    sigma = np.maximum(torque, floor)
    left = max(1.0 - float(solved_for.sum() / counts.sum()), 0.05)
    x = np.full(u, np.nan)
    # the first pass hardly believes the prior: with the whole torque for residuals a prior that is
    # wrong would outweigh the data, and its residuals would then confirm it
    believed = replace(prior, standard_deviations=_ROOM * prior.standard_deviations)
    for _ in range(_PASSES):
        variances = sigma ** 2 * correlation
        if alike:
            variances = np.full(len(triangles), np.mean(variances))
        x_before, sigma_before = x, sigma
        x, triangle = solve(triangles, variances, believed, solved_for)
        believed = prior
        rest = [np.linalg.norm(T[:, :u] @ x - T[:, u]) for T in triangles]
        sigma = np.maximum(np.array(rest) / np.sqrt(counts * left), floor)
        if (np.max(np.abs(triangle @ (x - x_before)), initial=0.0) < _SETTLED
                and np.all(np.abs(np.log(sigma / sigma_before)) < _SAME_SIZE)):
            break
    return Solution(x, triangle, solved_for, sigma)


def fit(rows: Rows, prior: Prior, method: Method = 'robust',
        not_negative: Mask | None = None) -> Fit:
    """
    Return the unknowns that explain the torques best.

    :param rows: regression rows, at least one of them usable.
    :param prior: belief about the unknowns; it decides where the rows say nothing.
    :param method: kind of least squares: 'ordinary' (all joints alike), 'weighted' (joints by
        their residuals) or 'robust' (weighted, with Huber weights).
    :param not_negative: (u,) unknowns that cannot be negative; held at 0 if they would be.
    """
    weights, correlation = np.ones(rows.tau.shape), np.ones(rows.tau.shape[1])
    triangles, counts = joint_triangles(rows, weights), rows.counts()
    free = np.ones(prior.mean.size, dtype=np.bool_)
    x = np.full(free.size, np.nan)
    for _ in range(_PASSES):
        found = reweighted(triangles, counts, correlation, prior, alike=method == 'ordinary',
                           free=free)
        while not_negative is not None and np.any(free & not_negative & (found.x < 0.0)):
            free = without_negative(found, prior, not_negative)
            found = reweighted(triangles, counts, correlation, prior,
                               alike=method == 'ordinary', free=free)
        if np.max(np.abs(found.triangle @ (found.x - x)), initial=0.0) < _SETTLED_ROBUST:
            break
        x = found.x
        residuals = rows.residuals(x)
        correlation = integrated_correlation(residuals)
        if method == 'robust':
            weights = huber_weights(residuals, _robust_sigma(residuals, rows))
            triangles = joint_triangles(rows, weights)
    inverse = np.linalg.pinv(found.triangle)
    return Fit(found.x, inverse @ inverse.T, found.residual_sigma, correlation, weights,
               found.triangle, ~free)


def without_negative(found: Solution, prior: Prior, not_negative: Mask) -> Mask:
    """
    Return the free unknowns (u,) without those that turn negative, the most negative first.

    :param found: solution that may have negative values.
    :param prior: belief whose standard deviations say how negative a value is.
    :param not_negative: (u,) unknowns that cannot be negative.
    """
    free, x = found.free.copy(), found.x
    z = found.triangle @ found.x
    while np.any(negative := free & not_negative & (x < 0.0)):
        places = np.flatnonzero(negative)
        free[places[np.argmin(x[places] / prior.standard_deviations[places])]] = False
        x = np.zeros(free.size)
        x[free] = np.linalg.lstsq(found.triangle[:, free], z, rcond=None)[0]
    return free


def huber_weights(residuals: Array, sigma: Array) -> Array:
    """Return weights (N, n) of the squared residuals: 1 up to `HUBER` sigma, then falling."""
    with np.errstate(divide='ignore', invalid='ignore'):
        weights = np.minimum(1.0, HUBER * sigma / np.abs(residuals))
    return np.where(residuals == 0.0, 1.0, weights)


def _robust_sigma(residuals: Array, rows: Rows) -> Array:
    """Return the standard deviations (n,) from medians, which outliers do not change."""
    result = np.empty(residuals.shape[1])
    for j in range(result.size):
        sizes = np.abs(residuals[rows.usable[:, j], j])
        result[j] = 1.4826 * np.median(sizes) if sizes.size else 0.0
    return result


def integrated_correlation(residuals: Array) -> Array:
    """
    Return how many correlated residuals carry the information of an independent one (n,).

    1 + 2 (sum of the correlations at lags 1, 2, ... before the first that is not positive).
    """
    N, n = residuals.shape
    size = 2 * N
    result = np.ones(n)
    for j in range(n):
        r = residuals[:, j]
        power = np.abs(np.fft.rfft(r, size)) ** 2
        covariance = np.fft.irfft(power, size)[:N]
        if covariance[0] <= 0.0:
            continue
        correlation = covariance[1:] / covariance[0]
        negative = np.flatnonzero(correlation <= 0.0)
        result[j] = 1.0 + 2.0 * float(np.sum(correlation[:negative[0] if negative.size else N]))
    return result


#: A parameter stays if removing it costs more than this (chi-square, 1 %).
_COST = 6.63


def essential_parameters(fit: Fit) -> Mask:
    """
    Return the mask (u,) of the unknowns that the torque needs, by stepwise elimination.

    One at a time, the least significant unknown is set to zero and the others are solved for
    again, until removing any of them would cost more than chance explains. The cost of an unknown
    is the square of its value over its standard deviation.
    """
    left = ~fit.fixed
    z = fit.triangle @ fit.x
    while np.any(left):
        x, sigma = _solved(fit.triangle[:, left], z)
        cost = (x / sigma) ** 2
        least = int(np.argmin(cost))
        if cost[least] > _COST:
            break
        left[np.flatnonzero(left)[least]] = False
    return left


def _solved(A: Array, z: Array) -> tuple[Array, Array]:
    """Return the least squares solution and its standard deviations."""
    R = upper_triangle(np.column_stack([A, z]))
    size = A.shape[1]
    inverse = np.linalg.inv(R[:size, :size])
    return inverse @ R[:size, size], np.sqrt(np.sum(inverse ** 2, axis=1))
