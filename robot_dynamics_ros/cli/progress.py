# SPDX-License-Identifier: Apache-2.0
"""Progress of long work on stderr: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TextIO

_WIDTH = 32


class Progress:
    """
    Shows which part of the work is done; use it in a `with` block, which ends the line.

    Call it with the part that is done (0 to 1) and what is being done.
    """

    def __init__(self, stream: TextIO | None = None, lines: int = 4) -> None:
        """
        Begin.

        :param stream: where to write; None = stderr.
        :param lines: number of lines where the stream is no terminal.
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
