# SPDX-License-Identifier: Apache-2.0
"""Stand-alone source of functions of a robot, with comments that explain every number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.arrangement_search import fewest_operations
from robot_dynamics_ros.codegen.equations import Arrangement
from robot_dynamics_ros.codegen.folding import Folding, folding_of
from robot_dynamics_ros.codegen.functions import INPUTS, KINEMATIC_INPUTS, TAKE_WRENCH, WITH_WRENCH
from robot_dynamics_ros.codegen.generation import program_of
from robot_dynamics_ros.codegen.grouping import Grouping, grouping_of
from robot_dynamics_ros.codegen.printers import c, python
from robot_dynamics_ros.codegen.printers.explanations import (
    entry_lines,
    parameter_lines,
    result_lines,
    robot_lines,
)
from robot_dynamics_ros.codegen.printers.source_part import SourcePart
from robot_dynamics_ros.codegen.program import Program
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm, joint_parameters
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet, minimal_parameters
from robot_dynamics_ros.errors import ParameterError

LANGUAGES = ('c', 'python')

#: Everything that can be generated.
FUNCTIONS = (*INPUTS, *(name + WITH_WRENCH for name in TAKE_WRENCH))

#: A longer name of a robot is cut where it becomes part of identifiers and of file names.
_LONGEST_NAME = 40


def standalone_source(chain: Chain, function: str | Sequence[str], language: str,
                      parameters: MlcEstimate | None = None, *,
                      zeros: str | Sequence[str] | None = None, baked: bool = False) -> str:
    """
    Return the source of one or several functions: one file, without any other of this package.

    :param chain: the robot.
    :param function: one of FUNCTIONS, or several of them.
    :param language: one of LANGUAGES.
    :param parameters: present values of the parameters; None = those of the chain.
    :param zeros: 'chain' or names: parameters to fold as zero, as for `compile_model`; other
        values for them make all results NaN.
    :param baked: take all values as numbers: the source has no parameters.
    :raises ParameterError: unknown function or language, parameters of another robot, or a name
        in `zeros` that is unknown or not zero.
    """
    parts = _parts(chain, function, language, parameters, zeros, baked)
    return c.standalone(parts) if language == 'c' else python.standalone(parts)


def standalone_files(chain: Chain, function: str | Sequence[str], language: str, name: str,
                     parameters: MlcEstimate | None = None, *,
                     zeros: str | Sequence[str] | None = None,
                     baked: bool = False) -> dict[str, str]:
    """
    Return the files of one or several functions: a Python module; or C99 and a header for it.

    The header can be included from C++ (``extern "C"``). The other parameters are those of
    `standalone_source`.

    :param name: name of the files without ending, e.g. ``arm`` for arm.c and arm.h.
    :returns: text of every file by its name.
    """
    parts = _parts(chain, function, language, parameters, zeros, baked)
    if language == 'python':
        return {f'{name}.py': python.standalone(parts)}
    header = f'{name}.h'
    guard = f'{identifier(name)}_h'.upper()
    return {f'{name}.c': c.standalone(parts, header), header: c.header(parts, guard)}


def _parts(chain: Chain, function: str | Sequence[str], language: str,
           parameters: MlcEstimate | None, zeros: str | Sequence[str] | None,
           baked: bool) -> list[SourcePart]:
    functions = list(dict.fromkeys([function] if isinstance(function, str) else function))
    for kind, word, known in (*(('function', each, FUNCTIONS) for each in functions),
                              ('language', language, LANGUAGES)):
        if word not in known:
            raise ParameterError(f"unknown {kind} '{word}'; known are {', '.join(known)}")
    if not functions:
        raise ParameterError(f'name at least one function of {", ".join(FUNCTIONS)}')
    estimate = estimate_to_print(chain, parameters)
    grouping = grouping_of(chain, estimate.mlc)
    folding = folding_of(chain, estimate.mlc, grouping, estimate.joint_physics, zeros, baked)
    parts, values = [], parameter_values(estimate)
    for each in functions:
        best = best_program(chain, grouping, each, JointForm.of(estimate.joint_physics), folding)
        parts.append(SourcePart(best, f'{identifier(chain.robot)}_{each}',
                                _header(chain, estimate.mlc, best, folding), values))
    return parts


def estimate_to_print(chain: Chain, parameters: MlcEstimate | None) -> MlcEstimate:
    """
    Return the parameters in the set that programs take.

    :param chain: the robot.
    :param parameters: identified parameters; None = those of the chain.
    :raises ParameterError: they belong to another robot.
    """
    mlc = minimal_parameters(chain)
    if parameters is None:
        return MlcEstimate.not_estimated(chain, mlc)
    estimate = parameters.converted_to(chain, mlc.set)
    if estimate.model_hash != mlc.model_hash:
        raise ParameterError(f'the parameters are those of {parameters.robot} with another '
                             f'geometry or gravity than {chain.robot} from {chain.base} to '
                             f'{chain.tip} has')
    return estimate


def parameter_values(estimate: MlcEstimate) -> dict[str, list[float]]:
    """Return the values of every vector of parameters by name."""
    return {'mlc': estimate.mlc.values.tolist(), **joint_parameters(estimate.joint_physics)}


def best_program(chain: Chain, grouping: Grouping, function: str, form: JointForm,
                 folding: Folding | None = None) -> Program:
    """Return the program of a function in the arrangement with the fewest operations."""
    folded = grouping if folding is None else folding.grouping(grouping)

    def program(arrangement: Arrangement) -> Program:
        return program_of(chain, folded, function, form, arrangement=arrangement, known=folding)

    if 'regressor' in function or function in KINEMATIC_INPUTS:  # there is nothing to choose
        return program(Arrangement())
    return program(fewest_operations(chain, lambda each: program(each).operations))


def identifier(name: str) -> str:
    """Return the name of a robot as the beginning of identifiers, in small letters."""
    words = re.sub(r'[\W_]+', '_', name, flags=re.ASCII).strip('_').lower()[:_LONGEST_NAME]
    return words if words[:1].isalpha() else f'robot_{words}'.strip('_')


def _header(chain: Chain, mlc: MlcSet, program: Program, folding: Folding) -> list[str]:
    """Return what a reader has to know about every vector."""
    multiplications, additions = program.operations
    first, second = robot_lines(chain, program.name)
    lines = [first, f'{second} {multiplications} multiplications, {additions} additions per '
             'call.',
             f'model_hash {mlc.model_hash}', '',
             'A non-finite input or parameter makes all results NaN.', '']
    lines += ['Set the constants once, and again whenever a parameter changes; then call the '
              'function.' if program.parameters else
              'There are no parameters; in C, the constants have to be set once all the same.', '']
    if folding.zeros:
        lines += [*wrap('Folded as zero, other values make all results NaN: '
                        + ', '.join(folding.names), 95), '']
    if folding.baked:
        lines += ['All parameters are baked in as numbers.', '']
    for vector in program.inputs:
        lines += [f'input {vector.name}[{vector.width}]', *entry_lines(chain, vector.name), '']
    for vector in program.parameters:
        lines += [*parameter_lines(chain, mlc, vector), '']
    return [*lines, *result_lines(chain, mlc, program)]
