# SPDX-License-Identifier: Apache-2.0
"""Mass matrix, gravity torque and forward dynamics of a chain, by every formulation."""

import numpy as np
import pytest
from support.cases import random_cases
from support.chains import random_chain, random_tree, reference_chains
from support.tolerances import OTHER_IMPLEMENTATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import (
    FORWARD_DYNAMICS,
    GRAVITY_TORQUES,
    MASS_MATRICES,
    forward_dynamics,
    gravity_torque,
    mass_matrix,
)
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.errors import ParameterError, StateError

#: Every quantity with every formulation of it, and the arrays that it takes.
ALL = [(quantity, name, arrays) for quantity, table, arrays in (
    (mass_matrix, MASS_MATRICES, ('q',)), (gravity_torque, GRAVITY_TORQUES, ('q',)),
    (forward_dynamics, FORWARD_DYNAMICS, ('q', 'qd', 'tau'))) for name in table]


@pytest.fixture
def pendulum():
    """2 kg at 0.5 m, gravity along -y."""
    bob = Inertia.from_centre_of_mass(2.0, [0.5, 0.0, 0.0], np.zeros((3, 3)))
    return chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0], links=[bob],
                         gravity=[0, -9.81, 0])


@pytest.mark.parametrize(('quantity', 'formulation', 'arrays'), ALL)
def test_a_pendulum_is_that_of_the_textbook(pendulum, quantity, formulation, arrays):
    weight = 9.81 * np.cos(0.4)
    expected = {'mass_matrix': [[0.5]], 'gravity_torque': [weight],
                'forward_dynamics': [(3.0 - weight) / 0.5]}[quantity.__name__]
    state = [{'q': [0.4], 'qd': [7.0], 'tau': [3.0]}[name] for name in arrays]
    assert_close(quantity(pendulum, *state, formulation=formulation), expected, SAME_ALGEBRA)


@pytest.mark.parametrize(('quantity', 'formulation', 'arrays'), ALL)
def test_every_formulation_equals_pinocchio_on_random_chains(quantity, formulation, arrays):
    for case in random_cases()[::5]:
        found = quantity(case.chain, *(getattr(case, name) for name in arrays),
                         formulation=formulation)
        assert_close(found, case.expected(quantity.__name__, *arrays), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('formulation', FORWARD_DYNAMICS)
def test_a_wrench_on_the_tip_accelerates_the_arm_as_pinocchio_says(formulation):
    for case in random_cases()[::10]:
        found = forward_dynamics(case.chain, case.q, case.qd, case.tau, wrench=case.wrench,
                                 formulation=formulation)
        assert_close(found, case.expected('forward_dynamics', 'q', 'qd', 'tau', 'wrench'),
                     OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('formulation', GRAVITY_TORQUES)
def test_the_gravity_torque_is_that_of_the_stored_numbers(formulation):
    for reference in reference_chains():
        found = gravity_torque(reference.chain, reference.data['q'], formulation=formulation)
        assert_close(found, reference.data['G'], OTHER_IMPLEMENTATION, reference.name)


@pytest.mark.parametrize(('quantity', 'formulation', 'arrays'), ALL)
def test_a_batch_is_a_loop(rng, quantity, formulation, arrays):
    chain = random_chain(rng, 3, types='RPR')
    states = rng.normal(size=(len(arrays), 4, 3))
    loop = [quantity(chain, *state, formulation=formulation)
            for state in np.moveaxis(states, 1, 0)]
    assert_close(quantity(chain, *states, formulation=formulation), loop, SAME_ALGEBRA)


@pytest.mark.parametrize(('quantity', 'words'), [
    (mass_matrix, 'of the mass matrix; known are composite_bodies, renaud'),
    (gravity_torque, 'of the gravity torque; known are newton_euler, renaud'),
    (forward_dynamics, 'of the forward dynamics; known are mass_matrix, linear_recursion')])
def test_an_unknown_formulation_is_refused_with_the_known_ones(pendulum, quantity, words):
    arrays = [[0.0]] * (3 if quantity is forward_dynamics else 1)
    with pytest.raises(ParameterError, match=f"unknown formulation 'gibbs' {words}"):
        quantity(pendulum, *arrays, formulation='gibbs')


def test_a_position_of_the_wrong_size_is_refused(pendulum):
    with pytest.raises(StateError, match=r'q has shape \(2,\), expected \(1,\)'):
        mass_matrix(pendulum, [0.0, 0.0])


@pytest.mark.parametrize('followers', [0, 2])
def test_states_that_do_not_fit_are_refused_with_joints_that_others_follow_too(rng, followers):
    chain = random_tree(rng, 3, followers=followers)
    one, batch = np.zeros(3), np.zeros((4, 3))
    for quantity, count in ((mass_matrix, 1), (gravity_torque, 1), (inverse_dynamics, 3),
                            (forward_dynamics, 3)):
        for wrong in (np.zeros(4), ['a'] * 3):
            with pytest.raises(StateError, match=r'q has shape|array of real numbers'):
                quantity(chain, wrong, *[one] * (count - 1))
    for quantity in (inverse_dynamics, forward_dynamics):
        for state in ((one, one, batch), (batch, batch, one)):
            with pytest.raises(StateError, match='give one state or N states in all of them'):
                quantity(chain, *state, link_wrenches={chain.tip: np.zeros(state[0].shape[:-1]
                                                                           + (6,))})


@pytest.mark.parametrize('formulation', FORWARD_DYNAMICS)
@pytest.mark.parametrize('followers', [0, 1])
def test_a_joint_that_moves_no_mass_has_no_acceleration(rng, followers, formulation):
    chain = random_tree(rng, 3, followers=followers)
    massless = chain.with_links([Inertia.zero()] * len(chain.links))
    for shape in ((3,), (4, 3)):
        state = rng.normal(size=(3, *shape))
        for wrenches in (None, {chain.tip: np.ones((*shape[:-1], 6))}):
            found = forward_dynamics(massless, *state, link_wrenches=wrenches,
                                     formulation=formulation)
            assert found.shape == shape and np.all(np.isnan(found))
