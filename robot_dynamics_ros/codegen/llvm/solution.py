# SPDX-License-Identifier: Apache-2.0
"""
A linear system with a mass matrix as LLVM source: the one function that loops over joints.

``A X = (T_q, T_qd, -1)`` is solved by elimination from the tip (Featherstone): a row of a joint is
subtracted from those of its ancestors only, so that zeros between branches stay zeros and are
skipped. No pivots: A is positive definite. Columns are handled a vector at a time.
"""

from __future__ import annotations

from collections.abc import Callable

from robot_dynamics_ros.codegen.llvm.memory import DECLARATIONS, free, new_memory
from robot_dynamics_ros.codegen.llvm.values import Lanes, Lines


def solution_source(n: int, width: int) -> str:
    """
    Return ``int solution(count, A, T, -, -, k, out)``: out = -X, (count, 3, n, n).

    :param n: number of joints.
    :param width: number of doubles that the machine handles at once.
    """
    lines = Lines()
    lanes = Lanes(lines, width)
    right = n + -(-3 * n // width) * width  # end of the right-hand sides, in whole vectors
    row_size = -(-right // width) * width
    lines.text.append('define i32 @solution(i64 %count, ptr %A, ptr %T, ptr %a2, ptr %a3, ptr %k, '
                      'ptr %out) nounwind {\nentry:')
    new_memory(lines, n * row_size)

    def row(i: str) -> str:
        return _at(lines, '%work', lines.new(f'mul i64 {i}, {row_size}'))

    def subtract(factor: str, source: str, target: str, start: int, end: int, name: str) -> None:
        """Subtract a multiple of a row from another one, unless the multiple is zero."""
        skipped = lines.new(f'fcmp oeq double {factor}, 0.0')
        lines.add(f'br i1 {skipped}, label %{name}_skipped, label %{name}_needed')
        lines.text.append(f'{name}_needed:')
        times = lanes.spread(factor)

        def columns(c: str) -> None:
            product = lanes.operation('fmul', times, lines.load(source, c, lanes.type))
            value = lanes.operation('fsub', lines.load(target, c, lanes.type), product)
            lines.store(value, target, c, lanes.type)

        _loop(lines, f'{name}_column', str(start), str(end), columns, width)
        lines.add(f'br label %{name}_skipped')
        lines.text.append(f'{name}_skipped:')

    def state(s: str) -> None:
        A, T, out = (_at(lines, f'%{name}', lines.new(f'mul i64 {s}, {size}'))
                     for name, size in (('A', n * n), ('T', 2 * n * n), ('out', 3 * n * n)))

        def read(i: str) -> None:
            own, place = row(i), lines.new(f'mul i64 {i}, {n}')
            copied = _at(lines, T, place)
            for k, source in enumerate((_at(lines, A, place), copied,
                                        _at(lines, copied, str(n * n)))):
                _copy(lines, _at(lines, own, str(k * n)), source, n)
            lines.add(f'call void @llvm.memset.p0.i64(ptr align 8 {_at(lines, own, str(3 * n))}, '
                      f'i8 0, i64 {8 * (row_size - 3 * n)}, i1 false)')
            lines.store('-1.0', own, lines.new(f'add i64 {i}, {3 * n}'))

        def eliminate(k: str) -> None:
            j = lines.new(f'sub i64 {n - 1}, {k}')
            own = row(j)
            inverse = lines.new(f'fdiv double 1.0, {lines.load(own, j)}')

            def ancestor(i: str) -> None:
                other = row(i)
                factor = lines.new(f'fmul double {lines.load(other, j)}, {inverse}')
                subtract(factor, own, other, 0, row_size, 'ancestor')

            _loop(lines, 'i_up', '0', j, ancestor)

        def substitute(j: str) -> None:
            own = row(j)
            inverse = lanes.spread(lines.new(f'fdiv double 1.0, {lines.load(own, j)}'))

            def scaled(c: str) -> None:
                lines.store(lanes.operation('fmul', lines.load(own, c, lanes.type), inverse),
                            own, c, lanes.type)

            _loop(lines, 'scaled', str(n), str(right), scaled, width)

            def descendant(i: str) -> None:
                other = row(i)
                subtract(lines.load(other, j), own, other, n, right, 'descendant')

            _loop(lines, 'i_down', lines.new(f'add i64 {j}, 1'), str(n), descendant)

        def write(i: str) -> None:
            own, place = row(i), lines.new(f'mul i64 {i}, {n}')

            def negative(c: str) -> None:
                lines.store(lanes.negative(lines.load(own, c, lanes.type)), own, c, lanes.type)

            _loop(lines, 'negative', str(n), str(right), negative, width)
            for k in range(3):
                target = _at(lines, _at(lines, out, place), str(k * n * n))
                _copy(lines, target, _at(lines, own, str((k + 1) * n)), n)

        for name, each in (('read', read), ('eliminate', eliminate), ('substitute', substitute),
                           ('write', write)):
            _loop(lines, name, '0', str(n), each)

    _loop(lines, 'state', '0', '%count', state)
    free(lines, n * row_size)
    lines.add('ret i32 0')
    return '\n'.join([*lines.text, '}', *DECLARATIONS]) + '\n'


def _at(lines: Lines, pointer: str, place: str) -> str:
    return lines.new(f'getelementptr double, ptr {pointer}, i64 {place}')


def _copy(lines: Lines, target: str, source: str, count: int) -> None:
    lines.add(f'call void @llvm.memcpy.p0.p0.i64(ptr align 8 {target}, ptr align 8 {source}, '
              f'i64 {8 * count}, i1 false)')


def _loop(lines: Lines, name: str, start: str, end: str, body: Callable[[str], None],
          step: int = 1) -> None:
    """
    Write a loop over ``start <= i < end``.

    :param name: name of i, and beginning of the labels' names.
    """
    lines.add(f'br label %{name}_from')
    lines.text.append(f'{name}_from:')
    lines.add(f'br label %{name}_test')
    lines.text.append(f'{name}_test:')
    lines.add(f'%{name} = phi i64 [{start}, %{name}_from], [%{name}_next, %{name}_latch]')
    lines.add(f'%{name}_on = icmp slt i64 %{name}, {end}')
    lines.add(f'br i1 %{name}_on, label %{name}_body, label %{name}_done')
    lines.text.append(f'{name}_body:')
    body(f'%{name}')
    lines.add(f'br label %{name}_latch')
    lines.text.append(f'{name}_latch:')
    lines.add(f'%{name}_next = add i64 %{name}, {step}')
    lines.add(f'br label %{name}_test')
    lines.text.append(f'{name}_done:')
