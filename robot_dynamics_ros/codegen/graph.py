# SPDX-License-Identifier: Apache-2.0
"""
A small graph of scalar operations, built by running an equation on its nodes.

A node behaves like a float in + - * /. Equal operations exist once, numbers are folded as soon
as they meet, and a result that is a number is a plain float again, so that an equation run on
nodes takes the same short cuts as one run on floats. A sign belongs to the reference and not to
the operation: a - b and b - a are one entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

#: Kinds of entries; the name of a function of one argument is a kind as well.
INPUT, PARAMETER, NUMBER = 'input', 'parameter', 'number'
ADD, MULTIPLY, DIVIDE = '+', '*', '/'
#: Elementary functions, of one scalar, that every printer knows.
ELEMENTARY = ('sin', 'cos', 'tanh', 'exp', 'fabs')

#: What equations on nodes give: a node, or a number where everything was known.
Value: TypeAlias = 'Node | float'


class Entry(NamedTuple):
    """
    One operation.

    :param kind: INPUT, PARAMETER, NUMBER, ADD, MULTIPLY, DIVIDE or one of ELEMENTARY.
    :param left: index of the first operand; -1 = none.
    :param right: index of the second operand; -1 = none.
    :param sign: +1 or -1, of the second operand of a sum and of the argument of a function.
    :param name: name of an input or parameter, for example ``q``.
    :param value: place of an input or parameter in the vector `name`; value of a number.
    :param constant: depends on numbers and parameters only.
    """

    kind: str
    left: int = -1
    right: int = -1
    sign: int = 1
    name: str = ''
    value: float = 0.0
    constant: bool = False

    @property
    def operands(self) -> tuple[int, ...]:
        """Indices of the operands."""
        return tuple(index for index in (self.left, self.right) if index >= 0)


class Node:
    """A reference to an entry of a graph, with a sign; calculates like a float."""

    __slots__ = ('graph', 'index', 'sign')

    def __init__(self, graph: Graph, index: int, sign: int = 1) -> None:
        self.graph = graph
        self.index = index
        self.sign = sign

    def __neg__(self) -> Node:
        """Return -self; costs nothing."""
        return Node(self.graph, self.index, -self.sign)

    def __add__(self, other: Value) -> Value:
        """Return self + other."""
        return self.graph.add(self, other) if _known(other) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Value) -> Value:
        """Return self - other."""
        return self.graph.add(self, -other) if _known(other) else NotImplemented

    def __rsub__(self, other: Value) -> Value:
        """Return other - self."""
        return self.graph.add(-self, other)

    def __mul__(self, other: Value) -> Value:
        """Return self * other."""
        return self.graph.multiply(self, other) if _known(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Value) -> Value:
        """Return self / other."""
        return self.graph.divide(self, other) if _known(other) else NotImplemented

    def __rtruediv__(self, other: Value) -> Value:
        """Return other / self."""
        return self.graph.divide(other, self)


def _known(operand: object) -> bool:
    """Return whether nodes calculate with this; a dual number calculates with nodes itself."""
    return isinstance(operand, (Node, float, int))


class GraphTooLarge(Exception):
    """A graph has more entries than it may have."""


class Graph:
    """
    Operations in the order in which they were first needed, each once.

    :param largest: number of entries from which on GraphTooLarge is raised; None = no limit.
    """

    def __init__(self, largest: int | None = None) -> None:
        """Start with nothing."""
        self.entries: list[Entry] = []
        self._largest = largest
        self._index: dict[Entry, int] = {}

    def inputs(self, name: str, count: int) -> list[Node]:
        """Return `count` variables that come with every call, for example the n velocities."""
        return [self._node(Entry(INPUT, name=name, value=i)) for i in range(count)]

    def parameters(self, name: str, count: int) -> list[Node]:
        """Return values that change seldom: what follows from such values alone is free."""
        return [self._node(Entry(PARAMETER, name=name, value=i, constant=True))
                for i in range(count)]

    def sin(self, argument: Value) -> Value:
        """Return the sine."""
        return self._function('sin', argument, odd=True)

    def cos(self, argument: Value) -> Value:
        """Return the cosine."""
        return self._function('cos', argument, even=True)

    def tanh(self, argument: Value) -> Value:
        """Return the hyperbolic tangent."""
        return self._function('tanh', argument, odd=True)

    def exp(self, argument: Value) -> Value:
        """Return the exponential function."""
        return self._function('exp', argument)

    def fabs(self, argument: Value) -> Value:
        """Return the absolute value."""
        return self._function('fabs', argument, even=True)

    def _function(self, kind: str, argument: Value, *, odd: bool = False,
                  even: bool = False) -> Value:
        if not isinstance(argument, Node):
            return float(getattr(math, kind)(argument))
        entry = Entry(kind, argument.index, sign=1 if odd or even else argument.sign,
                      constant=self.entries[argument.index].constant)
        return self._node(entry, argument.sign if odd else 1)

    def add(self, a: Node, b: Value) -> Value:
        """Return a + b."""
        if not isinstance(b, Node):
            if b == 0.0:
                return a
            b = self._as_node(b)
        if a.index > b.index:
            a, b = b, a
        left, right = self.entries[a.index], self.entries[b.index]
        if left.kind == ADD or right.kind == ADD or a.index == b.index:
            cancelled = self._cancelled(a, b)
            if cancelled is not None:
                return cancelled
        # the first operand of a sum is positive; the sign of the whole is the reference's
        return self._node(Entry(ADD, a.index, b.index, a.sign * b.sign,
                                constant=left.constant and right.constant), a.sign)

    def multiply(self, a: Node, b: Value) -> Value:
        """Return a * b."""
        if not isinstance(b, Node):
            if b == 0.0:
                return 0.0
            if b in (1.0, -1.0):
                return a if b == 1.0 else -a
            b = self._as_node(b)
        sign = a.sign * b.sign
        if a.index > b.index:
            a, b = b, a
        left, right = self.entries[a.index], self.entries[b.index]
        merged = None
        if left.constant and right.kind == MULTIPLY and not right.constant:
            merged = self._merged_factor(a.index, right)
        elif right.constant and left.kind == MULTIPLY and not left.constant:
            merged = self._merged_factor(b.index, left)
        if merged is not None:
            return merged if sign > 0 else -merged
        return self._node(Entry(MULTIPLY, a.index, b.index,
                                constant=left.constant and right.constant), sign)

    def divide(self, a: Value, b: Value) -> Value:
        """Return a / b."""
        if not isinstance(a, Node):
            if a == 0.0:
                return 0.0
            a = self._as_node(a)
        if not isinstance(b, Node):
            return a * (1.0 / b)
        constant = self.entries[a.index].constant
        if self.entries[b.index].constant and not constant:
            return a * self.divide(1.0, b)
        return self._node(Entry(DIVIDE, a.index, b.index,
                                constant=constant and self.entries[b.index].constant),
                          a.sign * b.sign)

    def _cancelled(self, a: Node, b: Node) -> Value | None:
        """Return a + b where a term of one is minus a term of the other, None where not."""
        if a.index == b.index:
            return 0.0 if a.sign != b.sign else None
        for term, rest in self._terms(a):
            for other, other_rest in self._terms(b):
                if term.index == other.index and term.sign != other.sign:
                    if rest is None or other_rest is None:
                        return rest or other_rest
                    return self.add(rest, other_rest)
        return None

    def _terms(self, node: Node) -> list[tuple[Node, Node | None]]:
        """Return ways to see a node as a term and a rest: itself, and the parts of a sum."""
        entry = self.entries[node.index]
        if entry.kind != ADD:
            return [(node, None)]
        a, b = Node(self, entry.left, node.sign), Node(self, entry.right, entry.sign * node.sign)
        return [(node, None), (a, b), (b, a)]

    def _merged_factor(self, constant: int, product: Entry) -> Value | None:
        """Return (c d) x for a constant c and a product d x with a constant d."""
        for factor, rest in ((product.left, product.right), (product.right, product.left)):
            if self.entries[factor].constant:
                return Node(self, rest) * (self._value(constant) * self._value(factor))
        return None

    def _value(self, index: int) -> Value:
        """Return the positive entry as a float if it is a number, else as a node."""
        entry = self.entries[index]
        return entry.value if entry.kind == NUMBER else Node(self, index)

    def _as_node(self, value: Value) -> Node:
        if isinstance(value, Node):
            return value
        number = float(value)
        return self._node(Entry(NUMBER, value=abs(number), constant=True),
                          1 if number >= 0.0 else -1)

    def _node(self, entry: Entry, sign: int = 1) -> Node:
        """Return a reference to this operation, which is stored if it is new."""
        index = self._index.setdefault(entry, len(self.entries))
        if index == len(self.entries):
            if index == self._largest:
                raise GraphTooLarge(f'more than {self._largest} operations')
            self.entries.append(entry)
        return Node(self, index, sign)

    def needed_for(self, outputs: Iterable[Value]) -> list[int]:
        """Return the entries that the outputs depend on, in an order of calculation."""
        needed = {value.index for value in outputs if isinstance(value, Node)}
        for index in range(len(self.entries) - 1, -1, -1):
            if index in needed:
                needed.update(self.entries[index].operands)
        return sorted(needed)
