# SPDX-License-Identifier: Apache-2.0
"""
Computed torque: the model makes every joint a unit mass, a PD law moves it.

``tau = torque(q, qd, qdd_d + kd (qd_d - qd) + kp (q_d - q))`` (Khalil & Dombre 14.4.2). Friction
is taken at the desired velocity: near standstill the measured one is noise, and dry friction of
noise is chatter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.trajectory import TrajectorySample


@dataclass(frozen=True, eq=False)
class ComputedTorqueGains:
    """
    Gains of the error dynamics ``e'' + kd e' + kp e = 0``.

    :param proportional: (n,) kp [1/s^2], not negative.
    :param derivative: (n,) kd [1/s], not negative.
    """

    proportional: Array
    derivative: Array

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check them."""
        for name in ('proportional', 'derivative'):
            values = read_only(getattr(self, name))
            if values.ndim != 1 or not np.all(np.isfinite(values) & (values >= 0.0)):
                raise ParameterError(f'computed torque: {name} gains must be finite and not '
                                     f'negative, got {values}')
            object.__setattr__(self, name, values)
        if self.proportional.size != self.derivative.size:
            raise ParameterError('computed torque: as many proportional as derivative gains')

    @classmethod
    def critically_damped(cls, frequency: float, n: int) -> ComputedTorqueGains:
        """Return gains with the double pole ``s = -frequency`` [rad/s] for n joints."""
        return cls(np.full(n, frequency**2), np.full(n, 2.0 * frequency))


def computed_torque(model: TorqueModel, gains: ComputedTorqueGains, desired: TrajectorySample,
                    q: Array, qd: Array) -> Array:
    """
    Return the torque (n,) [N m, N] that drives the tracking error to zero.

    :param model: the robot.
    :param gains: gains of the error dynamics.
    :param desired: the trajectory now, (n,) each.
    :param q: (n,) measured positions [rad, m].
    :param qd: (n,) measured velocities [rad/s, m/s].
    """
    acceleration = (desired.qdd + gains.derivative * (desired.qd - qd)
                    + gains.proportional * (desired.q - q))
    friction = model.friction_torque(desired.qd) - model.friction_torque(qd)
    return model.torque(q, qd, acceleration) + friction
