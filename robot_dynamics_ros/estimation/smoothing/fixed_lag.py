# SPDX-License-Identifier: Apache-2.0
"""
Causal smoothing of a stream with a fixed lag: q, qd, qdd and torque, equally filtered.

A symmetric kernel over the last samples gives the values in the middle of its window: no phase
error, but a lag of half the window. It is the kernel of a local cubic fit under a smooth window,
which preserves polynomials up to the third order and has negligible side lobes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recordings.cleaning import GAP_STEPS, CutOut

#: First and second derivative over five neighbours, exact to the fourth order.
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0

#: Pauses up to this part of the period of the cut-off frequency are bridged: to the smoother they
#: are no worse than jitter.
_BRIDGED = 0.1


@dataclass(frozen=True, eq=False)
class SmoothedState:
    """
    One smoothed sample of a stream.

    :param t: time [s].
    :param q: (n,) positions [rad, m].
    :param qd: (n,) velocities [rad/s, m/s].
    :param qdd: (n,) accelerations [rad/s^2, m/s^2].
    :param tau: (n,) torques [N m, N]; NaN where one of the samples in the window has none.
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
    Return the half width of the smallest kernel that halves a sine of the cut-off frequency.

    :param cutoff: cut-off frequency [Hz].
    :param step: time between samples [s].
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
    Smooths joint states one by one; unusable samples are left out and counted.

    Samples are interpolated onto an even grid first, so jitter does no harm. The smoother restarts
    after a pause, or when the clock was set back.

    :param n: number of joints.
    :param step: step of the even grid [s], about that of the samples.
    :param cutoff: cut-off frequency [Hz], below half the sampling rate.
    :param every: factor of downsampling: keep only every `every`-th smoothed sample.
    :raises ParameterError: a cut-off frequency above half the sampling rate.
    """

    def __init__(self, n: int, step: float, cutoff: float, every: int = 1) -> None:
        if not (step > 0.0 and 0.0 < cutoff * step < 0.5):
            raise ParameterError(f'smoother: the cut-off frequency {cutoff} Hz must be below half '
                                 f'the sampling rate {1.0 / step if step > 0 else step:g} Hz')
        self.step, self._n, self._every = float(step), n, every
        self._gap = max(GAP_STEPS * self.step, _BRIDGED / cutoff)
        half = half_width(cutoff, step)
        self._kernel = smoothing_kernel(half)
        # smoothing and differentiation in one
        self._rate = np.convolve(self._kernel, _FIRST) / self.step
        self._second_rate = np.convolve(self._kernel, _SECOND) / self.step ** 2
        self.lag = (half + 2) * self.step
        self.cut_out = CutOut()
        self._restart()

    def _restart(self) -> None:
        self._grid = np.empty((0, 3 * self._n))  # the last rows of the even grid
        self._last: tuple[float, Array] | None = None
        self._next, self._count = 0.0, 0

    def feed(self, t: float, q: Array, qd: Array | None, tau: Array) -> list[SmoothedState]:
        """
        Take one sample and return the smoothed ones that it completes.

        :param t: time [s].
        :param q: (n,) positions [rad, m].
        :param qd: (n,) velocities [rad/s, m/s]; None = from the positions.
        :param tau: (n,) torques [N m, N]; NaN = none.
        """
        return self.feed_many(np.array([t]), q[None], None if qd is None else qd[None], tau[None])

    def feed_many(self, t: Array, q: Array, qd: Array | None, tau: Array) -> list[SmoothedState]:
        """
        Take N samples at once: the same as N calls of `feed`, but faster.

        :param t: (N,) time [s].
        :param q: (N, n) positions [rad, m].
        :param qd: (N, n) velocities [rad/s, m/s]; None = from the positions.
        :param tau: (N, n) torques [N m, N]; NaN = none.
        """
        velocity = np.full_like(q, np.nan) if qd is None else qd
        values = np.concatenate([q, velocity, tau], axis=1)
        state = values[:, :self._n if qd is None else 2 * self._n]
        before = -np.inf if self._last is None else self._last[0]
        steps = np.diff(t, prepend=before) if self._last is not None else np.diff(t)
        if (np.isfinite(state).all() and np.isfinite(t).all() and (steps > 0.0).all()
                and (steps <= self._gap).all()):
            return self._extended(t, values)
        states = []
        for k in range(len(t)):
            if self._accepts(float(t[k]), state[k]):
                states += self._extended(t[k:k + 1], values[k:k + 1])
        return states

    def _accepts(self, t: float, state: Array) -> bool:
        """Return whether a sample is usable; restart where it does not continue the last one."""
        if not (np.isfinite(t) and np.all(np.isfinite(state))):
            self.cut_out += CutOut(invalid_state=1)
            return False
        if self._last is None:
            return True
        last = self._last[0]
        if t == last:
            self.cut_out += CutOut(duplicate_time=1)
            return False
        if t < last and last - t < self._gap:
            self.cut_out += CutOut(backward_time=1)
            return False
        if t < last or t - last > self._gap:
            self.cut_out += CutOut(gaps=1)
            self._restart()
        return True

    def _extended(self, t: Array, values: Array) -> list[SmoothedState]:
        """Interpolate good samples onto the even grid; return the states that they complete."""
        if self._last is None:
            self._last, self._next = (float(t[0]), values[0]), float(t[0]) + self.step
            self._grid, self._count = values[:1].copy(), 0
            if len(t) == 1:
                return []
            t, values = t[1:], values[1:]
        dust = 1e-9 * self.step
        count = int(np.floor((t[-1] + dust - self._next) / self.step)) + 1
        times, rows = np.append(self._last[0], t), np.vstack([self._last[1], values])
        self._last = (float(t[-1]), values[-1])
        if count <= 0:
            return []
        grid = self._next + self.step * np.arange(count)
        right = np.searchsorted(times, grid - dust).clip(1)
        part = ((grid - times[right - 1]) / (times[right] - times[right - 1]))[:, None]
        new = np.where(part < 1.0, rows[right - 1] + part * (rows[right] - rows[right - 1]),
                       rows[right])
        self._next += count * self.step
        return self._smoothed(np.asarray(grid), new)

    def _smoothed(self, times: Array, rows: Array) -> list[SmoothedState]:
        """Return the smoothed states that end with new rows of the grid."""
        known = len(self._grid)
        grid = np.vstack([self._grid, rows])
        length = self._rate.size
        states = []
        for k, time in enumerate(times.tolist()):
            end = known + k + 1
            if end < length:
                continue
            self._count += 1
            if self._count % self._every == 0:
                states.append(self._state(time, grid[end - length:end]))
        self._grid = grid[max(0, len(grid) - length + 1):]
        return states

    def _state(self, time: float, window: Array) -> SmoothedState:
        n = self._n
        middle = self._kernel @ window[2:-2]
        q, qd = middle[:n], middle[n:2 * n]
        if np.isfinite(qd).all():
            qdd = self._rate @ window[:, n:2 * n]
        else:
            qd, qdd = self._rate @ window[:, :n], self._second_rate @ window[:, :n]
        return SmoothedState(time - self.lag, q, qd, qdd, middle[2 * n:])
