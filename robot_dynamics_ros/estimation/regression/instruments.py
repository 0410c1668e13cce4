# SPDX-License-Identifier: Apache-2.0
"""
Instrumental variables against noise in the positions.

Least squares is biased when the regressor itself is noisy: the noise of the columns is correlated
with itself, and inertias come out too small. An instrument is a second regressor of the same
motion with independent noise. Usually it comes from a simulation of the closed loop, which needs
the controller and its reference; a recording holds neither. Here every second sample gives one
regressor and the samples in between give the other. Encoder noise and quantisation errors are
independent from sample to sample, so the two have no noise in common, and the bias disappears
without any model of the controller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.interpolate import make_interp_spline

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.estimation.recordings.cleaning import Stretch
from robot_dynamics_ros.estimation.regression.least_squares import Fit
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.estimation.smoothing.zero_phase import (
    SmoothedSamples,
    derivative,
    low_pass,
)


def half_samples(stretches: Sequence[Stretch], samples: Sequence[SmoothedSamples],
                 cutoff: float | None, first: int) -> list[SmoothedSamples]:
    """
    Return the same samples with the motion from every second recorded sample only.

    :param stretches: recorded stretches.
    :param samples: smoothed samples of each stretch.
    :param cutoff: cut-off frequency of the low-pass [Hz]; None = no filter.
    :param first: index of the first sample to use, 0 or 1.
    """
    result = []
    for stretch, whole in zip(stretches, samples):
        t, step = stretch.t[first::2], 2.0 * stretch.step
        q, qd = stretch.q[first::2], None if stretch.qd is None else stretch.qd[first::2]
        if cutoff is not None:
            q = low_pass(q, step, cutoff)
            qd = None if qd is None else low_pass(qd, step, cutoff)
        qd = derivative(q, step) if qd is None else qd
        motion = make_interp_spline(t, np.hstack([q, qd, derivative(qd, step)]), k=5)(whole.t)
        position, velocity, acceleration = np.split(np.asarray(motion), 3, axis=1)
        result.append(replace(whole, q=position, qd=velocity, qdd=acceleration))
    return result


def instrumental_fit(start: Fit, prior: Prior, halves: tuple[Rows, Rows], tau: Array,
                     not_negative: Mask) -> Fit:
    """
    Return the unknowns of a least squares without the bias of noisy positions.

    :param start: result of the least squares; its weights are kept.
    :param prior: belief about the unknowns.
    :param halves: regressors of both halves of the samples.
    :param tau: (N, n) measured torques.
    :param not_negative: (u,) unknowns that cannot be negative; held at 0 if they would be.
    """
    weights = start.weights / (start.residual_sigma ** 2 * start.correlation)
    weights = np.where(halves[0].usable & halves[1].usable, weights, 0.0)
    first, second = (half.Y.reshape(-1, prior.mean.size) for half in halves)
    cross = first.T @ (second * weights.reshape(-1, 1))
    belief = 1.0 / prior.standard_deviations ** 2
    A = 0.5 * (cross + cross.T) + np.diag(belief)
    b = 0.5 * (first + second).T @ (weights * tau).reshape(-1) + belief * prior.mean
    free = ~start.fixed
    x = _solved(A, b, free)
    while np.any(negative := free & not_negative & (x < 0.0)):
        places = np.flatnonzero(negative)
        free[places[np.argmin(x[places] / prior.standard_deviations[places])]] = False
        x = _solved(A, b, free)
    return replace(start, x=x, fixed=~free)


def _solved(A: Array, b: Array, free: Mask) -> Array:
    """Solve for the free unknowns, the others being zero."""
    part = A[np.ix_(free, free)]
    scale = np.sqrt(np.abs(np.diag(part)))
    x = np.zeros(free.size)
    x[free] = np.linalg.solve(part / np.outer(scale, scale), b[free] / scale) / scale
    return x
