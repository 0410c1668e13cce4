# SPDX-License-Identifier: Apache-2.0
"""What a reader of generated source has to know about every number of its vectors."""

from __future__ import annotations

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.program import Argument, Program
from robot_dynamics_ros.dynamics.joints.joint_terms import JOINT_TERMS
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet

#: What the vectors are, and their units at revolute and prismatic joints.
_MEANINGS = {
    'q': ('position', 'rad', 'm'), 'qd': ('velocity', 'rad/s', 'm/s'),
    'qdd': ('acceleration', 'rad/s^2', 'm/s^2'), 'tau': ('torque or force', 'N m', 'N'),
    'load': ('torque of links and rotors', 'N m', 'N'),
    'qd_r': ('reference velocity', 'rad/s', 'm/s'),
    'qdd_r': ('reference acceleration', 'rad/s^2', 'm/s^2'),
    'rotor': ('rotor inertia times squared gear ratio', 'kg m^2', 'kg'),
    'viscous': ('viscous friction', 'N m s/rad', 'N s/m'),
    'coulomb': ('Coulomb friction', 'N m', 'N'), 'offset': ('offset', 'N m', 'N'),
    'static_friction': ('static friction', 'N m', 'N'),
    'stribeck': ('Stribeck velocity', 'rad/s', 'm/s'),
    'load_friction': ('dry friction per load', '1', '1'),
    'asymmetry': ('viscous friction forward less backward, halved', 'N m s/rad', 'N s/m'),
}
_WRENCH = ('fx [N]', 'fy [N]', 'fz [N]', 'tx [N m]', 'ty [N m]', 'tz [N m]')


def robot_lines(chain: Chain, what: str) -> list[str]:
    """
    Return which robot this is.

    :param chain: the robot.
    :param what: noun that the source is about.
    """
    return [f'{what} of {chain.robot}: {len(chain)} joints from {chain.base} to '
            f'{chain.tip_names}, gravity ({", ".join(f"{g:.6g}" for g in chain.gravity)}) m/s^2',
            f'in {chain.base}. SI units.']


def joint_lines(chain: Chain) -> list[str]:
    """Return the units of every joint."""
    lines = []
    for i, joint in enumerate(chain.joints):
        units = [f'{name} [{_MEANINGS[name][1 if joint.revolute else 2]}]'
                 for name in ('q', 'qd', 'qdd', 'tau')]
        lines.append(f'  {i:2}  {joint.name}: {", ".join(units)}')
    return lines


def entry_lines(chain: Chain, name: str) -> list[str]:
    """
    Return what the entries of a vector are.

    :param chain: the robot.
    :param name: name of an input, of a joint parameter, or of a result.
    """
    if name == 'wrench':
        entries = [(entry, tip.link) for tip in chain.tips for entry in _WRENCH]
        return [f'  {i:2}  {entry} of the environment on {link}, at its origin, in its frame'
                for i, (entry, link) in enumerate(entries)]
    meaning, revolute, prismatic = _MEANINGS[name]
    return [f'  {i:2}  {meaning} of {joint.name} [{revolute if joint.revolute else prismatic}]'
            for i, joint in enumerate(chain.joints)]


def parameter_lines(chain: Chain, mlc: MlcSet, vector: Argument) -> list[str]:
    """
    Return what a vector of parameters is.

    :param chain: the robot.
    :param mlc: its minimal set.
    :param vector: one of the parameters of a program.
    """
    lines = [f'parameter {vector.name}[{vector.width}]']
    if vector.name == 'mlc':
        return lines + [f'  {i:2}  {name} [{unit}] = {formula}' for i, (name, unit, formula)
                        in enumerate(zip(mlc.names, mlc.units, mlc.formulas))]
    if vector.name == 'sharpness':
        return [*lines, '   0  1 / (velocity at which the smooth sign is tanh(1)) [s/rad, s/m]']
    if vector.name == 'motors':
        return [*lines, '  row-major (n, n): joint velocities to motor velocities']
    if vector.name == 'transmission':
        return [*lines, '  row-major (n, n): motor velocities to joint velocities']
    return lines + entry_lines(chain, vector.name)


#: What results other than torques, accelerations and regressors are.
_RESULTS = {
    'mass_matrix': '[kg m^2, kg m, kg]: torques or forces per acceleration',
    'coriolis_matrix': '[kg m^2/s, kg m/s, kg/s]: times the velocities, the Coriolis torque',
    'link_poses': 'homogeneous matrices of {links} in {base} [1, m]',
    'tip_pose': 'homogeneous matrix of {tip} in {base} [1, m]',
    'jacobian': 'velocity of the origin of {tip}, its angular velocity; axes of {base}',
    'jacobian_local': 'velocity of the origin of {tip}, its angular velocity; axes of {tip}',
    'jacobian_world': 'velocity of the point of {tip} at the origin of {base}, its angular '
                      'velocity; axes of {base}',
    'bias_acceleration': 'dJ/dt qd of jacobian [m/s^2, rad/s^2]',
    'bias_acceleration_local': 'dJ/dt qd of jacobian_local [m/s^2, rad/s^2]',
    'bias_acceleration_world': 'dJ/dt qd of jacobian_world [m/s^2, rad/s^2]',
    'centre_of_mass': 'centre of mass of the moving links in {base} [m]',
    'centre_of_mass_jacobian': 'velocity of the centre of mass per joint velocity; axes of {base}',
    'momentum': 'linear momentum [kg m/s], angular momentum about the centre of mass '
                '[kg m^2/s]; axes of {base}',
    'kinetic_energy': 'kinetic energy of links and rotors [J]',
    'potential_energy': 'potential energy of the links [J]',
}


def result_lines(chain: Chain, mlc: MlcSet, program: Program) -> list[str]:
    """Return what the result of a program is."""
    size = len(program.outputs)
    if len(program.shape) > 1:
        lines = [f'result[{size}]: {" x ".join(map(str, program.shape))}, row-major']
    else:
        lines = [f'result[{size}]']
    if program.name in _RESULTS:
        return [*lines, _RESULTS[program.name].format(base=chain.base, tip=chain.tip,
                                                      links=', '.join(chain.link_names))]
    if len(program.shape) == 1:
        return lines + entry_lines(chain, 'qdd' if program.name.startswith('forward') else 'tau')
    *matrices, rows, columns = program.shape
    if matrices:
        of = 'accelerations' if program.name.startswith('forward') else 'torques and forces'
        by = ('positions', 'velocities', 'torques and forces')[:matrices[0]]
        lines.append(f'derivatives of the {of} by {", ".join(by[:-1])} and {by[-1]}')
    if 'regressor' in program.name:
        lines.append('columns: ' + ' '.join(column_names(mlc, rows)[:columns]))
    return lines


def column_names(mlc: MlcSet, n: int) -> tuple[str, ...]:
    """
    Return the names of all columns of a regressor: minimal parameters, then joint terms.

    :param mlc: the minimal set.
    :param n: number of joints.
    """
    return (*mlc.names, *(f'{term}{i + 1}' for term in JOINT_TERMS for i in range(n)))
