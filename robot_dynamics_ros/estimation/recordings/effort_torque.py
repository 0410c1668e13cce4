# SPDX-License-Identifier: Apache-2.0
"""Conversion between recorded efforts and joint torques."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.errors import ParameterError


def torque_from_effort(effort: Array, semantics: EffortSemantics) -> Array:
    """
    Return joint torques (N, n) [N m, N]; without gravity where the robot removes it.

    :param effort: (N, n) recorded efforts; NaN = none. A motor without an effort leaves all
        joints that it moves without a torque.
    :param semantics: meaning of the efforts.
    :raises ParameterError: joints coupled to each other are not all on the motor side.
    """
    torque = semantics.sign * semantics.gain * (effort - semantics.offset)
    matrix = _motor_side_coupling(semantics)
    return torque if matrix is None else _mixed(torque, np.asarray(np.linalg.inv(matrix)))


def effort_from_torque(torque: Array, semantics: EffortSemantics) -> Array:
    """
    Return efforts (N, n) in the robot's own unit.

    :param torque: (N, n) joint torques [N m, N], without gravity where the robot removes it.
    :param semantics: meaning of the efforts.
    """
    matrix = _motor_side_coupling(semantics)
    motors = torque if matrix is None else _mixed(torque, matrix)
    return np.asarray(semantics.sign * motors / semantics.gain + semantics.offset)


def torque_shares(torque: Array, semantics: EffortSemantics) -> Array:
    """
    Return what every drive contributes to the torque of every joint (..., n joints, n drives).

    An error of 1 % in the gain of a drive is an error of 1 % of its contribution.

    :param torque: (..., n) joint torques [N m, N].
    :param semantics: meaning of the efforts.
    """
    matrix = _motor_side_coupling(semantics)
    if matrix is None:
        return np.asarray(torque[..., None] * np.eye(torque.shape[-1]))
    return np.asarray((torque @ matrix)[..., None, :] * np.linalg.inv(matrix).T)


def removed_weight(gravity_torque: Callable[[ArrayLike], Array], q: ArrayLike,
                   semantics: EffortSemantics) -> Array:
    """
    Return the weight that a robot leaves out of its efforts, like q [N m, N]; 0 where it does not.

    The torque of a joint is the one that its effort stands for, plus this.

    :param gravity_torque: function of a model of the robot, with its payload.
    :param q: (n,) or (N, n) positions [rad, m].
    :param semantics: meaning of the efforts.
    """
    if not any(semantics.gravity_removed):
        return np.zeros(np.shape(q))
    return np.where(semantics.gravity_removed, gravity_torque(q), 0.0)


def _mixed(values: Array, matrix: Array) -> Array:
    """Return values @ matrix; a NaN spreads only to the entries that it contributes to."""
    result = np.nan_to_num(values) @ matrix
    unknown = (~np.isfinite(values)).astype(np.float64) @ np.abs(matrix) > 0.0
    return np.where(unknown, np.nan, result)


def _motor_side_coupling(semantics: EffortSemantics) -> Array | None:
    """Return J restricted to the motor side, or None where efforts are on the joint side."""
    motor = np.array([side == 'motor' for side in semantics.side])
    if semantics.coupling is None or not np.any(motor):
        return None
    J = semantics.coupling
    across = np.abs(J[np.ix_(motor, ~motor)]).sum() + np.abs(J[np.ix_(~motor, motor)]).sum()
    if across > 0.0:
        raise ParameterError('effort: joints that are coupled to each other must all have side '
                             "'motor' or none of them")
    return np.where(np.outer(motor, motor), J, np.eye(len(J)))
