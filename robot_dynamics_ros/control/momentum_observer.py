# SPDX-License-Identifier: Apache-2.0
"""
External torque from the generalized momentum, without accelerations (De Luca & Mattone 2003).

``r' = K (A(q) qd' + h(q, qd) - tau - r)``, integrated over a step instead of differentiated:
``A qd'`` becomes ``(A_0 + A_1) / 2 (qd_1 - qd_0)``, which is the change of the momentum ``A qd``
less the trapezoid of ``A' qd``. The estimate is the true external torque behind a first-order lag.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.joint_state import JointSample
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.errors import ParameterError, StateError

#: After a longer pause of the joint states the observer starts over [s].
LONGEST_STEP = 0.2


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
        if last is None or not 0.0 < now.time - last.time <= LONGEST_STEP:
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
