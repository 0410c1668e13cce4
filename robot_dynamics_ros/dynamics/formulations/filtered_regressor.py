# SPDX-License-Identifier: Apache-2.0
"""
The filtered regressor: no joint acceleration needed (Lu & Meng 1993, section III-A, remark 2).

Both sides of tau = (dW/dt + Z) x pass the filter f / (s + f). The derivative goes into the filter,

    Y_f = f (W - W_f) + Z_f,    tau_f = Y_f x,

where W_f starts at W(0), which stands for the term -f exp(-f t) W(0), and Z_f, tau_f at zero.
Between samples the filtered quantities are taken as linear in time: error of order period^2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.formulations.lu_meng import momentum_split
from robot_dynamics_ros.dynamics.recursions.regressor import reduced_rows
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.errors import StateError


class FilteredMomentum:
    """
    Y_f from W and Z at any times.

    :param cutoff: f, the cut-off frequency of the filter [rad/s].
    """

    def __init__(self, cutoff: float) -> None:
        self.cutoff = cutoff
        self._inputs: tuple[Array, Array] | None = None
        self._filtered: tuple[Array, Array] | None = None

    def reset(self) -> None:
        """Forget the past: the next sample is the first."""
        self._inputs = self._filtered = None

    def update(self, W: Array, Z: Array, step: float) -> Array:
        """
        Take one sample and return Y_f.

        :param W: momentum per unit of the parameters, any shape.
        :param Z: the rest, same shape.
        :param step: time since the last sample [s].
        """
        if self._inputs is None or self._filtered is None:
            self._filtered = (W, np.zeros_like(Z))
        else:
            keep, before, now = filter_weights(self.cutoff, step)
            W_f, Z_f = (keep * kept + before * old + now * new for kept, old, new in zip(
                self._filtered, self._inputs, (W, Z)))
            self._filtered = (W_f, Z_f)
        self._inputs = (W, Z)
        W_f, Z_f = self._filtered
        return self.cutoff * (W - W_f) + Z_f


def filter_weights(cutoff: float, step: float) -> tuple[float, float, float]:
    """
    Return the weights of the filtered value, the last and the present input after a time step.

    :param cutoff: cut-off frequency [rad/s].
    :param step: time step [s], positive; the input is linear in between.
    """
    x = cutoff * step
    mean = -math.expm1(-x) / x  # mean of exp(-f t) over the step
    return math.exp(-x), mean - math.exp(-x), 1.0 - mean


class FilteredRegressor:
    """
    Y_f and tau_f sample by sample, at a constant rate.

    :param chain: the robot; its inertias are not used.
    :param cutoff: f, the cut-off frequency of the filter [rad/s].
    :param period: time between samples [s].
    :raises StateError: cutoff or period is not a positive number.
    """

    def __init__(self, chain: Chain, *, cutoff: float, period: float) -> None:
        for name, value in (('cutoff', cutoff), ('period', period)):
            if not (math.isfinite(value) and value > 0.0):
                raise StateError(f'{name} of the filtered regressor must be positive, '
                                 f'got {value}')
        self._chain = chain
        self._period = period
        self._momentum = FilteredMomentum(cutoff)
        self._torques: tuple[Array, Array] | None = None  # filtered, and the last one

    def reset(self) -> None:
        """Forget the past: the next sample is the first."""
        self._momentum.reset()
        self._torques = None

    def update(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> tuple[Array, Array]:
        """
        Take one sample and return Y_f (n, 10 m) and tau_f (n,), with tau_f = Y_f x.

        :param q: (n,) joint positions [rad, m].
        :param qd: (n,) joint velocities [rad/s, m/s].
        :param tau: (n,) torque of the rigid links [N m, N].
        :raises StateError: a wrong size, or an entry that is not finite: it would stay in the
            filter for ever. The sample is then not taken.
        """
        state = Samples.of(self._chain, q=q, qd=qd, tau=tau)
        if state.count is not None:
            raise StateError('the filtered regressor takes one sample at a time; '
                             'use filtered_regressor for a recording')
        if not state.valid:
            raise StateError('q, qd or tau has an entry that is not finite')
        W, Z = momentum_and_rest(state)
        return self._step(W, Z, np.asarray(tau, dtype=np.float64))

    def _step(self, W: Array, Z: Array, tau: Array) -> tuple[Array, Array]:
        if self._torques is None:
            filtered = np.zeros_like(tau)
        else:
            keep, before, now = filter_weights(self._momentum.cutoff, self._period)
            filtered = keep * self._torques[0] + before * self._torques[1] + now * tau
        self._torques = filtered, tau
        return self._momentum.update(W, Z, self._period), filtered


def momentum_and_rest(state: Samples) -> tuple[Array, Array]:
    """Return W and Z of Y = dW/dt + Z, each (n, 10 m) or (N, n, 10 m), at `q` and `qd`."""
    W, Z = (reduced_rows(state.chain, part) for part in momentum_split(
        state.frames, state.chain.moving_rates(state['qd']), gravity_vector(state.chain)))
    return state.matrix(W), state.matrix(Z)


def filtered_regressor(chain: Chain, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
                       cutoff: float, period: float) -> tuple[Array, Array]:
    """
    Return Y_f (N, n, 10 m) and tau_f (N, n) of a recording at a constant rate.

    :param chain: the robot; its inertias are not used.
    :param q: (N, n) joint positions [rad, m].
    :param qd: (N, n) joint velocities [rad/s, m/s].
    :param tau: (N, n) torque of the rigid links [N m, N].
    :param cutoff: cut-off frequency of the filter [rad/s].
    :param period: time between samples [s].
    :raises StateError: a wrong size, one state instead of a recording, a non-finite entry.
    """
    state = Samples.of(chain, q=q, qd=qd, tau=tau)
    if state.count is None:
        raise StateError('a recording has shape (N, n); use FilteredRegressor for one sample')
    if not np.all(state.valid):
        raise StateError(f'sample {int(np.argmin(state.valid))} has an entry that is not finite')
    regressor = FilteredRegressor(chain, cutoff=cutoff, period=period)
    W, Z = momentum_and_rest(state)
    torque = np.asarray(tau, dtype=np.float64)
    steps = [regressor._step(*sample) for sample in zip(W, Z, torque)]
    return np.array([Y for Y, _ in steps]), np.array([filtered for _, filtered in steps])
