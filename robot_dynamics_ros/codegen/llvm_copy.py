# SPDX-License-Identifier: Apache-2.0
"""
Copying the results of a block of states to where they are wanted, in one piece.

Memory is written twice as quick in one piece as in scattered ones. A batch too large for the
cache is streamed: its lines are not fetched before they are overwritten.
"""

from __future__ import annotations

from robot_dynamics_ros.codegen.llvm_values import Lines

#: Results of a batch from this size on are streamed [bytes].
STREAMED_FROM = 4_000_000

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
