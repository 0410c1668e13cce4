# SPDX-License-Identifier: Apache-2.0
"""Lin's closed-form set."""

import pytest
from support.chains import random_chain, reference_chains
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros.dynamics.minimal.lin_set import lin_forms
from robot_dynamics_ros.dynamics.minimal.linear_forms import formula
from robot_dynamics_ros.dynamics.minimal.structure import structure

CHAINS = reference_chains()


def formulas(chain):
    forms = lin_forms(chain, structure(chain))
    return {name: formula(row, chain.standard_parameter_names)
            for name, row in zip(forms.names, forms.matrix)}


@pytest.mark.parametrize('reference', CHAINS, ids=lambda reference: reference.name)
def test_names_and_values_are_those_of_the_reference_chains(reference):
    forms = lin_forms(reference.chain, structure(reference.chain))
    assert list(forms.names) == reference.data['lin_names']
    assert_close(forms.matrix @ reference.chain.standard_parameters,
                 reference.data['lin_values'], OTHER_FORMULATION)


def test_stanford_arm_has_the_combinations_of_theorem_2():
    """The 33 elements of an arm RRPRRR with gravity along joint 1, worked out on paper."""
    stanford = next(chain for chain in CHAINS if chain.name == 'V26').chain
    found = formulas(stanford)
    assert len(found) == 33
    assert found['m3'] == 'M3 + M4 + M5 + M6'
    # theta_3 = -pi/2 turns x_3 to -z_2 and y_3 to x_2; z_3 is -y_2
    assert found['k2_x'] == 'MX2 + MY3'
    assert found['k2_y'] == 'MY2 - MZ3 - MZ4'
    assert (found['k3_x'], found['k3_y'], found['k3_z']) == ('MX3', 'MY3', 'MZ3 + MZ4')
    # d_2 = 0.15: the composite body 2 moves about joint 1 at this distance
    assert found['U1_33'] == ('ZZ1 + YY2 + 0.3*MZ2 + 0.0225*M2 + ZZ3 - 0.3*MX3 + 0.0225*M3 + ZZ4'
                              ' + 0.0225*M4 + YY5 + 0.0225*M5 + ZZ6 + 0.0225*M6')
    assert found['U6_11-22'] == 'XX6 - YY6'
    assert found['k5_y'] == 'MY5 - MZ6'


def test_number_of_elements_follows_the_count_formula(rng):
    for _ in range(200):
        chain = random_chain(rng, int(rng.integers(1, 9)))
        groups = structure(chain)
        expected = 0
        for i, joint in enumerate(chain.joints, start=1):
            if joint.revolute:
                expected += 7 if i >= groups.s else 1 + 2 * groups.delta[i]
            else:
                expected += 1 + 3 * (i > groups.s) + 2 * groups.sigma[i]
        assert len(lin_forms(chain, groups).names) == expected


def test_units_fit_the_names():
    stanford = next(chain for chain in CHAINS if chain.name == 'V26').chain
    forms = lin_forms(stanford, structure(stanford))
    unit_of = {'U': 'kg m^2', 'k': 'kg m', 'm': 'kg'}
    assert all(unit == unit_of[name[0]] for name, unit in zip(forms.names, forms.units))
