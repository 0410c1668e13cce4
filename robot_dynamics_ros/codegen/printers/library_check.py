# SPDX-License-Identifier: Apache-2.0
"""The test of a generated library: states, what every function must return, and a C program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.grouping import Grouping
from robot_dynamics_ros.codegen.loop_form import loop_form
from robot_dynamics_ros.codegen.printers import c
from robot_dynamics_ros.codegen.program import Program
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm

#: Number of states.
_STATES = 20

#: Largest values of the inputs, at which nothing is far from a robot at work.
_LARGEST = {'q': np.pi, 'qd': 2.0, 'qdd': 5.0, 'tau': 20.0}

_PROGRAM = """\
#include <math.h>
#include <stdio.h>

#include "vectors.h"
#include "{name}.h"

/* Largest difference to the expected result, relative to its largest entry. */
#define TOLERANCE 1e-9

static int failures = 0;

static void compare(const char *function, int state, int size, const double *result,
                    const double *expected)
{{
    double largest = 1e-3;
    for (int i = 0; i < size; i++) {{
        largest = fmax(largest, fabs(expected[i]));
    }}
    for (int i = 0; i < size; i++) {{
        if (!(fabs(result[i] - expected[i]) <= TOLERANCE * largest)) {{
            printf("%s, state %d, entry %d: %.17g instead of %.17g\\n", function, state, i,
                   result[i], expected[i]);
            failures++;
        }}
    }}
}}

static void refuse(const char *function, int size, const double *result)
{{
    for (int i = 0; i < size; i++) {{
        if (!isnan(result[i])) {{
            printf("%s, entry %d: %.17g from a state or parameters that are not finite\\n",
                   function, i, result[i]);
            failures++;
        }}
    }}
}}

int main(void)
{{
    {prefix}_model model;
    {prefix}_model broken;
    {prefix}_parameters parameters = {prefix}_default_parameters;
    double nothing[{n}];
    double result[{largest}];
    {prefix}_initialize(&model, &{prefix}_default_parameters);
    for (int i = 0; i < {n}; i++) {{
        nothing[i] = NAN;
    }}
{broken}
    {prefix}_initialize(&broken, &parameters);
{checks}
    printf("%d states, %d failures\\n", {states}, failures);
    return failures != 0;
}}
"""

_CHECK = """\
    for (int i = 0; i < {states}; i++) {{
        {prefix}_{function}(&model, {inputs}, result);
        compare("{function}", i, {size}, result, {function}_expected[i]);
    }}
    {prefix}_{function}(&model, {nothing}, result);
    refuse("{function}", {size}, result);"""

_CHECK_PARAMETERS = """\
    {prefix}_{function}(&broken, {first}, result);
    refuse("{function}", {size}, result);"""


@dataclass(frozen=True, eq=False)
class Expected:
    """
    States and results.

    :param chain: the robot.
    :param programs: functions that have a finite result in every state.
    :param text: the header file that holds them.
    :param parameters: names of all vectors of parameters.
    """

    chain: Chain
    programs: list[Program]
    text: str
    parameters: tuple[str, ...]


def expected_results(chain: Chain, grouping: Grouping, form: JointForm,
                     values: Mapping[str, Sequence[float]],
                     programs: Sequence[Program]) -> Expected:
    """
    Return states and what the functions must return, calculated without generated code.

    A function that has no finite result (forward dynamics of a robot with a joint that moves no
    mass) is left out.

    :param chain: the robot.
    :param grouping: grouping of its minimal parameters.
    :param form: what the joints are modelled with.
    :param values: parameters by name.
    :param programs: functions to be tested.
    """
    rng = np.random.default_rng(1995)
    inputs = {name: rng.uniform(-largest, largest, (_STATES, len(chain)))
              for name, largest in _LARGEST.items()}
    results = {program.name: loop_form(chain, grouping, program.name, form, values, {
        vector.name: inputs[vector.name] for vector in program.inputs}) for program in programs}
    tested = [program for program in programs if np.isfinite(results[program.name]).all()]
    tables = {vector.name: inputs[vector.name] for program in tested for vector in program.inputs}
    for program in tested:
        tables[f'{program.name}_expected'] = results[program.name].reshape(_STATES, -1)
    lines = [*c.comment(['States, and what the functions return with the default parameters.'])]
    for name, rows in tables.items():
        lines += ['', f'static const double {name}[{len(rows)}][{rows.shape[1]}] = {{']
        for row in rows.tolist():
            lines += ['    {', *c.numbers(row, ' ' * 8), '    },']
        lines.append('};')
    return Expected(chain, tested, '\n'.join(lines) + '\n', tuple(values))


def check_program(prefix: str, name: str, vectors: Expected) -> str:
    """
    Return the C program that compares a library with the test vectors.

    :param prefix: what the names of the library begin with.
    :param name: name of the library.
    :param vectors: states and results.
    """
    checks = []
    for program in vectors.programs:
        inputs = [each.name for each in program.inputs]
        check = f'{_CHECK}\n{_CHECK_PARAMETERS}' if program.parameters else _CHECK
        checks.append(check.format(
            prefix=prefix, function=program.name, states=_STATES, size=len(program.outputs),
            inputs=', '.join(f'{each}[i]' for each in inputs),
            first=', '.join(f'{each}[0]' for each in inputs),
            nothing=', '.join([*(f'{each}[0]' for each in inputs[:-1]), 'nothing'])))
    return _PROGRAM.format(
        prefix=prefix, name=name, n=len(vectors.chain), states=_STATES,
        largest=max(len(program.outputs) for program in vectors.programs),
        broken='\n'.join(f'    parameters.{each}[0] = NAN;' for each in vectors.parameters),
        checks='\n'.join(checks))
