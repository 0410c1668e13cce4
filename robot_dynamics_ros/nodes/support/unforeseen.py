# SPDX-License-Identifier: Apache-2.0
"""Errors that nobody foresaw, in one line: what they are and where in this package they arose."""

from __future__ import annotations

import traceback
from pathlib import Path

import robot_dynamics_ros

_PACKAGE = Path(robot_dynamics_ros.__file__).parent


def place(error: BaseException) -> str:
    """Return file and line of the innermost frame in this package, or else anywhere."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return 'nowhere'
    inner = frames[1:] or frames  # the first one is where the error was caught
    own = [frame for frame in inner if _PACKAGE in Path(frame.filename).parents]
    if own:
        return f'{Path(own[-1].filename).relative_to(_PACKAGE.parent)}:{own[-1].lineno}'
    return f'{Path(inner[-1].filename).name}:{inner[-1].lineno}'


def described(error: BaseException) -> str:
    """Return type, text and place."""
    text = ' '.join(str(error).split())  # some errors have several lines
    return f'{type(error).__name__}: {text or "no text"} ({place(error)})'
