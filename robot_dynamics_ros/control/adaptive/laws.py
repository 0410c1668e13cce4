# SPDX-License-Identifier: Apache-2.0
"""
Control laws that learn while they move, as functions of the state.

Notation of Lu & Meng (1993), section V: ``q~ = q - q_d``, reference velocity
``qd_r = qd_d - Lambda q~`` (86), ``s = qd - qd_r``. Each law gives a torque and the gradient
Y_u^T x that drives the adaptation ``theta' = -Gamma Y_u^T x``.

Friction is taken at the reference velocity: measured velocity is noise near standstill, and as
friction grows with velocity the difference only adds damping, ``-s (f(qd) - f(qd_r)) <= 0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.control.adaptive.adaptation import Adaptation
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.trajectory import TrajectorySample

#: Smallest eigenvalue of the estimated mass matrix, relative to the largest, that Craig's law
#: divides by.
_INVERTIBLE = 1e-6


class LawOutput(NamedTuple):
    """
    What a law says at one state.

    :param torque: (n,) [N m, N].
    :param gradient: (m,) Y_u^T x.
    :param s: (n,) tracking error as a velocity [rad/s, m/s].
    """

    torque: Array
    gradient: Array
    s: Array


class AdaptiveLaw(Protocol):
    """A law; `needs_acceleration` says whether it uses the measured acceleration."""

    needs_acceleration: bool

    def lag(self, H: Array) -> Array:
        """
        Return L (n, n) with ``x . s`` about ``|L Y d|^2`` where the torque is wrong by Y d.

        :param H: (n, n) mass matrix.
        """

    def evaluate(self, learned: LearnedModel, adaptation: Adaptation, theta: Array,
                 desired: TrajectorySample, q: Array, qd: Array, qdd: Array) -> LawOutput:
        """
        Return torque, gradient and error.

        :param learned: the robot and what is unknown of it.
        :param adaptation: its dead zone is applied to the error.
        :param theta: (m,) present values of the unknowns.
        :param desired: the trajectory now, (n,) each.
        :param q: (n,) measured positions [rad, m].
        :param qd: (n,) measured velocities [rad/s, m/s].
        :param qdd: (n,) measured accelerations [rad/s^2, m/s^2].
        """


@dataclass(frozen=True, eq=False)
class SlotineLi:
    """
    Slotine & Li's law and its modification by Lu & Meng.

    ``tau = Y theta_hat - K s`` with ``Y = Y(q, qd, qd_r, qdd_r)``, the original, or
    ``Y(q, qd, qdd_r)``, the modified one (88)-(92), which needs the ordinary regressor alone but
    is sure to be stable only where ``K - (C + C^T) / 2`` is positive (91). Without K it is
    lambda times the estimated mass matrix (94)-(96), in both.

    :param bandwidth: (n,) diagonal of Lambda [1/s], positive.
    :param damping: (n,) diagonal of K [N m s/rad, N s/m], positive; None = lambda H_hat, which
        needs an equal bandwidth of all joints.
    :param modified: True = Lu & Meng's modification.
    """

    bandwidth: Array
    damping: Array | None = None
    modified: bool = False
    needs_acceleration = False

    def __post_init__(self) -> None:
        """Make the arrays read-only and check them."""
        object.__setattr__(self, 'bandwidth', _positive('bandwidth', self.bandwidth))
        if self.damping is not None:
            damping = _positive('damping', self.damping)
            object.__setattr__(self, 'damping', damping)
            if damping.shape != self.bandwidth.shape:
                raise ParameterError(f'adaptive law: {damping.size} values of damping and '
                                     f'{self.bandwidth.size} of bandwidth')
        elif np.ptp(self.bandwidth) > 0.0:
            raise ParameterError('adaptive law: without damping the bandwidth must be the same '
                                 f'for all joints, got {self.bandwidth}')

    def lag(self, H: Array) -> Array:
        """Return K^-1/2: the arm lags by ``s = K^-1 Y d``, and x is s."""
        K = self.bandwidth[0] * H if self.damping is None else np.diag(self.damping)
        return _array(np.linalg.inv(np.linalg.cholesky(K)))

    def evaluate(self, learned: LearnedModel, adaptation: Adaptation, theta: Array,
                 desired: TrajectorySample, q: Array, qd: Array, qdd: Array) -> LawOutput:
        """Return torque, gradient and error; see AdaptiveLaw."""
        error_rate = qd - desired.qd
        s = error_rate + self.bandwidth * (q - desired.q)
        qd_r = qd - s  # (86)
        pull = error_rate if self.damping is not None else error_rate + s  # (96)
        acceleration = desired.qdd - self.bandwidth * pull
        model = learned.model
        Y = (model.regressor(q, qd, acceleration) if self.modified
             else model.reference_regressor(q, qd, qd_r, acceleration))
        columns = learned.columns(Y, qd_r, acceleration)
        torque = learned.torque(theta, columns)  # (92), (95)
        if self.damping is not None:
            torque = torque - self.damping * s
        gradient = learned.gradient(columns, adaptation.beyond_dead_zone(s))  # (89), (94)
        return LawOutput(torque, gradient, s)


@dataclass(frozen=True, eq=False)
class Craig:
    """
    Adaptive computed torque of Craig, Hsu & Sastry (1987): needs the measured acceleration.

    ``tau = Y(q, qd, qdd_d - Kv q~' - Kp q~) theta_hat``; the adaptation follows
    ``Y_u(q, qd, qdd)^T H_hat^-1 (q~' + Psi q~)``. Where the estimated mass matrix H_hat is not
    positive definite nothing is learned.

    :param proportional: (n,) Kp [1/s^2], positive.
    :param derivative: (n,) Kv [1/s], positive.
    :param filter: (n,) Psi [1/s], between 0 and Kv so that the error filter is strictly positive
        real.
    """

    proportional: Array
    derivative: Array
    filter: Array
    needs_acceleration = True

    def __post_init__(self) -> None:
        """Make the arrays read-only and check them."""
        for name in ('proportional', 'derivative', 'filter'):
            object.__setattr__(self, name, _positive(name, getattr(self, name)))
        if np.any(self.filter >= self.derivative):
            raise ParameterError('adaptive law: the filter must be below the derivative gain, '
                                 f'got {self.filter} and {self.derivative}')

    @classmethod
    def critically_damped(cls, frequency: float, n: int) -> Craig:
        """Return the law with the double pole ``s = -frequency`` [rad/s] for n joints."""
        return cls(np.full(n, frequency**2), np.full(n, 2.0 * frequency), np.full(n, frequency))

    def lag(self, H: Array) -> Array:
        """Return H^-1 by the root of the filter: ``s = H^-1 Y d / (Kv - Psi)``, x is H^-1 s."""
        return _array(np.linalg.inv(H)) / np.sqrt(self.derivative - self.filter)[:, None]

    def evaluate(self, learned: LearnedModel, adaptation: Adaptation, theta: Array,
                 desired: TrajectorySample, q: Array, qd: Array, qdd: Array) -> LawOutput:
        """Return torque, gradient and error; see AdaptiveLaw."""
        model = learned.model
        error, error_rate = q - desired.q, qd - desired.qd
        wanted = desired.qdd - self.derivative * error_rate - self.proportional * error
        torque = learned.torque(theta, learned.columns(model.regressor(q, qd, wanted), desired.qd,
                                                       wanted))
        s = error_rate + self.filter * error
        H = learned.mass_matrix(theta, q)
        if not _positive_definite(H) or not np.isfinite(qdd).all():
            return LawOutput(torque, np.zeros(theta.size), s)
        columns = learned.columns(model.regressor(q, qd, qdd), desired.qd, qdd)
        x = _array(np.linalg.solve(H, adaptation.beyond_dead_zone(s)))
        return LawOutput(torque, learned.gradient(columns, x), s)


def _array(values: ArrayLike) -> Array:
    """Return what numpy.linalg types too widely."""
    return np.asarray(values, dtype=np.float64)


def _positive_definite(H: Array) -> bool:
    if not np.isfinite(H).all():
        return False
    values = np.linalg.eigvalsh(H)
    return bool(values[0] > _INVERTIBLE * values[-1])


def _positive(name: str, values: Array) -> Array:
    array = read_only(np.atleast_1d(values))
    if array.ndim != 1 or not np.all(np.isfinite(array) & (array > 0.0)):
        raise ParameterError(f'adaptive law: {name} must be finite and positive, got {array}')
    return array
