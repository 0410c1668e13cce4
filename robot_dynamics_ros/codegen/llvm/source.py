# SPDX-License-Identifier: Apache-2.0
"""
Programs as LLVM source: a function for one state, and one for a batch, a vector of states at once.

Both return 0, or 1 without results that count if an angle is larger than LARGEST_ANGLE. They
have no loop over joints, call nothing but memcpy and keep nothing. A non-finite input or
parameter makes all outputs of its state NaN: every input enters the outputs times zero.
"""

from __future__ import annotations

import math

from robot_dynamics_ros.codegen.graph import ADD, DIVIDE, INPUT, MULTIPLY, NUMBER, Node
from robot_dynamics_ros.codegen.llvm.blocks import (
    DECLARATIONS,
    copy_block,
    load_states,
    place_for_block,
    store_states,
)
from robot_dynamics_ros.codegen.llvm.functions import (
    LARGEST_ANGLE,
    exponential,
    hyperbolic_tangent,
    sine_cosine,
)
from robot_dynamics_ros.codegen.llvm.values import Lanes, Lines
from robot_dynamics_ros.codegen.program import Program

#: Every function takes as many pointers to inputs; those it does not need are not looked at.
INPUT_POINTERS = 4

#: Results of a batch with more numbers per state than this are collected and copied as a whole.
_LARGE_RESULT = 32

_OPERATIONS = {MULTIPLY: 'fmul', DIVIDE: 'fdiv'}


class _Body:
    """Instructions from inputs and constants to outputs."""

    def __init__(self, program: Program, lanes: Lanes, vector: Lanes,
                 inputs: dict[tuple[str, int], str], constants: list[str]) -> None:
        """
        Write the body.

        :param lanes: what the program calculates with.
        :param vector: what sines and cosines are calculated with; wider for a single state.
        :param inputs: value of every input by name and place.
        :param constants: values k0, k1, ... and last the zero that is NaN for bad parameters.
        """
        self._program = program
        self._lanes = lanes
        self._vector = vector
        self._values: dict[int, str] = {}
        for index, entry in enumerate(program.graph.entries):
            if entry.kind == INPUT:
                self._values[index] = inputs[entry.name, int(entry.value)]
            elif entry.kind == NUMBER:
                self._values[index] = lanes.number(entry.value)
        self._values.update(zip(program.constants, constants))
        zero = constants[-1]
        for value in inputs.values():
            zero = self._sum('fadd', zero, lanes.operation('fmul', value, lanes.number(0.0)))
        self.too_large = self._angles()
        for index in program.body:
            if index not in self._values:
                self._values[index] = self._calculated(index)
        #: Zero, or NaN in the lanes of states with an input or parameter that is not finite.
        self.zero = zero
        #: Results; those that are zero for every state are `zero` itself.
        self.outputs = [self._output(value, zero) for value in program.outputs]

    def _sum(self, name: str, a: str, b: str) -> str:
        return self._lanes.operation(name, a, b)

    def _output(self, value: Node | float, zero: str) -> str:
        if isinstance(value, float):
            if value == 0.0:
                return zero
            return self._sum('fadd', self._lanes.number(value), zero)
        if value.sign < 0:
            return self._sum('fsub', zero, self._values[value.index])
        return self._sum('fadd', self._values[value.index], zero)

    def _calculated(self, index: int) -> str:
        entry = self._program.entry(index)
        left = self._values[entry.left]
        if entry.kind == ADD:
            return self._sum('fadd' if entry.sign > 0 else 'fsub', left, self._values[entry.right])
        if entry.kind in _OPERATIONS:
            return self._sum(_OPERATIONS[entry.kind], left, self._values[entry.right])
        if entry.kind == 'fabs':
            return self._lanes.absolute(left)
        function = {'tanh': hyperbolic_tangent, 'exp': exponential}[entry.kind]
        argument = left if entry.sign > 0 else self._lanes.negative(left)
        return function(self._lanes, argument)

    def _angles(self) -> str | None:
        """Calculate all sines and cosines; return whether an angle is too large for that."""
        program = self._program
        arguments = sorted({program.entry(i).left for i in program.functions('sin', 'cos')})
        for index in program.body:  # what the angles follow from, e.g. q + theta
            if index in arguments:
                self._values[index] = self._calculated(index)
        per_vector, lines = self._vector.width // self._lanes.width, self._vector.lines
        too_large: str | None = None
        for start in range(0, len(arguments), per_vector):
            part = arguments[start:start + per_vector]
            angle = self._values[part[0]]
            if per_vector > 1:
                angle = self._vector.packed([self._values[index] for index in part])
            size = self._vector.absolute(angle)
            # an infinite angle is not too large: its sine is NaN, as it has to be
            beyond = lines.new(
                f'and {self._vector.truth} '
                f'{self._vector.greater(size, self._vector.number(LARGEST_ANGLE))}, '
                f'{self._vector.greater(self._vector.number(math.inf), size)}')
            too_large = beyond if too_large is None else lines.new(
                f'or {self._vector.truth} {too_large}, {beyond}')
            results = dict(zip(('sin', 'cos'), sine_cosine(self._vector, angle)))
            for i in program.functions('sin', 'cos'):
                entry = program.entry(i)
                if entry.left in part:
                    result = results[entry.kind]
                    self._values[i] = (self._vector.lane(result, part.index(entry.left))
                                       if per_vector > 1 else result)
        return too_large


def llvm_source(program: Program, width: int, *, batch: bool) -> str:
    """
    Return the source of one function, named like the program.

    For one state it is ``int f(q, qd, qdd, wrench, k, out)``, for a batch ``int f(count, q, qd,
    qdd, wrench, k, out)`` with count >= width; all but count are pointers to doubles. Inputs
    that the program does not take may be null, the others keep their order.

    :param width: number of doubles that the machine handles at once.
    """
    lines = Lines()
    pointers = ', '.join(f'ptr %a{i}' for i in range(INPUT_POINTERS))
    lines.text.append(f'define i32 @{program.name}({"i64 %count, " if batch else ""}{pointers}, '
                      'ptr %k, ptr %out) nounwind {\nentry:')
    (_write_batch if batch else _write_single)(program, lines, width)
    lines.text += ['}', *DECLARATIONS]
    return '\n'.join(lines.text) + '\n'


def _write_single(program: Program, lines: Lines, width: int) -> None:
    lanes, vector = Lanes(lines, 1), Lanes(lines, width)
    inputs = {(name, i): lines.load(f'%a{place}', i)
              for place, (name, count) in enumerate(program.inputs) for i in range(count)}
    constants = [lines.load('%k', i) for i in range(len(program.constants) + 1)]
    body = _Body(program, lanes, vector, inputs, constants)
    _return_one_if(lines, vector, body.too_large)
    store_states(lanes, '%out', body.outputs, body.zero)
    lines.add('ret i32 0')


def _write_batch(program: Program, lines: Lines, width: int) -> None:
    lanes = Lanes(lines, width)
    constants = [lanes.spread(lines.load('%k', i)) for i in range(len(program.constants) + 1)]
    place = None
    if len(program.outputs) >= _LARGE_RESULT:
        place = place_for_block(lines, len(program.outputs), width)
    lines.add('br label %block')
    lines.text.append('block:')
    lines.add('%start = phi i64 [0, %entry], [%next, %more]')
    inputs: dict[tuple[str, int], str] = {}
    for i, (name, count) in enumerate(program.inputs):
        rows = _rows(lines, f'%a{i}', count)
        inputs.update({(name, column): value
                       for column, value in load_states(lanes, rows, count).items()})
    body = _Body(program, lanes, lanes, inputs, constants)
    _return_one_if(lines, lanes, body.too_large)
    rows = _rows(lines, '%out', len(body.outputs))
    if place is None:
        store_states(lanes, rows, body.outputs, body.zero)
    else:
        store_states(lanes, place, body.outputs, body.zero)
        copy_block(lines, place, rows, width * len(body.outputs), width)
    # the last block ends with the last state and may repeat a few
    lines.add(f'%end = add i64 %start, {width}')
    lines.add('%finished = icmp sge i64 %end, %count')
    lines.add('br i1 %finished, label %done, label %more')
    lines.text.append('more:')
    lines.add(f'%last_start = sub i64 %count, {width}')
    lines.add('%beyond = icmp sgt i64 %end, %last_start')
    lines.add('%next = select i1 %beyond, i64 %last_start, i64 %end')
    lines.add('br label %block')
    lines.text.append('done:')
    if place is not None:
        lines.add('fence seq_cst')  # streamed results are there for other threads, too
    lines.add('ret i32 0')


def _rows(lines: Lines, pointer: str, count: int) -> str:
    """Return a pointer to the row of state `start`."""
    offset = lines.new(f'mul i64 %start, {count}')
    return lines.new(f'getelementptr double, ptr {pointer}, i64 {offset}')


def _return_one_if(lines: Lines, lanes: Lanes, condition: str | None) -> None:
    """Leave the function with 1 if the condition holds in any lane; None = never."""
    if condition is None:
        return
    if lanes.width > 1:
        bits = lines.new(f'bitcast {lanes.truth} {condition} to i{lanes.width}')
        condition = lines.new(f'icmp ne i{lanes.width} {bits}, 0')
    lines.add(f'br i1 {condition}, label %too_large, label %store')
    lines.text.append('too_large:')
    lines.add('ret i32 1')
    lines.text.append('store:')
