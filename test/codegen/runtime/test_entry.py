# SPDX-License-Identifier: Apache-2.0
"""Calls of compiled kernels: the C extension, and what takes its place."""

import gc
import sys
import weakref
from contextlib import contextmanager

import numpy as np
import pytest
from support.chains import random_states
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.codegen.llvm.machine import loaded_function
from robot_dynamics_ros.codegen.runtime import builtin, entry
from robot_dynamics_ros.errors import StateError

needs_c = pytest.mark.skipif(entry.C_ENTRY is None, reason='the C entry point was not built')


WAYS = [pytest.param('C', marks=needs_c), 'builtin', 'ctypes']


def take(way, monkeypatch):
    if way != 'C':
        monkeypatch.setattr(entry, 'C_ENTRY', None)
    if way == 'ctypes':
        monkeypatch.setattr(builtin, '_usual_objects', lambda: False)


@pytest.fixture(params=WAYS)
def model(request, demo_arm, monkeypatch):
    take(request.param, monkeypatch)
    return compile_model(demo_arm, 'llvm')


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


def test_after_its_first_use_a_function_goes_straight_to_machine_code(model, rng):
    for arrays in (random_states(rng, 7), random_states(rng, 7, 30)):
        expected = model.torque(*arrays)
        for _ in range(2):
            call = model._snapshot.calls['torque']
            np.testing.assert_array_equal(call.attempt(*arrays), expected)
            model.parameters = model.parameters


@contextmanager
def untraced():
    """Follow no function: the tracer of coverage keeps references to None for each of them."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def kept(function, counted):
    """Return how many references to each of `counted` 1000 calls of a function leave behind."""
    with untraced():
        before = [sys.getrefcount(each) for each in counted]
        for _ in range(1000):
            function()
        after = [sys.getrefcount(each) for each in counted]
    return np.subtract(after, before)


def test_no_reference_is_kept_or_lost(model):
    zero, out = np.zeros(7), np.empty(7)
    counted = [zero, out, None, np.ndarray, model.torque]
    if entry.C_ENTRY is not None:  # elsewhere np.empty itself keeps one per call
        counted.append(out.dtype)

    def call():
        model.torque(zero, zero, zero, out=out)
        model.torque(zero, zero, zero.tolist(), out=out)  # declined
        model.torque(zero, zero, zero)

    call()
    assert np.abs(kept(call, counted)).max() < 100


def test_references_that_are_kept_or_lost_are_counted():
    thing, store = object(), []
    assert kept(lambda: store.append(thing), [thing, store]).tolist() == [1000, 0]
    assert kept(store.pop, [thing]).tolist() == [-1000]
    assert kept(lambda: None, [thing]).tolist() == [0]


def test_a_kernel_becomes_a_builtin_function():
    kernel = loaded_function('define i32 @k(ptr %a, ptr %b, ptr %c, ptr %d, ptr %k, ptr %out) {\n'
                             '%x = load double, ptr %b\n%y = load double, ptr %k\n'
                             '%z = fmul double %x, %y\nstore double %z, ptr %out\n'
                             'ret i32 0\n}', 'k')
    function, _ = builtin.builtin_of(kernel.address, np.array([3.0]), (2, 1), (1, 1))
    out = np.zeros((1, 1))
    assert function(np.zeros(2), np.array([7.0]), out) is out
    np.testing.assert_array_equal(out, [[21.0]])
    assert function(np.zeros(2), np.array([7.0]), np.zeros(1)) is None
    assert function(np.zeros(2), np.array([7.0]), out, out) is None


def test_models_are_freed(demo_arm):
    model = compile_model(demo_arm, 'llvm')
    zero = np.zeros(7)
    model.torque(zero, zero, zero)
    gone = weakref.ref(model)
    function = model.torque
    del model
    np.testing.assert_array_equal(function(zero, zero, zero), function(zero, zero, zero))
    del function
    gc.collect()
    assert gone() is None


def fallback(*args, **others):
    return 'fallback', len(args), sorted(others)


@pytest.mark.parametrize('way', WAYS)
class TestAlone:
    """Functions and calls without a kernel."""

    @pytest.fixture(autouse=True)
    def chosen(self, way, monkeypatch):
        take(way, monkeypatch)

    def call(self, **options):
        settings = {'single': 0, 'batch': 0, 'owner': None, 'constants': np.zeros(1),
                    'widths': (2,), 'shape': (2,), 'lanes': 8}
        return entry.new_call(**settings | options)

    def test_without_calls_the_fallback_is_called(self):
        function = entry.new_function(fallback, [{}], 'f')
        assert function(np.zeros(2), out=None)[:2] == ('fallback', 1)
        assert function(out=None)[:2] == ('fallback', 0)
        assert function(1, 2, 3, out=None, other=4) == ('fallback', 3, ['other', 'out'])
        assert function(1, out=None, wrench=2) == ('fallback', 1, ['out', 'wrench'])

    def test_a_call_without_kernels_declines(self):
        call = self.call()
        for inputs in ([np.zeros(2)], [np.zeros((3, 2))], [np.zeros((9, 2))], [], [[1.0, 2.0]],
                       [np.zeros(2), np.zeros(2)], [np.zeros((1, 1, 2))], [np.zeros(())]):
            assert call.attempt(*inputs) is None
        function = entry.new_function(fallback, [{'f': call}], 'f')
        assert function(np.zeros(2), out=None)[0] == 'fallback'
        assert function(*np.zeros((7, 2)), out=None)[0] == 'fallback'

    def test_no_reference_is_kept_or_lost_where_a_call_declines(self):
        call, array, wrong = self.call(), np.zeros(2), [0.0, 0.0]
        calls = [{'f': call}]
        function = entry.new_function(fallback, calls, 'f')

        def both():
            function(array)
            function(wrong, out=array)

        assert np.abs(kept(both, [call, calls, fallback, array, wrong])).max() < 100

    def test_a_kernel_is_not_run_on_other_arrays(self):
        call = self.call(single=1, batch=1)  # calling these addresses would crash
        function = entry.new_function(fallback, [{'f': call}], 'f')
        for arguments in ((), (np.zeros(2), np.zeros(2)), (None,), (np.zeros(()),),
                          (np.float64(1.0),)):
            assert function(*arguments)[0] == 'fallback'
        for array in (np.zeros(3), np.zeros(2, np.float32), np.zeros(2, '>f8'), [0.0, 0.0],
                      np.zeros((9, 3)), np.zeros((9, 2), order='F'), np.ma.zeros(2)):
            assert call.attempt(array) is None
            assert function(array)[0] == 'fallback'
        read_only = np.zeros(2)
        read_only.flags.writeable = False
        for out in (np.zeros(3), np.zeros((1, 2)), np.zeros(4)[::2], read_only, [0.0, 0.0]):
            assert call.attempt(np.zeros(2), out=out) is None
            assert function(np.zeros(2), out=out)[0] == 'fallback'
        many = np.zeros((9, 2))
        assert call.attempt(many, out=many) is None

    def test_an_error_of_the_fallback_is_passed_on(self):
        def fail(*_, **__):
            raise KeyError('why')

        with pytest.raises(KeyError, match='why'):
            entry.new_function(fail, [{}], 'f')(1)

    def test_attempt_takes_no_other_keyword(self):
        with pytest.raises(TypeError):
            self.call().attempt(np.zeros(2), speed=1)


@needs_c
class TestExtension:
    """What the C extension refuses so that it cannot crash."""

    @pytest.mark.parametrize('wrong', [
        {'widths': ()}, {'widths': (1,) * 5}, {'shape': (1, 2, 3, 4)},
        {'shape': (-1,)}, {'widths': (-1,)}, {'lanes': 0}, {'constants': np.zeros(4)[::2]},
        {'constants': np.zeros(2, np.float32)}])
    def test_wrong_settings_of_a_call(self, wrong):
        settings = {'single': 0, 'batch': 0, 'owner': None, 'constants': np.zeros(1),
                    'widths': (2,), 'shape': (2,), 'lanes': 8}
        with pytest.raises(ValueError, match=r'inputs; a shape|negative|contiguous float64'):
            entry.C_ENTRY.Call(**settings | wrong)

    @pytest.mark.parametrize('calls', [[], [1], [{}, {}]])
    def test_calls_that_are_no_list_of_one_dict(self, calls):
        with pytest.raises(ValueError, match='list of one dict'):
            entry.C_ENTRY.Function(fallback, calls, 'f', 'g')

    def test_a_call_that_is_none(self):
        function = entry.C_ENTRY.Function(fallback, [{'f': 'no call'}], 'f', 'g')
        assert function(np.zeros(2)) == ('fallback', 1, [])

    def test_a_function_that_was_not_set_up(self):
        function = entry.C_ENTRY.Function.__new__(entry.C_ENTRY.Function)
        with pytest.raises(TypeError):
            function(np.zeros(2))


def test_an_extension_of_another_version_counts_as_none(monkeypatch):
    monkeypatch.setattr(entry, 'import_module', lambda name: object())
    assert entry._built_extension() is None
