# SPDX-License-Identifier: Apache-2.0
"""3-vectors and 3x3 matrices on tuples."""

import numpy as np
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.dynamics.scalars.vector import (
    add,
    add_matrices,
    cross,
    dot,
    multiply,
    multiply_matrices,
    negate,
    outer,
    scale,
    scale_matrix,
    skew,
    subtract,
    symmetric,
    total,
    transpose,
    vector,
)


def tuples(array):
    return tuple(map(tuple, array.tolist()))


def test_vector_functions_are_those_of_numpy(rng):
    u, v = rng.normal(size=(2, 3))
    a, b = tuple(u), tuple(v)
    assert_close(add(a, b), u + v, SAME_ALGEBRA)
    assert_close(subtract(a, b), u - v, SAME_ALGEBRA)
    assert_close(negate(a), -u, SAME_ALGEBRA)
    assert_close(scale(2.5, a), 2.5 * u, SAME_ALGEBRA)
    assert_close(dot(a, b), u @ v, SAME_ALGEBRA)
    assert_close(cross(a, b), np.cross(u, v), SAME_ALGEBRA)
    assert_close(multiply(skew(a), b), np.cross(u, v), SAME_ALGEBRA)
    assert_close(outer(a, b), np.outer(u, v), SAME_ALGEBRA)


def test_matrix_functions_are_those_of_numpy(rng):
    A, B = rng.normal(size=(2, 3, 3))
    v = rng.normal(size=3)
    assert_close(multiply(tuples(A), tuple(v)), A @ v, SAME_ALGEBRA)
    assert_close(multiply_matrices(tuples(A), tuples(B)), A @ B, SAME_ALGEBRA)
    assert_close(add_matrices(tuples(A), tuples(B)), A + B, SAME_ALGEBRA)
    assert_close(scale_matrix(-3.0, tuples(A)), -3.0 * A, SAME_ALGEBRA)
    assert_close(transpose(tuples(A)), A.T, SAME_ALGEBRA)


def test_symmetric_takes_the_order_of_the_standard_parameters():
    assert symmetric(1, 2, 3, 4, 5, 6) == ((1, 2, 3), (2, 4, 5), (3, 5, 6))


def test_total_adds_up_and_knows_the_empty_sum():
    assert total([1.0, 2.0, 4.0]) == 7.0
    assert total([]) == 0.0


def test_vector_makes_plain_floats_of_numpy_floats():
    assert all(type(x) is float for x in vector(np.array([1.0, 2.0, 3.0])))


def test_scalars_may_be_numpy_rows(rng):
    u, v = rng.normal(size=(2, 3, 5))
    rows = cross(tuple(u), tuple(v))
    assert_close(np.array(rows), np.cross(u, v, axis=0), SAME_ALGEBRA)
