# SPDX-License-Identifier: Apache-2.0
"""Khalil & Dombre's closed-form set, and the tables of their chapter 9 for the RX-90."""

import numpy as np
import pytest
from support.chains import random_chain, reference_chains
from support.tolerances import OTHER_FORMULATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.dynamics.minimal.khalil_set import khalil_forms
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping
from robot_dynamics_ros.dynamics.minimal.structure import structure

#: Example 9.2, "the grouping equations are", as printed (la in the scan is Ia).
RX90_GROUPINGS = {
    'ZZ1': 'ZZ1 + Ia1 + YY2 + D3**2 * (M3 + M4 + M5 + M6) + YY3',
    'XX2': 'XX2 - YY2 - D3**2 * (M3 + M4 + M5 + M6)',
    'XZ2': 'XZ2 - D3 * MZ3',
    'ZZ2': 'ZZ2 + Ia2 + D3**2 * (M3 + M4 + M5 + M6)',
    'MX2': 'MX2 + D3 * (M3 + M4 + M5 + M6)',
    'XX3': 'XX3 - YY3 + YY4 + 2 * RL4 * MZ4 + RL4**2 * (M4 + M5 + M6)',
    'ZZ3': 'ZZ3 + YY4 + 2 * RL4 * MZ4 + RL4**2 * (M4 + M5 + M6)',
    'MY3': 'MY3 + MZ4 + RL4 * (M4 + M5 + M6)',
    'XX4': 'XX4 + YY5 - YY4',
    'ZZ4': 'ZZ4 + YY5',
    'MY4': 'MY4 - MZ5',
    'XX5': 'XX5 + YY6 - YY5',
    'ZZ5': 'ZZ5 + YY6',
    'MY5': 'MY5 + MZ6',
    'XX6': 'XX6 - YY6',
}

#: Table 9.3, row by row.
RX90_BASE_PARAMETERS = ('ZZ1', *(f'{name}{j}' for j in range(2, 7)
                                 for name in ('XX', 'XY', 'XZ', 'YZ', 'ZZ', 'MX', 'MY')))
RX90_ROTORS = ('Ia3', 'Ia4', 'Ia5', 'Ia6')

#: Table 9.4 and the link parameters that Example 9.3 assumes to be non-zero.
RX90_SIMPLIFIED = ('ZZ1', 'XX2', 'ZZ2', 'MX2', 'MY2', 'XX3', 'ZZ3', 'MY3', 'XX4', 'ZZ4', 'XX5',
                   'ZZ5', 'MY5', 'XX6', 'ZZ6')
RX90_SYMMETRIC_LINKS = (*(f'{name}{j}' for j in range(1, 7) for name in ('XX', 'YY', 'ZZ', 'M')),
                        'MZ1', 'MX2', 'MY2', 'MY3', 'MZ4', 'MY5', 'MZ6')


@pytest.fixture
def rx90():
    """Return the RX-90 with D3 and RL4 that differ, so that no formula can hide."""
    right_angle = np.pi / 2
    return chain_from_dh('RRRRRR', b=[0, 0, 0.45, 0, 0, 0], d=[0, 0, 0, 0.47, 0, 0],
                         beta=[0, right_angle, 0, -right_angle, right_angle, -right_angle],
                         theta=[0] * 6)


@pytest.mark.parametrize('reference', reference_chains(), ids=lambda reference: reference.name)
def test_names_and_values_are_those_of_the_reference_chains(reference):
    forms = khalil_forms(reference.chain, structure(reference.chain))
    assert list(forms.names) == reference.data['khalil_names']
    assert_close(forms.matrix @ reference.chain.standard_parameters,
                 reference.data['khalil_values'], OTHER_FORMULATION)


def test_rx90_has_the_40_base_parameters_of_table_9_3(rx90):
    mlc = minimal_parameters(rx90, 'khalil')
    rotors = rotor_grouping(rx90, mlc)
    assert mlc.names == RX90_BASE_PARAMETERS
    assert rotors.separate == RX90_ROTORS
    assert len(mlc) + len(rotors.separate) == 40


def test_rx90_parameters_are_grouped_as_printed_in_example_9_2(rx90, rng):
    mlc = minimal_parameters(rx90, 'khalil')
    rotors = rotor_grouping(rx90, mlc)
    x, Ia = rng.normal(size=60), rng.normal(size=6)
    symbols = dict(zip(rx90.standard_parameter_names, x), D3=0.45, RL4=0.47,
                   **{f'Ia{j}': value for j, value in enumerate(Ia, start=1)})
    printed = [eval(RX90_GROUPINGS.get(name, name), {}, symbols) for name in mlc.names]
    assert_close(mlc.of(x) + rotors.matrix @ Ia, printed, SAME_ALGEBRA)


def test_rx90_with_symmetric_links_has_the_19_parameters_of_table_9_4(rx90):
    mlc = minimal_parameters(rx90, 'khalil')
    present = np.isin(rx90.standard_parameter_names, RX90_SYMMETRIC_LINKS)
    acting = np.any(mlc.matrix[:, present] != 0.0, axis=1)
    simplified = tuple(name for name, acts in zip(mlc.names, acting) if acts)
    assert simplified == RX90_SIMPLIFIED
    assert len(simplified) + len(rotor_grouping(rx90, mlc).separate) == 19


def test_kept_parameters_have_coefficient_one_and_stand_in_no_other_element(rng):
    """Hence the grouped values can be put back for the standard ones."""
    for _ in range(100):
        chain = random_chain(rng, int(rng.integers(1, 8)))
        forms = khalil_forms(chain, structure(chain))
        kept = [chain.standard_parameter_names.index(name) for name in forms.names]
        np.testing.assert_array_equal(forms.matrix[:, kept], np.eye(len(kept)))
