# SPDX-License-Identifier: Apache-2.0
"""
An adaptive controller from a few numbers that people can choose.

Its gains come from time constants: no need to guess numbers of 40 different units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.control.adaptive.adaptation import Adaptation
from robot_dynamics_ros.control.adaptive.controller import AdaptiveController
from robot_dynamics_ros.control.adaptive.laws import AdaptiveLaw, Craig, SlotineLi
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.control.adaptive.prediction import PredictionError
from robot_dynamics_ros.control.adaptive.unknown_parameters import (
    HEAVIEST_LOAD,
    LOAD_SIZE,
    unknown_parameters,
)
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.motion.trajectory import TrajectorySample

LawName = Literal['slotine_li', 'slotine_li_modified', 'slotine_li_composite', 'craig']
LAW_NAMES: tuple[LawName, ...] = get_args(LawName)

#: Time constants of learning links and payload, and joint terms [s]. Craig's law divides by the
#: estimated mass matrix and needs an acceleration that comes late: sampled, it must learn slowly.
DEFAULT_TIMES: dict[str, tuple[float, float]] = {
    'slotine_li': (0.02, 1.0), 'slotine_li_modified': (0.02, 1.0),
    'slotine_li_composite': (0.02, 1.0), 'craig': (0.5, 20.0)}


@dataclass(frozen=True)
class AdaptiveSettings:
    """
    User settings of the adaptive controller.

    :param law: slotine_li, slotine_li_modified (Lu & Meng), slotine_li_composite (learns from the
        commanded torque, too, see `PredictionError`) or craig.
    :param bandwidth: lambda [1/s]: one number, or one per joint (not for craig).
    :param damping: K per joint [N m s/rad, N s/m]; empty = bandwidth times mass matrix. One
        number multiplies the typical inertia of each joint [1/s].
    :param learn: words of `unknown_parameters`. The inertia of a payload ('load' instead of
        'weight') is seldom worth it: noise drives it up, and with it the gain of the loop.
    :param learning_time: time constant of learning links and payload [s]; infinite = do not learn,
        0 = that of `DEFAULT_TIMES` for the law.
    :param friction_time: time constant of learning joint terms [s]; the same.
    :param dead_zone: errors s below this are not learned from [rad/s, m/s].
    :param leakage: return to the first values [1/s].
    :param heaviest_load: largest mass of a payload that is learned [kg].
    :param load_size: largest extent of that payload from the tip frame [m].
    """

    law: str = 'slotine_li'
    bandwidth: tuple[float, ...] = (20.0,)
    damping: tuple[float, ...] = ()
    learn: tuple[str, ...] = ('weight', 'Fv', 'Fc', 'offset')
    learning_time: float = 0.0
    friction_time: float = 0.0
    dead_zone: float = 0.01
    leakage: float = 0.0
    heaviest_load: float = HEAVIEST_LOAD
    load_size: float = LOAD_SIZE


def make_adaptive_controller(model: Model, limits: EffortLimits,
                             settings: AdaptiveSettings) -> AdaptiveController:
    """
    Return a controller.

    :param model: the robot as it is known.
    :param limits: effort limits.
    :param settings: settings of the controller.
    :raises ParameterError: a setting that no controller can have.
    """
    n = len(model.chain)
    law = _law(settings, model)
    unknowns = unknown_parameters(model, settings.learn, heaviest=settings.heaviest_load,
                                  size=settings.load_size)
    learned = LearnedModel(model, unknowns)
    links, joints = (given or default for given, default in zip(
        (settings.learning_time, settings.friction_time), DEFAULT_TIMES[settings.law]))
    times = np.where(np.array(unknowns.terms) < 0, links, joints)
    gains = balanced_gains(learned, law, times)
    adaptation = Adaptation(unknowns, gains, np.full(n, settings.dead_zone), settings.leakage)
    prediction = None
    if settings.law == 'slotine_li_composite':
        bandwidth = _per_joint('bandwidth', settings.bandwidth, model)
        prediction = PredictionError(learned, 1.0 / (bandwidth * typical_inertia(model)), gains,
                                     float(np.mean(bandwidth)))
    return AdaptiveController(law, learned, adaptation, limits, prediction)


def _law(settings: AdaptiveSettings, model: Model) -> AdaptiveLaw:
    if settings.law not in LAW_NAMES:
        raise ParameterError(f"unknown law '{settings.law}'; known are {', '.join(LAW_NAMES)}")
    bandwidth = _per_joint('bandwidth', settings.bandwidth, model)
    if settings.law == 'craig':
        if settings.damping or np.ptp(bandwidth) > 0.0:
            raise ParameterError("the law 'craig' has one bandwidth for all joints and no damping")
        return Craig.critically_damped(float(bandwidth[0]), len(bandwidth))
    damping = None
    if settings.damping:
        damping = _per_joint('damping', settings.damping, model)
        if len(settings.damping) == 1:
            damping = damping * typical_inertia(model)
    return SlotineLi(bandwidth, damping, modified=settings.law == 'slotine_li_modified')


def _per_joint(name: str, values: tuple[float, ...], model: Model) -> Array:
    n = len(model.chain)
    if len(values) not in (1, n):
        raise ParameterError(f'adaptive control: {name} has {len(values)} values, expected 1 or '
                             f'{n}: {", ".join(model.chain.joint_names)}')
    return np.array(values * n if len(values) == 1 else values, dtype=np.float64)


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
    motion = lively_motion(model.chain)
    return motion.sample(np.linspace(0.0, motion.duration, _SAMPLES))
