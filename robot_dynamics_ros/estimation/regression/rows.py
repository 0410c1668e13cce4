# SPDX-License-Identifier: Apache-2.0
"""Regression rows ``tau = Y x``; columns and torques pass the same parallel filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.estimation.smoothing.zero_phase import SmoothedSamples, low_pass, shrunk

#: Samples kept per period of the parallel filter.
_KEPT = 4.0

#: Number of states whose columns are computed at once; it bounds the memory.
_CHUNK = 4000

PartDone = Callable[[float], None]


class Columns(Protocol):
    """Columns of parameters that the torque is linear in: those of the arm, or of a payload."""

    chain: Chain

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns."""

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the columns (N, n, P) at N states."""


@dataclass(frozen=True, eq=False)
class Rows:
    """
    Regression rows, joint by joint: ``tau = Y x`` where `usable`.

    :param Y: (N, n, u) regressor.
    :param tau: (N, n) torques [N m, N].
    :param usable: (N, n) mask of the rows that count.
    :param t: (N,) time [s].
    :param stretch: (N,) number of the stretch that a sample belongs to.
    :param states: (N, 2 n) positions and velocities.
    """

    Y: Array
    tau: Array
    usable: Mask
    t: Array
    stretch: NDArray[np.int64]
    states: Array

    def __len__(self) -> int:
        """Return the number of samples N."""
        return len(self.tau)

    def of_columns(self, columns: Sequence[int]) -> Rows:
        """Return the rows with these columns only."""
        return replace(self, Y=np.ascontiguousarray(self.Y[:, :, list(columns)]))

    def of_samples(self, chosen: Mask) -> Rows:
        """Return the rows of some samples (N,) only."""
        return Rows(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @classmethod
    def stacked(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of several parts, one after the other."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts])
                     for field in fields(cls)))

    def residuals(self, x: Array) -> Array:
        """Return tau - Y x (N, n); 0 where not usable."""
        return np.where(self.usable, self.tau - self.Y @ x, 0.0)

    def counts(self) -> Array:
        """Return the number of usable rows of every joint (n,), at least 1."""
        return np.asarray(np.maximum(self.usable.sum(axis=0), 1), np.float64)

    def rms_torque(self) -> Array:
        """Return the root mean square of the usable torques (n,)."""
        squares = np.sum(np.where(self.usable, self.tau, 0.0) ** 2, axis=0)
        return np.asarray(np.sqrt(squares / self.counts()))


@dataclass(frozen=True, eq=False)
class RowFilter:
    """
    The way from smoothed samples to rows: a parallel filter, then every k-th usable sample.

    Columns that are not linear in the motion (friction, products of velocities) do not match a
    torque that was filtered like the motion. The parallel filter, applied to columns and torque
    alike, removes the difference.

    :param samples: smoothed samples of each stretch.
    :param moving: mask of the samples of each stretch to use.
    :param cutoff: cut-off frequency of the filter on columns and torque [Hz]; None = no filter.
    """

    samples: Sequence[SmoothedSamples]
    moving: Sequence[Mask]
    cutoff: float | None

    @cached_property
    def usable(self) -> list[Mask]:
        """Masks (N, n) of the samples of each stretch that may be compared."""
        usable = [part.usable & use[:, None] for part, use in zip(self.samples, self.moving)]
        if self.cutoff is None:
            return usable
        return [shrunk(mask, int(np.ceil(0.25 / (self.cutoff * part.step))))
                for mask, part in zip(usable, self.samples)]

    @cached_property
    def picked(self) -> list[Mask]:
        """Masks (N,) of the samples of each stretch that become rows."""
        result = []
        for part, usable in zip(self.samples, self.usable):
            every = 1 if self.cutoff is None else max(
                1, int(1.0 / (part.step * _KEPT * self.cutoff)))
            pick = np.zeros(len(part), dtype=np.bool_)
            pick[::every] = True
            result.append(pick & np.any(usable, axis=1))
        return result

    def filtered(self, number: int, values: Array) -> Array:
        """Return values (N, ...) at the samples of a stretch, filtered, at its rows."""
        if self.cutoff is not None:
            values = low_pass(values, self.samples[number].step, self.cutoff)
        return values[self.picked[number]]

    def at_rows(self, values: Sequence[Array]) -> Array:
        """Return values (N, ...) at the samples of each stretch, filtered, at all rows."""
        return np.concatenate([self.filtered(k, each) for k, each in enumerate(values)])


def regression_rows(terms: Columns, samples: Sequence[SmoothedSamples],
                    moving: Sequence[Mask], parallel_cutoff: float | None,
                    progress: PartDone | None = None) -> Rows:
    """
    Return the usable rows of all stretches.

    :param terms: columns of the regressor.
    :param samples: smoothed samples of each stretch.
    :param moving: mask of the samples of each stretch to use.
    :param parallel_cutoff: cut-off frequency of the filter on columns and torque [Hz], see
        `RowFilter`; None = no such filter.
    :param progress: function that is called with the part that is done.
    """
    way = RowFilter(samples, moving, parallel_cutoff)
    parts: list[Rows] = []
    total, done = sum(len(each) for each in samples), 0
    for number, part in enumerate(samples):
        Y = np.empty((len(part), len(terms.chain), len(terms.columns)))
        for first in range(0, len(part), _CHUNK):
            chunk = slice(first, first + _CHUNK)
            Y[chunk] = terms.regressor(part.q[chunk], part.qd[chunk], part.qdd[chunk])
            done += min(_CHUNK, len(part) - first)
            if progress is not None:
                progress(done / total)
        if parallel_cutoff is not None:
            Y = _filtered_columns(Y, part.step, parallel_cutoff)
        pick = way.picked[number]
        parts.append(Rows(Y[pick], way.filtered(number, part.tau), way.usable[number][pick],
                          part.t[pick], np.full(int(pick.sum()), number),
                          np.hstack([part.q, part.qd])[pick]))
    return Rows.stacked(parts)


def _filtered_columns(Y: Array, step: float, cutoff: float) -> Array:
    """Filter the columns of every joint in place; columns that are zero throughout are left."""
    for j in range(Y.shape[1]):
        acting = np.flatnonzero(np.any(Y[:, j] != 0.0, axis=0))
        Y[:, j, acting] = low_pass(Y[:, j, acting], step, cutoff)
    return Y
