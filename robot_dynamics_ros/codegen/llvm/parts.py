# SPDX-License-Identifier: Apache-2.0
"""
Long programs as LLVM source: many functions of bounded size instead of one.

LLVM's time for a function grows faster than its length: 190,000 operations take a minute at once
and a few seconds in parts. What one part calculates and another one needs is kept in an array,
whose places are used again once nobody needs their value; so are inputs, results and the values of
early functions.
"""

from __future__ import annotations

from collections.abc import Iterator

from robot_dynamics_ros.codegen.graph import INPUT, NUMBER, Node
from robot_dynamics_ros.codegen.llvm.blocks import (
    begin_blocks,
    copy_columns,
    decide_on_stream,
    end_blocks,
    load_states,
    row_of_block,
    store_states,
    stream_block,
    transpose_columns,
)
from robot_dynamics_ros.codegen.llvm.calculation import Calculation
from robot_dynamics_ros.codegen.llvm.memory import free, new_memory
from robot_dynamics_ros.codegen.llvm.values import Lanes, Lines
from robot_dynamics_ros.codegen.program import Program

#: Operations per part.
PART = 500


class Layout:
    """
    Which operation belongs to which part, and where values are between parts.

    The first places belong to the results, in their order; then there are the zero that is NaN
    for bad inputs, the inputs, and what has to be kept.

    :param program: the program.
    """

    def __init__(self, program: Program) -> None:
        """Find the last use of every value."""
        early = set(program.early_functions)
        body = [index for index in program.body if index not in early]
        self.parts = [body[start:start + PART] for start in range(0, len(body), PART)]
        self.zero = len(program.outputs)
        self.inputs = self.zero + 1
        #: Place of every value that is kept, by the index of its entry.
        self.places: dict[int, int] = {}
        first, widths = self.inputs, dict(program.inputs)
        starts = {}
        for name, width in widths.items():
            starts[name], first = first, first + width
        for index, entry in enumerate(program.graph.entries):
            if entry.kind == INPUT:
                self.places[index] = starts[entry.name] + int(entry.value)
        #: Number of places.
        self.size = first
        for index in early:
            self.places[index] = self._new_place()
        self._keep(program)

    def _new_place(self) -> int:
        self.size += 1
        return self.size - 1

    def _keep(self, program: Program) -> None:
        part_of = {index: part for part, indices in enumerate(self.parts) for index in indices}
        last: dict[int, int] = {}
        for index, part in part_of.items():
            for operand in program.entry(index).operands:
                if part_of.get(operand, part) != part:
                    last[operand] = part
        free: list[int] = []
        ending: dict[int, list[int]] = {}
        for part, indices in enumerate(self.parts):
            free += ending.pop(part - 1, [])
            for index in indices:
                if index in last:
                    self.places[index] = free.pop() if free else self._new_place()
                    ending.setdefault(last[index], []).append(self.places[index])


class _Part(Calculation):
    """A function of its own; operands that it lacks are read from the array."""

    def __init__(self, program: Program, layout: Layout, lanes: Lanes, vector: Lanes) -> None:
        super().__init__(program, lanes, vector)
        self._layout = layout
        self._constants = {index: k for k, index in enumerate(program.constants)}

    def operand(self, index: int) -> str:
        """Return the value of an entry."""
        lines = self._lanes.lines
        if index not in self.values and self._program.entry(index).kind != NUMBER:
            self.values[index] = (
                self._lanes.spread(lines.load('%k', self._constants[index]))
                if index in self._constants else self.load(self._layout.places[index]))
        return super().operand(index)

    def load(self, place: int) -> str:
        """Return what is kept at a place."""
        return self._lanes.lines.load('%work', place * self._lanes.width, self._lanes.type)

    def store(self, value: str, place: int) -> None:
        """Keep a value."""
        self._lanes.lines.store(value, '%work', place * self._lanes.width, self._lanes.type)

    def signed(self, index: int, sign: int) -> str:
        """Return the value of an entry with a sign."""
        value = self.operand(index)
        return value if sign > 0 else self._lanes.negative(value)


def in_parts(program: Program, layout: Layout, width: int, *, batch: bool) -> Iterator[str]:
    """
    Yield the parts: ``@early`` for early functions, and ``@part0``, ``@part1``, ...

    :param width: number of doubles that the machine handles at once.
    """
    results: dict[int, list[tuple[int, int]]] = {}
    for place, value in enumerate(program.outputs):
        if isinstance(value, Node):
            results.setdefault(value.index, []).append((place, value.sign))
    calculated = {index for indices in layout.parts for index in indices}
    own = width if batch else 1

    def new(name: str, kind: str) -> tuple[_Part, Lines]:
        lines = Lines()
        lines.text.append(f'define internal {kind} @{name}(ptr %work, ptr %k) nounwind {{')
        return _Part(program, layout, Lanes(lines, own), Lanes(lines, width)), lines

    part, lines = new('early', 'i1')
    too_large = part.early()
    for index in program.early_functions:
        part.store(part.values[index], layout.places[index])
    for index in results.keys() - calculated:  # an angle, an input or a parameter
        for place, sign in results[index]:
            part.store(part.signed(index, sign), place)
    for place, value in enumerate(program.outputs):
        if isinstance(value, float) and value != 0.0:
            part.store(Lanes(lines, own).number(value), place)
    lines.add(f'ret i1 {Lanes(lines, width).any_lane(too_large)}')
    yield '\n'.join([*lines.text, '}'])
    for k, indices in enumerate(layout.parts):
        part, lines = new(f'part{k}', 'void')
        for index in indices:
            if index not in part.values:
                part.calculate(index)
            if index in layout.places:
                part.store(part.values[index], layout.places[index])
            for place, sign in results.get(index, ()):
                part.store(part.signed(index, sign), place)
        lines.add('ret void')
        yield '\n'.join([*lines.text, '}'])


def write_single(program: Program, layout: Layout, lines: Lines, width: int) -> None:
    """Write what calls the parts for one state."""
    lanes, count = Lanes(lines, 1), len(program.outputs)
    size = _write_memory(program, lines, layout.size, 1)
    values = [lines.load(f'%a{place}', i)
              for place, (_, count) in enumerate(program.inputs) for i in range(count)]
    zero = _write_inputs(program, layout, lanes, values)
    _write_calls(lines, layout, size)
    copy_columns(Lanes(lines, width if count >= width else 1), '%work', '%out', count, zero)
    _write_end(lines, size)


def write_batch(program: Program, layout: Layout, lines: Lines, width: int) -> None:
    """Write what calls the parts for every block of states."""
    lanes, count = Lanes(lines, width), len(program.outputs)
    size = _write_memory(program, lines, layout.size + count, width)
    decide_on_stream(lines, count)
    begin_blocks(lines, 'ready')
    values: list[str] = []
    for i, (_, entries) in enumerate(program.inputs):
        values += load_states(lanes, row_of_block(lines, f'%a{i}', entries), entries).values()
    zero = _write_inputs(program, layout, lanes, values)
    _write_calls(lines, layout, size)
    rows = row_of_block(lines, '%out', count)
    if count < width:
        store_states(lanes, rows, [lanes.operation('fadd', lines.load(
            '%work', place * width, lanes.type), zero) for place in range(count)])
    else:
        block = lines.new(f'getelementptr double, ptr %work, i64 {size - count * width}')
        target = lines.new(f'select i1 %streamed, ptr {block}, ptr {rows}')
        transpose_columns(lanes, '%work', target, count, zero)
        stream_block(lines, block, rows, width * count, width)
    end_blocks(lines, width)
    lines.add('fence seq_cst')  # streamed results are there for other threads, too
    _write_end(lines, size)


def _write_memory(program: Program, lines: Lines, values: int, width: int) -> int:
    """Make the array of so many values, zero where results never change; return its length."""
    new_memory(lines, width * values)
    if 0.0 in program.outputs:
        lines.add('call void @llvm.memset.p0.i64(ptr align 64 %work, i8 0, '
                  f'i64 {8 * width * len(program.outputs)}, i1 false)')
    return width * values


def _write_inputs(program: Program, layout: Layout, lanes: Lanes, values: list[str]) -> str:
    """Keep the inputs; return zero, or NaN where one of them or a parameter is not finite."""
    zero = lanes.spread(lanes.lines.load('%k', len(program.constants)))
    for place, value in enumerate(values, start=layout.inputs):
        zero = lanes.operation('fadd', zero,
                               lanes.operation('fmul', value, lanes.number(0.0)))
        lanes.lines.store(value, '%work', place * lanes.width, lanes.type)
    return zero


def _write_calls(lines: Lines, layout: Layout, size: int) -> None:
    lines.add('%beyond_angle = call i1 @early(ptr %work, ptr %k)')
    lines.add('br i1 %beyond_angle, label %too_large, label %calls')
    lines.text.append('too_large:')
    free(lines, size)
    lines.add('ret i32 1')
    lines.text.append('calls:')
    for k in range(len(layout.parts)):
        lines.add(f'call void @part{k}(ptr %work, ptr %k)')


def _write_end(lines: Lines, size: int) -> None:
    free(lines, size)
    lines.add('ret i32 0')
