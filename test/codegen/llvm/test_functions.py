# SPDX-License-Identifier: Apache-2.0
"""Sine, cosine, tanh and exp in machine code against those of the standard library."""

import ctypes
import math

import numpy as np
import pytest

from robot_dynamics_ros.codegen.llvm.functions import (
    LARGEST_ANGLE,
    exponential,
    hyperbolic_tangent,
    sine_cosine,
)
from robot_dynamics_ros.codegen.llvm.machine import this_machine
from robot_dynamics_ros.codegen.llvm.values import Lanes, Lines

#: Error in units of the last place of the result, or of 1 for sine and cosine.
ULPS = 4 * np.finfo(float).eps


@pytest.fixture(scope='module', params=[1, 2, 4, 8], ids='{} lanes'.format)
def evaluate(request):
    """Return a function: name of a function and arguments -> values in machine code."""
    width = request.param
    functions = {'sin': lambda lanes, x: sine_cosine(lanes, x)[0],
                 'cos': lambda lanes, x: sine_cosine(lanes, x)[1],
                 'tanh': hyperbolic_tangent, 'exp': exponential}
    loaded = {}
    for name, function in functions.items():
        lines = Lines()
        lines.text.append(f'define void @{name}(ptr %x, ptr %y) {{')
        lanes = Lanes(lines, width)
        lines.store(function(lanes, lines.load('%x', 0, lanes.type)), '%y', 0, lanes.type)
        lines.text += ['  ret void', '}']
        machine = this_machine()
        loaded[name] = machine.load(machine.compile('\n'.join(lines.text)), name)

    def evaluated(name, x):
        padded = np.resize(np.asarray(x, dtype=float), -(-len(x) // width) * width)
        y = np.empty_like(padded)
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loaded[name].address)
        for i in range(0, len(padded), width):
            call(padded[i:].ctypes.data, y[i:].ctypes.data)
        return y[:len(x)]

    return evaluated


@pytest.mark.parametrize('largest', [1.0, 10.0, 1e3, LARGEST_ANGLE])
@pytest.mark.parametrize('name', ['sin', 'cos'])
def test_sine_and_cosine_are_exact_to_rounding(evaluate, rng, name, largest):
    x = rng.uniform(-largest, largest, 4000)
    x[:200] = np.round(x[:200] / (np.pi / 2)) * (np.pi / 2)  # where one of them is nearly zero
    expected = [getattr(math, name)(value) for value in x]
    np.testing.assert_allclose(evaluate(name, x), expected, rtol=0.0, atol=ULPS)


def test_sine_is_exact_relative_to_itself_near_zero(evaluate):
    x = np.array([0.0, 1e-300, 1e-12, -1e-5, 1e-2])
    np.testing.assert_allclose(evaluate('sin', x), np.sin(x), rtol=ULPS, atol=0.0)


@pytest.mark.parametrize('largest', [1e-8, 1.0, 30.0, 1e300])
def test_tanh_is_exact_to_rounding(evaluate, rng, largest):
    x = rng.uniform(-largest, largest, 4000)
    expected = [math.tanh(value) for value in x]
    np.testing.assert_allclose(evaluate('tanh', x), expected, rtol=8 * ULPS, atol=0.0)


def test_exp_is_exact_to_rounding_and_limited(evaluate, rng):
    x = rng.uniform(-700.0, 700.0, 4000)
    np.testing.assert_allclose(evaluate('exp', x), np.exp(x), rtol=ULPS, atol=0.0)
    assert 0.0 < evaluate('exp', [-1e300])[0] < 1e-300


@pytest.mark.parametrize('name', ['sin', 'cos', 'tanh', 'exp'])
def test_nan_stays_nan(evaluate, name):
    assert np.isnan(evaluate(name, [math.nan])).all()


@pytest.mark.parametrize('name', ['sin', 'cos'])
def test_an_infinite_angle_has_no_sine(evaluate, name):
    assert np.isnan(evaluate(name, [math.inf, -math.inf])).all()
