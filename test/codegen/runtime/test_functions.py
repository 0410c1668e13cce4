# SPDX-License-Identifier: Apache-2.0
"""Every function of a model, in every backend, against the loop form and Pinocchio."""

import numpy as np
import pytest
from support.chains import random_chain
from support.models import BACKENDS, COUNT, WITH_WRENCH, call, judged, physics_of, states_of
from support.oracle import Oracle
from support.tolerances import OTHER_IMPLEMENTATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros import JointPhysics, compile_model, minimal_parameters
from robot_dynamics_ros.codegen.functions import INPUTS
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples


def joint_torque(physics, qd, qdd, rigid=0.0):
    """Return what the joints add, as it stands in the book, and friction under load."""
    to_motors = np.eye(len(physics)) if physics.coupling is None else np.linalg.inv(
        physics.coupling)
    speed, rate = qd @ to_motors.T, qdd @ to_motors.T
    level = physics.coulomb
    if physics.static is not None:
        level = level + (physics.static - level) * np.exp(
            -(speed / physics.stribeck_velocity)**2)
    rotors = physics.rotor_inertia * rate
    viscous = physics.viscous * speed
    if physics.load_friction is not None:
        load = rigid @ np.linalg.inv(to_motors) + rotors if np.ndim(rigid) else 0.0
        level = level + physics.load_friction * np.abs(load)
        viscous = viscous + physics.viscous_asymmetry * np.abs(speed)
    return (rotors + viscous + physics.offset
            + level * np.tanh(speed / physics.coulomb_velocity)) @ to_motors


def test_the_loop_form_agrees_with_other_formulations(chain, rng):
    """Torque by Newton and Euler with link parameters; the others by what they mean."""
    inputs = states_of(chain, 'torque', rng)
    q, qd, qdd = inputs.values()
    state, physics = Samples.of(chain, **inputs), chain.joint_physics
    links = [link.standard_parameters.tolist() for link in chain.links]
    rigid = state.vector(newton_euler(state.frames, links, state['qd'], state['qdd'],
                                      gravity_vector(chain)))
    tau = rigid + joint_torque(physics, qd, qdd, rigid)
    assert_close(judged(chain, 'inverse_dynamics', **inputs), rigid, OTHER_IMPLEMENTATION)
    assert_close(judged(chain, 'torque', **inputs), tau, OTHER_IMPLEMENTATION)
    assert_close(judged(chain, 'friction_torque', qd=qd), joint_torque(physics, qd, 0.0 * qd),
                 OTHER_IMPLEMENTATION)
    assert_close(judged(chain, 'forward_dynamics', q=q, qd=qd, tau=tau), qdd, 1e-8)
    assert_close(judged(chain, 'friction_under_load', qd=qd, load=tau),
                 joint_torque(physics, qd, 0.0 * qd, tau), OTHER_IMPLEMENTATION)
    rotors = joint_torque(physics, qd, qdd) - joint_torque(physics, qd, 0.0 * qdd)
    inertial = rigid + rotors - judged(chain, 'inverse_dynamics', q=q, qd=qd, qdd=0.0 * qdd)
    A = judged(chain, 'mass_matrix', q=q)
    assert_close(np.einsum('kij,kj->ki', A, qdd), inertial, OTHER_IMPLEMENTATION)
    still = judged(chain, 'coriolis_torque', q=q, qd=qd) + judged(chain, 'gravity_torque', q=q)
    assert_close(still, judged(chain, 'inverse_dynamics', q=q, qd=qd, qdd=0.0 * qdd),
                 OTHER_IMPLEMENTATION)
    if physics.static is None and physics.load_friction is None:
        values = np.concatenate([minimal_parameters(chain).values, physics.rotor_inertia,
                                 physics.viscous, physics.coulomb, physics.offset])
        assert_close(judged(chain, 'regressor_with_joint_terms', **inputs) @ values, tau,
                     OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('kind', ['normal', 'far', 'at rest'])
@pytest.mark.parametrize('name', INPUTS)
def test_every_backend_equals_the_loop_form(chain, models, rng, name, kind):
    inputs = states_of(chain, name, rng, kind)
    expected = judged(chain, name, **inputs)
    for model in models.values():
        assert_close(call(model, name, inputs), expected, SAME_ALGEBRA, model.backend)
        first = {key: values[0] for key, values in inputs.items()}
        assert_close(call(model, name, first), expected[0], SAME_ALGEBRA, model.backend)
        assert model.forms[name] == 'straight line'


@pytest.mark.parametrize('name', WITH_WRENCH)
def test_a_wrench_is_taken_into_account(chain, models, rng, name):
    inputs, wrench = states_of(chain, name, rng), rng.normal(size=(COUNT, 6))
    expected = judged(chain, name, **inputs, wrench=wrench)
    first = {key: values[0] for key, values in inputs.items()}
    for model in models.values():
        assert_close(call(model, name, inputs, wrench=wrench), expected, SAME_ALGEBRA)
        assert_close(call(model, name, first, wrench=wrench[0]), expected[0], SAME_ALGEBRA)


@pytest.mark.parametrize('largest', [np.pi, 1e3])
def test_pinocchio_agrees(chain, rng, largest):
    chain = chain.with_joint_physics(JointPhysics.zero(len(chain)))
    model, oracle = compile_model(chain, 'llvm'), Oracle(chain)
    inputs, wrench = states_of(chain, 'torque', rng), rng.normal(size=(COUNT, 6))
    q, qd, qdd = inputs.values()
    q *= largest / np.pi
    tau = model.inverse_dynamics(q, qd, qdd, wrench=wrench)
    Y = model.regressor(q, qd, qdd)
    assert_close(np.einsum('kij,j->ki', Y, model.parameters), model.inverse_dynamics(q, qd, qdd),
                 OTHER_IMPLEMENTATION)
    for k in range(COUNT):
        assert_close(tau[k], oracle.inverse_dynamics(q[k], qd[k], qdd[k], wrench[k]),
                     OTHER_IMPLEMENTATION)
        assert_close(model.mass_matrix(q)[k], oracle.mass_matrix(q[k]), OTHER_IMPLEMENTATION)
        assert_close(model.gravity_torque(q)[k], oracle.gravity_torque(q[k]),
                     OTHER_IMPLEMENTATION)
        assert_close(model.forward_dynamics(q, qd, tau)[k],
                     oracle.forward_dynamics(q[k], qd[k], tau[k]), OTHER_IMPLEMENTATION)


def test_forward_dynamics_is_the_inverse_of_torque(arm, rng):
    q, qd, qdd = states_of(arm.chain, 'torque', rng).values()
    assert_close(arm.forward_dynamics(q, qd, arm.torque(q, qd, qdd)), qdd, 1e-10)


def test_angles_beyond_the_range_of_the_kernels_are_still_right(arm, rng):
    inputs = states_of(arm.chain, 'inverse_dynamics', rng)
    inputs['q'][3, 2], inputs['q'][4, 1] = 3.0e7, -1.0e15
    expected = compile_model(arm.chain, 'python').inverse_dynamics(**inputs)
    assert_close(arm.inverse_dynamics(**inputs), expected, SAME_ALGEBRA)
    for k in (3, 4):
        one = [values[k] for values in inputs.values()]
        assert_close(arm.inverse_dynamics(*one), expected[k], SAME_ALGEBRA)


@pytest.mark.parametrize('count', [0, 1, 2, 7, 8, 9, 16, 63, 64, 65, 200])
def test_a_batch_of_any_size_is_the_states_one_by_one(arm, rng, count):
    for name in ('torque', 'mass_matrix'):
        inputs = states_of(arm.chain, name, rng, count=count)
        result = call(arm, name, inputs)
        shape = {'torque': (7,), 'mass_matrix': (7, 7)}[name]
        assert result.shape == (count, *shape)
        for k in range(0, count, 5):
            one = call(arm, name, {key: values[k] for key, values in inputs.items()})
            assert_close(result[k], one, SAME_ALGEBRA)


@pytest.mark.parametrize('joints', range(1, 13))
def test_any_number_of_joints_fits_into_lanes(joints):
    rng = np.random.default_rng(joints)
    chain = random_chain(rng, joints)
    inputs = states_of(chain, 'inverse_dynamics', rng)
    assert_close(compile_model(chain, 'llvm').inverse_dynamics(**inputs),
                 judged(chain, 'inverse_dynamics', **inputs), SAME_ALGEBRA)


@pytest.mark.parametrize('coulomb_velocity', [0.0, 1e-6, 0.5])
def test_friction_may_be_smooth_or_have_an_exact_sign(rng, coulomb_velocity):
    chain = random_chain(rng, 4, types='RRRR').with_joint_physics(
        physics_of(rng, 4, coulomb_velocity=coulomb_velocity))
    qd = np.array([[0.0, -1e-200, 1e-7, 1e-3], [-1e6, 1e300, 0.2, -0.5]])
    expected = judged(chain, 'friction_torque', qd=qd)
    for backend in BACKENDS:
        assert_close(compile_model(chain, backend).friction_torque(qd), expected, SAME_ALGEBRA)


@pytest.mark.parametrize('backend', BACKENDS)
def test_functions_that_would_be_too_long_run_the_loop_form(demo_arm, rng, backend, monkeypatch):
    for limit in ('LONGEST_PROGRAM', 'LONGEST_PYTHON'):
        monkeypatch.setattr(f'robot_dynamics_ros.codegen.runtime.kernels.{limit}', 400)
    monkeypatch.setattr('robot_dynamics_ros.codegen.runtime.kernels._AT_ONCE', 300)  # in parts
    model = compile_model(demo_arm, backend)
    for name in INPUTS:
        inputs = states_of(demo_arm, name, rng)
        for options in ({}, {'wrench': rng.normal(size=(COUNT, 6))})[:1 + (name in WITH_WRENCH)]:
            expected = judged(demo_arm, name, **inputs, **options)
            out = np.empty_like(expected)
            assert call(model, name, inputs, out=out, **options) is out
            assert_close(out, expected, SAME_ALGEBRA)
    assert model.forms['gravity_torque'] == 'straight line'
    assert model.forms['regressor'] == model.forms['forward_dynamics_with_wrench'] == 'loop'


@pytest.mark.parametrize('physics', [{}, {'loaded': True}, {'coupled': True, 'stribeck': True}])
def test_derivatives_of_forward_dynamics_that_would_be_too_long_are_solved(rng, monkeypatch,
                                                                           physics):
    monkeypatch.setattr('robot_dynamics_ros.codegen.runtime.kernels.LONGEST_SOLUTION', 400)
    if 'loaded' in physics:  # friction depends on the load: the loop form, if it is too long
        monkeypatch.setattr('robot_dynamics_ros.codegen.runtime.kernels.LONGEST_PROGRAM', 400)
    chain = random_chain(rng, 4)
    model = compile_model(chain.with_joint_physics(physics_of(rng, 4, **physics)))
    inputs = states_of(chain, 'forward_dynamics_derivatives', rng)
    for options in ({}, {'wrench': rng.normal(size=(COUNT, 6))}):
        expected = judged(model.chain, 'forward_dynamics_derivatives', **inputs, **options)
        out = np.empty_like(expected)
        assert model.forward_dynamics_derivatives(**inputs, **options, out=out) is out
        assert_close(out, expected, 1e-10)
        one = {key: values[3] for key, values in {**inputs, **options}.items()}
        assert_close(model.forward_dynamics_derivatives(**one), expected[3], 1e-10)
    assert set(model.forms.values()) >= {'loop' if 'loaded' in physics else 'solved'}
    inputs['qd'][5, 2] = np.nan  # not in the mass matrix
    spoilt = model.forward_dynamics_derivatives(**inputs)
    assert np.isnan(spoilt[5]).all() and np.isfinite(np.delete(spoilt, 5, 0)).all()


def test_sixty_joints_are_straight_line_code_for_inverse_dynamics():
    rng = np.random.default_rng(60)
    chain = random_chain(rng, 60, types='R' * 60)
    inputs = states_of(chain, 'inverse_dynamics', rng)
    model = compile_model(chain, 'numpy')
    assert_close(model.inverse_dynamics(**inputs)[0],
                 Oracle(chain).inverse_dynamics(*(values[0] for values in inputs.values())),
                 OTHER_IMPLEMENTATION)
    assert model.forms['inverse_dynamics'] == 'straight line'
