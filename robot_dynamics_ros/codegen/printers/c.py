# SPDX-License-Identifier: Apache-2.0
"""Programs as C99 source."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from robot_dynamics_ros.codegen.graph import INPUT, PARAMETER
from robot_dynamics_ros.codegen.printers.plain_text import plain
from robot_dynamics_ros.codegen.printers.source_part import SourcePart
from robot_dynamics_ros.codegen.printers.statements import Statements, body, prologue
from robot_dynamics_ros.codegen.program import Argument, Program

_WIDTH = 99


def standalone(parts: Sequence[SourcePart], included: str | None = None) -> str:
    """
    Return a C file: for each part its parameters, a function for the constants, the function.

    :param parts: functions to print.
    :param included: name of the header of this file; None = there is none.
    """
    lines: list[str] = []
    for part in parts:
        lines += [*([''] if lines else []), *comment(part.header)]
        if part is parts[0]:
            lines += [*([f'#include "{included}"', ''] if included else []), '#include <math.h>']
        lines.append('')
        for vector in part.program.parameters:
            lines += [f'{_array(part, vector)} = {{', *numbers(part.values[vector.name]), '};',
                      '']
        lines += [*constants_function(part.program, f'{part.prefix}_constants'), '',
                  *function(part.program, part.prefix)]
    return '\n'.join(lines) + '\n'


def header(parts: Sequence[SourcePart], guard: str) -> str:
    """
    Return the header of such a file, for C and C++.

    :param parts: functions that the file has.
    :param guard: macro that lets it be included once.
    """
    lines = [f'#ifndef {guard}', f'#define {guard}', '',
             '#ifdef __cplusplus', 'extern "C" {', '#endif']
    for part in parts:
        count = Argument('k', constants_of(part.program))
        lines += ['', *comment(part.header)]
        lines += [f'extern {_array(part, vector)};' for vector in part.program.parameters]
        lines += [signature(name, [*input_arguments(vectors), result]) + ';'
                  for name, vectors, result in (
                      (f'{part.prefix}_constants', part.program.parameters,
                       f'double k[{count.width}]'),
                      (part.prefix, (*part.program.inputs, count),
                       f'double result[{len(part.program.outputs)}]'))]
    return '\n'.join([*lines, '', '#ifdef __cplusplus', '}', '#endif', '', '#endif']) + '\n'


def _array(part: SourcePart, vector: Argument) -> str:
    """Return the declaration of the present values of a vector of parameters."""
    return f'const double {part.prefix}_{vector.name}[{vector.width}]'


def comment(lines: Iterable[str], indent: str = '') -> list[str]:
    """Return lines of explanation as a comment."""
    return [f'{indent}/*', *(f'{indent} * {plain(line)}'.rstrip() for line in lines),
            f'{indent} */']


def numbers(values: Sequence[float], indent: str = '    ') -> list[str]:
    """Return the entries of an array, several to a line."""
    return textwrap.wrap(', '.join(map(repr, values)), _WIDTH, initial_indent=indent,
                         subsequent_indent=indent)


def constants_of(program: Program) -> int:
    """Return the number of constants; the last is zero, or NaN for bad parameters."""
    return len(program.constants) + 1


def constants_function(program: Program, name: str, *, private: bool = False) -> list[str]:
    """
    Return the function that gives the constants from the parameters.

    :param name: name of the function.
    :param private: True for one that no other file may call.
    """
    statements, count = prologue(program), constants_of(program)
    lines = _opening(name, program.parameters, f'double k[{count}]', private)
    lines += _loads(program, program.parameters, PARAMETER)
    lines += _body(statements)
    lines += [f'    k[{i}] = {text};' for i, text in enumerate(statements.outputs)]
    zero = _zero(program.parameters)
    if program.zeros:
        zero.append('    /* folded as zero: another value makes all results NaN */')
    for each in program.zeros:
        terms = ' + '.join(f'{each.vector}[{i}]' if factor == 1.0 else
                           f'{factor!r} * {each.vector}[{i}]' for i, factor in each.terms)
        zero += [f'    if (!(fabs({terms}) <= {each.tolerance!r})) {{ /* {each.name} */',
                 '        zero = NAN;', '    }']
    return [*lines, *zero, f'    k[{count - 1}] = zero;', '}']


def function(program: Program, name: str, *, private: bool = False) -> list[str]:
    """
    Return the function of the inputs and the constants.

    :param name: name of the function.
    :param private: True for one that no other file may call.
    """
    statements, count = body(program), constants_of(program)
    vectors = (*program.inputs, Argument('k', count))
    lines = _opening(name, vectors, f'double result[{len(program.outputs)}]', private)
    lines += _loads(program, program.inputs, INPUT)
    lines += [f'    const double k{i} = k[{i}];' for i in range(count - 1)]
    lines += _zero(program.inputs, f'k[{count - 1}]')
    lines += _body(statements)
    lines += [f'    result[{i}] = {text} + zero;' for i, text in enumerate(statements.outputs)]
    return [*lines, '}']


def signature(name: str, arguments: Sequence[str], opening: str = 'void') -> str:
    """
    Return the head of a function, in lines that are not too long.

    :param name: name of the function.
    :param arguments: types with names.
    :param opening: what stands before the name.
    """
    opening = f'{opening} {name}('
    lines = textwrap.wrap(', '.join(each.replace(' ', '~') for each in arguments),
                          max(_WIDTH - len(opening) - 2, 1),  # ~ is a space that does not break
                          break_long_words=False, break_on_hyphens=False)
    return (opening + f'\n{" " * len(opening)}'.join(lines) + ')').replace('~', ' ')


def input_arguments(vectors: Iterable[Argument]) -> list[str]:
    """Return vectors that a function reads as its arguments."""
    return [f'const double {vector.name}[{vector.width}]' for vector in vectors]


def _opening(name: str, vectors: Iterable[Argument], result: str, private: bool) -> list[str]:
    arguments = [*input_arguments(vectors), result]
    if private:
        return [*signature(name, arguments, 'static void').splitlines(), '{']
    text = signature(name, arguments)
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
