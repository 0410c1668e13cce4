# SPDX-License-Identifier: Apache-2.0
"""
The operations of a program as lines of text that Python and C both understand.

Names: ``q0`` is entry 0 of input q, ``k0`` constant 0, ``t12`` an intermediate result. A result
that is used once is written into the expression that uses it, as long as that stays readable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from robot_dynamics_ros.codegen.graph import ADD, DIVIDE, MULTIPLY, NUMBER, Node, Value
from robot_dynamics_ros.codegen.program import Program

#: An expression longer than this gets a name of its own.
LONGEST_EXPRESSION = 48


class Statements:
    """
    Assignments ``target = expression`` and output expressions.

    :param lines: pairs of target and expression, in order of calculation.
    :param outputs: one expression per output.
    """

    def __init__(self, program: Program, indices: Sequence[int], outputs: Sequence[Value],
                 known: dict[int, str]) -> None:
        """
        Write down the entries `indices`.

        :param known: text of entries that are calculated elsewhere.
        """
        self._program = program
        self._text = dict(known)
        uses: Counter[int] = Counter()
        for index in indices:
            uses.update(program.entry(index).operands)
        uses.update(value.index for value in outputs if not isinstance(value, float))
        self.lines: list[tuple[str, str]] = []
        for index in indices:
            text = self._expression(index)
            if uses[index] == 1 and len(text) <= LONGEST_EXPRESSION:
                self._text[index] = text
            else:
                self._text[index] = f't{index}'
                self.lines.append((f't{index}', text))
        self.outputs = [self._output(value) for value in outputs]

    def _output(self, value: Value) -> str:
        if isinstance(value, float):
            return repr(value)
        return self._operand(value.index) if value.sign > 0 else f'-{self._factor(value.index)}'

    def _expression(self, index: int) -> str:
        entry = self._program.entry(index)
        if entry.kind == ADD:
            sign = '+' if entry.sign > 0 else '-'
            return f'{self._operand(entry.left)} {sign} {self._term(entry.right)}'
        if entry.kind in (MULTIPLY, DIVIDE):
            return f'{self._term(entry.left)}{entry.kind}{self._factor(entry.right)}'
        argument = self._operand(entry.left) if entry.sign > 0 else f'-{self._factor(entry.left)}'
        return f'{entry.kind}({argument})'

    def _operand(self, index: int) -> str:
        if index in self._text:
            return self._text[index]
        entry = self._program.entry(index)
        if entry.kind == NUMBER:
            return repr(float(entry.value))
        return f'{entry.name}{int(entry.value)}'

    def _term(self, index: int) -> str:
        """Return an operand that may follow a sign, or begin a product or quotient."""
        return self._bracketed(index, ADD)

    def _factor(self, index: int) -> str:
        """Return an operand that may stand anywhere in a product or quotient."""
        return self._bracketed(index, ADD, MULTIPLY, DIVIDE)

    def _bracketed(self, index: int, *kinds: str) -> str:
        """Return an operand, in brackets if it is an expression of these kinds."""
        text = self._operand(index)
        inlined = not text.isidentifier() and self._program.entry(index).kind in kinds
        return f'({text})' if inlined else text


def body(program: Program) -> Statements:
    """Return what runs with every call."""
    names = {index: f'k{i}' for i, index in enumerate(program.constants)}
    return Statements(program, program.body, program.outputs, names)


def prologue(program: Program) -> Statements:
    """Return what gives the constants k0, k1, ... from the parameters."""
    nodes = [Node(program.graph, index) for index in program.constants]
    return Statements(program, program.prologue, nodes, {})
