# SPDX-License-Identifier: Apache-2.0
"""Every function of a model, in every backend, against the loop form and Pinocchio."""

import copy
import inspect
import itertools
import pickle
import threading
import time

import numpy as np
import pytest
from support.chains import random_chain
from support.oracle import Oracle
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_IMPLEMENTATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros import JointPhysics, chain_from_urdf, compile_model, minimal_parameters
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.codegen.functions import INPUTS, KINEMATIC_INPUTS
from robot_dynamics_ros.codegen.grouping import grouping_of
from robot_dynamics_ros.codegen.llvm import machine as machine_code
from robot_dynamics_ros.codegen.loop_form import loop_form
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm, joint_parameters
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.errors import ParameterError, StateError

BACKENDS = ['python', 'numpy', 'llvm']
WITH_WRENCH = ['inverse_dynamics', 'torque', 'forward_dynamics']
COUNT = 11  # not a multiple of any number of lanes


def physics_of(rng, n, *, coupled=False, stribeck=False, loaded=False, coulomb_velocity=0.01):
    """Return joint physics with every term."""
    values = {name: rng.uniform(0.1, 1.0, n)
              for name in ('rotor_inertia', 'viscous', 'coulomb', 'offset')}
    if stribeck:
        values |= {'static': values['coulomb'] + 0.3, 'stribeck_velocity': np.full(n, 0.4)}
    if loaded:
        values |= {'load_friction': rng.uniform(0.05, 0.3, n),
                   'viscous_asymmetry': 0.5 * values['viscous'] * rng.uniform(-1.0, 1.0, n)}
    if coupled:
        values['coupling'] = np.eye(n) + 0.3 * rng.normal(size=(n, n))
    return JointPhysics(**values, coulomb_velocity=coulomb_velocity)


def chains():
    rng = np.random.default_rng(7)
    result = {name: chain_from_urdf(URDF_FOLDER / f'{name}.urdf')
              for name in ('planar_2r', 'stanford', 'demo_arm')}
    result['random'] = random_chain(rng, 5, types='RPRRP')
    result['coupled'] = random_chain(rng, 3, types='RRR')
    result['one rail'] = random_chain(rng, 1, types='P')
    return {name: chain.with_joint_physics(physics_of(
        rng, len(chain), coupled=name == 'coupled', stribeck=name == 'stanford',
        loaded=name in ('coupled', 'random', 'one rail')))
        for name, chain in result.items()}


CHAINS = chains()


@pytest.fixture(scope='module', params=CHAINS)
def chain(request):
    return CHAINS[request.param]


@pytest.fixture(scope='module')
def models(chain):
    return {backend: compile_model(chain, backend) for backend in BACKENDS}


def judged(chain, name, **arrays):
    """Return the result of the loop form."""
    mlc = minimal_parameters(chain)
    values = {'mlc': mlc.values.tolist(), **joint_parameters(chain.joint_physics)}
    return loop_form(chain, grouping_of(chain, mlc), name, JointForm.of(chain.joint_physics),
                     values, arrays)


def states_of(chain, name, rng, kind='normal', count=COUNT):
    """Return the inputs of a function, each (count, n)."""
    n = len(chain)
    inputs = {key: rng.normal(size=(count, n)) for key in INPUTS[name]}
    if 'q' in inputs:
        largest = 1e3 if kind == 'far' else np.pi
        inputs['q'] = rng.uniform(-largest, largest, (count, n))
    if kind == 'at rest':
        for key in set(inputs) - {'q', 'tau'}:
            inputs[key] = np.zeros((count, n))
    return inputs


def call(model, name, inputs, **options):
    """Call a function of a model by its name in INPUTS."""
    if name == 'regressor_with_joint_terms':
        return model.regressor(**inputs, joint_terms=True, **options)
    return getattr(model, name)(*inputs.values(), **options)


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


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('name', INPUTS)
def test_a_bad_number_spoils_its_own_state_only(chain, models, rng, name, bad):
    good = states_of(chain, name, rng)
    for model in models.values():
        expected = call(model, name, good)
        for key in INPUTS[name]:
            inputs = {name: values.copy() for name, values in good.items()}
            inputs[key][3, 0] = bad  # q1 does not enter the torque of an upright arm
            result = call(model, name, inputs)
            assert np.isnan(result[3]).all(), (model.backend, key)
            np.testing.assert_array_equal(np.delete(result, 3, 0), np.delete(expected, 3, 0))
            one = call(model, name, {name: values[3] for name, values in inputs.items()})
            assert np.isnan(one).all(), (model.backend, key)


@pytest.mark.parametrize('bad', [np.nan, np.inf])
@pytest.mark.parametrize('name', INPUTS)
def test_the_loop_form_spoils_bad_states_only(chain, rng, name, bad):
    good = states_of(chain, name, rng)
    expected = judged(chain, name, **good)
    for key in INPUTS[name]:
        inputs = {name: values.copy() for name, values in good.items()}
        inputs[key][3, 0] = bad
        result = judged(chain, name, **inputs)
        assert np.isnan(result[3]).all(), key
        np.testing.assert_array_equal(np.delete(result, 3, 0), np.delete(expected, 3, 0))
        one = judged(chain, name, **{name: values[3] for name, values in inputs.items()})
        assert one.shape == expected.shape[1:] and np.isnan(one).all(), key


def test_a_bad_parameter_spoils_the_loop_form_where_it_is_used(demo_arm, rng, monkeypatch):
    for limit in ('LONGEST_PROGRAM', 'LONGEST_SOLUTION'):
        monkeypatch.setattr(f'robot_dynamics_ros.codegen.runtime.kernels.{limit}', 1)
    model = compile_model(demo_arm)
    parameters = model.parameters.copy()
    parameters[-1] = np.nan
    model.parameters = parameters
    for name in INPUTS:
        result = call(model, name, states_of(demo_arm, name, rng))
        solved = name.startswith('forward_dynamics_derivatives')  # of derivatives in a loop
        assert model.forms[name] == ('solved' if solved else 'loop')
        if ('regressor' in name or name.startswith(('friction', 'momentum_split'))
                or name in KINEMATIC_INPUTS):
            assert np.isfinite(result).all(), name
        else:
            assert np.isnan(result).all(), name


def test_a_bad_parameter_spoils_derivatives_that_are_solved(demo_arm, rng, monkeypatch):
    monkeypatch.setattr('robot_dynamics_ros.codegen.runtime.kernels.LONGEST_SOLUTION', 1)
    model, name = compile_model(demo_arm), 'forward_dynamics_derivatives'
    parameters = model.parameters.copy()
    parameters[-1] = np.nan
    model.parameters = parameters
    result = call(model, name, states_of(demo_arm, name, rng))
    assert model.forms[name] == 'solved' and np.isnan(result).all()


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_a_bad_wrench_or_parameter_spoils_everything(chain, rng, bad):
    q, qd, qdd = states_of(chain, 'torque', rng).values()
    wrench = np.zeros((COUNT, 6))
    wrench[:, 4] = bad
    for backend in BACKENDS:
        model = compile_model(chain, backend)
        assert np.isnan(model.torque(q, qd, qdd, wrench=wrench)).all()
        parameters = model.parameters.copy()
        parameters[-1] = bad
        model.parameters = parameters
        for result in (model.torque(q, qd, qdd), model.inverse_dynamics(q[0], qd[0], qdd[0]),
                       model.mass_matrix(q[0]), model.forward_dynamics(q, qd, qdd)):
            assert np.isnan(result).all(), backend
        model.parameters = model.mlc.values
        assert np.isfinite(model.torque(q, qd, qdd)).all()


@pytest.mark.parametrize('backend', BACKENDS)
def test_a_joint_that_moves_no_mass_has_no_acceleration(backend):
    chain = chain_from_dh('RR', beta=[0, np.pi / 2], b=[0, 0.3], d=[0, 0], theta=[0, 0])
    model = compile_model(chain, backend)
    zero = np.zeros(2)
    assert not np.isfinite(model.forward_dynamics(zero, zero, np.ones(2))).any()
    np.testing.assert_array_equal(model.torque(zero, zero, np.ones(2)), zero)


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


class TestParameters:
    """Parameters are run-time data."""

    @pytest.mark.parametrize('backend', BACKENDS)
    def test_other_parameters_need_no_other_code(self, demo_arm, rng, backend):
        model = compile_model(demo_arm, backend)
        inputs = states_of(demo_arm, 'torque', rng)
        before = call(model, 'inverse_dynamics', inputs)
        function = model.__dict__.get('inverse_dynamics')
        model.parameters = 2.0 * model.parameters
        assert_close(call(model, 'inverse_dynamics', inputs), 2.0 * before, SAME_ALGEBRA)
        assert model.__dict__.get('inverse_dynamics') is function

    @pytest.mark.parametrize('backend', BACKENDS)
    def test_joint_physics_of_another_form_may_be_assigned(self, demo_arm, rng, backend):
        model = compile_model(demo_arm, backend)
        inputs = states_of(demo_arm, 'torque', rng)
        model.torque(**inputs)
        for form in ({}, {'coupled': True}, {'stribeck': True},
                     {'coupled': True, 'stribeck': True}):
            model.joint_physics = physics_of(rng, 7, **form)
            chain = demo_arm.with_joint_physics(model.joint_physics)
            for name in ('torque', 'forward_dynamics', 'mass_matrix',
                         'regressor_with_joint_terms'):
                inputs = states_of(demo_arm, name, rng)
                assert_close(call(model, name, inputs),
                             judged(chain, name, **inputs), SAME_ALGEBRA)

    def test_parameters_are_copied_and_read_only(self, demo_arm):
        model = compile_model(demo_arm)
        values = model.parameters.copy()
        model.parameters = values
        values[:] = 0.0
        assert model.parameters.any()
        with pytest.raises(ValueError, match='read-only'):
            model.parameters[0] = 1.0

    @pytest.mark.parametrize('wrong', [np.zeros(42), np.zeros((43, 1)), 1.0])
    def test_parameters_of_wrong_size_are_refused(self, demo_arm, wrong):
        with pytest.raises(ParameterError, match=r'expected \(43,\): U1_33'):
            compile_model(demo_arm).parameters = wrong

    def test_physics_of_another_robot_is_refused(self, demo_arm):
        with pytest.raises(ParameterError, match='for 3 joints'):
            compile_model(demo_arm).joint_physics = JointPhysics.zero(3)

    def test_results_belong_to_one_parameter_set_while_they_are_swapped(self, demo_arm, rng):
        model = compile_model(demo_arm, 'llvm')
        one = [values[0] for values in states_of(demo_arm, 'torque', rng).values()]
        many = [np.tile(values, (100, 1)) for values in one]
        sets = [(model.parameters, physics_of(rng, 7)),
                (3.0 * model.parameters, physics_of(rng, 7, stribeck=True))]
        allowed = []
        for each in sets:
            model.swap(*each)
            allowed.append(model.torque(*one))
        stop, bad, calls = threading.Event(), [], [0, 0]

        def use(place):
            out_one, out_many = np.empty(7), np.empty((100, 7))
            while not stop.is_set():
                results = [model.torque(*one, out=out_one), *model.torque(*many, out=out_many)]
                calls[place] += 1
                distances = [np.abs(np.array(results) - right).max(axis=1) for right in allowed]
                bad.extend(np.flatnonzero(np.min(distances, axis=0) > 1e-9))

        threads = [threading.Thread(target=use, args=(place,)) for place in range(2)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 240.0
        for k in itertools.count():
            model.swap(*sets[k % 2])
            if (k > 100 and min(calls) > 20) or time.monotonic() > end:
                break
        stop.set()
        for thread in threads:
            thread.join()
        assert not bad
        assert min(calls) > 20


class TestArrays:
    """What may be passed, and what is refused."""

    @pytest.fixture
    def inputs(self, arm, rng):
        inputs = states_of(arm.chain, 'inverse_dynamics', rng)
        arm.inverse_dynamics(**inputs)
        arm.inverse_dynamics(*(values[0] for values in inputs.values()))
        return inputs

    def test_lists_other_types_and_other_layouts_give_the_same(self, arm, inputs):
        expected = arm.inverse_dynamics(**inputs)
        frozen = [values.copy() for values in inputs.values()]
        for values in frozen:
            values.flags.writeable = False
        for form in (list, np.asfortranarray, lambda x: np.repeat(x, 2, axis=1)[:, ::2],
                     lambda x: x[::-1][::-1], lambda x: x.astype('>f8'),
                     lambda x: np.frombuffer(b'x' + x.tobytes(), offset=1).reshape(x.shape)):
            other = [form(values) for values in inputs.values()]
            np.testing.assert_array_equal(arm.inverse_dynamics(*other), expected)
            np.testing.assert_array_equal(
                arm.inverse_dynamics(*(values[2] for values in other)), expected[2])
        np.testing.assert_array_equal(arm.inverse_dynamics(*frozen), expected)
        integers = np.arange(7)
        np.testing.assert_array_equal(arm.inverse_dynamics(integers, integers, integers),
                                      arm.inverse_dynamics(*[integers.astype(float)] * 3))
        np.testing.assert_array_equal(
            arm.inverse_dynamics(*(values.astype(np.float32) for values in inputs.values())),
            arm.inverse_dynamics(*(values.astype(np.float32).astype(float)
                                   for values in inputs.values())))

    def test_results_go_where_they_are_wanted(self, arm, inputs):
        expected = arm.inverse_dynamics(**inputs)
        for out in (np.empty((COUNT, 7)), np.empty((COUNT, 14))[:, ::2],
                    np.empty((COUNT, 7), order='F')):
            assert arm.inverse_dynamics(**inputs, out=out) is out
            np.testing.assert_array_equal(out, expected)
        one = [values[0] for values in inputs.values()]
        for out in (np.empty(7), np.empty(14)[::2]):
            assert arm.inverse_dynamics(*one, out=out) is out
            np.testing.assert_array_equal(out, expected[0])

    def test_a_result_may_replace_an_input(self, arm, inputs):
        expected = arm.inverse_dynamics(**inputs)
        q, qd, qdd = (values.copy() for values in inputs.values())
        np.testing.assert_array_equal(arm.inverse_dynamics(q, qd, qdd, out=qdd), expected)
        q, qd, qdd = (values[0].copy() for values in inputs.values())
        np.testing.assert_array_equal(arm.inverse_dynamics(q, qd, qdd, out=q), expected[0])

    @pytest.mark.parametrize('out', [
        np.empty(6), np.empty((1, 7)), np.empty(7, dtype=np.float32), [0.0] * 7])
    def test_a_wrong_out_is_refused(self, arm, out):
        with pytest.raises(StateError, match=r'float64 array of shape \(7,\)'):
            arm.gravity_torque(np.zeros(7), out=out)

    def test_a_read_only_out_is_refused(self, arm):
        out = np.empty(7)
        out.flags.writeable = False
        for _ in range(2):
            with pytest.raises(StateError, match='read-only'):
                arm.gravity_torque(np.zeros(7), out=out)

    @pytest.mark.parametrize(('shapes', 'message'), [
        ([(6,), (7,), (7,)], r'q has shape \(6,\), expected \(7,\)'),
        ([(7,), (8,), (7,)], r'qd has shape \(8,\)'),
        ([(7,), (7,), (3, 7)], 'one state or N states'),
        ([(3, 7), (3, 7), (2, 7)], 'one state or N states'),
        ([(7, 3), (7, 3), (7, 3)], r'expected \(7,\) or \(N, 7\)'),
        ([(1, 3, 7), (1, 3, 7), (1, 3, 7)], 'expected'),
        ([(), (), ()], 'expected')])
    def test_wrong_shapes_are_refused(self, arm, shapes, message):
        for model in (arm, compile_model(arm.chain, 'python')):
            for _ in range(2):
                with pytest.raises(StateError, match=message):
                    model.inverse_dynamics(*(np.zeros(shape) for shape in shapes))

    @pytest.mark.parametrize('shape', [(5,), (COUNT, 7), (6,)])
    def test_a_wrench_of_wrong_shape_is_refused(self, arm, inputs, shape):
        with pytest.raises(StateError, match='wrench has shape'):
            arm.inverse_dynamics(**inputs, wrench=np.zeros(shape))

    @pytest.mark.parametrize('values', [['a'] * 7, [1j] * 7, [None] * 7, [[1.0], [2.0, 3.0]]])
    def test_what_is_not_a_number_is_refused(self, arm, values):
        with pytest.raises(StateError, match='q must be an array of real numbers'):
            arm.gravity_torque(values)

    def test_wrong_arguments_are_refused_as_in_any_function(self, arm, inputs):
        one = [values[0] for values in inputs.values()]
        for wrong in (one[:2], [*one, one[0]]):
            with pytest.raises(TypeError, match='positional argument'):
                arm.inverse_dynamics(*wrong)
        with pytest.raises(TypeError, match='unexpected keyword'):
            arm.inverse_dynamics(*one, speed=np.empty(7))

    def test_a_compiled_function_can_still_be_inspected(self, arm, inputs):
        assert list(inspect.signature(arm.inverse_dynamics).parameters) == [
            'q', 'qd', 'qdd', 'wrench', 'out', 'threads']


def test_an_unknown_backend_is_refused(demo_arm):
    with pytest.raises(ParameterError, match='known are auto, python, numpy, llvm'):
        compile_model(demo_arm, 'fortran')


def test_the_former_name_of_a_backend_still_works(demo_arm):
    assert compile_model(demo_arm, 'numba').backend == 'llvm'


@pytest.mark.parametrize('backend', BACKENDS)
class TestAttributes:
    """What a model says of itself, and what it lets be assigned."""

    @pytest.mark.parametrize(('name', 'word'), [
        ('gravity', 'unknown'), ('paramters', 'unknown'), ('chain', 'read-only'),
        ('mass_matrix', 'read-only'), ('backend', 'read-only')])
    def test_nothing_is_swallowed(self, demo_arm, backend, name, word):
        model = compile_model(demo_arm, backend)
        with pytest.raises(AttributeError,
                           match=f"'{name}' of a Model is {word}; parameters and joint_physics"):
            setattr(model, name, 1.0)
        assert 'gravity' not in vars(model)

    def test_it_tells_its_robot(self, demo_arm, backend):
        text = repr(compile_model(demo_arm, backend))
        for part in ('demo_arm', '7 joints', demo_arm.base, demo_arm.tip, '43', backend):
            assert part in text
        assert len(text) < 200


@pytest.fixture
def fresh_compiler():
    """Let the next model ask for a compiler again, and so the model after the test."""
    machine_code.why_not.cache_clear()
    machine_code.this_machine.cache_clear()
    yield
    machine_code.why_not.cache_clear()
    machine_code.this_machine.cache_clear()


def missing(name):
    return None


def too_old(machine, source):
    raise RuntimeError('expected type')


@pytest.mark.parametrize(('place', 'broken', 'message'), [
    ('robot_dynamics_ros.codegen.llvm.machine.find_spec', missing, 'pip install llvmlite'),
    ('robot_dynamics_ros.codegen.llvm.machine.Machine.compile', too_old, 'upgrade llvmlite')])
def test_without_a_compiler_everything_runs_on_numpy(demo_arm, fresh_compiler, monkeypatch, rng,
                                                     place, broken, message):
    monkeypatch.setattr(place, broken)
    model = compile_model(demo_arm)
    assert model.backend == 'numpy'
    inputs = states_of(demo_arm, 'torque', rng)
    assert_close(model.torque(**inputs), compile_model(demo_arm, 'python').torque(**inputs),
                 SAME_ALGEBRA)
    with pytest.raises(ParameterError, match=message):
        compile_model(demo_arm, 'llvm')


@pytest.mark.parametrize('duplicate', [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_model_can_be_copied_with_its_parameters(demo_arm, rng, duplicate):
    model = compile_model(demo_arm)
    model.swap(1.5 * model.parameters, physics_of(rng, 7))
    inputs = states_of(demo_arm, 'torque', rng)
    expected = model.torque(**inputs)
    other = duplicate(model)
    model.parameters = 0.0 * model.parameters
    np.testing.assert_array_equal(other.torque(**inputs), expected)


def test_columns_name_the_whole_regressor(arm, rng):
    inputs = states_of(arm.chain, 'regressor', rng)
    assert arm.regressor(**inputs).shape == (COUNT, 7, len(arm.mlc))
    assert arm.regressor(**inputs, joint_terms=True).shape == (COUNT, 7, len(arm.columns))
    assert arm.columns[-1] == 'offset7'


def test_operations_are_told_for_every_function(arm):
    assert arm.operations['inverse_dynamics'] == (293, 277)
    assert arm.operations['inverse_dynamics_with_rotor_and_wrench'] > arm.operations[
        'inverse_dynamics']
    assert all(mult >= 0 and add >= 0 for mult, add in arm.operations.values())
    with pytest.raises(KeyError):
        arm.operations['everything']


def test_results_too_large_for_the_cache_are_the_same_wherever_they_begin(arm, rng):
    inputs = states_of(arm.chain, 'regressor', rng, count=2000)  # 4.8 MB
    expected = np.concatenate([arm.regressor(*(values[i:i + 500] for values in inputs.values()))
                               for i in range(0, 2000, 500)])
    place = np.full(expected.size + 16, 7.0)
    for start in range(8):
        out = place[start:start + expected.size].reshape(expected.shape)
        assert arm.regressor(**inputs, out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert (place[:start] == 7.0).all() and (place[start + expected.size:] == 7.0).all()
        place[:] = 7.0


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
