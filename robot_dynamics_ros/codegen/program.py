# SPDX-License-Identifier: Apache-2.0
"""The program of one function: what remains of a graph once its outputs are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from robot_dynamics_ros.codegen.graph import (
    ADD,
    DIVIDE,
    ELEMENTARY,
    INPUT,
    MULTIPLY,
    NUMBER,
    PARAMETER,
    Entry,
    Graph,
    Node,
    Value,
)


class Operations(NamedTuple):
    """
    Operations of one call; sines, cosines and what follows from parameters alone not counted.

    :param multiplications: a division is counted as one; a sign costs nothing.
    :param additions: x + x is counted as one.
    """

    multiplications: int
    additions: int


class Argument(NamedTuple):
    """
    A vector that a program takes.

    :param name: its name, for example ``qd``.
    :param width: number of its entries.
    """

    name: str
    width: int


class Zero(NamedTuple):
    """
    A combination of parameters that is taken to be zero.

    :param name: its name, ``XX2`` or ``Fv2``.
    :param vector: vector of parameters that it is made of.
    :param terms: places in it, and factors.
    :param tolerance: size up to which it is zero, for what rounding leaves.
    """

    name: str
    vector: str
    terms: tuple[tuple[int, float], ...]
    tolerance: float = 0.0

    def value(self, values: Sequence[float]) -> float:
        """Return its value for the entries of the vector."""
        return sum(factor * float(values[place]) for place, factor in self.terms)


@dataclass(frozen=True, eq=False)
class Program:
    """
    A list of operations from inputs and parameters to outputs.

    Operations on parameters alone are the prologue. It runs when parameters are set and gives
    the constants k0, k1, ...; the body runs with every call.

    :param name: name of the function.
    :param inputs: vectors that come with every call.
    :param parameters: vectors that the constants follow from.
    :param outputs: results in row-major order.
    :param shape: shape of the result of one state.
    :param graph: where the operations are.
    :param zeros: what the operations take for granted about the parameters.
    """

    name: str
    inputs: tuple[Argument, ...]
    parameters: tuple[Argument, ...]
    outputs: tuple[Value, ...]
    shape: tuple[int, ...]
    graph: Graph
    zeros: tuple[Zero, ...] = ()

    @cached_property
    def _needed(self) -> list[int]:
        return self.graph.needed_for(self.outputs)

    @cached_property
    def body(self) -> list[int]:
        """Entries to calculate with every call, in order; inputs and numbers left out."""
        entries = self.graph.entries
        return [i for i in self._needed if not entries[i].constant and entries[i].kind != INPUT]

    @cached_property
    def constants(self) -> list[int]:
        """Entries k0, k1, ... of the prologue that the body or the outputs use."""
        entries = self.graph.entries
        used = {operand for i in self.body for operand in entries[i].operands}
        used.update(value.index for value in self.outputs if isinstance(value, Node))
        return sorted(i for i in used if entries[i].constant and entries[i].kind != NUMBER)

    @cached_property
    def prologue(self) -> list[int]:
        """Entries to calculate from the parameters, in order."""
        entries = self.graph.entries
        nodes = [Node(self.graph, i) for i in self.constants]
        return [i for i in self.graph.needed_for(nodes)
                if entries[i].kind not in (NUMBER, PARAMETER)]

    @cached_property
    def operations(self) -> Operations:
        """What one call costs."""
        kinds = [self.graph.entries[i].kind for i in self.body]
        return Operations(sum(kind in (MULTIPLY, DIVIDE) for kind in kinds),
                          sum(kind == ADD for kind in kinds))

    @cached_property
    def early_functions(self) -> list[int]:
        """Functions of the body that need no other one's value: all sines, most others."""
        early: list[int] = []
        later: set[int] = set()
        for i in self.body:
            entry = self.graph.entries[i]
            is_function = entry.kind in ELEMENTARY and entry.kind != 'fabs'
            if later.intersection(entry.operands):
                later.add(i)
            elif is_function:
                early.append(i)
                later.add(i)
        return early

    def functions(self, *kinds: str) -> list[int]:
        """Return the entries of the body that are functions of these kinds (default: any)."""
        wanted = kinds or ELEMENTARY
        return [i for i in self.body if self.graph.entries[i].kind in wanted]

    def entry(self, index: int) -> Entry:
        """Return one entry."""
        return self.graph.entries[index]
