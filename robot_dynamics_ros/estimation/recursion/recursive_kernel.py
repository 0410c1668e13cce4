# SPDX-License-Identifier: Apache-2.0
"""
The inner loops of the recursive least squares: weigh the rows of a sample, absorb them.

Written in the subset of Python that numba compiles; without numba, numpy does the same. Normal
equations are never formed, so the information matrix stays positive definite whatever comes in,
and rounding errors do not accumulate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array

Indices = NDArray[np.int64]

#: A variance that grows by this factor shows that the robot has changed.
GROWN = 2.0

#: Before this many samples the variances are still being learned.
LEARNED = 200.0

#: Columns per block: what one or two vector instructions work on.
LANES = 8


class Sample(NamedTuple):
    """
    Work space of one update: weighted rows, sorted by the first column that is not zero.

    :param rows: (n + 1, blocks, LANES) rows of the joints and of the prior; column u is the
        right-hand side.
    :param starts: (n + 1,) first column of each row, non-decreasing.
    :param error: (n,) prediction errors; NaN where not measured.
    :param buffer: (LANES + n + 1,) work space.
    """

    rows: Array
    starts: Indices
    error: Array
    buffer: Array


def weigh(Y: Array, tau: Array, x: Array, order: Indices, starts: Indices, variances: Array,
          memory: float, limit: float, turn: int, back: float, mean: float, rows: Array,
          row_starts: Indices, error: Array) -> float:
    """
    Fill the rows of a sample, and learn the error variances of the joints from it.

    A joint that becomes much less predictable has changed. Its past rows were weighted with a
    variance that no longer holds; if they were kept, they would outweigh the present for many
    horizons. So the old triangle is then scaled down.

    :param Y: (n, u) regressor.
    :param tau: (n,) torque; NaN = not measured.
    :param x: (width,) unknowns in sorted order.
    :param order: (u,) column of Y for each sorted unknown.
    :param starts: (n,) first sorted unknown that acts on each joint, non-decreasing.
    :param variances: (4, n) variance of the errors, number of errors it is the mean of, its
        smallest value, and the variance that past rows were weighted with; updated.
    :param memory: largest number of errors to average.
    :param limit: number of standard deviations beyond which errors count linearly; 0 = none.
    :param turn: sorted unknown whose prior flows back.
    :param back: weight of that prior; 0 = none.
    :param mean: prior value of that unknown.
    :param rows: (n + 1, width) output: weighted rows; column u is the right-hand side.
    :param row_starts: (n + 1,) output: first columns of the rows.
    :param error: (n,) output: prediction errors.
    :returns: factor on the old triangle, 1 if no joint has changed.
    """
    n, u = Y.shape
    place = 0
    factor = 1.0
    for j in range(n + 1):
        if place == j and (j == n or starts[j] > turn):
            for c in range(rows.shape[1]):
                rows[j, c] = 0.0
            rows[j, turn] = back
            rows[j, u] = back * mean
            row_starts[j] = turn
            place = -1
        if j == n:
            break
        r = j if place >= 0 else j + 1
        if place >= 0:
            place += 1
        row_starts[r] = starts[j]
        for c in range(starts[j]):
            rows[r, c] = 0.0
        prediction = 0.0
        for c in range(starts[j], u):
            entry = Y[j, order[c]]
            rows[r, c] = entry
            prediction += entry * x[c]
        error[j] = tau[j] - prediction
        variance, seen = variances[0, j], variances[1, j]
        weight = 1.0 / math.sqrt(variance)
        if not abs(error[j]) < math.inf:  # isfinite is x - x, which reassociation folds to 0
            weight = 0.0
        else:
            square = error[j] * error[j]
            if limit > 0.0:
                if square > limit * limit * variance:
                    weight *= math.sqrt(limit / (abs(error[j]) * weight))
                square = min(square, 9.0 * limit * limit * variance)
            seen = min(seen + 1.0, memory)
            variances[1, j] = seen
            variance = max(variance + (square - variance) / seen, variances[2, j])
            variances[0, j] = variance
            if seen < LEARNED or variance < variances[3, j]:
                variances[3, j] = variance
            elif variance > GROWN * variances[3, j]:
                factor = min(factor, math.sqrt(variances[3, j] / variance))
                variances[3, j] = variance
        for c in range(starts[j], u):
            rows[r, c] *= weight
        rows[r, u] = weight * tau[j] if weight > 0.0 else 0.0
        for c in range(u + 1, rows.shape[1]):
            rows[r, c] = 0.0
    return factor


def absorb(triangle: Array, rows: Array, starts: Indices, scale: float, buffer: Array,
           x: Array) -> float:
    """
    Absorb rows into the triangle and solve it.

    Columns are in blocks of LANES, so that every inner loop has the same length and becomes a few
    vector instructions; columns left of the diagonal in a block are zero and stay so.

    :param triangle: (u, blocks, LANES) upper triangle R and, as column u, the right-hand side z
        with ``R x = z``; updated.
    :param rows: (m, blocks, LANES) weighted rows and their right-hand sides; overwritten.
        Row i has zeros before column starts[i].
    :param starts: (m,) first column of each row, non-decreasing.
    :param scale: factor on the old triangle: the square root of the forgetting factor.
    :param buffer: (LANES + m,) work space.
    :param x: (blocks, LANES) output: solution, padded with zeros.
    :returns: logarithm of the ratio of the determinant of R to that of the scaled old one.
    """
    u, blocks, m = triangle.shape[0], triangle.shape[1], rows.shape[0]
    step, entries = buffer[:LANES], buffer[LANES:]
    active = 0
    gain, growth = 0.0, 1.0
    for k in range(u):
        block, lane = k // LANES, k % LANES
        while active < m and starts[active] <= k:
            active += 1
        squares = 0.0
        for i in range(active):
            entries[i] = rows[i, block, lane]
            squares += entries[i] * entries[i]
        old = scale * triangle[k, block, lane]
        new = -math.copysign(math.sqrt(old * old + squares), old)
        head = old - new
        factor = -1.0 / (new * head)
        for b in range(block, blocks):
            for c in range(LANES):
                triangle[k, b, c] *= scale
                step[c] = head * triangle[k, b, c]
            for i in range(active):
                for c in range(LANES):
                    step[c] += entries[i] * rows[i, b, c]
            for c in range(LANES):
                step[c] *= factor
                triangle[k, b, c] -= step[c] * head
            for i in range(active):
                for c in range(LANES):
                    rows[i, b, c] -= entries[i] * step[c]
        triangle[k, block, lane] = new
        for i in range(active):
            rows[i, block, lane] = 0.0
        growth *= abs(new / old)
        if growth > 1e200:
            gain, growth = gain + math.log(growth), 1.0
    for b in range(blocks):
        for c in range(LANES):
            x[b, c] = 0.0
    for k in range(u - 1, -1, -1):
        known = 0.0
        for b in range(k // LANES, blocks):
            for c in range(LANES):
                known += triangle[k, b, c] * x[b, c]
        right = triangle[k, u // LANES, u % LANES]
        x[k // LANES, k % LANES] = (right - known) / triangle[k, k // LANES, k % LANES]
    return gain + math.log(growth)


def weigh_by_numpy(Y: Array, tau: Array, x: Array, order: Indices, starts: Indices,
                   variances: Array, memory: float, limit: float, turn: int, back: float,
                   mean: float, rows: Array, row_starts: Indices, error: Array) -> float:
    """Do the same as `weigh`; the prior's row comes last."""
    n, u = Y.shape
    rows[:] = 0.0
    rows[:n, :u] = Y[:, order]
    error[:] = tau - rows[:n, :u] @ x[:u]
    measured = np.isfinite(error)
    variance, seen, smallest, trusted = variances
    weight = np.where(measured, 1.0 / np.sqrt(variance), 0.0)
    square = np.where(measured, error, 0.0) ** 2
    if limit > 0.0:
        weight /= np.sqrt(np.maximum(np.sqrt(square / variance) / limit, 1.0))
        square = np.minimum(square, 9.0 * limit * limit * variance)
    seen[measured] = np.minimum(seen[measured] + 1.0, memory)
    change = np.where(measured, (square - variance) / seen, 0.0)
    variance[:] = np.maximum(variance + change, smallest)
    rows[:n, u] = np.where(measured, tau, 0.0)
    rows[:n] *= weight[:, None]
    rows[n, turn], rows[n, u] = back, back * mean
    row_starts[:] = 0
    grown = measured & (seen >= LEARNED) & (variance > GROWN * trusted)
    factor = float(np.sqrt(np.min(trusted[grown] / variance[grown], initial=1.0)))
    renewed = measured & (grown | (seen < LEARNED) | (variance < trusted))
    trusted[renewed] = variance[renewed]
    return factor


def absorb_by_numpy(triangle: Array, rows: Array, starts: Indices, scale: float, buffer: Array,
                    x: Array) -> float:
    """Do the same as `absorb` with one QR."""
    u = triangle.shape[0]
    flat = triangle.reshape(u, -1)
    flat *= scale
    old = np.log(np.abs(np.diag(flat)))
    stacked = np.vstack([flat, rows.reshape(len(rows), -1)])[:, :u + 1]
    R = np.asarray(np.linalg.qr(stacked, mode='r'))[:u]
    flat[:, :u + 1] = R
    x.reshape(-1)[:u] = np.linalg.solve(R[:, :u], R[:, u])
    return float(np.sum(np.log(np.abs(np.diag(R))) - old))
