# SPDX-License-Identifier: Apache-2.0
"""The regressors of Lu & Meng."""

import numpy as np
import pytest
from support.cases import random_cases
from support.chains import papers_reference, random_chain, random_inertia, random_pose
from support.tolerances import (
    FINITE_DIFFERENCE,
    OTHER_FORMULATION,
    OTHER_IMPLEMENTATION,
    SAME_ALGEBRA,
    assert_close,
)

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.dynamics.formulations.lagrange import Lagrange
from robot_dynamics_ros.dynamics.formulations.lu_meng import (
    LINK_CASES,
    PARAMETERS_16,
    closed_form,
    from_standard_columns,
    lu_meng_parameters,
    lu_meng_regressor,
    momentum_split,
    parameters_16,
    recursive,
)
from robot_dynamics_ros.dynamics.recursions.body import bodies
from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor
from robot_dynamics_ros.dynamics.scalars.frames import FixedFrame, gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.errors import ParameterError

PAPERS = papers_reference()
FORMS = [closed_form, recursive]


def regressor(form, chain, q, qd, qdd, load=None):
    state = Samples.of(chain, q=q, qd=qd, qdd=qdd)
    return state.matrix(form(state.frames, state['qd'], state['qdd'], gravity_vector(chain), load))


def theta(chain):
    return np.array([x for body in bodies(chain) for x in parameters_16(body)])


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('row', PAPERS['two_dof'])
def test_the_two_joint_arm_with_load_has_the_corrected_regressor(form, row):
    """(63)-(65): m1 at the base, m2 at the elbow, the load on the x axis of its frame."""
    l1, l2, g = row['l1'], row['l2'], row['g']
    chain = chain_from_dh('RR', beta=[0, 0], b=[0, l1], d=[0, 0], theta=[0, 0],
                          gravity=[0, -g, 0])
    load = FixedFrame.at(Pose(np.eye(3), np.array([l2, 0.0, 0.0])))
    Y = regressor(form, chain, row['q'], row['qd'], row['qdd'], load)
    of_load = [32 + LINK_CASES['centre_on_x'][k] for k in (0, 1, 2, 5)]  # m, mpx, mpx2, Izz
    Y = Y[:, [16, *of_load]]
    assert_close(Y, row['Y'], OTHER_IMPLEMENTATION)
    (a1, a2), (v1, v2) = row['qdd'], row['qd']
    s2, c1, c12 = np.sin(row['q'][1]), np.cos(row['q'][0]), np.cos(sum(row['q']))
    c2 = np.cos(row['q'][1])
    assert_close(Y[0, 0], l1**2 * a1 + l1 * c1 * g, OTHER_FORMULATION)
    assert_close(Y[1, 1], l2 * (l1 * c2 + l2) * a1 + l2**2 * a2 + l1 * l2 * s2 * v1**2
                 + l2 * c12 * g, OTHER_FORMULATION)
    assert_close(Y[0, 2], 2 * (l1 * c2 + l2) * a1 + (l1 * c2 + 2 * l2) * a2
                 - l1 * s2 * v2 * (2 * v1 + v2) + c12 * g, OTHER_FORMULATION)
    assert_close(Y @ row['theta'], row['tau'], OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('row', PAPERS['random_chains'], ids=lambda row: row['types'])
def test_stored_chains_have_the_stored_regressor(form, row):
    links = [Inertia.from_centre_of_mass(*link)
             for link in zip(row['m'], row['com'], row['I_com_tensor'])]
    chain = chain_from_dh(row['types'], beta=row['beta'], b=row['b'], d=row['d_offset'],
                          theta=row['theta_offset'], links=links, gravity=row['g'])
    Y = regressor(form, chain, row['q'], row['qd'], row['qdd'])
    assert_close(theta(chain), row['theta16'], OTHER_IMPLEMENTATION)
    assert_close(Y, row['Y16'], OTHER_IMPLEMENTATION)
    assert_close(Y @ row['theta16'], row['tau'], OTHER_IMPLEMENTATION)


def test_closed_form_and_recursion_agree_with_a_load_on_random_chains():
    rng = np.random.default_rng(4)
    for case in random_cases()[:150]:
        load = FixedFrame.at(random_pose(rng))
        state = case.q[0], case.qd[0], case.qdd[0]
        assert_close(regressor(recursive, case.chain, *state, load),
                     regressor(closed_form, case.chain, *state, load), OTHER_FORMULATION)


def test_columns_are_those_of_the_standard_parameters(rng):
    """Map of papers_reference.json: phi = M theta, pinocchio's order of the ten."""
    M = np.array(PAPERS['map16to10']['M'])
    khalil = M[[4, 5, 7, 6, 8, 9, 1, 2, 3, 0]]
    row = rng.normal(size=10)
    assert_close(from_standard_columns(row.tolist()), row @ khalil, SAME_ALGEBRA)
    chain = random_chain(rng, 3)
    assert_close(khalil @ theta(chain)[16:32], chain.links[1].standard_parameters, SAME_ALGEBRA)


def test_the_load_is_link_n_plus_1(rng):
    chain, pose = random_chain(rng, 3), random_pose(rng)
    load = random_inertia(rng)
    q, qd, qdd = rng.normal(size=(3, 3))
    loaded = chain.with_payload(load.seen_from(pose))
    frame = FixedFrame.at(chain.tip_pose @ pose)
    x = np.concatenate([theta(chain), theta(chain.with_links([load] * 3))[:16]])
    for form in FORMS:
        assert_close(regressor(form, chain, q, qd, qdd, frame) @ x,
                     inverse_dynamics(loaded, q, qd, qdd), OTHER_FORMULATION)


@pytest.mark.parametrize(('name', 'centre', 'tensor'), [
    ('general', [0.1, 0.2, 0.3], [[0.5, 0.1, 0.05], [0.1, 0.6, 0.02], [0.05, 0.02, 0.4]]),
    ('principal_axes', [0.1, 0.2, 0.3], np.diag([0.5, 0.6, 0.4])),
    ('point_mass', [0.1, 0.2, 0.3], np.zeros((3, 3))),
    ('centre_on_x', [0.3, 0.0, 0.0], np.diag([0.5, 0.6, 0.4])),
    ('centre_on_z', [0.0, 0.0, -0.3], np.diag([0.5, 0.6, 0.4])),
])
def test_special_links_need_fewer_columns(rng, name, centre, tensor):
    link = Inertia.from_centre_of_mass(1.7, centre, tensor)
    chain = random_chain(rng, 3, types='RPR').with_links([link] * 3)
    q, qd, qdd = rng.normal(size=(3, 3))
    columns = [16 * i + k for i in range(3) for k in LINK_CASES[name]]
    assert np.all(theta(chain)[columns] != 0.0)
    for form in FORMS:
        Y = regressor(form, chain, q, qd, qdd)
        assert_close(Y[:, columns] @ theta(chain)[columns], inverse_dynamics(chain, q, qd, qdd),
                     OTHER_FORMULATION)
    states = rng.normal(size=(3, 4, 3))
    Y, kept = lu_meng_regressor(chain, *states, link_case=name), lu_meng_parameters(
        chain, link_case=name)
    assert Y.shape == (4, 3, len(columns)) and kept.shape == (len(columns),)
    assert_close(Y @ kept, inverse_dynamics(chain, *states), OTHER_FORMULATION)


def test_the_payload_has_the_last_columns_of_the_regressor_on_arrays(rng):
    chain, pose, load = random_chain(rng, 3), random_pose(rng), random_inertia(rng)
    state = rng.normal(size=(3, 3))
    Y = lu_meng_regressor(chain, *state, payload=pose)
    of_load = lu_meng_parameters(chain.with_links([load] * 3))[:16]
    assert_close(Y @ np.concatenate([lu_meng_parameters(chain), of_load]),
                 inverse_dynamics(chain.with_payload(load.seen_from(pose)), *state),
                 OTHER_FORMULATION)


def test_an_unknown_link_case_is_refused(rng):
    chain = random_chain(rng, 1)
    with pytest.raises(ParameterError, match="unknown link case 'rod'; known are general"):
        lu_meng_parameters(chain, link_case='rod')
    with pytest.raises(ParameterError, match="unknown link case 'rod'"):
        lu_meng_regressor(chain, [0.0], [0.0], [0.0], link_case='rod')


@pytest.mark.parametrize('form', FORMS)
def test_products_of_the_mass_centre_act_like_moments_of_inertia(rng, form):
    """Six exact redundancies per link: of 16 parameters ten can be told apart."""
    chain = random_chain(rng, 3, types='RPR')
    Y = regressor(form, chain, *rng.normal(size=(3, 40, 3)))
    column = {name: Y[..., 32 + k] for k, name in enumerate(PARAMETERS_16)}
    for product, first, second in (('mpx2', 'Iyy', 'Izz'), ('mpy2', 'Ixx', 'Izz'),
                                   ('mpz2', 'Ixx', 'Iyy')):
        assert_close(column[product], column[first] + column[second], SAME_ALGEBRA)
    for product, moment in (('mpxpy', 'Ixy'), ('mpxpz', 'Ixz'), ('mpypz', 'Iyz')):
        assert_close(column[product], column[moment], SAME_ALGEBRA)


@pytest.mark.parametrize('types', ['RRR', 'RPR', 'PRR'])
def test_w_and_z_are_momentum_and_slope_of_the_lagrangian(rng, types):
    chain = random_chain(rng, 3, types=types)
    q, qd = rng.normal(size=(2, 3))
    x, h = chain.standard_parameters, 1e-5

    def equations(position):
        state = Samples.of(chain, q=position)
        return Lagrange(state.frames, [link.standard_parameters.tolist()
                                       for link in chain.links], gravity_vector(chain))

    def potential_minus_kinetic(position):
        found = equations(position)
        return found.potential_energy() - found.kinetic_energy(qd)

    state = Samples.of(chain, q=q, qd=qd)
    W, Z = momentum_split(state.frames, state['qd'], gravity_vector(chain))
    assert_close(np.array(W) @ x, np.array(equations(q).mass_matrix()) @ qd, OTHER_FORMULATION)
    slope = [(potential_minus_kinetic(q + h * e) - potential_minus_kinetic(q - h * e)) / (2 * h)
             for e in np.eye(3)]
    assert_close(np.array(Z) @ x, slope, FINITE_DIFFERENCE)


def test_y_is_the_rate_of_w_plus_z(rng):
    """dW/dt by differences along q(t); 10 columns per link, also of a load."""
    chain, pose = random_chain(rng, 3, types='RPR'), random_pose(rng)
    q, qd, qdd = rng.normal(size=(3, 3))
    load, h = FixedFrame.at(chain.tip_pose @ pose), 1e-5

    def split(t):
        state = Samples.of(chain, q=q + t * qd + 0.5 * t * t * qdd, qd=qd + t * qdd)
        return np.array(momentum_split(state.frames, state['qd'], gravity_vector(chain), load))

    Y = (split(h)[0] - split(-h)[0]) / (2 * h) + split(0.0)[1]
    assert_close(Y, standard_regressor(chain, q, qd, qdd, payload=pose), FINITE_DIFFERENCE)
