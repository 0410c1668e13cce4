# SPDX-License-Identifier: Apache-2.0
"""Programs as Python source: for floats, and for numpy rows where sin and cos are numpy's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from robot_dynamics_ros.codegen.graph import ELEMENTARY
from robot_dynamics_ros.codegen.printers.plain_text import plain
from robot_dynamics_ros.codegen.printers.source_part import SourcePart
from robot_dynamics_ros.codegen.printers.statements import Statements, body, prologue
from robot_dynamics_ros.codegen.program import Argument, Program, Zero

#: Outputs or names per line.
_PER_LINE = 6


def body_source(program: Program) -> str:
    """Return a function of the inputs and the constants k that returns the list of outputs."""
    vectors = (*program.inputs, Argument('k', len(program.constants)))
    return _function(program.name, vectors, body(program))


def prologue_source(program: Program) -> str:
    """Return a function of the parameters that returns the list of constants."""
    return _function(f'{program.name}_constants', program.parameters, prologue(program))


def standalone(parts: Sequence[SourcePart]) -> str:
    """
    Return a Python module: for each part its parameters, and functions as in C.

    :param parts: functions to print.
    """
    header = [line for part in parts for line in (*([''] if part is not parts[0] else []),
                                                  *part.header)]
    lines = ['"""', *map(plain, header), '"""', '',
             f'from math import {", ".join(ELEMENTARY)}, isfinite, nan']
    for part in parts:
        lines += ['', *_part(part)]
    return '\n'.join(lines) + '\n'


def _part(part: SourcePart) -> list[str]:
    """Return present parameters, the function for the constants, and the function."""
    program, prefix = part.program, part.prefix
    parameters = ', '.join(vector.name for vector in program.parameters)
    inputs = ', '.join(vector.name for vector in program.inputs)
    size, count = len(program.outputs), len(program.constants)
    lines = []
    for vector in program.parameters:
        lines += [f'{prefix}_{vector.name} = [',
                  f'    {_listed(_texts(part.values[vector.name]), 4)}', ']']
    if count:
        lines += ['', '', *_guarded(f'{prefix}_constants', parameters, f'[nan] * {count}',
                                    prologue(program), program.parameters, program.zeros)]
    return [*lines, '', '', *_guarded(
        prefix, f'{inputs}, k' if count else inputs, f'[nan] * {size}', body(program),
        (*program.inputs, Argument('k', count)))]


def _texts(values: Sequence[float]) -> list[str]:
    return [repr(value) for value in values]


def _guarded(name: str, arguments: str, otherwise: str, statements: Statements,
             vectors: Iterable[Argument], zeros: Iterable[Zero] = ()) -> list[str]:
    """Return a function that calculates nothing from numbers that are not finite, or folded."""
    unpacked = ', '.join(f'*{word}' for word in arguments.split(', '))
    lines = _function(name, vectors, statements).splitlines()
    return [lines[0], f'    if not all(map(isfinite, [{unpacked}])):',
            f'        return {otherwise}', *_refusals(zeros, otherwise), *lines[1:]]


def _refusals(zeros: Iterable[Zero], otherwise: str) -> list[str]:
    """Return lines that look at what is folded as zero."""
    lines = []
    for zero in zeros:
        terms = ' + '.join(f'{zero.vector}[{i}]' if factor == 1.0 else
                           f'{factor!r} * {zero.vector}[{i}]' for i, factor in zero.terms)
        lines += [f'    if abs({terms}) > {zero.tolerance!r}:  # {zero.name} is folded as zero',
                  f'        return {otherwise}']
    return lines


def compiled(source: str, name: str, mathematics: ModuleType) -> Callable[..., list[Any]]:
    """
    Return the function `name` of Python source.

    :param mathematics: where sin, cos, tanh and exp come from: ``math`` or ``numpy``.
    """
    namespace: dict[str, Any] = {kind: getattr(mathematics, kind) for kind in ELEMENTARY}
    exec(compile(source, f'<generated {name}>', 'exec'), namespace)  # our own text, built above
    function: Callable[..., list[Any]] = namespace[name]
    return function


def _function(name: str, vectors: Iterable[Argument], statements: Statements) -> str:
    arguments = [vector for vector in vectors if vector.width]
    lines = [f'def {name}({", ".join(vector.name for vector in arguments)}):']
    for vector in arguments:
        names = [f'{vector.name}{i}' for i in range(vector.width)]
        lines += [f'    ({_listed(names, 5)}) = {vector.name}']
    lines += [f'    {target} = {text}' for target, text in statements.lines]
    lines += [f'    return [{_listed(statements.outputs, 12)}]']
    return '\n'.join(lines) + '\n'


def _listed(words: Sequence[str], indent: int) -> str:
    """Return the words with a comma after each, several to a line."""
    rows = [', '.join(words[i:i + _PER_LINE]) + ',' for i in range(0, len(words), _PER_LINE)]
    return ('\n' + ' ' * indent).join(rows)
