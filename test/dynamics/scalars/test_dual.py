# SPDX-License-Identifier: Apache-2.0
"""Dual numbers: the rules of differentiation."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.codegen.graph import ELEMENTARY, Graph
from robot_dynamics_ros.dynamics.scalars.dual import (
    Dual,
    DualFunctions,
    derivatives,
    variables,
)

#: f(x, y) and its gradient, as a table of derivatives has them.
RULES = {
    'sum': (lambda x, y, f: x + y - 2.0, lambda x, y: (1.0, 1.0)),
    'difference': (lambda x, y, f: 3.0 - x - (y - 1.0), lambda x, y: (-1.0, -1.0)),
    'minus': (lambda x, y, f: -x, lambda x, y: (-1.0, 0.0)),
    'product': (lambda x, y, f: 2.0 * x * y * x, lambda x, y: (4.0 * x * y, 2.0 * x * x)),
    'quotient': (lambda x, y, f: x / y, lambda x, y: (1.0 / y, -x / y**2)),
    'inverse': (lambda x, y, f: 5.0 / y / 2.0, lambda x, y: (0.0, -2.5 / y**2)),
    'sin': (lambda x, y, f: f.sin(x * y), lambda x, y: (y * math.cos(x * y), x * math.cos(x * y))),
    'cos': (lambda x, y, f: f.cos(x) * f.cos(0.5),
            lambda x, y: (-math.sin(x) * math.cos(0.5), 0.0)),
    'tanh': (lambda x, y, f: f.tanh(x) + f.tanh(0.5), lambda x, y: (1.0 / math.cosh(x)**2, 0.0)),
    'exp': (lambda x, y, f: f.exp(x * x) + f.exp(1.0),
            lambda x, y: (2.0 * x * math.exp(x * x), 0.0)),
    'fabs': (lambda x, y, f: f.fabs(x) + f.fabs(y) * 2.0 + f.fabs(-1.0),
             lambda x, y: (math.copysign(1.0, x), math.copysign(2.0, y))),
    'nothing': (lambda x, y, f: 0.0 * x + y * 0.0, lambda x, y: (0.0, 0.0)),
}


@pytest.mark.parametrize('rule', RULES)
def test_every_rule_is_that_of_the_table(rule):
    function, gradient = RULES[rule]
    x, y = 0.7, -1.3
    result = function(*variables([x, y]), DualFunctions(math))
    assert_close(result.value, function(x, y, math), SAME_ALGEBRA)
    assert_close(derivatives([result], 0, 2)[0], gradient(x, y), SAME_ALGEBRA)


@pytest.mark.parametrize('rule', RULES)
def test_rows_of_numbers_are_differentiated_one_by_one(rule):
    function, gradient = RULES[rule]
    x, y = np.array([0.7, 0.2, -2.0]), np.array([-1.3, 0.4, 1.1])
    found = derivatives([function(*variables([x, y]), DualFunctions(np))], 0, 2)[0]
    expected = np.array([gradient(*state) for state in zip(x, y)]).T
    assert_close(np.array([np.broadcast_to(value, 3) for value in found]), expected, SAME_ALGEBRA)


def test_the_absolute_value_of_zero_has_the_derivative_zero():
    assert derivatives([DualFunctions(math).fabs(variables([0.0])[0])], 0, 1) == [[0.0]]


def test_a_row_leaves_the_calculation_to_the_dual_number():
    x, = variables([np.ones(3)])
    for result in (np.ones(3) + x, np.ones(3) * x, np.ones(3) - x, np.ones(3) / x):
        assert isinstance(result, Dual)


def test_nodes_of_a_graph_leave_it_to_the_dual_number_too():
    graph = Graph()
    a, b = graph.inputs('q', 2)
    x, = variables([a])
    for result in (b + x, b * x, b - x, b / x):
        assert isinstance(result, Dual)
    assert not isinstance(derivatives([b * x], 0, 1)[0][0], float)
    assert derivatives([b + x], 0, 1) == [[1.0]]


def test_something_else_is_refused_by_nodes_and_dual_numbers():
    node = Graph().inputs('q', 1)[0]
    for scalar in (node, Dual(1.0, {})):
        with pytest.raises(TypeError):
            scalar + SimpleNamespace()


def test_values_that_depend_on_nothing_have_no_derivatives():
    assert derivatives([3.0, Dual(1.0, {1: 2.0})], 0, 2) == [[0.0, 0.0], [0.0, 2.0]]


def test_every_elementary_function_of_programs_has_a_derivative():
    assert all(hasattr(DualFunctions, name) for name in ELEMENTARY)
