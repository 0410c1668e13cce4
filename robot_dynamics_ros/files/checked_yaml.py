# SPDX-License-Identifier: Apache-2.0
"""YAML read with checks whose messages say where the mistake is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_dynamics_ros.errors import ParameterError


def read_yaml(path: str | Path) -> Any:
    """
    Return what a YAML file holds.

    :raises ParameterError: naming the file: not readable, not text, not YAML.
    """
    try:
        return yaml.safe_load(Path(path).read_text(encoding='utf-8'))
    except OSError as error:
        raise ParameterError(f'{path}: cannot be read: {error.strerror}') from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ParameterError(f'{path}: is not YAML: {error}') from error


def mapping(content: Any, where: str, known: Sequence[str] | None = None) -> Mapping[str, Any]:
    """
    Return content as names with values; nothing counts as none.

    :param where: place in the file, for messages.
    :param known: names that may appear; None = any.
    """
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ParameterError(f'{where}: expected names with values, got {content!r}')
    unknown = [] if known is None else [str(key) for key in content if key not in known]
    if unknown:
        raise ParameterError(f'{where}: unknown key {", ".join(unknown)}; known are '
                             f'{", ".join(known or ())}')
    return content


def number(content: Any, where: str) -> float:
    """Return content as a finite number; `where` is its place in the file."""
    if (isinstance(content, bool) or not isinstance(content, (int, float))
            or not np.isfinite(content)):
        raise ParameterError(f'{where} must be a finite number, got {content!r}')
    return float(content)


def row(content: Any, where: str, length: int) -> list[float]:
    """Return content as a list of `length` finite numbers; `where` is its place in the file."""
    if not isinstance(content, list) or len(content) != length:
        raise ParameterError(f'{where}: expected {length} numbers, got {content!r}')
    return [number(value, where) for value in content]


def matrix(content: Any, where: str) -> list[list[float]]:
    """Return content as the rows of a square matrix; `where` is its place in the file."""
    if not isinstance(content, list) or not content:
        raise ParameterError(f'{where}: expected a list of rows, got {content!r}')
    return [row(numbers, f'{where}: row {i + 1}', len(content))
            for i, numbers in enumerate(content)]
