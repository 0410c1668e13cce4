# SPDX-License-Identifier: Apache-2.0
"""Tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = ['| ' + ' | '.join(header) + ' |', '|' + '---|' * len(header)]
    lines += ['| ' + ' | '.join(str(cell) for cell in row) + ' |' for row in rows]
    return '\n'.join(lines)


def pair(count: Sequence[int]) -> str:
    """Return multiplications/additions."""
    return f'{count[0]}/{count[1]}'


def verdict(agrees: bool) -> str:
    """Return a word; a page that says otherwise is not accepted by its test."""
    return 'agrees' if agrees else 'DOES NOT AGREE'
