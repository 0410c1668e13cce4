# SPDX-License-Identifier: Apache-2.0
"""The mass matrix, four ways."""

import numpy as np
import pytest
from support.cases import random_cases
from support.chains import random_chain, reference_chains
from support.oracle import Oracle
from support.tolerances import (
    OTHER_FORMULATION,
    OTHER_IMPLEMENTATION,
    SAME_ALGEBRA,
    assert_close,
)

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.formulations.lagrange import Lagrange
from robot_dynamics_ros.dynamics.formulations.lin import LinConstants
from robot_dynamics_ros.dynamics.formulations.lu_meng import closed_form, parameters_16
from robot_dynamics_ros.dynamics.minimal.lin_set import lin_forms
from robot_dynamics_ros.dynamics.minimal.structure import structure
from robot_dynamics_ros.dynamics.recursions.body import bodies
from robot_dynamics_ros.dynamics.recursions.composite import inertia_constants
from robot_dynamics_ros.dynamics.recursions.mass_matrix import (
    by_inverse_dynamics,
    composite_bodies,
    from_regressor,
    renaud,
    renaud_gravity,
)
from robot_dynamics_ros.dynamics.recursions.regressor import regressor
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples


def links(chain):
    return [link.standard_parameters.tolist() for link in chain.links]


def minimal(chain):
    """Return inertia constants made of the minimal parameters alone."""
    groups = structure(chain)
    forms = lin_forms(chain, groups)
    values = dict(zip(forms.names, (forms.matrix @ chain.standard_parameters).tolist()))
    return LinConstants.from_names(len(chain), values).representative(groups)


def by_standard_regressor(state):
    matrix, _ = from_regressor(
        lambda qdd: regressor(state.frames, state['qd'], qdd, gravity_vector(state.chain)),
        state.chain.standard_parameters.tolist(), len(state.chain))
    return matrix


METHODS = {
    'composite_bodies': lambda state: composite_bodies(state.frames, links(state.chain)),
    'renaud': lambda state: renaud(
        state.frames, inertia_constants(state.frames, links(state.chain))),
    'renaud_minimal': lambda state: renaud(state.frames, minimal(state.chain)),
    'by_inverse_dynamics': lambda state: by_inverse_dynamics(state.frames, links(state.chain)),
    'from_regressor': by_standard_regressor,
    'lagrange': lambda state: Lagrange(
        state.frames, links(state.chain), gravity_vector(state.chain)).mass_matrix(),
}


def test_a_planar_arm_has_the_matrix_of_the_textbook():
    """Point masses 2 kg and 3 kg at the ends of two links of 0.5 m and 0.4 m."""
    bobs = [Inertia.from_centre_of_mass(m, [r, 0, 0], np.zeros((3, 3)))
            for m, r in ((2.0, 0.5), (3.0, 0.4))]
    chain = chain_from_dh('RR', beta=[0, 0], b=[0, 0.5], d=[0, 0], theta=[0, 0], links=bobs)
    c = np.cos(0.7)
    h22, h12 = 3.0 * 0.16, 3.0 * (0.16 + 0.5 * 0.4 * c)
    h11 = 2.0 * 0.25 + 3.0 * (0.25 + 0.16 + 2.0 * 0.5 * 0.4 * c)
    state = Samples.of(chain, q=[0.2, 0.7], qd=[1.0, 2.0])
    for method in METHODS.values():
        assert_close(state.matrix(method(state)), [[h11, h12], [h12, h22]], SAME_ALGEBRA)


@pytest.mark.parametrize('method', METHODS)
def test_mass_matrix_equals_pinocchio_on_random_chains(method):
    for case in random_cases():
        state = Samples.of(case.chain, q=case.q[0], qd=case.qd[0])
        assert_close(state.matrix(METHODS[method](state)), case.oracle.mass_matrix(case.q[0]),
                     OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('method', METHODS)
def test_mass_matrix_equals_the_stored_numbers(method):
    for reference in reference_chains():
        state = Samples.of(reference.chain, q=reference.data['q'], qd=reference.data['qd'])
        assert_close(state.matrix(METHODS[method](state)), reference.data['H'],
                     OTHER_IMPLEMENTATION, reference.name)


def test_renauds_gravity_torque_equals_pinocchio_and_the_stored_numbers():
    for case in random_cases():
        state = Samples.of(case.chain, q=case.q[0])
        tau = renaud_gravity(state.frames, minimal(case.chain), gravity_vector(case.chain))
        expected = case.oracle.gravity_torque(case.q[0])
        assert_close(tau, expected, OTHER_IMPLEMENTATION)
    for reference in reference_chains():
        state = Samples.of(reference.chain, q=reference.data['q'])
        tau = renaud_gravity(state.frames, minimal(reference.chain),
                             gravity_vector(reference.chain))
        assert_close(tau, reference.data['G'], OTHER_IMPLEMENTATION, reference.name)


def test_the_regressor_of_lu_and_meng_gives_matrix_and_bias(rng):
    chain = random_chain(rng, 4, types='RPRR')
    state = Samples.of(chain, q=rng.normal(size=4), qd=rng.normal(size=4))
    theta = [x for body in bodies(chain) for x in parameters_16(body)]
    A, bias = from_regressor(
        lambda qdd: closed_form(state.frames, state['qd'], qdd, gravity_vector(chain)), theta, 4)
    oracle = Oracle(chain)
    q, qd = np.array(state['q']), np.array(state['qd'])
    assert_close(A, oracle.mass_matrix(q), OTHER_IMPLEMENTATION)
    assert_close(bias, oracle.inverse_dynamics(q, qd, np.zeros(4)), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('method', METHODS)
def test_mass_matrix_is_symmetric_and_positive_definite_in_a_batch(rng, method):
    chain = random_chain(rng, 5)
    q, qd = rng.normal(size=(2, 6, 5))
    state = Samples.of(chain, q=q, qd=qd)
    A = state.matrix(METHODS[method](state))
    assert A.shape == (6, 5, 5)
    assert_close(A, np.swapaxes(A, 1, 2), SAME_ALGEBRA)
    assert np.all(np.linalg.eigvalsh(A) > 0.0)
    one = Samples.of(chain, q=q[3], qd=qd[3])
    assert_close(one.matrix(METHODS[method](one)), A[3], OTHER_FORMULATION)


def test_sixty_joints_work(rng):
    chain = random_chain(rng, 60)
    state = Samples.of(chain, q=rng.normal(size=60))
    assert_close(composite_bodies(state.frames, links(chain)),
                 Oracle(chain).mass_matrix(np.array(state['q'])), OTHER_IMPLEMENTATION)
    assert_close(renaud(state.frames, minimal(chain)),
                 Oracle(chain).mass_matrix(np.array(state['q'])), OTHER_IMPLEMENTATION)
