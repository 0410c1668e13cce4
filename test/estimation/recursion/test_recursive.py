# SPDX-License-Identifier: Apache-2.0
"""Recursive least squares in square-root form."""

import sys

import numpy as np
import pytest
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.estimation.recursion import recursive
from robot_dynamics_ros.estimation.recursion.recursive import RecursiveLeastSquares
from robot_dynamics_ros.estimation.regression.prior import Prior

N_JOINTS, UNKNOWNS = 3, 20
BLOCKS = np.array([0] * 5 + [2] * 6 + [1] * 9)  # not sorted on purpose
TORQUE = np.array([10.0, 5.0, 1.0])


def regressor(rng, count):
    Y = rng.normal(size=(count, N_JOINTS, UNKNOWNS))
    for j in range(N_JOINTS):
        Y[:, j, j > BLOCKS] = 0.0
    return Y


def recursion(**options):
    prior = Prior(np.linspace(-1, 1, UNKNOWNS), np.full(UNKNOWNS, 5.0))
    return RecursiveLeastSquares(prior, BLOCKS, TORQUE, **options)


@pytest.fixture
def true(rng):
    return rng.normal(size=UNKNOWNS)


@pytest.mark.parametrize('compiled', [True, False])
def test_it_solves_the_weighted_least_squares_of_all_samples(compiled, rng, true):
    Y = regressor(rng, 60)
    tau = Y @ true + 0.1 * rng.normal(size=(60, N_JOINTS))
    tau[10:20, 1] = np.nan
    rls = recursion(horizon=np.inf, robust=False, compiled=compiled)
    A = [np.diag(1.0 / rls.prior.standard_deviations)]
    b = [rls.prior.mean / rls.prior.standard_deviations]
    for rows, right in zip(Y, tau):
        weights = 1.0 / rls.residual_sigma  # as they were learned so far
        use = np.isfinite(right)
        A.append(rows[use] * weights[use, None])
        b.append(right[use] * weights[use])
        error = rls.update(rows, right)
        np.testing.assert_array_equal(np.isnan(error), ~use)
    expected, *_ = np.linalg.lstsq(np.vstack(A), np.concatenate(b), rcond=None)
    assert_close(rls.x, expected, OTHER_FORMULATION)
    information = np.vstack(A).T @ np.vstack(A)
    assert_close(rls.covariance, np.linalg.inv(information), OTHER_FORMULATION)
    assert_close(rls.triangle.T @ rls.triangle, information, OTHER_FORMULATION)
    assert rls.samples == 60


def test_compiled_and_plain_loops_agree(rng, true):
    Y = regressor(rng, 200)
    tau = Y @ true + 0.1 * rng.normal(size=(200, N_JOINTS))
    tau[::7] += 5.0  # outliers
    tau[50:60, 2] = np.nan
    quick, plain = recursion(horizon=50.0, compiled=True), recursion(horizon=50.0, compiled=False)
    for k, (rows, right) in enumerate(zip(Y, tau)):
        quick.update(rows, right, forget=k % 3 > 0)
        plain.update(rows, right, forget=k % 3 > 0)
        assert quick.gain == pytest.approx(plain.gain, rel=1e-9, abs=1e-12)
    assert_close(quick.x, plain.x, OTHER_FORMULATION)
    assert_close(quick.residual_sigma, plain.residual_sigma, OTHER_FORMULATION)
    assert_close(quick.covariance, plain.covariance, OTHER_FORMULATION)


def test_it_follows_a_change_and_learns_the_deviations(rng, true):
    rls = recursion(horizon=200.0)
    Y = regressor(rng, 1000)
    for x in (true, true + 1.0):
        for rows in Y:
            rls.update(rows, rows @ x + np.array([0.5, 0.1, 0.02]) * rng.normal(size=N_JOINTS))
        np.testing.assert_allclose(rls.x[BLOCKS == 2], x[BLOCKS == 2], atol=0.05)
        if x is true:
            np.testing.assert_allclose(rls.residual_sigma, [0.5, 0.1, 0.02], rtol=0.35)


def test_outliers_hardly_matter(rng, true):
    Y = regressor(rng, 600)
    tau = Y @ true + 0.05 * rng.normal(size=(600, N_JOINTS))
    tau[300::10] += 20.0
    errors = []
    for robust in (True, False):
        rls = recursion(horizon=np.inf, robust=robust)
        for rows, right in zip(Y, tau):
            rls.update(rows, right)
        errors.append(np.linalg.norm(rls.x - true))
    assert errors[0] < 0.3 * errors[1]


def test_positive_definite_after_many_updates_without_excitation(rng):
    rls = recursion(horizon=100.0)
    Y = regressor(rng, 1)[0]
    tau = Y @ np.ones(UNKNOWNS)
    for _ in range(100_000):  # the same sample again and again
        rls.update(Y, tau)
    assert np.all(np.isfinite(rls.x)) and np.all(np.isfinite(rls.covariance))
    # directions that the sample does not show have gone back to the prior, none beyond it
    assert np.min(np.linalg.svd(rls.triangle, compute_uv=False)) > 0.9 / 5.0
    np.testing.assert_allclose(Y @ rls.x, tau, atol=0.05)


def test_nothing_fades_while_it_is_told_not_to_forget(rng):
    rls = recursion(horizon=10.0)
    for rows in regressor(rng, 50):
        rls.update(rows, rows @ np.ones(UNKNOWNS))
    before = np.linalg.slogdet(rls.triangle)[1]
    for _ in range(50):
        rls.update(np.zeros((N_JOINTS, UNKNOWNS)), np.zeros(N_JOINTS), forget=False)
    assert np.linalg.slogdet(rls.triangle)[1] == pytest.approx(before, rel=1e-12)


def test_gain_and_loss_are_changes_of_the_determinant(rng):
    rls = recursion(horizon=30.0)
    for rows in regressor(rng, 40):
        before = np.linalg.slogdet(rls.triangle)[1]
        rls.update(rows, rows @ np.ones(UNKNOWNS))
        assert np.linalg.slogdet(rls.triangle)[1] - before == pytest.approx(rls.gain - rls.loss)


def test_wrong_sizes_are_refused(rng):
    with pytest.raises(StateError, match=r'regressor \(2, 20\) and torque \(3,\), expected'):
        recursion().update(np.zeros((2, UNKNOWNS)), np.zeros(N_JOINTS))
    with pytest.raises(ParameterError, match='horizon must be more than one sample'):
        recursion(horizon=1.0)


def test_without_numba_it_runs_on_numpy(rng, monkeypatch):
    Y = regressor(rng, 1)[0]
    tau = Y @ np.ones(UNKNOWNS)
    plain = recursion(compiled=False)
    plain.update(Y, tau)
    monkeypatch.setitem(sys.modules, 'numba', None)
    recursive._compiled_kernels.cache_clear()
    found = recursion()
    found.update(Y, tau)
    np.testing.assert_array_equal(found.x, plain.x)
    with pytest.raises(ImportError):
        recursion(compiled=True)


@pytest.mark.parametrize(('name', 'place', 'value'), [
    ('counters', 0, UNKNOWNS), ('counters', 0, -1), ('counters', 1, -5), ('memory', 0, 0.0),
    ('weights', 3, 0.0), ('weights', 3, -1.0), ('deviations', 0, -1.0), ('triangle', 0, 0.0),
    ('x', 1, 1e200), ('means', 2, np.nan),
])
def test_a_state_that_no_recursion_has_is_refused_and_nothing_changes(rng, true, name, place,
                                                                      value):
    rls = recursion()
    for rows in regressor(rng, 30):
        rls.update(rows, rows @ true)
    before, damaged = rls.state(), rls.state()
    damaged[name].flat[place] = value
    with pytest.raises(ParameterError, match=r'of the state is missing|that no recursion has'):
        rls.restore(damaged)
    for key, values in rls.state().items():
        np.testing.assert_array_equal(values, before[key])
