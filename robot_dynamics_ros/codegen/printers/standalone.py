# SPDX-License-Identifier: Apache-2.0
"""Stand-alone source of one function of a robot, with a header that explains every number."""

from __future__ import annotations

import re

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.arrangement_search import fewest_operations
from robot_dynamics_ros.codegen.equations import (
    INPUTS,
    TAKE_WRENCH,
    WITH_WRENCH,
    Arrangement,
    grouping_of,
    program_of,
)
from robot_dynamics_ros.codegen.printers import c, python
from robot_dynamics_ros.codegen.program import Program
from robot_dynamics_ros.dynamics.joints.joint_terms import (
    JOINT_TERMS,
    JointForm,
    joint_parameters,
)
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet, minimal_parameters
from robot_dynamics_ros.errors import ParameterError

LANGUAGES = ('c', 'python')

#: Everything that can be generated.
FUNCTIONS = (*INPUTS, *(name + WITH_WRENCH for name in TAKE_WRENCH))

#: What the vectors are, and their units at revolute and prismatic joints.
_MEANINGS = {
    'q': ('position', 'rad', 'm'), 'qd': ('velocity', 'rad/s', 'm/s'),
    'qdd': ('acceleration', 'rad/s^2', 'm/s^2'), 'tau': ('torque or force', 'N m', 'N'),
    'qd_r': ('reference velocity', 'rad/s', 'm/s'),
    'qdd_r': ('reference acceleration', 'rad/s^2', 'm/s^2'),
    'rotor': ('rotor inertia times squared gear ratio', 'kg m^2', 'kg'),
    'viscous': ('viscous friction', 'N m s/rad', 'N s/m'),
    'coulomb': ('Coulomb friction', 'N m', 'N'), 'offset': ('offset', 'N m', 'N'),
    'static_friction': ('static friction', 'N m', 'N'),
    'stribeck': ('Stribeck velocity', 'rad/s', 'm/s'),
}
_WRENCH = ('fx [N]', 'fy [N]', 'fz [N]', 'tx [N m]', 'ty [N m]', 'tz [N m]')


def standalone_source(chain: Chain, function: str, language: str) -> str:
    """
    Return the source of one function: its own file, without any other of this package.

    :param chain: the robot.
    :param function: one of FUNCTIONS.
    :param language: one of LANGUAGES.
    :raises ParameterError: unknown function or language.
    """
    for kind, word, known in (('function', function, FUNCTIONS),
                              ('language', language, LANGUAGES)):
        if word not in known:
            raise ParameterError(f"unknown {kind} '{word}'; known are {', '.join(known)}")
    mlc = minimal_parameters(chain)
    grouping = grouping_of(chain, mlc)
    form = JointForm.of(chain.joint_physics)

    def program(arrangement: Arrangement) -> Program:
        return program_of(chain, grouping, function, form, arrangement=arrangement)

    best = program(fewest_operations(chain, lambda each: program(each).operations)
                   if 'regressor' not in function else Arrangement())
    values = {'mlc': mlc.values.tolist(), **joint_parameters(chain.joint_physics)}
    prefix = re.sub(r'\W', '_', f'{chain.robot}_{function}', flags=re.ASCII).lower()
    prefix = prefix if prefix[0].isalpha() else f'robot_{prefix}'
    printer = c.standalone if language == 'c' else python.standalone
    return printer(best, prefix, _header(chain, mlc, best), values)


def _header(chain: Chain, mlc: MlcSet, program: Program) -> list[str]:
    """Return what a reader has to know about every vector."""
    multiplications, additions = program.operations
    lines = [f'{program.name} of {chain.robot}: {len(chain)} joints from {chain.base} to '
             f'{chain.tip}, gravity ({", ".join(f"{g:.6g}" for g in chain.gravity)}) m/s^2',
             f'in {chain.base}. SI units. {multiplications} multiplications, {additions} '
             'additions per call.',
             f'model_hash {mlc.model_hash}', '',
             'A non-finite input or parameter makes all results NaN.', '',
             'Set the constants once, and again whenever a parameter changes; then call the '
             'function.', '']
    for vector in program.inputs:
        lines += [f'input {vector.name}[{vector.width}]', *_entries(chain, vector.name), '']
    for vector in program.parameters:
        lines.append(f'parameter {vector.name}[{vector.width}]')
        if vector.name == 'mlc':
            lines += [f'  {i:2}  {name} [{unit}] = {formula}' for i, (name, unit, formula)
                      in enumerate(zip(mlc.names, mlc.units, mlc.formulas))]
        elif vector.name == 'sharpness':
            lines.append('   0  1 / (velocity at which the smooth sign is tanh(1)) [s/rad, s/m]')
        elif vector.name == 'motors':
            lines.append('  row-major (n, n): joint velocities to motor velocities')
        else:
            lines += _entries(chain, vector.name)
        lines.append('')
    return [*lines, *_result(chain, mlc, program)]


def _entries(chain: Chain, name: str) -> list[str]:
    if name == 'wrench':
        return [f'  {i:2}  {entry} of the environment on {chain.tip}, at its origin, in its frame'
                for i, entry in enumerate(_WRENCH)]
    meaning, revolute, prismatic = _MEANINGS[name]
    return [f'  {i:2}  {meaning} of {joint.name} [{revolute if joint.revolute else prismatic}]'
            for i, joint in enumerate(chain.joints)]


def _result(chain: Chain, mlc: MlcSet, program: Program) -> list[str]:
    size = len(program.outputs)
    if len(program.shape) == 1:
        name = 'qdd' if program.name.startswith('forward') else 'tau'
        return [f'result[{size}]', *_entries(chain, name)]
    rows, columns = program.shape
    lines = [f'result[{size}]: {rows} x {columns}, row-major']
    if 'regressor' in program.name:
        names = [*mlc.names, *(f'{term}{i + 1}' for term in JOINT_TERMS for i in range(rows))]
        lines.append('columns: ' + ' '.join(names[:columns]))
    return lines
