# SPDX-License-Identifier: Apache-2.0
"""
Blocks of states: between rows, as users keep them, and one lane per state, as kernels calculate.

Copying the results of a block to where they are wanted, in one piece, and transposing inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robot_dynamics_ros.codegen.llvm.values import Lanes, Lines

#: Results of a batch from this size on are streamed [bytes].
STREAMED_FROM = 4_000_000


def decide_on_stream(lines: Lines, per_state: int) -> None:
    """
    Set ``%streamed``: whether the results of ``%count`` states go past the cache.

    :param per_state: number of doubles per state.
    """
    size = lines.new(f'mul i64 %count, {8 * per_state}')
    lines.add(f'%streamed = icmp sge i64 {size}, {STREAMED_FROM}')


def stream_block(lines: Lines, source: str, target: str, size: int, width: int) -> None:
    """
    Copy `size` doubles past the cache if they are ``%streamed``.

    :param source: pointer to doubles.
    :param target: pointer to doubles, aligned to 8 bytes.
    :param width: number of doubles that one instruction handles; not more than `size`.
    """
    vector = f'<{width} x double>'
    lines.add('br i1 %streamed, label %stream, label %copied')
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


def begin_blocks(lines: Lines, before: str) -> None:
    """
    Begin a loop over blocks of states; ``%start`` is the first state of a block.

    :param before: label of the code before the loop.
    """
    lines.add('br label %block')
    lines.text.append('block:')
    lines.add(f'%start = phi i64 [0, %{before}], [%next, %more]')


def end_blocks(lines: Lines, width: int) -> None:
    """End the loop; the last block ends with the last state and may repeat a few."""
    lines.add(f'%end = add i64 %start, {width}')
    lines.add('%finished = icmp sge i64 %end, %count')
    lines.add('br i1 %finished, label %done, label %more')
    lines.text.append('more:')
    lines.add(f'%last_start = sub i64 %count, {width}')
    lines.add('%beyond = icmp sgt i64 %end, %last_start')
    lines.add('%next = select i1 %beyond, i64 %last_start, i64 %end')
    lines.add('br label %block')
    lines.text.append('done:')


def row_of_block(lines: Lines, pointer: str, count: int) -> str:
    """Return a pointer to the row of state ``%start``."""
    offset = lines.new(f'mul i64 %start, {count}')
    return lines.new(f'getelementptr double, ptr {pointer}, i64 {offset}')


def transpose_columns(lanes: Lanes, values: str, rows: str, count: int, zero: str) -> None:
    """
    Write values from memory, each with one lane per row, in a loop.

    :param values: pointer to `count` values.
    :param rows: pointer to the first of ``lanes.width`` rows of `count` doubles.
    :param count: number of values; not fewer than lanes.
    :param zero: value to add to every one.
    """
    lines, width = lanes.lines, lanes.width

    def group(first: str) -> None:
        loaded = []
        for k in range(width):
            place = lines.new(f'mul i64 {lines.new(f"add i64 {first}, {k}")}, {width}')
            loaded.append(lanes.operation('fadd', lines.load(values, place, lanes.type), zero))
        for lane, vector in enumerate(_interleaved(lanes, loaded)):
            place = lines.new(f'add i64 {first}, {lane * count}')
            lines.store(vector, rows, place, lanes.type)

    _in_groups(lines, count, width, group)


def copy_columns(lanes: Lanes, values: str, row: str, count: int, zero: str) -> None:
    """
    Write `count` doubles, not fewer than lanes, from memory to a row, in a loop.

    :param zero: double to add to every one.
    """
    same = lanes.spread(zero)

    def group(first: str) -> None:
        value = lanes.lines.load(values, first, lanes.type)
        lanes.lines.store(lanes.operation('fadd', value, same), row, first, lanes.type)

    _in_groups(lanes.lines, count, lanes.width, group)


def _in_groups(lines: Lines, count: int, width: int, group: Callable[[str], None]) -> None:
    """Write a loop over groups of columns; the last one may repeat a few."""
    lines.add('br label %before_columns')
    lines.text.append('before_columns:')
    lines.add('br label %columns')
    lines.text.append('columns:')
    lines.add('%column = phi i64 [0, %before_columns], [%next_column, %columns]')
    group('%column')
    lines.add(f'%following = add i64 %column, {width}')
    lines.add(f'%over = icmp sgt i64 %following, {count - width}')
    lines.add(f'%next_column = select i1 %over, i64 {count - width}, i64 %following')
    lines.add(f'%all_columns = icmp sge i64 %column, {count - width}')
    lines.add('br i1 %all_columns, label %after_columns, label %columns')
    lines.text.append('after_columns:')


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


def store_states(lanes: Lanes, rows: str, values: Sequence[str]) -> None:
    """
    Write values, each with one lane per row.

    :param rows: pointer to the first of ``lanes.width`` rows of as many doubles as values.
    """
    count = len(values)
    size = _group_size(lanes, count)
    per_vector = lanes.width // size
    for first in _first_columns(count, size):
        for i, vector in enumerate(_interleaved(lanes, values[first:first + size])):
            for j in range(per_vector):
                part = _picked(lanes, vector, vector, range(j * size, (j + 1) * size))
                lanes.lines.store(part, rows, (i * per_vector + j) * count + first, _type(size))


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
