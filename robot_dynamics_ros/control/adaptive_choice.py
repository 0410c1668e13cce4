# SPDX-License-Identifier: Apache-2.0
"""An adaptive controller from a few numbers that people can choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.control.adaptation import Adaptation
from robot_dynamics_ros.control.adaptation_gains import balanced_gains, typical_inertia
from robot_dynamics_ros.control.adaptive_controller import AdaptiveController
from robot_dynamics_ros.control.adaptive_laws import AdaptiveLaw, Craig, SlotineLi
from robot_dynamics_ros.control.effort_limits import EffortLimits
from robot_dynamics_ros.control.learned_model import LearnedModel
from robot_dynamics_ros.control.unknown_parameters import (
    HEAVIEST_LOAD,
    LOAD_SIZE,
    unknown_parameters,
)
from robot_dynamics_ros.errors import ParameterError

LawName = Literal['slotine_li', 'slotine_li_modified', 'craig']
LAW_NAMES: tuple[LawName, ...] = get_args(LawName)

#: Time constants of learning links and load, and joint terms [s]. Craig's law divides by the
#: estimated mass matrix and needs an acceleration that comes late: sampled, it must learn slowly.
DEFAULT_TIMES: dict[str, tuple[float, float]] = {
    'slotine_li': (0.02, 1.0), 'slotine_li_modified': (0.02, 1.0), 'craig': (0.5, 20.0)}


@dataclass(frozen=True)
class AdaptiveSettings:
    """
    What people choose.

    :param law: slotine_li, slotine_li_modified (Lu & Meng) or craig.
    :param bandwidth: lambda [1/s]: one number, or one per joint (not for craig).
    :param damping: K per joint [N m s/rad, N s/m]; empty = bandwidth times mass matrix. One
        number multiplies the typical inertia of each joint [1/s].
    :param learn: words of `unknown_parameters`. The inertia of a load ('load' instead of
        'weight') is seldom worth it: noise drives it up, and with it the gain of the loop.
    :param learning_time: time constant of learning links and load [s]; infinite = do not learn,
        0 = that of `DEFAULT_TIMES` for the law.
    :param friction_time: time constant of learning joint terms [s]; the same.
    :param dead_zone: errors s below this are not learned from [rad/s, m/s].
    :param leakage: return to the first values [1/s].
    :param heaviest_load: largest mass of a load that is learned [kg].
    :param load_size: largest extent of that load from the tip frame [m].
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
    :param limits: of the efforts.
    :param settings: what people chose.
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
    return AdaptiveController(law, learned, adaptation, limits)


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
