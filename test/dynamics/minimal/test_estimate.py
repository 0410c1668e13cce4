# SPDX-License-Identifier: Apache-2.0
"""An estimate in other minimal sets, and before any data."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros import chain_from_urdf, minimal_parameters
from robot_dynamics_ros.dynamics.minimal.estimate import (
    EstimateState,
    MlcEstimate,
    covariance_of,
)
from robot_dynamics_ros.errors import ParameterError


@pytest.fixture(scope='module')
def chain():
    return chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')


@pytest.fixture
def estimate(rng, chain):
    """Return an estimate of everything, with friction among the unknowns."""
    mlc = minimal_parameters(chain)
    unknowns = ('Fv1', *mlc.names, 'Fc2')
    root = rng.normal(size=(len(unknowns), len(unknowns)))
    return replace(MlcEstimate.not_estimated(chain, mlc), identified=(True,) * len(mlc),
                   unknowns=unknowns, covariance=root @ root.T, state=EstimateState.CONVERGED)


def test_before_any_data_it_is_the_description(chain):
    mlc = minimal_parameters(chain)
    estimate = MlcEstimate.not_estimated(chain, mlc)
    assert estimate.state == EstimateState.FROM_URDF
    assert estimate.samples == 0 and estimate.covariance.shape == (0, 0)
    assert np.isnan(estimate.standard_deviations).all()
    assert estimate.model_hash == mlc.model_hash
    khalil = estimate.converted_to(chain, 'khalil')
    assert_close(khalil.mlc.values, minimal_parameters(chain, 'khalil').values, OTHER_FORMULATION)
    assert np.isnan(khalil.standard_deviations).all()


def test_another_set_has_the_values_and_the_deviations_of_the_same_estimate(rng, chain, estimate):
    khalil = estimate.converted_to(chain, 'khalil')
    M = estimate.mlc.conversion_to(khalil.mlc)
    assert_close(khalil.mlc.values, M @ estimate.mlc.values, OTHER_FORMULATION)
    covariance = M @ estimate.covariance[1:-1, 1:-1] @ M.T
    assert_close(khalil.standard_deviations, np.sqrt(np.diag(covariance)), OTHER_FORMULATION)
    back = khalil.converted_to(chain, 'lin')
    assert_close(back.mlc.values, estimate.mlc.values, OTHER_FORMULATION)
    assert_close(back.standard_deviations, estimate.standard_deviations, 1e-8)
    assert estimate.converted_to(chain, 'lin') is estimate


def test_what_depends_on_an_unknown_value_is_not_identified(chain, estimate):
    p = len(estimate.mlc)
    partly = replace(estimate, identified=(*[True] * (p - 1), False))
    khalil = partly.converted_to(chain, 'khalil')
    M = estimate.mlc.conversion_to(khalil.mlc)
    assert khalil.identified == tuple((M[:, -1] == 0.0).tolist())
    assert not all(khalil.identified)
    np.testing.assert_array_equal(np.isfinite(khalil.standard_deviations), khalil.identified)


def test_a_covariance_is_put_in_another_order():
    C = np.array([[1.0, 0.5, 0.2], [0.5, 2.0, 0.3], [0.2, 0.3, 3.0]])
    expected = [[3.0, np.nan, 0.2], [np.nan] * 3, [0.2, np.nan, 1.0]]
    np.testing.assert_array_equal(covariance_of(['c', 'x', 'a'], ['a', 'b', 'c'], C), expected)


def test_an_unknown_set_is_refused(chain, estimate):
    with pytest.raises(ParameterError, match='best'):
        estimate.converted_to(chain, 'best')


def test_it_introduces_itself_and_refuses_to_be_changed(estimate):
    p = len(estimate.mlc)
    partly = replace(estimate, identified=(*[True] * (p - 1), False), samples=500)
    assert repr(partly) == (f'<MlcEstimate of puma_4dof: {p - 1} of {p} elements of set lin '
                            'identified from 500 samples, state CONVERGED>')
    with pytest.raises(AttributeError, match=r'MlcEstimate\.samples cannot be changed'):
        estimate.samples = 0


def test_the_numbers_of_the_states_are_those_of_the_message():
    message = Path(__file__).parents[3] / 'robot_dynamics_interfaces' / 'msg' / 'MlcSet.msg'
    constants = re.findall(r'^uint8 (\w+)=(\d+)', message.read_text(), re.MULTILINE)
    states = {state.name: state.value for state in EstimateState}
    assert len(states) == 5
    assert states.items() <= {name: int(number) for name, number in constants}.items()
