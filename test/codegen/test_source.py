# SPDX-License-Identifier: Apache-2.0
"""Programs as Python source."""

import math

import numpy as np
import pytest
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.codegen.graph import Graph
from robot_dynamics_ros.codegen.printers.python import body_source, compiled, prologue_source
from robot_dynamics_ros.codegen.program import Argument, Program


def program_of(outputs, graph, widths=(2,), parameters=()):
    return Program('f', tuple(Argument('xyz'[i], width) for i, width in enumerate(widths)),
                   tuple(parameters), tuple(outputs), (len(outputs),), graph)


def test_the_source_can_be_read():
    graph = Graph()
    x, y = graph.inputs('x', 2)
    program = program_of([graph.sin(x) * y - 0.5, 1.0], graph)
    assert body_source(program) == ('def f(x):\n'
                                    '    (x0, x1,) = x\n'
                                    '    return [x1*sin(x0) - 0.5, 1.0,]\n')


def test_operations_on_parameters_are_in_the_prologue():
    graph = Graph()
    x, y = graph.inputs('x', 2)
    a, b = graph.parameters('p', 2)
    program = program_of([(a - b) * x + y * (2.0 * a), -a * b], graph,
                         parameters=[Argument('p', 2)])
    k = compiled(prologue_source(program), 'f_constants', math)([3.0, 5.0])
    assert sorted(k) == [-2.0, 6.0, 15.0]
    assert program.operations == (2, 1)
    assert compiled(body_source(program), 'f', math)([10.0, 100.0], k) == [580.0, -15.0]


def random_expression(graph, rng):
    """Return outputs of random operations, and the same calculated on floats."""
    values = rng.uniform(0.5, 2.0, 3)
    nodes, floats = [*graph.inputs('x', 3), 2.0, 0.0, -1.0], [*values, 2.0, 0.0, -1.0]
    for _ in range(60):
        i, j = rng.integers(len(nodes), size=2)
        operation = rng.integers(5)
        a, b, u, v = nodes[i], nodes[j], floats[i], floats[j]
        if operation == 0:
            nodes.append(a + b), floats.append(u + v)
        elif operation == 1:
            nodes.append(a - b), floats.append(u - v)
        elif operation == 2:
            nodes.append(a * b), floats.append(u * v)
        elif operation == 3 and abs(v) > 0.1:
            nodes.append(a / b), floats.append(u / v)
        elif operation == 4:
            nodes.append(graph.tanh(a)), floats.append(math.tanh(u))
        if abs(floats[-1]) > 1e3:
            del nodes[-1], floats[-1]
    return nodes, floats, values


@pytest.mark.parametrize('seed', range(20))
def test_generated_source_calculates_what_the_equation_does(seed):
    graph = Graph()
    nodes, floats, values = random_expression(graph, np.random.default_rng(seed))
    function = compiled(body_source(program_of(nodes, graph, widths=(3,))), 'f', math)
    assert_close(function(values), floats, 1e-9)


def test_the_same_source_runs_on_rows():
    graph = Graph()
    x, y = graph.inputs('x', 2)
    source = body_source(program_of([graph.cos(x) * y, x / y], graph))
    rows = np.random.default_rng(2).uniform(1.0, 2.0, (2, 5))
    by_rows = np.array(compiled(source, 'f', np)(rows))
    by_floats = np.array([compiled(source, 'f', math)(column) for column in rows.T]).T
    assert_close(by_rows, by_floats, SAME_ALGEBRA)
