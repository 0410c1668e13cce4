# SPDX-License-Identifier: Apache-2.0
"""
Causal smoothing of a stream with a fixed lag: q, qd, qdd and an equally filtered torque.

A symmetric kernel over the last samples gives values in the middle of its window, without phase
error but late by half of it. The kernel is that of a local cubic fit under a smooth window: it
leaves polynomials up to the third order untouched and has no side lobes to speak of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.chain.pose import Array
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.cleaning import GAP_STEPS, CutOut

#: First and second derivative over five neighbours, exact to the fourth order.
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0


@dataclass(frozen=True, eq=False)
class SmoothedState:
    """
    One smoothed sample of a stream.

    :param t: time [s].
    :param q: (n,) [rad, m].
    :param qd: (n,) [rad/s, m/s].
    :param qdd: (n,) [rad/s^2, m/s^2].
    :param tau: (n,) [N m, N]; NaN where one of the samples in the window has none.
    """

    t: float
    q: Array
    qd: Array
    qdd: Array
    tau: Array


def smoothing_kernel(half: int) -> Array:
    """
    Return a symmetric kernel (2 half + 1,) with sum 1 and vanishing second moment.

    :param half: number of samples on each side.
    """
    i = np.arange(-half, half + 1) / (half + 1.0)
    window = (1.0 - i * i) ** 3
    s0, s2, s4 = (float(np.sum(window * i ** k)) for k in (0, 2, 4))
    if half < 2:  # too few samples for a cubic: the window alone
        return window / s0
    return np.asarray(window * (s4 - s2 * i * i) / (s0 * s4 - s2 * s2))


def half_width(cutoff: float, step: float) -> int:
    """
    Return the smallest kernel that halves a sine of the cut-off frequency.

    :param cutoff: [Hz].
    :param step: between samples [s].
    """
    half = 1
    while True:
        kernel = smoothing_kernel(half)
        phase = 2.0 * np.pi * cutoff * step * np.arange(-half, half + 1)
        if float(kernel @ np.cos(phase)) <= 0.5:
            return half
        half += 1


class FixedLagSmoother:
    """
    Smooths joint states as they come; what cannot be used is left out and counted.

    Samples are put on an even grid first, so jitter does no harm. After a pause, or time running
    backward for good, it starts anew.
    """

    def __init__(self, n: int, step: float, cutoff: float) -> None:
        """
        Begin with nothing.

        :param n: number of joints.
        :param step: of the even grid [s], about that of the samples.
        :param cutoff: [Hz], below half the sampling rate.
        :raises ParameterError: a cut-off frequency that the samples cannot show.
        """
        if not (step > 0.0 and 0.0 < cutoff * step < 0.5):
            raise ParameterError(f'smoother: the cut-off frequency {cutoff} Hz must be below half '
                                 f'the sampling rate {1.0 / step if step > 0 else step:g} Hz')
        self.step = float(step)
        half = half_width(cutoff, step)
        self._kernel = smoothing_kernel(half)
        self.lag = (half + 2) * self.step
        self._n = n
        self.cut_out = CutOut()
        self._window = np.full((self._kernel.size, 3 * n), np.nan)
        self._smoothed = np.full((_FIRST.size, 3 * n), np.nan)
        self._restart()

    def _restart(self) -> None:
        self._filled = self._emitted = 0
        self._last: tuple[float, Array] | None = None
        self._next = 0.0

    def feed(self, t: float, q: Array, qd: Array | None, tau: Array) -> list[SmoothedState]:
        """
        Take one sample and return the smoothed ones that it completes.

        :param t: time [s].
        :param q: (n,) [rad, m].
        :param qd: (n,) [rad/s, m/s]; None = from the positions.
        :param tau: (n,) [N m, N]; NaN = none.
        """
        n = self._n
        values = np.concatenate([q, np.full(n, np.nan) if qd is None else qd, tau])
        if not (np.isfinite(t) and np.all(np.isfinite(values[:n]))
                and (qd is None or np.all(np.isfinite(values[n:2 * n])))):
            self.cut_out += CutOut(invalid_state=1)
            return []
        if self._last is not None:
            if t == self._last[0]:
                self.cut_out += CutOut(duplicate_time=1)
                return []
            if t < self._last[0] and self._last[0] - t < GAP_STEPS * self.step:
                self.cut_out += CutOut(backward_time=1)
                return []
            if t < self._last[0] or t - self._last[0] > GAP_STEPS * self.step:
                self.cut_out += CutOut(gaps=1)
                self._restart()
        if self._last is None:
            self._last, self._next = (t, values), t + self.step
            self._push(values)
            return []
        before, old = self._last
        states = []
        while self._next <= t + 1e-9 * self.step:
            part = min((self._next - before) / (t - before), 1.0)
            states += self._push(old + part * (values - old) if part < 1.0 else values)
            self._next += self.step
        self._last = (t, values)
        return states

    def _push(self, values: Array) -> list[SmoothedState]:
        """Put one sample of the even grid into the window."""
        self._window[:-1] = self._window[1:]
        self._window[-1] = values
        self._filled += 1
        if self._filled < len(self._window):
            return []
        self._smoothed[:-1] = self._smoothed[1:]
        self._smoothed[-1] = self._kernel @ self._window
        self._emitted += 1
        if self._emitted < len(self._smoothed):
            return []
        n, middle = self._n, self._smoothed[2]
        q, qd = middle[:n].copy(), middle[n:2 * n].copy()
        if np.isfinite(qd).all():
            qdd = _FIRST @ self._smoothed[:, n:2 * n] / self.step
        else:
            qd = _FIRST @ self._smoothed[:, :n] / self.step
            qdd = _SECOND @ self._smoothed[:, :n] / self.step ** 2
        t = self._next - self.lag
        return [SmoothedState(t, q, qd, qdd, middle[2 * n:].copy())]
