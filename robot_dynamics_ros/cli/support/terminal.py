# SPDX-License-Identifier: Apache-2.0
"""
Plain text tables, and progress of long work.

Progress goes to stderr: a bar on a terminal, a few plain lines elsewhere.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from types import TracebackType
from typing import TextIO

#: Columns of a terminal that nothing is known about.
WIDTH = 80

#: A column of names is not made narrower than this.
_NARROWEST = 8


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1,
          align: str | None = None, *, shorten: int | None = None, wrap: bool = False) -> str:
    """
    Return an aligned table.

    :param header: one word per column.
    :param rows: texts, one per column.
    :param left: number of columns that are aligned to the left.
    :param align: instead of `left`, '<' or '>' for every column.
    :param shorten: column whose texts lose their middle where the table is wider than WIDTH.
    :param wrap: True = the last column goes on in the next line where it would pass WIDTH.
    """
    align = align or '<' * left + '>' * (len(header) - left)
    cells = [list(row) for row in [header, *rows]]
    if shorten is not None:
        room = WIDTH - sum(_widths(cells)) - 2 * (len(header) - 1) + _widths(cells)[shorten]
        for row in cells[1:]:
            row[shorten] = shortened(row[shorten], max(room, _NARROWEST))
    widths = _widths(cells)
    before = sum(widths[:-1]) + 2 * len(widths[:-1])
    lines = []
    for row in cells:
        *first, last = (f'{cell:{side}{width}}' for cell, side, width in zip(row, align, widths))
        parts = ((textwrap.wrap(row[-1], WIDTH - before, break_on_hyphens=False) or [''])
                 if wrap else [last])
        lines.append('  '.join([*first, parts[0]]))
        lines += [' ' * before + part for part in parts[1:]]
    lines.insert(1, '  '.join('-' * min(width, 40) for width in widths))
    return '\n'.join(line.rstrip() for line in lines)


def _widths(cells: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]


def shortened(text: str, width: int) -> str:
    """Return the text with at most `width` characters: ``..`` stands for its middle."""
    if len(text) <= width:
        return text
    end = (width - 2) // 2
    return f'{text[:width - 2 - end]}..{text[len(text) - end:]}'


def short(value: float) -> str:
    """Return a number with six significant digits; infinite and unknown ones as words."""
    if value != value:
        return 'unknown'
    if value in (float('inf'), -float('inf')):
        return 'none'
    return f'{value:.6g}' if abs(value) > 5e-13 else '0'


_WIDTH = 32


class Progress:
    """
    Shows which part of the work is done; use it in a `with` block, which ends the line.

    Call it with the part that is done (0 to 1) and what is being done.
    """

    def __init__(self, stream: TextIO | None = None, lines: int = 4) -> None:
        """
        Begin.

        :param stream: stream to write to; None = stderr.
        :param lines: number of lines where the stream is not a terminal.
        """
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()
        self._lines, self._written = lines, 0
        self._shown = ''

    def __enter__(self) -> Progress:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """End the line of the bar."""
        if self._terminal and self._shown:
            self._stream.write('\n')
            self._stream.flush()

    def __call__(self, part: float, text: str = '') -> None:
        """Show that `part` of the work is done."""
        part = min(max(part, 0.0), 1.0)
        if self._terminal:
            filled = round(_WIDTH * part)
            line = f'[{"#" * filled}{"." * (_WIDTH - filled)}] {100 * part:3.0f} %  {text}'
            if line != self._shown:
                self._stream.write(f'\r{line:<{len(self._shown)}}')
                self._stream.flush()
                self._shown = line
            return
        while self._written < int(part * self._lines):
            self._written += 1
            if self._written == int(part * self._lines):
                self._stream.write(f'{100 * part:3.0f} %  {text}'.rstrip() + '\n')
                self._stream.flush()
