# SPDX-License-Identifier: Apache-2.0
"""Plain text tables."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """
    Return an aligned table.

    :param header: one word per column.
    :param rows: texts, one per column.
    :param left: number of columns that are aligned to the left.
    """
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = []
    for row in [header, *rows]:
        cells = [cell.ljust(width) if i < left else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append('  '.join(cells).rstrip())
    lines.insert(1, '  '.join('-' * width for width in widths))
    return '\n'.join(lines)


def short(value: float) -> str:
    """Return a number with six significant digits; infinite and unknown ones as words."""
    if value != value:
        return 'unknown'
    if value in (float('inf'), -float('inf')):
        return 'none'
    return f'{value:.6g}' if abs(value) > 5e-13 else '0'
