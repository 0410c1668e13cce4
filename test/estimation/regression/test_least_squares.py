# SPDX-License-Identifier: Apache-2.0
"""Least squares: ordinary, weighted, robust, with signs and prior."""

import numpy as np
import pytest
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros.estimation.regression.least_squares import (
    condition_number,
    essential_parameters,
    fit,
    huber_weights,
    integrated_correlation,
    joint_triangles,
)
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows

TRUE = np.array([2.0, -1.0, 0.5, 3.0])
VAGUE = Prior(np.zeros(4), np.full(4, 1e6))


def rows_of(rng, deviation, N=400, x=TRUE, usable=None):
    Y = rng.normal(size=(N, 2, 4))
    Y[:, 1, :2] = 0.0  # joint 2 does not feel the first unknowns
    tau = Y @ x + deviation * rng.normal(size=(N, 2))
    usable = np.ones((N, 2), dtype=bool) if usable is None else usable
    return Rows(Y, tau, usable, np.arange(N) * 0.01, np.zeros(N, dtype=np.int64),
                np.zeros((N, 4)))


def test_ordinary_least_squares_is_that_of_numpy(rng):
    rows = rows_of(rng, np.array([0.3, 0.3]))
    expected, *_ = np.linalg.lstsq(rows.Y.reshape(-1, 4), rows.tau.reshape(-1), rcond=None)
    assert_close(fit(rows, VAGUE, 'ordinary').x, expected, 1e-9)


def test_triangles_have_the_gram_matrix_of_the_rows(rng):
    rows = rows_of(rng, np.array([0.3, 0.3]))
    weights = rng.uniform(0.1, 1.0, (400, 2))
    for j, triangle in enumerate(joint_triangles(rows, weights)):
        A = np.column_stack([rows.Y[:, j], rows.tau[:, j]])
        assert_close(triangle.T @ triangle, A.T @ (weights[:, [j]] * A), OTHER_FORMULATION)


def test_weights_make_up_for_a_noisy_joint(rng):
    errors = {'ordinary': [], 'weighted': []}
    for _ in range(20):
        rows = rows_of(rng, np.array([5.0, 0.05]))
        for method, found in errors.items():
            result = fit(rows, VAGUE, method)
            found.append(result.x[2:] - TRUE[2:])
    assert np.std(errors['weighted']) < 0.1 * np.std(errors['ordinary'])
    np.testing.assert_allclose(result.residual_sigma, [5.0, 0.05], rtol=0.2)


def test_the_covariance_is_that_of_repeated_trials(rng):
    scores = []
    for _ in range(60):
        result = fit(rows_of(rng, np.array([1.0, 0.2]), N=150), VAGUE, 'weighted')
        scores.append((result.x - TRUE) / result.standard_deviations)
    assert np.std(scores) == pytest.approx(1.0, abs=0.15)


def test_rows_that_are_not_usable_do_not_count(rng):
    usable = rng.random((400, 2)) < 0.5
    rows = rows_of(rng, np.zeros(2), usable=usable)
    spoiled = Rows(rows.Y, np.where(usable, rows.tau, 1e6), usable, rows.t, rows.stretch,
                   rows.states)
    assert_close(fit(spoiled, VAGUE, 'weighted').x, TRUE, 1e-8)


def test_huber_weights_limit_outliers(rng):
    rows = rows_of(rng, np.array([0.1, 0.1]))
    tau = rows.tau.copy()
    tau[::20] += 30.0
    spoiled = Rows(rows.Y, tau, rows.usable, rows.t, rows.stretch, rows.states)
    robust, plain = (np.linalg.norm(fit(spoiled, VAGUE, method).x - TRUE)
                     for method in ('robust', 'weighted'))
    assert robust < 0.1 * plain
    np.testing.assert_allclose(huber_weights(np.array([[0.5, 13.45]]), np.ones(2)), [[1.0, 0.1]])


def test_unknowns_that_cannot_be_negative_are_held_at_zero(rng):
    x = np.array([2.0, -1.0, 0.5, 3.0])
    signs = np.array([True, True, False, True])
    result = fit(rows_of(rng, np.array([0.1, 0.1]), x=x), VAGUE, 'weighted', signs)
    np.testing.assert_array_equal(result.fixed, [False, True, False, False])
    assert result.x[1] == 0.0 and result.x[0] > 0.0


def test_the_prior_decides_where_the_data_say_nothing(rng):
    rows = rows_of(rng, np.array([0.1, 0.1]))
    rows.Y[:, :, 1] = rows.Y[:, :, 0]  # only the sum of the first two shows
    prior = Prior(np.array([5.0, 4.0, 0.0, 0.0]), np.full(4, 3.0))
    tau = rows.Y @ TRUE
    same = Rows(rows.Y, tau, rows.usable, rows.t, rows.stretch, rows.states)
    result = fit(same, prior, 'weighted')
    assert result.x[0] + result.x[1] == pytest.approx(1.0, abs=1e-4)
    assert result.x[0] - result.x[1] == pytest.approx(1.0, abs=1e-4)  # as in the prior
    assert result.standard_deviations[0] == pytest.approx(3.0 / np.sqrt(2.0), rel=0.01)


@pytest.mark.parametrize('rho', [0.0, 0.5, 0.9])
def test_correlated_residuals_count_less(rho, rng):
    x = np.zeros(200_000)
    noise = rng.normal(size=x.size)
    from scipy.signal import lfilter
    x = lfilter([1.0], [1.0, -rho], noise)
    expected = (1.0 + rho) / (1.0 - rho)
    assert integrated_correlation(x[:, None])[0] == pytest.approx(expected, rel=0.1)


def test_essential_parameters_are_those_that_are_not_zero(rng):
    x = np.array([2.0, 0.0, 0.0, 3.0])
    chosen = np.array([essential_parameters(fit(rows_of(rng, np.array([0.1, 0.1]), x=x, N=100),
                                                VAGUE, 'weighted')) for _ in range(40)])
    np.testing.assert_array_equal(np.all(chosen, axis=0), [True, False, False, True])
    assert np.mean(chosen[:, 1:3]) < 0.08  # chance: 1 %


def test_the_condition_number_does_not_depend_on_units(rng):
    A = rng.normal(size=(30, 4))
    assert condition_number(A * [1, 1e-3, 1e6, 1]) == pytest.approx(condition_number(A))
    assert condition_number(A[:, [0, 0]]) > 1e12
    assert condition_number(np.zeros((3, 2))) == np.inf
