# SPDX-License-Identifier: Apache-2.0
"""Files that a command writes; one that cannot be written is one line for the user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_dynamics_ros.errors import RobotDynamicsError


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
