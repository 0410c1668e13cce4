# SPDX-License-Identifier: Apache-2.0
"""Linear combinations as text and matrix."""

import numpy as np
import pytest

from robot_dynamics_ros.dynamics.minimal.linear_forms import LinearForms, coefficients, formula
from robot_dynamics_ros.errors import ParameterError

NAMES = ('ZZ1', 'YY2', 'M3')


def test_a_formula_reads_as_people_write_it():
    assert formula([1.0, 1.0, 0.45 * 0.45], NAMES) == 'ZZ1 + YY2 + 0.2025*M3'
    assert formula([-1.0, 0.0, -0.5], NAMES) == '-ZZ1 - 0.5*M3'
    assert formula([0.0, 2.0, 0.0], NAMES) == '2*YY2'
    assert formula([0.0, 0.0, 0.0], NAMES) == '0'


def test_rounding_dust_is_removed_and_small_coefficients_stay():
    forms = LinearForms.of([('a', 'kg', np.array([1.0, 3e-17, 1e-9] + [0.0] * 7))], 1)
    np.testing.assert_array_equal(forms.matrix[0, :3], [1.0, 0.0, 1e-9])


def test_what_a_tensor_adds_stays_beside_a_mass_on_a_lever_of_kilometres():
    row = [1.0, 4e-10, 0.0, 0.0, 3e-17, 0.0, 2e3, 1e-16, 3e-12, 1e6]
    forms = LinearForms.of([('a', 'kg m^2', np.array(row))], 1)
    np.testing.assert_array_equal(forms.matrix[0], [1.0, 4e-10, *[0.0] * 4, 2e3, 0.0, 0.0, 1e6])


def test_an_empty_set_has_a_matrix_without_rows():
    assert LinearForms.of([], 3).matrix.shape == (0, 30)


@pytest.mark.parametrize('row', [[1.0, 1.0, 0.2025], [-1.0, 0.0, -0.5], [0.0, -2.0, 0.0],
                                 [0.0, 0.0, 0.0], [1e-9, -1.5e12, 0.0]])
def test_a_formula_is_read_back(row):
    np.testing.assert_array_equal(coefficients(formula(row, NAMES), NAMES), row)


@pytest.mark.parametrize('text', ['ZZ1 + XX9', 'two*ZZ1', 'ZZ1 YY2', '2*', '+ZZ1'])
def test_text_that_is_no_formula_is_refused_with_the_bad_term(text):
    with pytest.raises(ParameterError, match=r'is not of the form number\*name'):
        coefficients(text, NAMES)
