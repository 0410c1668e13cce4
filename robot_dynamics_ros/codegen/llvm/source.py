# SPDX-License-Identifier: Apache-2.0
"""
Programs as LLVM source: a function for one state, and one for a batch, a vector of states at once.

Both return 0, or 1 without results that count if an angle is larger than LARGEST_ANGLE. They
have no loop over joints and keep nothing. A non-finite input or
parameter makes all outputs of its state NaN: every input enters the outputs times zero.
"""

from __future__ import annotations

from robot_dynamics_ros.codegen.graph import INPUT, Node
from robot_dynamics_ros.codegen.llvm import parts
from robot_dynamics_ros.codegen.llvm.blocks import (
    begin_blocks,
    end_blocks,
    load_states,
    row_of_block,
    store_states,
)
from robot_dynamics_ros.codegen.llvm.calculation import Calculation
from robot_dynamics_ros.codegen.llvm.memory import DECLARATIONS
from robot_dynamics_ros.codegen.llvm.values import Lanes, Lines
from robot_dynamics_ros.codegen.program import Program

#: Every function takes as many pointers to inputs; those it does not need are not looked at.
INPUT_POINTERS = 4

#: Programs with more operations than this become many functions instead of one, and so do those
#: of a batch whose results have at least so many numbers per state: their results are in memory
#: before they are put in order, where registers would not do.
LONGEST_FUNCTION, LARGE_RESULT = 2500, 32


class _Body:
    """Instructions from inputs and constants to outputs."""

    def __init__(self, program: Program, lanes: Lanes, vector: Lanes,
                 inputs: dict[tuple[str, int], str], constants: list[str]) -> None:
        """
        Write the body.

        :param lanes: what the program calculates with.
        :param vector: what early functions are calculated with; wider for a single state.
        :param inputs: value of every input by name and place.
        :param constants: values k0, k1, ... and last the zero that is NaN for bad parameters.
        """
        self._lanes = lanes
        calculation = Calculation(program, lanes, vector)
        calculation.values.update({index: inputs[entry.name, int(entry.value)]
                                   for index, entry in enumerate(program.graph.entries)
                                   if entry.kind == INPUT})
        calculation.values.update(zip(program.constants, constants))
        zero = constants[-1]
        for value in inputs.values():
            zero = self._sum('fadd', zero, lanes.operation('fmul', value, lanes.number(0.0)))
        self.too_large = calculation.early()
        for index in program.body:
            if index not in calculation.values:
                calculation.calculate(index)
        self._calculation = calculation
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
        result = self._calculation.operand(value.index)
        if value.sign < 0:
            return self._sum('fsub', zero, result)
        return self._sum('fadd', result, zero)


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
    large_result = batch and len(program.outputs) >= LARGE_RESULT
    if len(program.body) <= LONGEST_FUNCTION and not large_result:
        (_write_batch if batch else _write_single)(program, lines, width)
        return '\n'.join([*lines.text, '}']) + '\n'
    layout = parts.Layout(program)
    (parts.write_batch if batch else parts.write_single)(program, layout, lines, width)
    return '\n'.join([*lines.text, '}', *parts.in_parts(program, layout, width, batch=batch),
                      *DECLARATIONS, '!0 = !{i32 1}']) + '\n'


def _write_single(program: Program, lines: Lines, width: int) -> None:
    lanes, vector = Lanes(lines, 1), Lanes(lines, width)
    inputs = {(name, i): lines.load(f'%a{place}', i)
              for place, (name, count) in enumerate(program.inputs) for i in range(count)}
    constants = [lines.load('%k', i) for i in range(len(program.constants) + 1)]
    body = _Body(program, lanes, vector, inputs, constants)
    _return_one_if(lines, vector, body.too_large)
    store_states(lanes, '%out', body.outputs)
    lines.add('ret i32 0')


def _write_batch(program: Program, lines: Lines, width: int) -> None:
    lanes = Lanes(lines, width)
    constants = [lanes.spread(lines.load('%k', i)) for i in range(len(program.constants) + 1)]
    begin_blocks(lines, 'entry')
    inputs: dict[tuple[str, int], str] = {}
    for i, (name, count) in enumerate(program.inputs):
        rows = row_of_block(lines, f'%a{i}', count)
        inputs.update({(name, column): value
                       for column, value in load_states(lanes, rows, count).items()})
    body = _Body(program, lanes, lanes, inputs, constants)
    _return_one_if(lines, lanes, body.too_large)
    store_states(lanes, row_of_block(lines, '%out', len(body.outputs)), body.outputs)
    end_blocks(lines, width)
    lines.add('ret i32 0')


def _return_one_if(lines: Lines, lanes: Lanes, condition: str | None) -> None:
    """Leave the function with 1 if the condition holds in any lane; None = never."""
    if condition is None:
        return
    lines.add(f'br i1 {lanes.any_lane(condition)}, label %too_large, label %store')
    lines.text.append('too_large:')
    lines.add('ret i32 1')
    lines.text.append('store:')
