# SPDX-License-Identifier: Apache-2.0
"""
PID of n joints with a clamped integral, as ros2_control's trajectory controller runs it.

Also PD with gravity compensation: the simplest law that comes to rest at the goal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.trajectory import TrajectorySample

#: Names of the gains, as joint_trajectory_controller has them.
GAIN_NAMES = ('p', 'i', 'd', 'i_clamp_max', 'i_clamp_min')


@dataclass(frozen=True, eq=False)
class PidGains:
    """
    Gains of n joints, none negative but i_clamp_min.

    :param p: (n,) [N m/rad, N/m].
    :param i: (n,) [N m/(rad s), N/(m s)].
    :param d: (n,) [N m s/rad, N s/m].
    :param i_clamp_max: (n,) largest effort of the integral part [N m, N].
    :param i_clamp_min: (n,) smallest effort of the integral part [N m, N], not positive; None =
        -i_clamp_max.
    """

    p: Array
    i: Array
    d: Array
    i_clamp_max: Array
    # None is replaced by -i_clamp_max
    i_clamp_min: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check them."""
        if self.i_clamp_min is None:
            object.__setattr__(self, 'i_clamp_min', -np.asarray(self.i_clamp_max, dtype=float))
        for name in GAIN_NAMES:
            values = read_only(getattr(self, name))
            if values.shape != np.shape(self.p) or values.ndim != 1:
                raise ParameterError(f'PID: {name} has shape {values.shape}, p has '
                                     f'{np.shape(self.p)}')
            sign = -1.0 if name == 'i_clamp_min' else 1.0
            if not np.all(np.isfinite(values) & (sign * values >= 0.0)):
                raise ParameterError(f'PID: {name} must be finite and not '
                                     f"{'negative' if sign > 0.0 else 'positive'}, got {values}")
            object.__setattr__(self, name, values)


class Pid:
    """The controller: gains and the integral part of its effort, (n,) [N m, N]."""

    def __init__(self, gains: PidGains) -> None:
        """
        Start with an empty integral.

        :param gains: gains of the joints.
        """
        self.gains = gains
        self.integral_effort = np.zeros_like(gains.p)

    def reset(self) -> None:
        """Empty the integral."""
        self.integral_effort = np.zeros_like(self.gains.p)

    def effort(self, error: Array, error_rate: Array, step: float) -> Array:
        """
        Return the effort (n,) [N m, N] and let the integral grow.

        :param error: (n,) desired minus measured position [rad, m].
        :param error_rate: (n,) desired minus measured velocity [rad/s, m/s].
        :param step: time since the last call [s].
        """
        g = self.gains
        self.integral_effort = np.clip(self.integral_effort + g.i * error * step,
                                        g.i_clamp_min, g.i_clamp_max)
        return g.p * error + self.integral_effort + g.d * error_rate


def pd_gravity(model: TorqueModel, gains: PidGains, desired: TrajectorySample, q: Array,
               qd: Array) -> Array:
    """
    Return the torque (n,) [N m, N]: weight plus P and D of the error.

    :param model: the robot.
    :param gains: `p` and `d` are used.
    :param desired: the trajectory now, (n,) each.
    :param q: (n,) measured positions [rad, m].
    :param qd: (n,) measured velocities [rad/s, m/s].
    """
    return (model.gravity_torque(q) + gains.p * (desired.q - q)
            + gains.d * (desired.qd - qd))
