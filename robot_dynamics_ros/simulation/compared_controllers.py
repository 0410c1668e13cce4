# SPDX-License-Identifier: Apache-2.0
"""The controllers that can be compared on a simulated arm, behind one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.control.adaptive.choice import (
    LAW_NAMES,
    AdaptiveSettings,
    make_adaptive_controller,
)
from robot_dynamics_ros.control.computed_torque import ComputedTorqueGains, computed_torque
from robot_dynamics_ros.control.pid import Pid, pd_gravity
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.effort_limits import EffortLimits, LimitedEffort
from robot_dynamics_ros.motion.playing.lively_motion import middle_position
from robot_dynamics_ros.motion.trajectory import TrajectorySample
from robot_dynamics_ros.simulation.controlled_robot import pid_gains

#: Names of all controllers.
CONTROLLERS = ('pid', 'feedforward', 'pd_gravity', 'computed_torque', *LAW_NAMES)
#: Integral time of the PID [s].
_INTEGRAL_TIME = 0.5


class Controller(Protocol):
    """A controller of n joints, called once per sample."""

    def command(self, desired: TrajectorySample, q: Array, qd: Array,
                step: float) -> LimitedEffort:
        """
        Return efforts (n,) [N m, N] inside the limits.

        :param desired: the trajectory now, (n,) each.
        :param q: (n,) measured positions [rad, m].
        :param qd: (n,) measured velocities [rad/s, m/s].
        :param step: time since the last call [s].
        """


class LimitedController:
    """A law without memory of parameters, behind the effort limits."""

    def __init__(self, limits: EffortLimits,
                 law: Callable[[TrajectorySample, Array, Array, float], Array]) -> None:
        """
        Put limits behind a law.

        :param limits: effort limits.
        :param law: efforts (n,) from desired motion, q, qd and step.
        """
        self._limits, self._law = limits, law

    def command(self, desired: TrajectorySample, q: Array, qd: Array,
                step: float) -> LimitedEffort:
        """Return efforts (n,) inside the limits."""
        return self._limits.limit(self._law(desired, q, qd, step))


def make_controller(name: str, model: Model, limits: EffortLimits,
                    settings: AdaptiveSettings) -> Controller:
    """
    Return a controller; all have the same bandwidth for small errors of a known robot.

    :param name: one of CONTROLLERS.
    :param model: the robot as the controller knows it.
    :param limits: effort limits.
    :param settings: the bandwidth counts for all, the rest for the adaptive ones.
    :raises ParameterError: an unknown name, or impossible settings.
    """
    if name in LAW_NAMES:
        return make_adaptive_controller(model, limits, settings)
    if name not in CONTROLLERS:
        raise ParameterError(f"unknown controller '{name}'; known are {', '.join(CONTROLLERS)}")
    frequency = float(np.mean(settings.bandwidth))
    if name == 'computed_torque':
        gains = ComputedTorqueGains.critically_damped(frequency, len(model.chain))
        return LimitedController(limits, lambda desired, q, qd, step: computed_torque(
            model, gains, desired, q, qd))
    joint_gains = pid_gains(model, middle_position(model.chain), frequency, _INTEGRAL_TIME, limits)
    if name == 'pd_gravity':
        return LimitedController(limits, lambda desired, q, qd, step: pd_gravity(
            model, joint_gains, desired, q, qd))
    pid = Pid(joint_gains)
    if name == 'feedforward':
        return LimitedController(limits, lambda desired, q, qd, step: model.torque(
            desired.q, desired.qd, desired.qdd) + pid.effort(desired.q - q, desired.qd - qd, step))
    return LimitedController(limits, lambda desired, q, qd, step: pid.effort(
        desired.q - q, desired.qd - qd, step))
