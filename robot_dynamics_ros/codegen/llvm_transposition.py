# SPDX-License-Identifier: Apache-2.0
"""
Between states in rows, as users keep them, and one lane per state, as kernels calculate.

Columns go in groups of a power of two, so that a group of a row is one load or store. Halves of
vectors are interleaved or taken apart in log2 steps. Where the number of columns is not a
multiple, the last group overlaps the one before.
"""

from __future__ import annotations

from collections.abc import Sequence

from robot_dynamics_ros.codegen.llvm_values import Lanes


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
