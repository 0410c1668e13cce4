# SPDX-License-Identifier: Apache-2.0
"""Regression rows of smoothed samples: columns and torques through the same further filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.pose import Array
from robot_dynamics_ros.estimation.cleaning import Mask
from robot_dynamics_ros.estimation.regression import Rows
from robot_dynamics_ros.estimation.smoothing import SmoothedSamples, low_pass, shrunk

#: Samples per period of the parallel filter that are kept.
_KEPT = 4.0

#: States whose columns are computed at once: bounds the memory.
_CHUNK = 4000

Progress = Callable[[float], None]


class Columns(Protocol):
    """Whatever torque is linear in: the parameters of the arm, or of a load."""

    chain: Chain

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns."""

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the columns (N, n, P) at N states."""


def regression_rows(terms: Columns, samples: Sequence[SmoothedSamples],
                    moving: Sequence[Mask], parallel_cutoff: float | None,
                    progress: Progress | None = None) -> Rows:
    """
    Return the rows of all stretches that say anything.

    The parallel filter makes up for what the first one cannot treat alike: columns that are not
    linear in the motion (friction, products of speeds) and the measured torque.

    :param terms: the columns.
    :param samples: smoothed stretches.
    :param moving: samples of each stretch that are used.
    :param parallel_cutoff: of the filter on columns and torque [Hz]; None = no such filter.
    :param progress: called with the part that is done.
    """
    parts: list[Rows] = []
    total, done = sum(len(each) for each in samples), 0
    for number, (part, use) in enumerate(zip(samples, moving)):
        Y = np.empty((len(part), len(terms.chain), len(terms.columns)))
        for first in range(0, len(part), _CHUNK):
            chunk = slice(first, first + _CHUNK)
            Y[chunk] = terms.regressor(part.q[chunk], part.qd[chunk], part.qdd[chunk])
            done += min(_CHUNK, len(part) - first)
            if progress is not None:
                progress(done / total)
        tau, usable, every = part.tau, part.usable & use[:, None], 1
        if parallel_cutoff is not None:
            Y = _filtered_columns(Y, part.step, parallel_cutoff)
            tau = low_pass(tau, part.step, parallel_cutoff)
            usable = shrunk(usable, int(np.ceil(0.25 / (parallel_cutoff * part.step))))
            every = max(1, int(1.0 / (part.step * _KEPT * parallel_cutoff)))
        pick = np.zeros(len(part), dtype=np.bool_)
        pick[::every] = True
        whole = Rows(Y, tau, usable, part.t, np.full(len(part), number),
                     np.hstack([part.q, part.qd]))
        parts.append(whole.of_samples(pick & np.any(usable, axis=1)))
    return Rows.stacked(parts)


def _filtered_columns(Y: Array, step: float, cutoff: float) -> Array:
    """Filter the columns of every joint in place; columns that are zero throughout are left."""
    for j in range(Y.shape[1]):
        acting = np.flatnonzero(np.any(Y[:, j] != 0.0, axis=0))
        Y[:, j, acting] = low_pass(Y[:, j, acting], step, cutoff)
    return Y
