# SPDX-License-Identifier: Apache-2.0
"""What a command writes: files, each error of theirs one line, and text for whoever reads it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from robot_dynamics_ros.errors import RobotDynamicsError


@contextmanager
def readers_may_leave() -> Iterator[None]:
    """
    Let a command finish its work where nobody reads its output any more.

    ``robot-dynamics excite ... | head`` closes the pipe after ten lines; the files are still to be
    written. What is printed afterwards is dropped.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(Any, _Printed(stream)) for stream in before)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # an error of the last lines would come when Python ends
        sys.stdout, sys.stderr = before


class _Printed:
    """A stream that drops what is written after its reader has left."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text."""
        self._attempt(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Hand over what is buffered."""
        self._attempt(self._stream.flush)

    def _attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
        except BrokenPipeError:  # the stream keeps what it could not write, and writes it again
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


def write_file(path: str | Path, content: str | bytes) -> None:
    """
    Write a file.

    :param path: path of the file.
    :param content: bytes, or text to be written as UTF-8.
    :raises RobotDynamicsError: the file cannot be written.
    """
    try:
        Path(path).write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise RobotDynamicsError(f'{path}: cannot be written: {error.strerror}') from None


def save_figure(figure: Any, path: str | Path) -> None:
    """
    Write a matplotlib figure.

    :param figure: the figure.
    :param path: path of the picture; its ending is the format.
    :raises RobotDynamicsError: the file cannot be written, or has an unknown ending.
    """
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise RobotDynamicsError(f'{path}: the plot cannot be written: {error}') from None
