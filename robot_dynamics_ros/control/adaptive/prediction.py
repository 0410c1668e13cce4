# SPDX-License-Identifier: Apache-2.0
"""
Learning from the torque itself: the prediction error of the filtered regressor.

An adaptive law learns from the tracking error s alone. The torque that was commanded says more:
passed through the filter of the filtered regressor (Lu & Meng 1993, III-A, remark 2) it is
``Y_f theta``, without any acceleration, and ``e = Y_f theta_hat - tau_f`` is wrong where the
parameters are (Slotine & Li 1989, composite adaptation). Its part of the adaptation,
``-Gamma Y_f^T R e``, adds ``-e^T R e <= 0`` to the derivative of the Lyapunov function.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel, TorqueColumns
from robot_dynamics_ros.dynamics.formulations.filtered_regressor import (
    FilteredMomentum,
    filter_weights,
)
from robot_dynamics_ros.dynamics.joints.joint_terms import JOINT_TERMS


class PredictionError:
    """
    The gradient Y_f^T R e, sample by sample.

    :param learned: the robot and what is unknown of it.
    :param weights: (n,) diagonal of R [rad/(N m s), m/(N s)].
    :param gains: (m,) diagonal of Gamma.
    :param cutoff: cut-off frequency of the filter [rad/s].
    """

    def __init__(self, learned: LearnedModel, weights: Array, gains: Array,
                 cutoff: float) -> None:
        self._learned, self._weights, self._gains = learned, weights, gains
        self._filter = FilteredMomentum(cutoff)
        self._torque = np.zeros(len(weights))
        self._applied: Array | None = None
        self._rise: Array | None = None

    def restart(self) -> None:
        """Begin a new motion: the next sample does not follow the last one."""
        self._filter.reset()
        self._torque = np.zeros_like(self._torque)
        self._applied = self._rise = None

    def applied(self, effort: Array) -> None:
        """Remember the efforts (n,) that are commanded until the next sample [N m, N]."""
        self._applied = effort

    def gradient(self, theta: Array, q: Array, qd: Array, step: float) -> Array:
        """
        Take a sample and return the gradient (m,) for a step of learning.

        It is divided by one plus the part of the error that the step would remove, so that no
        step can remove more than all of it.

        :param theta: (m,) present values of the unknowns.
        :param q: (n,) measured positions [rad, m].
        :param qd: (n,) measured velocities [rad/s, m/s].
        :param step: time since the last sample [s], positive.
        """
        learned = self._learned
        W, Z = learned.model.momentum_split(q, qd)
        factors = learned.columns(Z, qd, qd).joints  # a rotor has the momentum Ia qd
        rotors, friction = np.zeros_like(factors), factors.copy()
        rotors[0], friction[0] = factors[0], 0.0
        p = W.size
        Y = self._filter.update(np.concatenate([W.ravel(), rotors.ravel()]),
                                np.concatenate([Z.ravel(), friction.ravel()]), step)
        now_at = TorqueColumns(Z, friction)
        load = (None if self._applied is None
                else learned.carried(theta, now_at, self._applied))
        rise_before, self._rise = self._rise, learned.friction_rise(now_at, load)
        if self._applied is None:
            return np.zeros_like(theta)
        keep, before, now = filter_weights(self._filter.cutoff, step)
        self._torque = keep * self._torque + (1.0 - keep) * self._applied
        if self._rise is not None and rise_before is not None:
            self._torque = self._torque - before * rise_before - now * self._rise
        columns = TorqueColumns(Y[:p].reshape(W.shape), Y[p:].reshape(len(JOINT_TERMS), -1))
        e = learned.linear_torque(theta, columns) - self._torque
        Y_u = learned.unknown_columns(columns)
        removed = step * float(self._weights @ (Y_u**2 @ self._gains))
        return np.asarray((self._weights * e) @ Y_u / (1.0 + removed))
