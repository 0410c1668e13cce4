# SPDX-License-Identifier: Apache-2.0
"""The shares of the torque of a moving robot, and what the model does not explain."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.joint_state import JointSample
from robot_dynamics_ros.control.momentum_observer import MomentumModel, MomentumObserver


class SharesModel(MomentumModel, Protocol):
    """A model that also knows the Coriolis torque."""

    def coriolis_torque(self, q: Array, qd: Array) -> Array:
        """Return the torque of Coriolis and centrifugal forces."""


class TorqueShares(NamedTuple):
    """
    Shares of the torque (n,) each [N m, N].

    :param gravity: carries the weight.
    :param coriolis: of Coriolis and centrifugal forces.
    :param friction: of friction and offset.
    :param residual: measured minus model, behind the lag of the momentum observer; NaN for joints
        without measured effort.
    :param external_torque: what the environment exerts on the joints: minus the residual.
    """

    gravity: Array
    coriolis: Array
    friction: Array
    residual: Array
    external_torque: Array


class TorqueMonitor:
    """Follows joint states."""

    def __init__(self, bandwidth: float) -> None:
        """
        Start without a past.

        :param bandwidth: of the momentum observer [rad/s].
        """
        self._observer = MomentumObserver(bandwidth)

    def restart(self) -> None:
        """Forget the past."""
        self._observer.restart()

    def shares(self, model: SharesModel, sample: JointSample) -> TorqueShares | None:
        """
        Return the shares at a sample, or None where the past is still missing.

        :param model: the robot.
        :param sample: the newest joint state, efforts as joint torques [N m, N].
        :raises StateError: a velocity is not measured.
        """
        external = self._observer.external_torque(model, sample)
        if external is None:
            return None
        return TorqueShares(model.gravity_torque(sample.q),
                            model.coriolis_torque(sample.q, sample.qd),
                            model.friction_torque(sample.qd), -external, external)
