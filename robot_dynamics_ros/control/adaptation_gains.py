# SPDX-License-Identifier: Apache-2.0
"""Adaptation gains from time constants: no need to guess numbers of 40 different units."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.control.adaptive_laws import AdaptiveLaw
from robot_dynamics_ros.control.demonstration import demonstration_motion
from robot_dynamics_ros.control.learned_model import LearnedModel
from robot_dynamics_ros.control.trajectory import TrajectorySample
from robot_dynamics_ros.errors import ParameterError

#: States over which the typical size of the regressor is taken.
_SAMPLES = 100


def balanced_gains(learned: LearnedModel, law: AdaptiveLaw, times: ArrayLike) -> Array:
    """
    Return gains (m,) with which every unknown alone would be learned in its time.

    An unknown that is wrong by d lets the arm lag; with Slotine and Li's laws by about
    ``s = K^-1 Y_i d``, so that the adaptation removes it at the rate ``gain_i Y_i^T K^-1 Y_i``.
    The mean of that over a lively motion of the robot is set to one over the time constant. Many
    unknowns together are quicker.

    :param learned: the robot and what is unknown of it.
    :param law: says how much the arm lags.
    :param times: time constants (m,) or one for all [s]; infinite = gain 0.
    :raises ParameterError: a time that is not positive, or a robot without inertia.
    """
    constants = np.broadcast_to(np.asarray(times, dtype=np.float64), (len(learned.unknowns),))
    if not np.all(constants > 0.0):
        raise ParameterError(f'adaptation: time constants must be positive, got {constants}')
    model = learned.model
    curve = _lively_motion(model)
    effect = np.zeros(len(learned.unknowns))
    for Y, q, speed, acceleration in zip(model.regressor(*curve[:3]), *curve[:3]):
        columns = learned.columns(Y, speed, acceleration)
        try:
            lag = law.lag(model.mass_matrix(q))
        except np.linalg.LinAlgError:
            raise ParameterError('adaptation: the mass matrix of the robot is singular; check the '
                                 'masses and inertias of its outer links') from None
        for row in lag:
            effect += learned.gradient(columns, row)**2
    effect /= len(curve.q)
    felt = effect > 1e-9 * effect.max(initial=0.0)  # what does nothing cannot be learned
    return np.where(felt, 1.0 / (constants * np.where(felt, effect, 1.0)), 0.0)


def typical_inertia(model: Model) -> Array:
    """Return the mean diagonal (n,) of the mass matrix over a lively motion [kg m^2, kg]."""
    A = model.mass_matrix(_lively_motion(model).q)
    return np.asarray(np.mean(np.diagonal(A, axis1=1, axis2=2), axis=0))


def _lively_motion(model: Model) -> TrajectorySample:
    motion = demonstration_motion(model.chain)
    return motion.sample(np.linspace(0.0, motion.duration, _SAMPLES))
