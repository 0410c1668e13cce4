# SPDX-License-Identifier: Apache-2.0
"""From a stream of joint states to smoothed samples with joint torques."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recordings.cleaning import AT_LIMIT, CutOut
from robot_dynamics_ros.estimation.recordings.effort_torque import torque_from_effort
from robot_dynamics_ros.estimation.recordings.plausibility import PlausibleRange
from robot_dynamics_ros.estimation.smoothing.effort_delay import EffortDelay
from robot_dynamics_ros.estimation.smoothing.fixed_lag import FixedLagSmoother, SmoothedState

#: Number of samples from which the sampling rate is found.
_RATE_SAMPLES = 30

#: Smoothed samples per period of the cut-off frequency.
_KEPT = 4.0
#: Shortest time between two joint states of a robot; stamps that are closer are wrong [s].
_SHORTEST_STEP = 1e-5

#: The first torques count up to this many times their median.
_LARGEST_RATIO = 10.0


class StreamSampler:
    """
    Finds the sampling rate, turns efforts into torques, smooths and downsamples.

    Samples that cannot be used are left out and counted in `cut_out`.

    :param chain: the robot; its limits tell which efforts are saturated, and which samples no
        robot of its kind can have measured.
    :param effort: meaning of the efforts.
    :param cutoff: cut-off frequency of the smoother [Hz], at most 0.4 of the sampling rate.
    :raises ParameterError: a cut-off frequency that is not positive.
    """

    def __init__(self, chain: Chain, effort: EffortSemantics, cutoff: float) -> None:
        if not cutoff > 0.0:
            raise ParameterError(f'smoother: cutoff must be positive, got {cutoff} Hz')
        self._n, self._effort, self._cutoff = len(chain), effort, float(cutoff)
        self._plausible = PlausibleRange.of_chain(chain)
        self._delay = EffortDelay(len(chain), effort.delay)
        # smaller torques need no look: they are neither at a limit nor beyond
        self._limits = chain.effort_limits
        self._from = np.where(np.isnan(self._limits), self._plausible.torque,
                              (1.0 - AT_LIMIT) * self._limits)
        self._waiting: list[tuple[float, Array, Array | None, Array]] = []
        self._smoother: FixedLagSmoother | None = None
        self._cut = CutOut()
        #: Time between the samples that come out [s]; 0 = the sampling rate is not known yet.
        self.step = 0.0
        #: Root mean square of the first torques (n,) [N m, N].
        self.first_torque = np.zeros(self._n)

    @property
    def cut_out(self) -> CutOut:
        """Counts of what was not used so far."""
        return self._cut if self._smoother is None else self._cut + self._smoother.cut_out

    @property
    def lag(self) -> float:
        """Time by which the samples are older than the newest joint state [s]; NaN at first."""
        return (float('nan') if self._smoother is None
                else self._smoother.lag + max(self._effort.delay, 0.0))

    def feed_many(self, t: Array, q: Array, qd: Array | None, tau: Array,
                  outer: Array | None = None) -> list[SmoothedState]:
        """
        Take N joint states and return the smoothed samples that they complete.

        :param t: (N,) time [s].
        :param q: (N, n) positions [rad, m].
        :param qd: (N, n) velocities [rad/s, m/s]; None = not measured.
        :param tau: (N, n) efforts as the robot reports them; NaN = none.
        :param outer: (N, n) what wrenches contribute to the torque [N m, N]; None = nothing.
        """
        torque = torque_from_effort(tau, self._effort)
        size = np.abs(torque)
        missing = np.isnan(tau)
        if missing.any():
            self._cut += CutOut(missing_effort=int(np.count_nonzero(missing)))
        if (size > self._from).any():
            torque = self._without_saturated(torque, size)
        if outer is not None:
            torque = torque + outer
        t, q, qd, torque = self._delay.feed(t, q, qd, torque)
        k = 0
        while self._smoother is None and k < len(t):
            self._wait(float(t[k]), q[k], None if qd is None else qd[k], torque[k])
            k += 1
        if self._smoother is None or k == len(t):
            return []
        return self._smoother.feed_many(t[k:], q[k:], None if qd is None else qd[k:], torque[k:])

    def _without_saturated(self, torque: Array, size: Array) -> Array:
        """Return torques with NaN where they are at the limit or far beyond it."""
        limited = np.abs(size / self._limits - 1.0) <= AT_LIMIT
        beyond = size > self._plausible.torque
        self._cut += CutOut(saturated_effort=int(np.count_nonzero(limited)),
                            implausible_effort=int(np.count_nonzero(beyond)))
        return np.where(limited | beyond, np.nan, torque)

    def _wait(self, t: float, q: Array, qd: Array | None, tau: Array) -> None:
        """Collect the first samples until the sampling rate is known."""
        self._waiting.append((t, q, qd, tau))
        if len(self._waiting) < _RATE_SAMPLES:
            return
        waiting, self._waiting = self._waiting, []
        steps = np.diff([each[0] for each in waiting])
        steps = steps[steps > 0.0]
        if steps.size < _RATE_SAMPLES // 2:
            return
        step = float(np.median(steps))
        if step < _SHORTEST_STEP:
            return
        cutoff = min(self._cutoff, 0.4 / step)
        every = max(1, int(1.0 / (_KEPT * cutoff * step)))
        self._smoother = FixedLagSmoother(self._n, step, cutoff, every, self._plausible)
        self.step = step * every
        torques = np.abs(np.nan_to_num([each[3] for each in waiting]))
        # a single wrong value must not set the scale
        torques = np.minimum(torques, _LARGEST_RATIO * np.median(torques, axis=0))
        self.first_torque = np.sqrt(np.mean(torques ** 2, axis=0))
        for sample in waiting:
            self._smoother.feed(*sample)
