# SPDX-License-Identifier: Apache-2.0
"""The operations of a program as LLVM instructions, one after the other."""

from __future__ import annotations

import math
from collections.abc import Collection

from robot_dynamics_ros.codegen.graph import ADD, DIVIDE, MULTIPLY, NUMBER
from robot_dynamics_ros.codegen.llvm.functions import (
    LARGEST_ANGLE,
    exponential,
    hyperbolic_tangent,
    sine_cosine,
)
from robot_dynamics_ros.codegen.llvm.values import Lanes
from robot_dynamics_ros.codegen.program import Program

_OPERATIONS = {MULTIPLY: 'fmul', DIVIDE: 'fdiv'}


class Calculation:
    """
    Values of entries of a program, by their index, and the instructions that make more of them.

    :param program: the program.
    :param lanes: what the program calculates with.
    :param vector: what sines and cosines are calculated with; wider for a single state.
    """

    def __init__(self, program: Program, lanes: Lanes, vector: Lanes) -> None:
        """Know nothing but numbers."""
        self._program = program
        self._lanes = lanes
        self._vector = vector
        self.values: dict[int, str] = {}

    def operand(self, index: int) -> str:
        """Return the value of an entry that is known, or a number."""
        entry = self._program.entry(index)
        if entry.kind == NUMBER:
            return self._lanes.number(entry.value)
        return self.values[index]

    def calculate(self, index: int) -> str:
        """Write the instructions of one entry whose operands are known, and return its value."""
        entry = self._program.entry(index)
        left = self.operand(entry.left)
        if entry.kind == ADD:
            name = 'fadd' if entry.sign > 0 else 'fsub'
            value = self._lanes.operation(name, left, self.operand(entry.right))
        elif entry.kind in _OPERATIONS:
            value = self._lanes.operation(_OPERATIONS[entry.kind], left,
                                          self.operand(entry.right))
        elif entry.kind == 'fabs':
            value = self._lanes.absolute(left)
        else:
            function = {'tanh': hyperbolic_tangent, 'exp': exponential}[entry.kind]
            argument = left if entry.sign > 0 else self._lanes.negative(left)
            value = function(self._lanes, argument)
        self.values[index] = value
        return value

    def sines(self) -> str | None:
        """Write all sines and cosines; return whether an angle is too large for that."""
        program = self._program
        wanted = program.functions('sin', 'cos')
        arguments = sorted({program.entry(i).left for i in wanted})
        self._arguments(arguments)
        per_vector, lines = self._vector.width // self._lanes.width, self._vector.lines
        too_large: str | None = None
        for start in range(0, len(arguments), per_vector):
            part = arguments[start:start + per_vector]
            angle = self.operand(part[0])
            if per_vector > 1:
                angle = self._vector.packed([self.operand(index) for index in part])
            size = self._vector.absolute(angle)
            # an infinite angle is not too large: its sine is NaN, as it has to be
            beyond = lines.new(
                f'and {self._vector.truth} '
                f'{self._vector.greater(size, self._vector.number(LARGEST_ANGLE))}, '
                f'{self._vector.greater(self._vector.number(math.inf), size)}')
            too_large = beyond if too_large is None else lines.new(
                f'or {self._vector.truth} {too_large}, {beyond}')
            results = dict(zip(('sin', 'cos'), sine_cosine(self._vector, angle)))
            for i in wanted:
                entry = program.entry(i)
                if entry.left in part:
                    result = results[entry.kind]
                    self.values[i] = (self._vector.lane(result, part.index(entry.left))
                                      if per_vector > 1 else result)
        return too_large

    def _arguments(self, arguments: Collection[int]) -> None:
        """Write what the angles follow from, for example q + theta."""
        needed = set(arguments)
        for index in reversed(self._program.body):
            if index in needed:
                needed.update(self._program.entry(index).operands)
        for index in self._program.body:
            if index in needed and index not in self.values:
                self.calculate(index)
