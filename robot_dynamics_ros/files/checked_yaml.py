# SPDX-License-Identifier: Apache-2.0
"""YAML read with checks whose messages say where the mistake is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.bounds import LARGEST_NUMBER, one_line, read_bounded

#: A larger file is refused [bytes].
MAXIMUM_SIZE = 8 * 2**20


#: Deeper nesting is refused: the parser would run out of stack.
_DEEPEST = 50

#: libyaml's parser where there is one: six times as fast.
_Parser = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


class _Loader(_Parser):  # type: ignore[misc, valid-type]
    """Plain data only, and no key twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        result = super().construct_mapping(node, deep)
        if len(result) != len(node.value):
            raise yaml.MarkedYAMLError(problem='a key occurs twice', problem_mark=node.start_mark)
        return result


def _check_structure(text: str) -> None:
    """Refuse an alias, which can stand for more than fits, and deep nesting."""
    depth = 0
    for event in yaml.parse(text, _Parser):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem='an alias (*) is refused; write the values out',
                                       problem_mark=event.start_mark)
        if depth > _DEEPEST:
            raise yaml.MarkedYAMLError(problem=f'nested deeper than {_DEEPEST}',
                                       problem_mark=event.start_mark)


def read_yaml(path: str | Path) -> Any:
    """
    Return what a YAML file holds.

    :raises ParameterError: naming the file: not readable, too large, not text, not YAML, nested
        too deep, with an alias or with a key that occurs twice.
    """
    content = read_bounded(path, MAXIMUM_SIZE, ParameterError)
    try:
        text = content.decode('utf-8-sig')
        _check_structure(text)
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        place = f' in line {error.problem_mark.line + 1}' if error.problem_mark else ''
        what = one_line(' '.join(filter(None, (error.context, error.problem))))
        raise ParameterError(f'{path}: is not YAML that can be used: {what}{place}') from error
    except Exception as error:  # broken values and deep nesting break the parser in many ways
        raise ParameterError(f'{path}: is not YAML: {one_line(error)}') from error


def mapping(content: Any, where: str, known: Sequence[str] | None = None) -> Mapping[str, Any]:
    """
    Return content as names with values; nothing counts as none.

    :param where: place in the file, for messages.
    :param known: names that may appear; None = any.
    """
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ParameterError(f'{where}: expected names with values, got {_shown(content)}')
    unknown = [] if known is None else [str(key) for key in content if key not in known]
    if unknown:
        raise ParameterError(f'{where}: unknown key {one_line(", ".join(unknown))}; known are '
                             f'{", ".join(known or ())}')
    return content


def number(content: Any, where: str) -> float:
    """Return content as a finite number; `where` is its place in the file."""
    if isinstance(content, bool) or not isinstance(content, (int, float)) or content != content:
        raise ParameterError(f'{where} must be a finite number, got {_shown(content)}')
    if abs(content) > LARGEST_NUMBER:
        raise ParameterError(f'{where} must be a finite number of at most {LARGEST_NUMBER:g}, got '
                             f'{_shown(content)}')
    return float(content)


def _shown(content: Any) -> str:
    """Return what was found, short enough for a message."""
    return one_line(repr(content))


def row(content: Any, where: str, length: int) -> list[float]:
    """Return content as a list of `length` finite numbers; `where` is its place in the file."""
    if not isinstance(content, list) or len(content) != length:
        raise ParameterError(f'{where}: expected {length} numbers, got {_shown(content)}')
    return [number(value, where) for value in content]


def names(content: Any, where: str) -> list[str]:
    """Return content as a list of names; nothing counts as none; `where` is its place."""
    if content is None:
        return []
    if not isinstance(content, list) or not all(isinstance(each, str) for each in content):
        raise ParameterError(f'{where}: expected a list of names, got {_shown(content)}')
    return content


def name(content: Any, where: str) -> str | None:
    """Return content as a name, or None; `where` is its place in the file."""
    if content is not None and not isinstance(content, str):
        raise ParameterError(f'{where} must be a name, got {_shown(content)}')
    return content


def matrix(content: Any, where: str) -> list[list[float]]:
    """Return content as the rows of a square matrix; `where` is its place in the file."""
    if not isinstance(content, list) or not content:
        raise ParameterError(f'{where}: expected a list of rows, got {_shown(content)}')
    return [row(numbers, f'{where}: row {i + 1}', len(content))
            for i, numbers in enumerate(content)]
