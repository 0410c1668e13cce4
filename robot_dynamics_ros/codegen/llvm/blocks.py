# SPDX-License-Identifier: Apache-2.0
"""
Blocks of states: between rows, as users keep them, and one lane per state, as kernels calculate.

Copying the results of a block to where they are wanted, in one piece, and transposing inputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from robot_dynamics_ros.codegen.llvm.values import Lanes, Lines

#: Results of a batch from this size on are streamed [bytes].
STREAMED_FROM = 4_000_000

#: Results of this many numbers per state are written in blocks, and their zeros by a loop.
MANY_RESULTS = 1200

#: Groups of columns that are written in one block.
_GROUPS_PER_BLOCK = 16

#: What a module has to declare besides its functions.
DECLARATIONS = ('declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)', '!0 = !{i32 1}')


def place_for_block(lines: Lines, per_state: int, width: int) -> str:
    """
    Return a pointer to a place for the results of `width` states, until the function ends.

    Belongs to the beginning of a function with ``%count`` states.

    :param per_state: number of doubles per state.
    """
    size = lines.new(f'mul i64 %count, {8 * per_state}')
    lines.add(f'%streamed = icmp sge i64 {size}, {STREAMED_FROM}')
    return lines.new(f'alloca double, i64 {per_state * width}, align 64')


def copy_block(lines: Lines, source: str, target: str, size: int, width: int) -> None:
    """
    Copy `size` doubles.

    :param source: pointer from `place_for_block`.
    :param target: pointer to doubles, aligned to 8 bytes.
    :param width: number of doubles that one instruction handles; not more than `size`.
    """
    vector = f'<{width} x double>'
    lines.add('br i1 %streamed, label %stream, label %copy')
    lines.text.append('copy:')
    lines.add(f'call void @llvm.memcpy.p0.p0.i64(ptr align 8 {target}, ptr align 64 {source}, '
              f'i64 {8 * size}, i1 false)')
    lines.add('br label %copied')
    lines.text.append('stream:')
    # the ends, which need not be aligned, and then what is aligned between them
    for end in (0, size - width):
        lines.store(lines.load(source, end, vector), target, end, vector)
    address = lines.new(f'ptrtoint ptr {target} to i64')
    above = lines.new(f'add i64 {address}, {8 * width - 1}')
    aligned = lines.new(f'and i64 {above}, {-8 * width}')
    first = lines.new(f'lshr i64 {lines.new(f"sub i64 {aligned}, {address}")}, 3')
    lines.add('br label %streaming')
    lines.text.append('streaming:')
    lines.add(f'%place = phi i64 [{first}, %stream], [%place_next, %streaming_on]')
    lines.add(f'%place_next = add i64 %place, {width}')
    lines.add(f'%last = icmp sgt i64 %place_next, {size}')
    lines.add('br i1 %last, label %copied, label %streaming_on')
    lines.text.append('streaming_on:')
    value = lines.load(source, '%place', vector)
    pointer = lines.new(f'getelementptr double, ptr {target}, i64 %place')
    lines.add(f'store {vector} {value}, ptr {pointer}, align {8 * width}, !nontemporal !0')
    lines.add('br label %streaming')
    lines.text.append('copied:')


def load_states(lanes: Lanes, rows: str, count: int) -> dict[int, str]:
    """
    Return `count` values by their column, each with one lane per row.

    :param rows: pointer to the first of ``lanes.width`` rows of `count` doubles.
    """
    values: dict[int, str] = {}
    size = _group_size(lanes, count)
    for first in _first_columns(count, size):
        parts = [lanes.lines.load(rows, lane * count + first, _type(size))
                 for lane in range(lanes.width)]
        joined = [_joined(lanes, parts[i:i + lanes.width // size], size)
                  for i in range(0, lanes.width, lanes.width // size)]
        for column, value in enumerate(_taken_apart(lanes, joined), start=first):
            values[column] = value
    return values


def store_states(lanes: Lanes, rows: str, values: Sequence[str], zero: str) -> None:
    """
    Write values, each with one lane per row.

    Of many values, most are zero: joints on different branches of a tree do not feel each other.
    These are written by a loop, and the others in several blocks of code: the time that LLVM
    takes for a block grows with the square of its stores.

    :param rows: pointer to the first of ``lanes.width`` rows of as many doubles as values.
    :param zero: the value that is zero.
    """
    count, many = len(values), len(values) >= MANY_RESULTS
    size = _group_size(lanes, count)
    per_vector = lanes.width // size
    columns = _first_columns(count, size)
    if many:
        _fill(lanes, rows, count, zero)
        columns = [first for first in columns if set(values[first:first + size]) != {zero}]
    for k, first in enumerate(columns):
        if many and k % _GROUPS_PER_BLOCK == 0:
            lanes.lines.add(f'br label %group{k}')
            lanes.lines.text.append(f'group{k}:')
        for i, vector in enumerate(_interleaved(lanes, values[first:first + size])):
            for j in range(per_vector):
                part = _picked(lanes, vector, vector, range(j * size, (j + 1) * size))
                lanes.lines.store(part, rows, (i * per_vector + j) * count + first, _type(size))


def _fill(lanes: Lanes, rows: str, count: int, zero: str) -> None:
    """Write `count` zeros in every row."""
    lines = lanes.lines
    width = lanes.width
    same = [lanes.spread(lanes.lane(zero, lane)) for lane in range(width)]
    lines.add('br label %fill_start')
    lines.text.append('fill_start:')
    lines.add('br label %fill')
    lines.text.append('fill:')
    lines.add('%fill_place = phi i64 [0, %fill_start], [%fill_next, %fill]')
    lines.add(f'%fill_next = add i64 %fill_place, {width}')
    for lane, value in enumerate(same):
        row = lines.new(f'getelementptr double, ptr {rows}, i64 {lane * count}')
        lines.store(value, row, '%fill_place', lanes.type)
    lines.add(f'%fill_more = icmp sle i64 %fill_next, {count - width}')
    lines.add('br i1 %fill_more, label %fill, label %filled')
    lines.text.append('filled:')
    for lane, value in enumerate(same):
        lines.store(value, rows, lane * count + count - width, lanes.type)


def _group_size(lanes: Lanes, count: int) -> int:
    """Return the largest power of two that neither columns nor lanes are fewer than."""
    return min(lanes.width, 1 << (count.bit_length() - 1))


def _first_columns(count: int, size: int) -> list[int]:
    columns = list(range(0, count - size + 1, size))
    return columns if count % size == 0 else [*columns, count - size]


def _type(size: int) -> str:
    return 'double' if size == 1 else f'<{size} x double>'


def _picked(lanes: Lanes, a: str, b: str, places: Sequence[int]) -> str:
    """Return entries of the two vectors written one after the other."""
    if len(places) == 1:
        return lanes.lane(a, places[0])
    indices = ', '.join(f'i32 {place}' for place in places)
    return lanes.lines.new(f'shufflevector {lanes.type} {a}, {lanes.type} {b}, '
                           f'<{len(places)} x i32> <{indices}>')


def _joined(lanes: Lanes, parts: Sequence[str], size: int) -> str:
    """Return the parts of several rows as one vector."""
    if size == 1:
        return lanes.packed(parts)
    joined, length = list(parts), size
    while len(joined) > 1:
        indices = ', '.join(f'i32 {place}' for place in range(2 * length))
        joined = [lanes.lines.new(f'shufflevector {_type(length)} {a}, {_type(length)} {b}, '
                                  f'<{2 * length} x i32> <{indices}>')
                  for a, b in zip(joined[::2], joined[1::2])]
        length *= 2
    return joined[0]


def _interleaved(lanes: Lanes, values: Sequence[str]) -> list[str]:
    """Return vectors that hold, lane after lane, one entry of each value."""
    half = len(values) // 2
    if half == 0:
        return list(values)
    width = lanes.width
    # pieces of `half` entries come alternately from the first and the second half of the values
    pieces = [range(start, start + half) for start in range(0, width, half)]
    order = [place for piece in pieces for place in (*piece, *(width + p for p in piece))]
    first, second = (_interleaved(lanes, part) for part in (values[:half], values[half:]))
    return [_picked(lanes, a, b, places) for a, b in zip(first, second)
            for places in (order[:width], order[width:])]


def _taken_apart(lanes: Lanes, vectors: Sequence[str]) -> list[str]:
    """Return the values that `_interleaved` makes these vectors from."""
    half = len(vectors) // 2
    if half == 0:
        return list(vectors)
    width = lanes.width
    places = [p for start in range(0, 2 * width, 2 * half) for p in range(start, start + half)]
    pairs = list(zip(vectors[::2], vectors[1::2]))
    first = [_picked(lanes, a, b, places) for a, b in pairs]
    second = [_picked(lanes, a, b, [p + half for p in places]) for a, b in pairs]
    return [*_taken_apart(lanes, first), *_taken_apart(lanes, second)]
