# SPDX-License-Identifier: Apache-2.0
"""What a model is: parameters that can be replaced, a backend, and what it says of itself."""

import copy
import itertools
import pickle
import threading
import time

import numpy as np
import pytest
from support.models import BACKENDS, COUNT, call, judged, physics_of, states_of
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import JointPhysics, compile_model
from robot_dynamics_ros.codegen.llvm import machine as machine_code
from robot_dynamics_ros.errors import ParameterError


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
