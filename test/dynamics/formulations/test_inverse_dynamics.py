# SPDX-License-Identifier: Apache-2.0
"""All formulations of the inverse dynamics are one."""

import numpy as np
import pytest
from support.cases import random_cases
from support.chains import random_chain, random_states, reference_chains
from support.tolerances import (
    OTHER_FORMULATION,
    OTHER_IMPLEMENTATION,
    SAME_ALGEBRA,
    assert_close,
)

from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import (
    FORMULATIONS,
    inverse_dynamics,
)
from robot_dynamics_ros.errors import ParameterError


@pytest.mark.parametrize('formulation', FORMULATIONS)
def test_formulation_equals_newton_euler_on_random_chains(formulation):
    for case in random_cases():
        state = case.q[0], case.qd[0], case.qdd[0]  # one state: floats are quicker than rows
        tau = inverse_dynamics(case.chain, *state, wrench=case.wrench[0],
                               formulation=formulation)
        assert_close(tau, inverse_dynamics(case.chain, *state, wrench=case.wrench[0]),
                     OTHER_FORMULATION)


@pytest.mark.parametrize('formulation', FORMULATIONS)
def test_formulation_gives_the_stored_numbers(formulation):
    for reference in reference_chains():
        data = reference.data
        state = data['q'], data['qd'], data['qdd']
        tau = inverse_dynamics(reference.chain, *state, formulation=formulation)
        assert_close(tau, data['tau'], OTHER_IMPLEMENTATION, reference.name)
        tau = inverse_dynamics(reference.chain, *state, wrench=reference.wrench,
                               formulation=formulation)
        assert_close(tau, data['tau_ext'], OTHER_IMPLEMENTATION, reference.name)


@pytest.mark.parametrize('formulation', FORMULATIONS)
def test_a_batch_is_a_loop(rng, formulation):
    chain = random_chain(rng, 4, types='RPRR')
    q, qd, qdd = random_states(rng, 4, 5)
    loop = [inverse_dynamics(chain, *state, formulation=formulation)
            for state in zip(q, qd, qdd)]
    assert_close(inverse_dynamics(chain, q, qd, qdd, formulation=formulation), loop,
                 SAME_ALGEBRA)


@pytest.mark.parametrize('formulation', FORMULATIONS)
def test_every_formulation_works_with_sixty_joints(rng, formulation):
    chain = random_chain(rng, 60)
    state = random_states(rng, 60)
    assert_close(inverse_dynamics(chain, *state, formulation=formulation),
                 inverse_dynamics(chain, *state), OTHER_FORMULATION)


def test_an_unknown_formulation_is_refused(rng):
    chain = random_chain(rng, 1)
    with pytest.raises(ParameterError, match=r"unknown formulation 'gibbs'.*kane"):
        inverse_dynamics(chain, np.zeros(1), np.zeros(1), np.zeros(1), formulation='gibbs')
