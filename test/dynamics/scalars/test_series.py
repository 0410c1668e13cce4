# SPDX-License-Identifier: Apache-2.0
"""Power series in time as scalars."""

import math

import numpy as np
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.dynamics.scalars.series import Series, series_cos_sin

X = Series((2.0, 3.0, 5.0))
Y = Series((7.0, -1.0, 4.0))


def test_arithmetic_is_that_of_polynomials():
    assert (X + Y).coefficients == (9.0, 2.0, 9.0)
    assert (X - Y).coefficients == (-5.0, 4.0, 1.0)
    assert (X * Y).coefficients == (14.0, 19.0, 8.0 - 3.0 + 35.0)
    assert (-X).coefficients == (-2.0, -3.0, -5.0)


def test_constants_may_stand_on_both_sides():
    assert (X + 1.0).coefficients == (1.0 + X).coefficients == (3.0, 3.0, 5.0)
    assert (X - 1.0).coefficients == (1.0, 3.0, 5.0)
    assert (1.0 - X).coefficients == (-1.0, -3.0, -5.0)
    assert (X * 2.0).coefficients == (2.0 * X).coefficients == (4.0, 6.0, 10.0)


def test_derivatives_go_in_and_come_out():
    assert Series.of_derivatives([1.0, 2.0, 6.0, 12.0]).coefficients == (1.0, 2.0, 3.0, 2.0)
    assert [Series((1.0, 2.0, 3.0, 2.0)).derivative(k) for k in range(4)] == [1.0, 2.0, 6.0, 12.0]


def test_cosine_and_sine_have_the_derivatives_of_the_chain_rule():
    u, v, a, j = 0.4, 1.5, -0.7, 2.0
    c, s = series_cos_sin(Series.of_derivatives([u, v, a, j]), math.cos, math.sin)
    cu, su = math.cos(u), math.sin(u)
    assert_close([s.derivative(k) for k in range(4)],
                 [su, cu * v, cu * a - su * v**2, cu * j - 3.0 * su * v * a - cu * v**3],
                 SAME_ALGEBRA)
    assert_close([c.derivative(k) for k in range(4)],
                 [cu, -su * v, -su * a - cu * v**2, -su * j - 3.0 * cu * v * a + su * v**3],
                 SAME_ALGEBRA)


def test_coefficients_may_be_rows_of_samples(rng):
    rows = rng.normal(size=(3, 8))
    factor = rng.normal(size=8)
    squared = factor * (Series(tuple(rows)) * Series(tuple(rows)))
    assert isinstance(squared, Series)
    for k in range(8):
        one = Series(tuple(rows[:, k]))
        np.testing.assert_allclose([row[k] for row in squared.coefficients],
                                   (one * one * factor[k]).coefficients, rtol=1e-14)
