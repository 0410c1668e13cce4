# SPDX-License-Identifier: Apache-2.0
"""The graph of scalar operations."""

import math

import pytest

from robot_dynamics_ros.codegen.graph import Graph, GraphTooLarge, Node


@pytest.fixture
def graph():
    return Graph()


def same(a, b):
    """Return whether two nodes are the same entry with the same sign."""
    return (a.index, a.sign) == (b.index, b.sign)


def operations(graph):
    """Return the kinds of all operations, inputs and numbers left out."""
    return [entry.kind for entry in graph.entries
            if entry.kind not in ('input', 'parameter', 'number')]


def test_equal_operations_exist_once(graph):
    x, y = graph.inputs('x', 2)
    assert same(x * y + 1.0, 1.0 + y * x)
    assert operations(graph) == ['*', '+']


def test_a_difference_and_its_opposite_are_one_operation(graph):
    x, y = graph.inputs('x', 2)
    assert same(x - y, -(y - x))
    assert same((x - y) * y, -((y - x) * y))
    assert operations(graph) == ['+', '*']


def test_zeros_and_ones_are_folded_to_plain_values(graph):
    x, = graph.inputs('x', 1)
    assert x * 0.0 == 0.0 and isinstance(0.0 * x, float)
    assert x - x == 0.0 and isinstance(x - x, float)
    assert 0.0 / x == 0.0
    for equal in (x * 1.0, 0.0 + x, x / 1.0, -(-1.0 * x), -(0.0 - x)):
        assert same(equal, x)
    assert operations(graph) == []


def test_constant_factors_are_merged(graph):
    x, = graph.inputs('x', 1)
    k, = graph.parameters('k', 1)
    assert same(2.0 * (3.0 * x), 6.0 * x)
    assert same(k * (2.0 * x), (2.0 * k) * x)
    assert same(-0.5 * (2.0 * x), -x)


def test_terms_that_cancel_vanish(graph):
    x, y, z = graph.inputs('x', 3)
    assert same((x + y) - x, y)
    assert same(y - (x + y), -x)
    assert same((x + y) - (z + y), x - z)
    assert same(-(x - y) - y, -x)


def test_a_quotient_by_a_constant_is_a_product(graph):
    x, = graph.inputs('x', 1)
    k, = graph.parameters('k', 1)
    quotient = x / k
    assert graph.entries[quotient.index].kind == '*'
    assert graph.entries[(k / x).index].kind == '/'


def test_what_follows_from_parameters_is_constant(graph):
    x, = graph.inputs('x', 1)
    a, b = graph.parameters('k', 2)
    assert graph.entries[(a * b + 1.0).index].constant
    assert not graph.entries[(a * x).index].constant


def test_functions_know_whether_they_are_odd_or_even(graph):
    x, = graph.inputs('x', 1)
    assert same(graph.sin(-x), -graph.sin(x))
    assert same(graph.cos(-x), graph.cos(x))
    assert same(graph.tanh(-x), -graph.tanh(x))
    assert not same(graph.exp(-x), graph.exp(x))


def test_only_what_the_outputs_need_is_calculated(graph):
    x, y = graph.inputs('x', 2)
    wanted, _ = x + y, x * y
    assert operations(graph) == ['+', '*']
    assert [graph.entries[i].kind for i in graph.needed_for([wanted, 1.0])] == [
        'input', 'input', '+']


def test_a_graph_refuses_to_grow_beyond_its_limit():
    x, y = Graph(largest=3).inputs('x', 2)
    product = x * y
    assert isinstance(product, Node)
    with pytest.raises(GraphTooLarge, match='more than 3'):
        x + y


def test_a_number_keeps_its_value_to_the_last_bit(graph):
    x, = graph.inputs('x', 1)
    entry = graph.entries[(x + math.pi).index]
    assert graph.entries[entry.right].value == math.pi
