# SPDX-License-Identifier: Apache-2.0
"""Programs as C99 source."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from robot_dynamics_ros.codegen.graph import INPUT, PARAMETER
from robot_dynamics_ros.codegen.printers.plain_text import plain
from robot_dynamics_ros.codegen.printers.statements import Statements, body, prologue
from robot_dynamics_ros.codegen.program import Argument, Program

_WIDTH = 99


def standalone(program: Program, prefix: str, header: Sequence[str],
               values: Mapping[str, Sequence[float]]) -> str:
    """
    Return a C file: present parameters, a function for the constants, and the function.

    :param prefix: what all names begin with.
    :param header: lines of explanation.
    :param values: present values of every parameter vector.
    """
    count = len(program.constants) + 1
    parts = ['/*', *(_comment(line) for line in header), ' */', '#include <math.h>', '']
    for vector in program.parameters:
        numbers = textwrap.fill(', '.join(repr(value) for value in values[vector.name]), _WIDTH,
                                initial_indent='    ', subsequent_indent='    ')
        parts += [f'const double {prefix}_{vector.name}[{vector.width}] = {{', numbers, '};', '']
    parts += [*_constants(program, prefix, count), '', *_function(program, prefix, count)]
    return '\n'.join(parts) + '\n'


def _comment(line: str) -> str:
    return f' * {plain(line)}'.rstrip()


def _constants(program: Program, prefix: str, count: int) -> list[str]:
    """Return the function that gives the constants; the last is zero or NaN."""
    statements = prologue(program)
    lines = _opening(f'{prefix}_constants', program.parameters, f'double k[{count}]')
    lines += _loads(program, program.parameters, PARAMETER)
    lines += _body(statements)
    lines += [f'    k[{i}] = {text};' for i, text in enumerate(statements.outputs)]
    zero = _zero(program.parameters)
    return [*lines, *zero, f'    k[{count - 1}] = zero;', '}']


def _function(program: Program, prefix: str, count: int) -> list[str]:
    statements = body(program)
    size = len(program.outputs)
    vectors = (*program.inputs, Argument('k', count))
    lines = _opening(prefix, vectors, f'double result[{size}]')
    lines += _loads(program, program.inputs, INPUT)
    lines += [f'    const double k{i} = k[{i}];' for i in range(count - 1)]
    lines += _zero(program.inputs, f'k[{count - 1}]')
    lines += _body(statements)
    lines += [f'    result[{i}] = {text} + zero;' for i, text in enumerate(statements.outputs)]
    return [*lines, '}']


def _opening(name: str, vectors: Iterable[Argument], result: str) -> list[str]:
    arguments = [f'const double {vector.name}[{vector.width}]' for vector in vectors]
    opening = f'void {name}('
    lines = textwrap.wrap(', '.join([*arguments, result]).replace('double ', 'double~').replace(
        'const ', 'const~'), _WIDTH - len(opening) - 2)  # ~ is a space that does not break
    text = (opening + f'\n{" " * len(opening)}'.join(lines) + ')').replace('~', ' ')
    return [*f'{text};\n{text}'.splitlines(), '{']


def _loads(program: Program, vectors: Iterable[Argument], kind: str) -> list[str]:
    """Return named entries of the vectors: those that are used."""
    entries = [program.entry(i) for i in program.graph.needed_for(program.outputs)]
    used = {(entry.name, int(entry.value)) for entry in entries if entry.kind == kind}
    return [f'    const double {vector.name}{i} = {vector.name}[{i}];'
            for vector in vectors for i in range(vector.width) if (vector.name, i) in used]


def _zero(vectors: Iterable[Argument], start: str = '0.0') -> list[str]:
    """Return zero, calculated so that it is NaN if an entry is not finite."""
    lines = [f'    double zero = {start};']
    for vector in vectors:
        lines += [f'    for (int i = 0; i < {vector.width}; i++) {{',
                  f'        zero += 0.0 * {vector.name}[i];', '    }']
    return lines


def _body(statements: Statements) -> list[str]:
    return [f'    const double {target} = {text};' for target, text in statements.lines]
