# SPDX-License-Identifier: Apache-2.0
"""Arrays that go into a model and come out of it."""

import inspect

import numpy as np
import pytest
from support.models import COUNT, states_of

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.errors import StateError


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
