# SPDX-License-Identifier: Apache-2.0
"""The operations of a program as LLVM instructions, one after the other."""

from __future__ import annotations

import math
from collections.abc import Collection

from robot_dynamics_ros.codegen.graph import ADD, DIVIDE, MULTIPLY, NUMBER, Entry
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
    :param vector: what early functions are calculated with; wider for a single state.
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
            value = self._function(self._lanes, entry.kind, self._argument(entry))
        self.values[index] = value
        return value

    def _argument(self, entry: Entry) -> str:
        """Return the argument of an elementary function."""
        value = self.operand(entry.left)
        return value if entry.sign > 0 else self._lanes.negative(value)

    @staticmethod
    def _function(lanes: Lanes, kind: str, argument: str) -> str:
        return {'tanh': hyperbolic_tangent, 'exp': exponential}[kind](lanes, argument)

    def early(self) -> str | None:
        """Write all early functions; return whether an angle is too large for that."""
        program = self._program
        found: dict[tuple[str, int, int], list[int]] = {}
        for index in program.early_functions:
            entry = program.entry(index)
            kind = 'angle' if entry.kind in ('sin', 'cos') else entry.kind
            found.setdefault((kind, entry.left, entry.sign), []).append(index)
        self._arguments({left for _, left, _ in found})
        per_vector = self._vector.width // self._lanes.width
        too_large: str | None = None
        for kind in ('angle', 'tanh', 'exp'):
            wanted = [indices for key, indices in sorted(found.items()) if key[0] == kind]
            for start in range(0, len(wanted), per_vector):
                part = wanted[start:start + per_vector]
                argument = self._vector.packed(
                    [self._argument(program.entry(indices[0])) for indices in part]
                ) if per_vector > 1 else self._argument(program.entry(part[0][0]))
                if kind == 'angle':
                    too_large = self._beyond(argument, too_large)
                    results = dict(zip(('sin', 'cos'), sine_cosine(self._vector, argument)))
                else:
                    results = {kind: self._function(self._vector, kind, argument)}
                for lane, indices in enumerate(part):
                    for index in indices:
                        result = results[program.entry(index).kind]
                        self.values[index] = (self._vector.lane(result, lane)
                                              if per_vector > 1 else result)
        return too_large

    def _beyond(self, angle: str, too_large: str | None) -> str:
        """Return whether this angle, or one before, is too large."""
        lines, vector = self._vector.lines, self._vector
        size = vector.absolute(angle)
        # an infinite angle is not too large: its sine is NaN, as it has to be
        beyond = lines.new(f'and {vector.truth} '
                           f'{vector.greater(size, vector.number(LARGEST_ANGLE))}, '
                           f'{vector.greater(vector.number(math.inf), size)}')
        if too_large is None:
            return beyond
        return lines.new(f'or {vector.truth} {too_large}, {beyond}')

    def _arguments(self, arguments: Collection[int]) -> None:
        """Write what the arguments follow from, for example q + theta."""
        needed = set(arguments)
        for index in reversed(self._program.body):
            if index in needed:
                needed.update(self._program.entry(index).operands)
        for index in self._program.body:
            if index in needed and index not in self.values:
                self.calculate(index)
