# SPDX-License-Identifier: Apache-2.0
"""Functions of a Model under wrenches on any links: the joints carry another load."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.formulations.wrenches import wrench_torque
from robot_dynamics_ros.dynamics.joints.joint_terms import rotor_torque
from robot_dynamics_ros.errors import ParameterError


def under_wrenches(chain: Chain, physics: JointPhysics, name: str, values: tuple[ArrayLike, ...],
                   wrenches: Mapping[str, ArrayLike], run: Callable[..., Array]) -> Array:
    """
    Return the result of one function under wrenches.

    :param chain: the robot.
    :param physics: what its joints are modelled with.
    :param name: name of the function.
    :param values: its inputs.
    :param wrenches: (6,) or (N, 6) by the name of a link, as for `wrench_torque`.
    :param run: evaluates another function of the same model: its name, then its inputs.
    :raises ParameterError: the function takes none, or a link is not on the chain.
    """
    if name not in ('inverse_dynamics', 'torque', 'forward_dynamics'):
        raise ParameterError(f'{name} takes wrenches on tips only, as six numbers for each of '
                             f'{chain.tip_names}')
    q, qd, last = values
    with np.errstate(all='ignore'):
        outer = wrench_torque(chain, q, wrenches)
    for wrench in wrenches.values():  # all results of a state with something not finite are NaN
        outer[~np.all(np.isfinite(np.asarray(wrench, dtype=np.float64)), axis=-1)] = np.nan

    def load(qdd: ArrayLike) -> Array:
        rate = np.asarray(qdd, dtype=np.float64)
        return run('inverse_dynamics', q, qd, qdd) + rotor_torque(physics, rate)

    def torque_of(carried: Array) -> Array:
        return carried + run('friction_under_load', qd, carried)

    if name == 'inverse_dynamics':
        return run(name, q, qd, last) - outer
    if name == 'torque':
        return torque_of(load(last) - outer)
    # with this torque and without wrenches the joints carry the same
    return run(name, q, qd, torque_of(load(run(name, q, qd, last)) + outer))
