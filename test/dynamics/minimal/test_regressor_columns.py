# SPDX-License-Identifier: Apache-2.0
"""Regressor columns by minimal parameters, known and unknown ones."""

import numpy as np
import pytest
from support.chains import random_chain, random_states
from support.tolerances import OTHER_FORMULATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.regressor_columns import mlc_columns, split_columns
from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor
from robot_dynamics_ros.errors import ParameterError


@pytest.mark.parametrize('kind', ['lin', 'khalil', 'numeric'])
def test_minimal_columns_give_the_torque_and_have_full_rank(rng, kind):
    chain = random_chain(rng, 5, types='RRPRR')
    states = random_states(rng, 5, 60)
    mlc = minimal_parameters(chain, kind)
    Y = mlc_columns(standard_regressor(chain, *states), mlc)
    assert Y.shape == (60, 5, len(mlc))
    assert_close(Y @ mlc.values, inverse_dynamics(chain, *states), OTHER_FORMULATION)
    assert np.linalg.matrix_rank(Y.reshape(-1, len(mlc))) == len(mlc)


def test_khalils_columns_are_those_of_the_kept_parameters(rng):
    chain = random_chain(rng, 4, types='RRRR')
    mlc = minimal_parameters(chain, 'khalil')
    Y = standard_regressor(chain, *random_states(rng, 4))
    kept = [chain.standard_parameter_names.index(name) for name in mlc.names]
    assert_close(mlc_columns(Y, mlc), Y[:, kept], OTHER_FORMULATION)


def test_known_and_unknown_columns_add_up(rng):
    chain = random_chain(rng, 3)
    states = random_states(rng, 3, 4)
    Y, x = standard_regressor(chain, *states), chain.standard_parameters
    names = chain.standard_parameter_names
    unknown = ('M3', 'ZZ1')
    x_unknown = [x[names.index(name)] for name in unknown]
    spoiled = np.where([name in unknown for name in names], 1e3, x)  # must not be used
    Y_unknown, tau_known = split_columns(Y, names, spoiled, unknown)
    assert Y_unknown.shape == (4, 3, 2)
    assert_close(Y_unknown @ x_unknown + tau_known, Y @ x, SAME_ALGEBRA)


def test_an_unknown_mass_is_one_column_of_inverse_dynamics(rng):
    """Known mass centre, unknown mass: the arm with that mass 1 and all others 0."""
    chain = random_chain(rng, 3)
    state = random_states(rng, 3)
    Y_unknown, _ = split_columns(standard_regressor(chain, *state),
                                 chain.standard_parameter_names, chain.standard_parameters,
                                 ['M2'])
    unit = np.zeros(30)
    unit[chain.standard_parameter_names.index('M2')] = 1.0
    assert_close(Y_unknown[:, 0],
                 inverse_dynamics(chain.with_standard_parameters(unit), *state), SAME_ALGEBRA)


def test_wrong_names_and_sizes_are_refused(rng):
    Y = np.zeros((1, 2))
    with pytest.raises(ParameterError, match='no column ZZ9; it has ZZ1, MX1'):
        split_columns(Y, ('ZZ1', 'MX1'), [1.0, 2.0], ['ZZ9'])
    with pytest.raises(ParameterError, match='do not fit together'):
        split_columns(Y, ('ZZ1', 'MX1'), [1.0], ['ZZ1'])
    with pytest.raises(ParameterError, match='do not fit together'):
        split_columns(Y, ('ZZ1', 'MX1', 'MY1'), [1.0, 2.0, 3.0], ['ZZ1'])
