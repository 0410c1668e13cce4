# SPDX-License-Identifier: Apache-2.0
"""Plain text tables."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1,
          align: str | None = None) -> str:
    """
    Return an aligned table.

    :param header: one word per column.
    :param rows: texts, one per column.
    :param left: number of columns that are aligned to the left.
    :param align: instead of `left`, '<' or '>' for every column.
    """
    align = align or '<' * left + '>' * (len(header) - left)
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = ['  '.join(f'{cell:{side}{width}}' for cell, side, width in zip(row, align, widths))
             for row in [header, *rows]]
    lines.insert(1, '  '.join('-' * min(width, 40) for width in widths))
    return '\n'.join(line.rstrip() for line in lines)


def short(value: float) -> str:
    """Return a number with six significant digits; infinite and unknown ones as words."""
    if value != value:
        return 'unknown'
    if value in (float('inf'), -float('inf')):
        return 'none'
    return f'{value:.6g}' if abs(value) > 5e-13 else '0'
