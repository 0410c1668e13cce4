# SPDX-License-Identifier: Apache-2.0
"""The dynamics of a robot as a C99 library that CMake builds, tests, installs and finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.equations import Equations
from robot_dynamics_ros.codegen.folding import Folding, folding_of
from robot_dynamics_ros.codegen.grouping import Grouping, grouping_of
from robot_dynamics_ros.codegen.printers import c
from robot_dynamics_ros.codegen.printers.explanations import (
    column_names,
    joint_lines,
    parameter_lines,
    result_lines,
    robot_lines,
)
from robot_dynamics_ros.codegen.printers.library_build import cmake_lists
from robot_dynamics_ros.codegen.printers.library_check import check_program, expected_results
from robot_dynamics_ros.codegen.printers.plain_text import plain
from robot_dynamics_ros.codegen.printers.standalone import (
    best_program,
    estimate_to_print,
    identifier,
    parameter_values,
)
from robot_dynamics_ros.codegen.program import Argument, Program
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import ParameterError

#: What a library has.
LIBRARY_FUNCTIONS = ('inverse_dynamics', 'torque', 'gravity_torque', 'coriolis_torque',
                     'friction_torque', 'mass_matrix', 'forward_dynamics', 'regressor',
                     'regressor_with_joint_terms')

_USE = """\
Use:
    {prefix}_model model;
    {prefix}_initialize(&model, &{prefix}_default_parameters);
    {prefix}_torque(&model, q, qd, qdd, tau);

Nothing is allocated and nothing global is written: a model may be used by several threads as
long as none initializes it. A result may be written over an input. A non-finite input or
parameter makes all results NaN: look at a torque before it is sent. Torques are not limited."""

_FAST_MATH = """\
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "with -ffast-math a non-finite state would give a finite torque"
#endif"""


def c_library(chain: Chain, parameters: MlcEstimate | None = None, *,
              zeros: str | Sequence[str] | None = None, baked: bool = False) -> dict[str, str]:
    """
    Return the files of a CMake project with the dynamics of a robot as a C99 library.

    Its functions are those of a Model: torque, gravity torque, mass matrix, forward dynamics,
    regressor and their kin; the parameters are a struct with default values. A test program
    compares every function with results calculated here.

    :param chain: the robot.
    :param parameters: default values of the parameters, such as identified ones; None = those of
        the chain.
    :param zeros: 'chain' or names: parameters to fold as zero, as for `standalone_source`.
    :param baked: take all values as numbers: the struct of parameters has no effect.
    :returns: text of every file by its path in the folder of the library.
    :raises ParameterError: the parameters belong to another robot, or are not finite.
    """
    estimate = estimate_to_print(chain, parameters)
    values = parameter_values(estimate)
    bad = [name for name, numbers in values.items() if not all(map(math.isfinite, numbers))]
    if bad:
        raise ParameterError(f'the parameters of {estimate.robot} are not finite '
                             f'({", ".join(bad)}): every torque would be NaN')
    library = _Library(chain, estimate, values, zeros, baked)
    prefix, name = library.prefix, library.name
    expected = expected_results(chain, library.grouping, library.form, values, library.programs)
    return {'CMakeLists.txt': cmake_lists(name),
            f'include/{name}.h': library.header(),
            f'src/{name}.c': library.source(),
            f'test/test_{name}.c': check_program(prefix, name, expected),
            'test/vectors.h': expected.text}


@dataclass(frozen=True, eq=False)
class _Library:
    """
    The two files that are compiled into the library.

    :param chain: the robot.
    :param estimate: its parameters.
    :param values: their values by name.
    :param zeros: parameters to fold as zero.
    :param baked: take all values as numbers.
    """

    chain: Chain
    estimate: MlcEstimate
    values: dict[str, list[float]]
    zeros: str | Sequence[str] | None
    baked: bool

    @cached_property
    def prefix(self) -> str:
        return identifier(self.chain.robot)

    @property
    def name(self) -> str:
        return f'{self.prefix}_dynamics'

    @cached_property
    def grouping(self) -> Grouping:
        return grouping_of(self.chain, self.estimate.mlc)

    @cached_property
    def folding(self) -> Folding:
        return folding_of(self.chain, self.estimate.mlc, self.grouping,
                          self.estimate.joint_physics, self.zeros, self.baked)

    @property
    def form(self) -> JointForm:
        return JointForm.of(self.estimate.joint_physics)

    @cached_property
    def programs(self) -> list[Program]:
        return [best_program(self.chain, self.grouping, function, self.form, self.folding)
                for function in LIBRARY_FUNCTIONS]

    def header(self) -> str:
        """Return what a user includes."""
        prefix, chain = self.prefix, self.chain
        guard = f'{self.name}_h'.upper()
        count = prefix.upper()
        lines = [*c.comment([*robot_lines(chain, 'Dynamics'),
                             f'model_hash {self.estimate.model_hash}', self._origin,
                             *self._folded, '',
                             *_USE.format(prefix=prefix).splitlines(), '',
                             'Joints, in the order of all vectors:', *joint_lines(chain)]),
                 f'#ifndef {guard}', f'#define {guard}', '',
                 '#ifdef __cplusplus', 'extern "C" {', '#endif', '',
                 'enum {', f'    {count}_JOINTS = {len(chain)},',
                 f'    {count}_MLC = {len(self.estimate.mlc)}, /* minimal parameters */',
                 f'    {count}_COLUMNS = {len(self._columns)} /* minimal parameters and joint '
                 'terms */', '};', '',
                 *c.comment(['What the torque is calculated from; all joint terms are on the '
                             'joint side of the gear.']),
                 f'typedef struct {prefix}_parameters {{']
        for name, values in self.values.items():
            vector = Argument(name, len(values))
            lines += [*c.comment(parameter_lines(chain, self.estimate.mlc, vector), '    '),
                      f'    double {name}[{len(values)}];']
        lines += [f'}} {prefix}_parameters;', '',
                  *c.comment(['Constants of all functions: set by initialize, read by the rest.']),
                  f'typedef struct {prefix}_model {{',
                  *(f'    double {each.name}[{c.constants_of(each)}];' for each in self.programs),
                  f'}} {prefix}_model;', '',
                  *c.comment(['Names, with anything but printable ASCII as its number; effort '
                              'limits [N m, N],',
                              'INFINITY where none is known.']),
                  *(f'extern {each};' for each in self._data), '',
                  *c.comment(['Take parameters over; again whenever one changes.']),
                  f'{self._initialize};']
        for program in self.programs:
            lines += ['', *c.comment([_sentence(program.name),
                                      *result_lines(chain, self.estimate.mlc, program)]),
                      f'{self._signature(program)};']
        return _text([*lines, '', '#ifdef __cplusplus', '}', '#endif', '', '#endif'])

    def source(self) -> str:
        """Return what is compiled."""
        lines = [*c.comment(robot_lines(self.chain, 'Dynamics')), f'#include "{self.name}.h"', '',
                 '#include <math.h>', '', _FAST_MATH, '']
        for declaration, entries in zip(self._data, (
                [f'"{plain(joint)}"' for joint in self.chain.joint_names],
                [f'"{plain(column)}"' for column in self._columns],
                [_number(joint.effort_limit) for joint in self.chain.joints])):
            lines += [f'{declaration} = {{', *(f'    {entry},' for entry in entries), '};', '']
        lines += [f'{self._data[3]} = "{self.estimate.model_hash}";', '',
                  f'{self._data[4]} = {{']
        for name, values in self.values.items():
            lines += [f'    .{name} = {{', *c.numbers(values, ' ' * 8), '    },']
        lines += ['};', '']
        for program in self.programs:
            lines += [*c.constants_function(program, f'prepare_{program.name}', private=True), '',
                      *c.function(program, f'evaluate_{program.name}', private=True), '']
        lines += [self._initialize, '{']
        for program in self.programs:
            vectors = [*(f'parameters->{each.name}' for each in program.parameters),
                       f'model->{program.name}']
            lines.append(f'    prepare_{program.name}({", ".join(vectors)});')
        lines.append('}')
        for program in self.programs:
            arguments = ', '.join(each.name for each in program.inputs)
            lines += ['', self._signature(program), '{',
                      f'    evaluate_{program.name}({arguments}, model->{program.name}, result);',
                      '}']
        return _text(lines)

    @property
    def _columns(self) -> tuple[str, ...]:
        return column_names(self.estimate.mlc, len(self.chain))

    @property
    def _origin(self) -> str:
        """Where the default parameters come from."""
        if not self.estimate.samples:
            return 'Default parameters: those of the robot description.'
        return (f'Default parameters: {sum(self.estimate.identified)} of '
                f'{len(self.estimate.mlc)} identified from {self.estimate.samples} samples, the '
                'others those of the robot description.')

    @property
    def _folded(self) -> list[str]:
        """What is not a parameter of the functions."""
        lines = []
        if self.folding.zeros:
            lines += wrap('Folded as zero, other values make all results NaN: '
                          + ', '.join(self.folding.names), 95)
        if self.folding.baked:
            lines.append('All parameters are baked in: the struct of parameters has no effect.')
        return lines

    @property
    def _data(self) -> list[str]:
        """Declarations of what can be read."""
        prefix, n = self.prefix, len(self.chain)
        return [f'const char *const {prefix}_joint_names[{n}]',
                f'const char *const {prefix}_column_names[{len(self._columns)}]',
                f'const double {prefix}_effort_limits[{n}]',
                f'const char {prefix}_model_hash[{len(self.estimate.model_hash) + 1}]',
                f'const {prefix}_parameters {prefix}_default_parameters']

    @property
    def _initialize(self) -> str:
        return c.signature(f'{self.prefix}_initialize', [
            f'{self.prefix}_model *model', f'const {self.prefix}_parameters *parameters'])

    def _signature(self, program: Program) -> str:
        return c.signature(f'{self.prefix}_{program.name}', [
            f'const {self.prefix}_model *model', *c.input_arguments(program.inputs),
            f'double result[{len(program.outputs)}]'])


def _sentence(function: str) -> str:
    """Return what a function calculates, as the equations say it."""
    sentence: str = getattr(Equations, function).__doc__
    return sentence.partition('\n')[0]


def _number(limit: float) -> str:
    return repr(limit) if math.isfinite(limit) else 'INFINITY'


def _text(lines: list[str]) -> str:
    return '\n'.join(lines) + '\n'
