# SPDX-License-Identifier: Apache-2.0
"""
Trials: how much better held-out data would be predicted if the recording meant something else.

A cause is named only where its remedy, tried on the same rows, lowers the error of blocks of time
that were not fitted to: clearly, for a joint whose error is worth speaking of, and for no joint
the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.estimation.regression.least_squares import (
    Fit,
    joint_triangles,
    solve,
    upper_triangle,
)
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import RowFilter, Rows
from robot_dynamics_ros.estimation.regression.time_blocks import Blocks

#: Errors below this part of the torque of a joint need no cause.
WORTH = 0.02
#: A joint whose torque is below this part of the largest is not looked at.
_NOTICED = 0.01
#: The remedy must lower the error of such a joint to this part...
_BETTER = 0.8
#: ...and may raise that of another joint to this multiple, where it is above the second number.
_WORSE, _GOOD = 1.1, 0.01


@dataclass(frozen=True, eq=False)
class Cause:
    """
    A cause that a recording does not fit its robot.

    :param finding: what it is, and the remedy.
    :param score: mean logarithm of the errors with the remedy over those without; negative.
    """

    finding: Finding
    score: float


@dataclass(frozen=True, eq=False)
class TrialColumns:
    """
    Unknowns and their columns.

    :param names: u names of the unknowns.
    :param Y: (N, n, u) columns.
    :param prior: belief about the unknowns.
    :param not_negative: (u,) unknowns that cannot be negative.
    """

    names: tuple[str, ...]
    Y: Array
    prior: Prior
    not_negative: Mask

    def with_more(self, drop: set[str], Y: Array, deviations: Array) -> TrialColumns:
        """
        Return other columns beside these.

        :param drop: names of the unknowns that they replace.
        :param Y: (N, n, k) further columns, whose unknowns may have any sign.
        :param deviations: (k,) standard deviations of their unknowns.
        """
        keep = np.array([name not in drop for name in self.names])
        more = deviations.size
        return TrialColumns(
            (*(name for name in self.names if name not in drop), *('',) * more),
            np.concatenate([self.Y[:, :, keep], Y], axis=2),
            Prior(np.append(self.prior.mean[keep], np.zeros(more)),
                  np.append(self.prior.standard_deviations[keep], deviations)),
            np.append(self.not_negative[keep], np.zeros(more, dtype=np.bool_)))


@dataclass(frozen=True, eq=False)
class Trial:
    """
    Rows of a recording with the fit that is to be improved.

    :param chain: the robot.
    :param effort: meaning of its efforts.
    :param rows: rows with the measured torques.
    :param columns: unknowns of the fit, with the friction law that was chosen.
    :param plain: unknowns with Coulomb and viscous friction only.
    :param fit: fit to all rows.
    :param blocks: (N,) blocks of time.
    :param way: way from the smoothed samples to the rows.
    """

    chain: Chain
    effort: EffortSemantics
    rows: Rows
    columns: TrialColumns
    plain: TrialColumns
    fit: Fit
    blocks: Blocks
    way: RowFilter

    def errors(self, columns: TrialColumns, tau: Array | None = None,
               usable: Mask | None = None) -> Array:
        """
        Return the relative errors (n,) of blocks that were not fitted to; NaN without data.

        :param columns: unknowns to try.
        :param tau: (N, n) other torques; None = the measured ones.
        :param usable: (N, n) other mask of the rows that count.
        """
        rows = replace(self.rows, Y=columns.Y, tau=self.rows.tau if tau is None else tau,
                       usable=self.rows.usable if usable is None else usable)
        return self._held_out(self._folds(rows), columns, np.ones(rows.tau.shape[1]))

    def scaled_errors(self, factors: Array) -> Array:
        """Return the errors (n,) with the torque of every joint times a factor (n,)."""
        return self._held_out(self._own_folds, self.columns, factors)

    def _folds(self, rows: Rows) -> list[tuple[list[Array], list[Array]]]:
        """Return for every block the triangles of the joints in it, and in all others."""
        parts = [joint_triangles(rows.of_samples(chosen), self.fit.weights[chosen])
                 for number in np.unique(self.blocks) if np.any(chosen := self.blocks == number)]
        return [(tested, [upper_triangle(np.vstack(each)) for each in zip(
            *(part for i, part in enumerate(parts) if i != k))])
                for k, tested in enumerate(parts)]

    @cached_property
    def _own_folds(self) -> list[tuple[list[Array], list[Array]]]:
        return self._folds(replace(self.rows, Y=self.columns.Y))

    def _held_out(self, folds: list[tuple[list[Array], list[Array]]], columns: TrialColumns,
                  factors: Array) -> Array:
        sigma = self.fit.residual_sigma * np.abs(factors)
        variances = np.maximum(sigma ** 2 * self.fit.correlation, 1e-300)
        squares, size = np.zeros((2, factors.size))
        for tested, others in folds:
            x = _solved(_times(others, factors), variances, columns)
            tested = _times(tested, factors)
            squares += [np.sum((T[:, :-1] @ x - T[:, -1]) ** 2) for T in tested]
            size += [np.sum(T[:, -1] ** 2) for T in tested]
        with np.errstate(invalid='ignore', divide='ignore'):
            return np.asarray(np.sqrt(squares / size))

    @cached_property
    def base(self) -> Array:
        """Relative errors (n,) without any remedy."""
        return self.scaled_errors(np.ones(len(self.chain)))

    @cached_property
    def doubtful(self) -> Mask:
        """Joints (n,) whose error is worth looking for a cause."""
        torque = self.rows.rms_torque()
        turning = np.array([joint.revolute for joint in self.chain.joints])
        largest = np.array([np.max(torque[turning == kind], initial=0.0) for kind in turning])
        return np.asarray((torque >= _NOTICED * largest) & (self.base >= WORTH))

    def score(self, errors: Array) -> float:
        """Return the mean logarithm of the change of all errors; 0 where it is not convincing."""
        known = np.isfinite(errors) & np.isfinite(self.base) & (self.base > 0.0)
        ratio = np.where(known, errors / np.where(known, self.base, 1.0), 1.0)
        if np.any((ratio > _WORSE) & (errors > _GOOD)) or not np.any(
                self.doubtful & (ratio < _BETTER)):
            return 0.0
        return min(float(np.mean(np.log(np.maximum(ratio[known], 1e-12)))), 0.0)


def _times(triangles: list[Array], factors: Array) -> list[Array]:
    """Return triangles of the joints with the torque of each, the last column, times a factor."""
    result = []
    for triangle, factor in zip(triangles, factors):
        if factor != 1.0:
            triangle = triangle.copy()
            triangle[:, -1] *= factor
        result.append(triangle)
    return result


def _solved(triangles: list[Array], variances: Array, columns: TrialColumns) -> Array:
    """Return the unknowns (u,), those that cannot be negative held at zero."""
    free = np.ones(columns.prior.mean.size, dtype=np.bool_)
    while True:
        x, _ = solve(triangles, variances, columns.prior, free)
        negative = free & columns.not_negative & (x < 0.0)
        if not np.any(negative):
            return x
        free &= ~negative
