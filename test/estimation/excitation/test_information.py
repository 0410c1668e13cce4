# SPDX-License-Identifier: Apache-2.0
"""Information of a motion: independent columns, condition number, D-optimality."""

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.estimation.excitation.information import (
    ExcitationRegressor,
    condition_number,
    quality_function,
)


def regressor_of(name, noise=1.0):
    chain = chain_from_urdf(URDF_FOLDER / f'{name}.urdf')
    return ExcitationRegressor.of(compile_model(chain), np.full(len(chain), noise))


def test_columns_are_those_that_can_be_told_apart(rng):
    regressor = regressor_of('puma_4dof')
    states = rng.uniform(-2.0, 2.0, (3, 200, 4))
    W = regressor.rows(tuple(states)).reshape(-1, len(regressor.model.columns))
    assert np.linalg.matrix_rank(W / np.linalg.norm(W, axis=0), tol=1e-7) == len(regressor.kept)
    assert 'Ia1' not in regressor.columns  # inside U1_33
    assert set(regressor.model.mlc.names) <= set(regressor.columns)


def test_condition_number_is_that_of_the_regressor_with_unit_columns(rng):
    regressor = regressor_of('planar_2r')
    rows = regressor.rows(tuple(rng.normal(size=(3, 40, 2))))
    W = regressor.weighted(rows).reshape(-1, len(regressor.kept))
    expected = np.linalg.cond(W / np.linalg.norm(W, axis=0))
    found = condition_number(regressor.information(rows, 2.0))
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_the_condition_number_on_paper():
    # correlation 0.6 between two columns of any length: eigenvalues 1.6 and 0.4
    M = np.array([[4.0, 6.0], [6.0, 25.0]])
    assert condition_number(M) == pytest.approx(2.0)
    assert condition_number(np.diag([1.0, 0.0])) == np.inf
    assert condition_number(np.ones((2, 2))) > 1e7


def test_half_the_noise_is_four_times_the_information(rng):
    states = tuple(rng.normal(size=(3, 20, 2)))
    loud, quiet = regressor_of('planar_2r', 2.0), regressor_of('planar_2r', 1.0)
    np.testing.assert_allclose(quiet.information(quiet.rows(states), 3.0),
                               4.0 * loud.information(loud.rows(states), 3.0))


def test_the_smooth_condition_number_is_a_bound(rng):
    for _ in range(20):
        W = rng.normal(size=(40, 8)) * np.exp(rng.normal(size=8))
        value = quality_function('condition')(W.T @ W).value
        exact = np.log(condition_number(W.T @ W))
        assert exact <= value <= exact + np.log(8) / 4


def test_the_determinant_criterion_is_the_mean_standard_deviation():
    assert quality_function('determinant')(np.diag([4.0, 100.0])).value == pytest.approx(
        np.log(np.sqrt(0.5 * 0.1)))  # standard deviations of 1/2 and 1/10


@pytest.mark.parametrize('criterion', ['condition', 'determinant'])
def test_slopes_of_the_criteria_are_those_of_difference_quotients(criterion, rng):
    quality = quality_function(criterion)
    W = rng.normal(size=(30, 5))
    M, h = W.T @ W, 1e-6
    for _ in range(5):
        direction = rng.normal(size=(5, 5))
        direction = direction + direction.T
        expected = (quality(M + h * direction).value - quality(M - h * direction).value) / (2 * h)
        assert np.trace(quality(M).slope @ direction) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize('criterion', ['condition', 'determinant'])
@pytest.mark.parametrize('information', [np.diag([1.0, 0.0]), np.ones((2, 2))])
def test_a_motion_that_leaves_a_parameter_open_is_infinitely_bad(criterion, information):
    assert quality_function(criterion)(information).value == np.inf


def test_an_unknown_criterion_is_refused():
    with pytest.raises(ExcitationError, match="'beauty'; known are condition, determinant"):
        quality_function('beauty')
