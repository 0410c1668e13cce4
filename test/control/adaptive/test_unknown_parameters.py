# SPDX-License-Identifier: Apache-2.0
"""What can be learned, and what it does to the torque."""

import numpy as np
import pytest
from support.adaptive import arm
from support.chains import random_inertia, random_states
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.control.adaptive.unknown_parameters import (
    joint_unknowns,
    load_mass_unknown,
    load_unknowns,
    minimal_unknowns,
    standard_unknowns,
    unknown_parameters,
)
from robot_dynamics_ros.errors import ParameterError


@pytest.fixture
def model(rng):
    return compile_model(arm(rng), backend='python')


def learned_torque(model, unknowns, theta, q, qd, qdd):
    learned = LearnedModel(model, unknowns)
    return learned.torque(np.asarray(theta), learned.columns(model.regressor(q, qd, qdd), qd, qdd))


@pytest.mark.parametrize('physics', [{}, {'coupled': True}, {'stribeck': True},
                                     {'coupled': True, 'stribeck': True}])
def test_at_the_first_values_it_is_the_torque_of_the_model(rng, physics):
    model = compile_model(arm(rng, **physics), backend='python')
    q, qd, qdd = random_states(rng, 3)
    for group in (minimal_unknowns, standard_unknowns, load_unknowns, joint_unknowns):
        unknowns = group(model)
        assert_close(learned_torque(model, unknowns, unknowns.start, q, qd, qdd),
                     model.torque(q, qd, qdd), SAME_ALGEBRA)


def test_a_learned_load_is_the_robot_with_that_load(rng, model):
    load = random_inertia(rng)
    loaded = compile_model(model.chain.with_payload(load), backend='python')
    q, qd, qdd = random_states(rng, 3)
    found = learned_torque(model, load_unknowns(model), load.standard_parameters, q, qd, qdd)
    assert_close(found, loaded.torque(q, qd, qdd), SAME_ALGEBRA)


def test_a_learned_mass_at_a_known_place_is_the_robot_with_that_mass(rng, model):
    place = [0.1, -0.2, 0.3]
    loaded = compile_model(model.chain.with_payload(
        Inertia.from_centre_of_mass(1.7, place, np.zeros((3, 3)))), backend='python')
    q, qd, qdd = random_states(rng, 3)
    found = learned_torque(model, load_mass_unknown(model, place), [1.7], q, qd, qdd)
    assert_close(found, loaded.torque(q, qd, qdd), SAME_ALGEBRA)


def test_other_links_and_joints_are_the_robot_with_them(rng, model):
    other = compile_model(arm(rng), backend='python').joint_physics
    chain = model.chain.with_joint_physics(other).with_links([random_inertia(rng)] * 3)
    true = compile_model(chain, backend='python')
    q, qd, qdd = random_states(rng, 3)
    joints = np.concatenate([other.rotor_inertia, other.viscous, other.coulomb, other.offset])
    unknowns = standard_unknowns(model) + unknown_parameters(model, ['Ia', 'Fv', 'Fc', 'offset'])
    theta = np.concatenate([chain.standard_parameters, joints])
    assert_close(learned_torque(model, unknowns, theta, q, qd, qdd), true.torque(q, qd, qdd),
                 SAME_ALGEBRA)
    learned = LearnedModel(model, unknowns)
    assert_close(learned.mass_matrix(theta, q), true.mass_matrix(q), SAME_ALGEBRA)
    found = learned.joint_physics(theta)
    np.testing.assert_allclose(found.viscous, other.viscous)
    np.testing.assert_allclose(found.rotor_inertia, other.rotor_inertia)


@pytest.mark.parametrize('coupled', [False, True])
def test_the_gradient_is_the_derivative_of_the_torque(rng, coupled):
    model = compile_model(arm(rng, coupled=coupled), backend='python')
    unknowns = unknown_parameters(model, ['Fc2', 'minimal', 'Ia', 'offset1'])
    learned = LearnedModel(model, unknowns)
    q, qd, qdd = random_states(rng, 3)
    columns = learned.columns(model.regressor(q, qd, qdd), qd, qdd)
    x = rng.normal(size=3)
    at = [learned.torque(unknowns.start + unit, columns) @ x for unit in np.eye(len(unknowns))]
    assert_close(learned.gradient(columns, x),
                 np.array(at) - learned.torque(unknowns.start, columns) @ x, 1e-10)


@pytest.mark.parametrize('coupled', [False, True])
def test_the_mass_matrix_from_the_regressor_is_that_of_the_model(rng, coupled):
    model = compile_model(arm(rng, coupled=coupled), backend='python')
    unknowns = minimal_unknowns(model)
    q = rng.normal(size=3)
    assert_close(LearnedModel(model, unknowns).mass_matrix(unknowns.start, q),
                 model.mass_matrix(q), SAME_ALGEBRA)


def test_a_load_that_is_announced_counts_at_once(rng, model):
    learned = LearnedModel(model, joint_unknowns(model))
    start = learned.unknowns.start
    before = learned.links(start)
    model.parameters = 2.0 * model.parameters
    np.testing.assert_allclose(learned.links(start), 2.0 * before)
    physics = arm(rng).joint_physics
    model.joint_physics = physics
    changed = learned.joints(start)
    np.testing.assert_allclose(changed[1], physics.viscous)


def test_words_choose_groups_and_single_parameters(model):
    chosen = unknown_parameters(model, ['load', 'ZZ3', 'Fv2', model.mlc.names[0]])
    assert chosen.names[10:] == ('ZZ3', 'Fv2', model.mlc.names[0])
    assert len(chosen) == 13
    assert chosen.start[11] == model.joint_physics.viscous[1]
    assert chosen.units[10] == 'kg m^2'
    assert unknown_parameters(model, ['weight']).names == ('load_MX', 'load_MY', 'load_MZ',
                                                           'load_M')


def test_a_load_is_bounded_by_its_mass_and_size(model):
    load = load_unknowns(model, 2.0, 0.3)
    bounds = dict(zip(load.names, zip(load.lower, load.upper)))
    assert bounds['load_M'] == (0.0, 2.0)
    assert bounds['load_MX'] == pytest.approx((-0.6, 0.6))
    assert bounds['load_ZZ'] == pytest.approx((0.0, 0.18))
    assert bounds['load_XY'] == pytest.approx((-0.09, 0.09))


@pytest.mark.parametrize(('words', 'message'), [
    ([], 'nothing to learn'), (['mass'], "'mass' cannot be learned"),
    (['load', 'load'], 'load_XX is named twice')])
def test_wrong_words_are_refused(model, words, message):
    with pytest.raises(ParameterError, match=message):
        unknown_parameters(model, words)


def test_impossible_bounds_are_refused(model):
    with pytest.raises(ParameterError, match='load_mass: the first value 0 is not between'):
        load_mass_unknown(model, [0, 0, 0]).with_bounds(1.0, 2.0)
    with pytest.raises(ParameterError, match='must be positive'):
        load_unknowns(model, 0.0)
    with pytest.raises(ParameterError, match='XX9 cannot be learned'):
        load_unknowns(model).chosen(['XX9'])
