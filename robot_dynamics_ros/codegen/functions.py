# SPDX-License-Identifier: Apache-2.0
"""The list of model functions: name, inputs, shape of the result."""

from __future__ import annotations

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.joints.joint_terms import JOINT_TERMS

#: Inputs of every kinematic function.
KINEMATIC_INPUTS = {
    'link_poses': ('q',),
    'tip_pose': ('q',),
    'jacobian': ('q',),
    'jacobian_local': ('q',),
    'jacobian_world': ('q',),
    'bias_acceleration': ('q', 'qd'),
    'bias_acceleration_local': ('q', 'qd'),
    'bias_acceleration_world': ('q', 'qd'),
    'centre_of_mass': ('q',),
    'centre_of_mass_jacobian': ('q',),
    'momentum': ('q', 'qd'),
}

#: Inputs of every function; a name with ``_with_wrench`` appended takes a wrench as well.
INPUTS = {
    'inverse_dynamics': ('q', 'qd', 'qdd'),
    'torque': ('q', 'qd', 'qdd'),
    'gravity_torque': ('q',),
    'coriolis_torque': ('q', 'qd'),
    'friction_torque': ('qd',),
    'friction_under_load': ('qd', 'load'),
    'mass_matrix': ('q',),
    'coriolis_matrix': ('q', 'qd'),
    'kinetic_energy': ('q', 'qd'),
    'potential_energy': ('q',),
    'forward_dynamics': ('q', 'qd', 'tau'),
    'regressor': ('q', 'qd', 'qdd'),
    'regressor_with_joint_terms': ('q', 'qd', 'qdd'),
    'reference_regressor': ('q', 'qd', 'qd_r', 'qdd_r'),
    'momentum_split': ('q', 'qd'),
    'inverse_dynamics_derivatives': ('q', 'qd', 'qdd'),
    'torque_derivatives': ('q', 'qd', 'qdd'),
    'forward_dynamics_derivatives': ('q', 'qd', 'tau'),
    **KINEMATIC_INPUTS,
}
WITH_WRENCH = '_with_wrench'

#: Functions that take a wrench.
TAKE_WRENCH = ('inverse_dynamics', 'torque', 'forward_dynamics', 'inverse_dynamics_derivatives',
               'torque_derivatives', 'forward_dynamics_derivatives')


def result_shape(name: str, chain: Chain, p: int) -> tuple[int, ...]:
    """
    Return the shape of the result for one state.

    :param name: one of INPUTS, or with WITH_WRENCH appended.
    :param chain: the robot.
    :param p: number of minimal parameters.
    """
    n = len(chain)
    name = name.removesuffix(WITH_WRENCH)
    return {'mass_matrix': (n, n), 'coriolis_matrix': (n, n), 'kinetic_energy': (),
            'potential_energy': (), **_kinematic_shapes(n, len(chain.links)),
            'regressor': (n, p), 'reference_regressor': (n, p), 'momentum_split': (2, n, p),
            'inverse_dynamics_derivatives': (2, n, n), 'torque_derivatives': (2, n, n),
            'forward_dynamics_derivatives': (3, n, n),
            'regressor_with_joint_terms': (n, p + len(JOINT_TERMS) * n)}.get(name, (n,))


def _kinematic_shapes(n: int, m: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the results of all functions for one state of n joints, m links."""
    shapes: dict[str, tuple[int, ...]] = {
        'link_poses': (m, 4, 4), 'tip_pose': (4, 4), 'centre_of_mass': (3,),
        'centre_of_mass_jacobian': (3, n)}
    return {name: shapes.get(name, (6, n) if name.startswith('jacobian') else (6,))
            for name in KINEMATIC_INPUTS}
