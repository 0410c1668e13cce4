# SPDX-License-Identifier: Apache-2.0
"""
External torque from the generalized momentum, without accelerations (De Luca & Mattone 2003).

``r' = K (A(q) qd' + h(q, qd) - tau - r)``, integrated over a step instead of differentiated:
``A qd'`` becomes ``(A_0 + A_1) / 2 (qd_1 - qd_0)``, which is the change of the momentum ``A qd``
less the trapezoid of ``A' qd``. The estimate is the true external torque behind a first-order lag.

`TorqueMonitor` adds what the model itself says: gravity, Coriolis and friction torque.
`TorqueThreshold` tells when an external torque becomes an event, with hysteresis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.motion.joint_state import JointSample

#: After a longer pause of the joint states the observer starts over [s].
LONGEST_GAP = 0.2


class MomentumModel(TorqueModel, Protocol):
    """A model that also knows the mass matrix."""

    def mass_matrix(self, q: Array) -> Array:
        """Return the mass matrix (n, n) of links and rotors."""


class _State(NamedTuple):
    """What the next step needs of the last sample."""

    time: float
    qd: Array
    mass: Array
    drive: Array  # effort less everything but the inertia [N m, N]


def mean_external_torque(times: Array, qd: Array, mass: Array, drive: Array) -> Array:
    """
    Return what an unknown torque has done between N samples, on average (N - 1, n) [N m, N].

    :param times: (N,) [s].
    :param qd: (N, n) velocities [rad/s, m/s].
    :param mass: (N, n, n) mass matrices of links and rotors.
    :param drive: (N, n) measured torque less the model's torque at rest acceleration [N m, N].
    """
    rate = np.diff(qd, axis=0) / np.diff(times)[:, None]
    inertial = np.einsum('kij,kj->ki', 0.5 * (mass[:-1] + mass[1:]), rate)
    return np.asarray(inertial - 0.5 * (drive[:-1] + drive[1:]))


class MomentumObserver:
    """Follows joint states and tells what the environment does to the joints."""

    def __init__(self, bandwidth: float) -> None:
        """
        Start without a past.

        :param bandwidth: K, one over the time constant of the lag [rad/s].
        :raises ParameterError: not positive.
        """
        if not (np.isfinite(bandwidth) and bandwidth > 0.0):
            raise ParameterError('momentum observer: the bandwidth must be positive and finite, '
                                 f'got {bandwidth}')
        self._bandwidth = bandwidth
        self._last: _State | None = None
        self._estimate = np.zeros(0)

    def restart(self) -> None:
        """Forget the past; the next estimate begins at zero."""
        self._last = None

    def external_torque(self, model: MomentumModel, sample: JointSample) -> Array | None:
        """
        Return the torque (n,) [N m, N] that the environment exerts, positive along the joints.

        :param model: the robot; it may be another one at every call.
        :param sample: the newest joint state, efforts as joint torques [N m, N].
        :returns: NaN for joints without measured effort; None where the past is still missing.
        :raises StateError: a velocity is not measured.
        """
        if np.any(np.isnan(sample.qd)):
            raise StateError('the external torque needs measured velocities of every joint')
        rest = model.torque(sample.q, sample.qd, np.zeros_like(sample.qd))
        now = _State(sample.time, sample.qd, model.mass_matrix(sample.q), sample.effort - rest)
        last, self._last = self._last, now
        if last is None or not 0.0 < now.time - last.time <= LONGEST_GAP:
            self._estimate = np.zeros_like(now.qd)
            return None
        step = now.time - last.time
        mean = mean_external_torque(np.array([last.time, now.time]), np.stack([last.qd, now.qd]),
                                    np.stack([last.mass, now.mass]),
                                    np.stack([last.drive, now.drive]))[0]
        before = self._estimate
        estimate = before - np.expm1(-self._bandwidth * step) * (mean - before)
        self._estimate = np.where(np.isfinite(estimate), estimate, 0.0)
        return np.where(np.isfinite(estimate), estimate, np.nan)


class ContributionModel(MomentumModel, Protocol):
    """A model that also knows the Coriolis torque."""

    def coriolis_torque(self, q: Array, qd: Array) -> Array:
        """Return the torque of Coriolis and centrifugal forces."""


class TorqueContributions(NamedTuple):
    """
    Contributions to the torque (n,) each [N m, N].

    :param gravity: torque that carries the weight.
    :param coriolis: torque of Coriolis and centrifugal forces.
    :param friction: torque of friction and offset.
    :param residual: measured minus model, behind the lag of the momentum observer; NaN for joints
        without measured effort.
    :param external_torque: torque of the environment on the joints: minus the residual.
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

        :param bandwidth: bandwidth of the momentum observer [rad/s].
        """
        self._observer = MomentumObserver(bandwidth)

    def restart(self) -> None:
        """Forget the past."""
        self._observer.restart()

    def contributions(self, model: ContributionModel,
                      sample: JointSample) -> TorqueContributions | None:
        """
        Return the contributions at a sample, or None where the past is still missing.

        :param model: the robot.
        :param sample: the newest joint state, efforts as joint torques [N m, N].
        :raises StateError: a velocity is not measured.
        """
        external = self._observer.external_torque(model, sample)
        if external is None:
            return None
        return TorqueContributions(model.gravity_torque(sample.q),
                                   model.coriolis_torque(sample.q, sample.qd),
                                   model.friction_torque(sample.qd), -external, external)


#: A joint is free again below this part of its threshold.
RELEASE = 0.8


class TorqueThreshold:
    """Remembers which joints are above their thresholds."""

    def __init__(self, joint_names: Sequence[str], thresholds: Array) -> None:
        """
        Begin with all joints free.

        :param joint_names: n names.
        :param thresholds: (n,) largest torque that is no event [N m, N]; infinite = never one.
        :raises ParameterError: a threshold that is not positive.
        """
        self.values = read_only(thresholds)
        for name, threshold in zip(joint_names, self.values):
            if not threshold > 0.0:
                raise ParameterError(f'joint {name}: the threshold of the external torque must be '
                                     f'positive, got {threshold}')
        self.joint_names = tuple(joint_names)
        self._above = np.zeros(len(self.joint_names), dtype=bool)

    @property
    def above(self) -> tuple[str, ...]:
        """Names of the joints above their thresholds."""
        return tuple(name for name, above in zip(self.joint_names, self._above) if above)

    def update(self, torque: Array) -> tuple[str, ...]:
        """
        Return the names of the joints that have passed their thresholds with this torque.

        :param torque: (n,) [N m, N]; NaN leaves a joint as it was.
        """
        size, before = np.abs(torque), self._above
        self._above = np.where(before, ~(size < RELEASE * self.values),
                               size > self.values)
        return tuple(name for name, new in zip(self.joint_names, self._above & ~before) if new)
