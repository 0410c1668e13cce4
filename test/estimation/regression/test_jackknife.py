# SPDX-License-Identifier: Apache-2.0
"""Standard deviations by leaving out blocks of time: on paper, and against errors that last."""

import numpy as np
import pytest
from scipy.signal import lfilter

from robot_dynamics_ros.estimation.regression.jackknife import (
    BLOCKS,
    jackknife_deviations,
    jackknifed,
)
from robot_dynamics_ros.estimation.regression.least_squares import fit
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows

WIDE = Prior(np.zeros(4), np.full(4, 1e6))


def rows_of(Y, tau):
    N = len(tau)
    states = np.column_stack([np.arange(N), np.zeros(N)]).astype(float)  # nothing repeats
    return Rows(Y[:, None], tau[:, None], np.ones((N, 1), bool), 0.01 * np.arange(N),
                np.zeros(N, int), states)


def waves(rng, N, lasting=200.0):
    """Return regressors (N, 4) and an error (N,) that last as long as each other."""
    keep = np.exp(-1.0 / lasting)
    drive = rng.normal(size=(N + 2000, 5))
    out = lfilter([np.sqrt(1.0 - keep ** 2)], [1.0, -keep], drive, axis=0)[2000:]
    return out[:, :4], out[:, 4]


def test_the_deviation_of_a_mean_is_that_of_the_means_of_blocks(rng):
    means = rng.normal(size=BLOCKS)
    parts = [np.array([[10.0, 10.0 * (mean - np.mean(means))]]) for mean in means]
    expected = np.sqrt(np.var(means, ddof=1) / BLOCKS)
    np.testing.assert_allclose(jackknife_deviations(parts, np.array([1e4])), [expected], rtol=1e-6)


def test_errors_that_last_are_covered_where_a_least_squares_is_too_sure(rng):
    x = np.array([1.0, -2.0, 0.5, 3.0])
    plain, better = [], []
    for _ in range(100):
        Y, error = waves(rng, 6000)
        rows = rows_of(Y, Y @ x + error)
        found = fit(rows, WIDE, 'weighted')
        # a white error of the same size: what is stated if the correlation is not known
        white = np.sqrt(np.diag(np.linalg.inv(Y.T @ Y)))
        plain.append((found.x - x) / white)
        better.append((found.x - x) / jackknifed(found, rows, WIDE, 'weighted')
                      .standard_deviations)
    assert np.mean(np.abs(plain) < 2.0) < 0.4
    assert 0.88 < np.mean(np.abs(better) < 2.0) < 0.98


@pytest.mark.parametrize('method', ['ordinary', 'weighted', 'robust'])
def test_white_noise_has_the_deviations_of_a_least_squares(method, rng):
    x, ratio, scores = np.ones(4), [], []
    for _ in range(60):
        Y = rng.normal(size=(800, 4))
        rows = rows_of(Y, Y @ x + 0.1 * rng.normal(size=800))
        found = jackknifed(fit(rows, WIDE, method), rows, WIDE, method)
        scores.append((found.x - x) / found.standard_deviations)
        ratio.append(found.standard_deviations / (0.1 / np.sqrt(800)))
    assert 0.95 < np.sqrt(np.mean(np.square(ratio))) < 1.12
    assert 0.90 < np.mean(np.abs(scores) < 2.0) < 0.98
    inverse = np.linalg.inv(found.triangle)
    np.testing.assert_allclose(inverse @ inverse.T, found.covariance, rtol=1e-9)


def test_what_the_data_do_not_say_keeps_the_deviation_of_the_prior(rng):
    Y = rng.normal(size=(500, 4))
    Y[:, 3] = 0.0
    rows = rows_of(Y, Y @ np.ones(4) + 0.1 * rng.normal(size=500))
    prior = Prior(np.zeros(4), np.array([1.0, 1.0, 1.0, 0.7]))
    found = jackknifed(fit(rows, prior), rows, prior)
    assert found.standard_deviations[3] == pytest.approx(0.7)
    assert np.all(found.standard_deviations[:3] < 0.02)


def test_exact_data_and_data_of_one_block_are_no_trouble(rng):
    Y = rng.normal(size=(400, 4))
    Y[30:, 2] = 0.0  # known from a single block
    rows = rows_of(Y, Y @ np.ones(4))
    found = jackknifed(fit(rows, WIDE), rows, WIDE)
    assert np.all(np.isfinite(found.covariance)) and np.all(found.standard_deviations < 1e-3)
    few = rows_of(Y[:1], Y[:1] @ np.ones(4))
    start = fit(few, WIDE)
    assert jackknifed(start, few, WIDE) is start
