# SPDX-License-Identifier: Apache-2.0
"""Calls of compiled kernels: the C extension, and numba in its place."""

import gc
import weakref

import numpy as np
import pytest
from support.chains import random_states
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.codegen.runtime import entry
from robot_dynamics_ros.errors import StateError

needs_c = pytest.mark.skipif(entry.C_ENTRY is None, reason='the C entry point was not built')


@pytest.fixture(params=[pytest.param('C', marks=needs_c), 'numba'])
def model(request, demo_arm, monkeypatch):
    if request.param == 'numba':
        monkeypatch.setattr(entry, 'C_ENTRY', None)
    return compile_model(demo_arm, 'numba')


def test_both_ways_calculate_the_same(model, rng):
    expected = compile_model(model.chain, 'python')
    for count in (None, 0, 3, 50):
        q, qd, qdd = random_states(rng, 7, count)
        wrench = rng.normal(size=(*q.shape[:-1], 6))
        for name, arguments in (('torque', (q, qd, qdd)), ('mass_matrix', (q,)),
                                ('regressor', (q, qd, qdd)), ('friction_torque', (qd,)),
                                ('reference_regressor', (q, qd, qdd, qd))):
            for _ in range(2):
                assert_close(getattr(model, name)(*arguments), getattr(expected, name)(*arguments),
                             SAME_ALGEBRA, name)
        for _ in range(2):
            assert_close(model.torque(q, qd, qdd, wrench=wrench),
                         expected.torque(q, qd, qdd, wrench=wrench), SAME_ALGEBRA)


def test_results_are_written_to_out_by_both_ways(model, rng):
    for count in (None, 4, 30):
        q, qd, qdd = random_states(rng, 7, count)
        expected = model.torque(q, qd, qdd)
        out = np.full(q.shape, np.nan)
        assert model.torque(q, qd, qdd, out=out) is out
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(model.torque(q, qd, qdd.copy(), out=qdd), expected)


def test_the_quick_way_refuses_what_the_slow_one_does(model, rng):
    q, qd, qdd = random_states(rng, 7)
    out = np.empty(7)
    model.torque(q, qd, qdd, out=out)
    for wrong in ((q[:6], qd, qdd), (q, qd[:6], qdd), (q, qd, np.zeros(14)),
                  (q, qd, np.zeros((1, 7)))):
        with pytest.raises(StateError, match='has shape'):
            model.torque(*wrong, out=out)
    with pytest.raises(StateError, match='out must be'):
        model.torque(q, qd, qdd, out=np.empty(8))
    frozen = q.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(model.torque(frozen, qd, qdd, out=np.empty(7)), out)


def test_new_parameters_hold_from_the_next_call_on(model, rng):
    q, qd, qdd = random_states(rng, 7)
    out = np.empty(7)
    before = model.inverse_dynamics(q, qd, qdd, out=out).copy()
    for factor in (2.0, 0.5, -3.0):
        model.parameters = factor * model.mlc.values
        assert_close(model.inverse_dynamics(q, qd, qdd, out=out), factor * before, SAME_ALGEBRA)


def test_models_are_freed(demo_arm):
    model = compile_model(demo_arm, 'numba')
    zero = np.zeros(7)
    model.torque(zero, zero, zero)
    gone = weakref.ref(model)
    function = model.torque
    del model
    np.testing.assert_array_equal(function(zero, zero, zero), function(zero, zero, zero))
    del function
    gc.collect()
    assert gone() is None


@needs_c
class TestFunction:
    """The C extension alone, without a kernel."""

    def function(self, **options):
        settings = {'fallback': lambda *args, **others: ('fallback', len(args), sorted(others)),
                    'constants': [{}], 'inputs': 1, 'joints': 2, 'shape': (2,), 'lanes': 8}
        return entry.C_ENTRY.Function(**settings | options)

    def test_without_kernels_the_fallback_is_called(self):
        function = self.function()
        assert function(np.zeros(2)) == ('fallback', 1, [])
        assert function() == ('fallback', 0, [])
        assert function(1, 2, 3, out=None, other=4) == ('fallback', 3, ['other', 'out'])
        assert function.attempt(np.zeros(2)) is None

    def test_an_error_of_the_fallback_is_passed_on(self):
        def fail(*_):
            raise KeyError('why')

        with pytest.raises(KeyError, match='why'):
            self.function(fallback=fail)(1)

    @pytest.mark.parametrize('wrong', [
        {'constants': []}, {'constants': [1]}, {'inputs': 0}, {'inputs': 5}, {'shape': ()},
        {'shape': (1, 2, 3)}, {'shape': (-1,)}, {'lanes': 0}, {'joints': 0}])
    def test_wrong_settings_are_refused(self, wrong):
        with pytest.raises(ValueError, match=r'list of one dict|negative'):
            self.function(**wrong)

    def test_a_kernel_without_constants_is_not_run(self):
        function = self.function()
        function.bind(False, False, 'key', 1, None)  # calling this address would crash
        assert function(np.zeros(2)) == ('fallback', 1, [])

    def test_attempt_takes_no_other_keyword(self):
        with pytest.raises(TypeError, match='inputs, wrench and out'):
            self.function().attempt(np.zeros(2), speed=1)

    def test_an_object_that_was_not_set_up_does_nothing(self):
        function = entry.C_ENTRY.Function.__new__(entry.C_ENTRY.Function)
        assert function.attempt(np.zeros(2)) is None
        with pytest.raises(TypeError):
            function(np.zeros(2))
