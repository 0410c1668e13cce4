# SPDX-License-Identifier: Apache-2.0
"""The shares of the torque of a moving robot, and what the model does not explain."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.chain.pose import Array
from robot_dynamics_ros.control.joint_state import JointSample
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.errors import StateError


class SharesModel(TorqueModel, Protocol):
    """A model that also knows the Coriolis torque."""

    def coriolis_torque(self, q: Array, qd: Array) -> Array:
        """Return the torque of Coriolis and centrifugal forces."""


class TorqueShares(NamedTuple):
    """
    Shares of the torque (n,) each [N m, N].

    :param gravity: carries the weight.
    :param coriolis: of Coriolis and centrifugal forces.
    :param friction: of friction and offset.
    :param residual: measured minus model; NaN for joints without measured effort.
    """

    gravity: Array
    coriolis: Array
    friction: Array
    residual: Array


class TorqueMonitor:
    """Follows joint states; the acceleration comes from the velocity through a low-pass filter."""

    def __init__(self, cutoff: float) -> None:
        """
        Start without a past.

        :param cutoff: of the filter [rad/s]; velocity and effort are filtered alike, so that the
            residual is not made of different delays.
        """
        self._cutoff = cutoff
        self._time: float | None = None
        self._velocity = self._effort = np.zeros(0)

    def restart(self) -> None:
        """Forget the past."""
        self._time = None

    def shares(self, model: SharesModel, sample: JointSample) -> TorqueShares | None:
        """
        Return the shares at a sample, or None where the past is still missing.

        :param model: the robot.
        :param sample: the newest joint state.
        :raises StateError: a velocity is not measured.
        """
        if np.any(np.isnan(sample.qd)):
            raise StateError('the torque shares need measured velocities of every joint')
        if self._time is None or sample.time <= self._time:
            self._time, self._velocity, self._effort = sample.time, sample.qd, sample.effort
            return None
        step = sample.time - self._time
        weight = -np.expm1(-self._cutoff * step)
        before = self._velocity
        self._velocity = before + weight * (sample.qd - before)
        self._effort = self._effort + weight * (sample.effort - self._effort)
        self._time = sample.time
        acceleration = (self._velocity - before) / step
        torque = model.torque(sample.q, self._velocity, acceleration)
        return TorqueShares(model.gravity_torque(sample.q),
                            model.coriolis_torque(sample.q, sample.qd),
                            model.friction_torque(sample.qd), self._effort - torque)
