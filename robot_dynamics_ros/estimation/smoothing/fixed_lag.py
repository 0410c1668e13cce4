# SPDX-License-Identifier: Apache-2.0
"""
Causal smoothing of a stream with a fixed lag: q, qd, qdd and torque, equally filtered.

A symmetric kernel over the last samples gives the values in the middle of its window: no phase
error, but a lag of half the window. It is the kernel of a local cubic fit under a smooth window,
which preserves polynomials up to the third order and has negligible side lobes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recordings.cleaning import BRIDGED, GAP_STEPS, CutOut
from robot_dynamics_ros.estimation.recordings.plausibility import PlausibleRange

#: First and second derivative over five neighbours, exact to the fourth order.
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0

#: Velocities may differ from those that the positions show by this part of the fastest motion so
#: far: the filters of drives delay them...
_CONSISTENT = 0.25
#: ...but only by this part where a position does not change at all...
_STANDING = 0.03
#: ...and slower motions count as one at this part of the plausible velocity, at most at this
#: velocity [rad/s, m/s].
_SLOWEST_PART, _SLOWEST = 0.1, 1.0
#: Smaller changes, as parts of the fastest motion or of the torque, are rounding.
_ROUNDING = 1e-9

#: A joint moves above this part of its fastest motion.
_MOVING = 0.01


@dataclass(frozen=True, eq=False)
class SmoothedState:
    """
    One smoothed sample of a stream.

    :param t: time [s].
    :param q: (n,) positions [rad, m].
    :param qd: (n,) velocities [rad/s, m/s].
    :param qdd: (n,) accelerations [rad/s^2, m/s^2].
    :param tau: (n,) torques [N m, N]; NaN where the samples in the window leave a longer pause.
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

    Samples are interpolated onto an even grid first, so jitter does no harm; short pauses of the
    samples, and of the torque of one joint, are bridged. The smoother restarts after a longer
    pause, or when the clock was set back. A sample that no motion can lead to is left out.
    Smoothed velocities must agree with the change of the smoothed positions; both come from many
    samples, so noise and a coarse resolution do not count, but stuck or spoiled values do. So is a
    torque left out that is stuck while its joint moves.

    :param n: number of joints.
    :param step: step of the even grid [s], about that of the samples.
    :param cutoff: cut-off frequency [Hz], below half the sampling rate.
    :param every: factor of downsampling: keep only every `every`-th smoothed sample.
    :param plausible: range of the joint states; None = all that are finite.
    :raises ParameterError: a cut-off frequency above half the sampling rate.
    """

    def __init__(self, n: int, step: float, cutoff: float, every: int = 1,
                 plausible: PlausibleRange | None = None) -> None:
        if not (step > 0.0 and 0.0 < cutoff * step < 0.5):
            raise ParameterError(f'smoother: the cut-off frequency {cutoff} Hz must be below half '
                                 f'the sampling rate {1.0 / step if step > 0 else step:g} Hz')
        self.step, self._n, self._every = float(step), n, every
        self._gap = max(GAP_STEPS * self.step, BRIDGED / cutoff)
        half = half_width(cutoff, step)
        self._kernel = smoothing_kernel(half)
        # smoothing and differentiation in one
        self._rate = np.convolve(self._kernel, _FIRST) / self.step
        self._second_rate = np.convolve(self._kernel, _SECOND) / self.step ** 2
        self.lag = (half + 2) * self.step
        self.cut_out = CutOut()
        nothing, finite = np.zeros(n), np.full(n, np.finfo(np.float64).max)
        limits = plausible or PlausibleRange(nothing, finite, finite, finite)
        self._judges = plausible is not None
        self._slowest = np.minimum(_SLOWEST_PART * limits.velocity, _SLOWEST)
        self._middle = np.concatenate([limits.middle, nothing])
        self._reach = np.concatenate([limits.reach, limits.velocity])
        self._velocity = limits.velocity
        self._fastest = np.zeros(n)
        self._restart()

    def _restart(self) -> None:
        self._grid = np.empty((0, 3 * self._n))  # the last rows of the even grid
        self._last: tuple[float, Array] | None = None
        self._next, self._count = 0.0, 0
        # velocities and torques of the last state
        self._before = (np.full((1, self._n), np.nan), np.full((1, self._n), np.nan))

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
        width = self._n if qd is None else 2 * self._n
        first = 0
        while self._last is None and first < len(t):
            self._take(float(t[first]), values[first], width)
            first += 1
        if self._last is None or first == len(t):
            return []
        times = np.concatenate([[self._last[0]], t[first:]])
        rows = np.concatenate([self._last[1][None], values[first:]])
        if self._all_good(times, rows, width):
            return self._extended(times, rows)
        return [state for k in range(first, len(t))
                for state in self._take(float(t[k]), values[k], width)]

    def _all_good(self, times: Array, rows: Array, width: int) -> bool:
        """Return whether all samples after the first one are usable and continue it."""
        with np.errstate(invalid='ignore'):  # inf - inf
            steps = times[1:] - times[:-1]
            moved = np.abs(rows[1:, :self._n] - rows[:-1, :self._n])
        off_middle = np.abs(rows[1:, :width] - self._middle[:width])
        # comparisons with what is not finite fail, too
        return bool((steps > 0.0).all() and (steps <= self._gap).all()
                    and (off_middle <= self._reach[:width]).all()
                    and (moved <= self._farthest(steps[:, None])).all())

    def _farthest(self, steps: Array | float) -> Array:
        """Return how far joints can move in a time; stamps may be wrong by two steps."""
        return np.asarray(self._velocity * (steps + 2.0 * self.step))

    def _take(self, t: float, row: Array, width: int) -> list[SmoothedState]:
        """Take one sample that may be unusable; return the states that it completes."""
        if not self._accepts(t, row, width):
            return []
        last, self._last = self._last, (t, row)
        if last is None:
            self._grid, self._next, self._count = row[None].copy(), t + self.step, 0
            return []
        return self._extended(np.array([last[0], t]), np.stack([last[1], row]))

    def _accepts(self, t: float, row: Array, width: int) -> bool:
        """Return whether a sample is usable; restart where it does not continue the last one."""
        state = row[:width]
        if not (np.isfinite(t) and np.all(np.isfinite(state))):
            self.cut_out += CutOut(invalid_state=1)
            return False
        if np.any(np.abs(state - self._middle[:width]) > self._reach[:width]):
            self.cut_out += CutOut(implausible_state=1)
            return False
        if self._last is None:
            return True
        last, before = self._last
        if t == last:
            self.cut_out += CutOut(duplicate_time=1)
            return False
        if t < last and last - t < self._gap:
            self.cut_out += CutOut(backward_time=1)
            return False
        if t < last or t - last > self._gap:
            self.cut_out += CutOut(gaps=1)
            self._restart()
        elif np.any(np.abs(row - before)[:self._n] > self._farthest(t - last)):
            # after a gap there is nothing to compare with: positions set anew are taken then
            self.cut_out += CutOut(implausible_state=1)
            return False
        return True

    def _extended(self, times: Array, rows: Array) -> list[SmoothedState]:
        """
        Interpolate good samples onto the even grid; return the states that they complete.

        :param times: (N + 1,) times of the last sample and of N new ones [s].
        :param rows: (N + 1, 3 n) their values.
        """
        end = float(times[-1])
        self._last = (end, rows[-1])
        dust = 1e-9 * self.step
        count = math.floor((end + dust - self._next) / self.step) + 1
        if count <= 0:
            return []
        grid = self._next + self.step * np.arange(count)
        right = np.maximum(np.searchsorted(times, grid - dust), 1)
        before, after = rows[right - 1], rows[right]
        part = ((grid - times[right - 1]) / (times[right] - times[right - 1]))[:, None]
        new = np.where(part < 1.0, before + part * (after - before), after)
        self._next += count * self.step
        return self._smoothed(np.asarray(grid), new)

    def _smoothed(self, times: Array, rows: Array) -> list[SmoothedState]:
        """Return the smoothed states that end with new rows of the grid."""
        length = self._rate.size
        grid = np.concatenate([self._grid, rows])
        complete = max(0, len(grid) - length + 1) - max(0, len(self._grid) - length + 1)
        # the last `complete` rows end a window; of these every `self._every`-th is kept
        first = (-self._count - 1) % self._every
        self._count += complete
        ends = range(len(grid) - complete + 1 + first, len(grid) + 1, self._every)
        self._grid = grid[max(0, len(grid) - length + 1):]
        if not ends:
            return []
        t = times[[end - 1 - len(grid) for end in ends]] - self.lag
        return self._states(t.tolist(), [grid[end - length:end] for end in ends])

    def _states(self, times: list[float], windows: list[Array]) -> list[SmoothedState]:
        """Return the states in the middle of windows whose velocities fit their positions."""
        n = self._n
        middles = np.array([self._kernel @ self._bridged(window)[2:-2] for window in windows])
        rates = np.array([self._rate @ window[:, :2 * n] for window in windows])
        q, qd, tau = middles[:, :n], middles[:, n:2 * n], middles[:, 2 * n:]
        seen, qdd = rates[:, :n], rates[:, n:]  # the velocities that the positions show
        if not np.isfinite(qdd).all():  # its window is the wider one
            missing = ~np.isfinite(qdd).all(axis=1)
            qd[missing] = seen[missing]
            qdd[missing] = [self._second_rate @ windows[k][:, :n]
                            for k in np.flatnonzero(missing)]
        if not self._judges:
            return [SmoothedState(*sample) for sample in zip(times, q, qd, qdd, tau)]
        bad = self._inconsistent(qd, seen)
        tau = self._not_stuck(qd, tau)
        states = [SmoothedState(*sample) for sample in zip(times, q, qd, qdd, tau)]
        return states if bad is None else [each for each, off in zip(states, bad) if not off]

    def _bridged(self, window: Array) -> Array:
        """Return rows of the grid with torques interpolated where few in a row are missing."""
        missing = ~np.isfinite(window[:, 2 * self._n:])
        if not missing.any():
            return window
        result, most = window.copy(), self._gap / self.step + _ROUNDING
        for j in np.flatnonzero(missing.any(axis=0)):
            good, torque = np.flatnonzero(~missing[:, j]), result[:, 2 * self._n + j]
            for first, last in pairwise(good):
                if 1 < last - first <= most:
                    torque[first:last] = np.interp(np.arange(first, last), [first, last],
                                                   torque[[first, last]])
        return result

    def _inconsistent(self, qd: Array, seen: Array) -> Mask | None:
        """
        Return which of S states have velocities that contradict their positions; None = none.

        :param qd: (S, n) velocities [rad/s, m/s].
        :param seen: (S, n) velocities that the positions show [rad/s, m/s].
        """
        difference = np.abs(qd - seen)
        speeds = np.minimum(np.abs(qd), np.abs(seen))  # one of them alone may be spoiled
        before, self._fastest = self._fastest, np.maximum(self._fastest, speeds.max(axis=0))
        if (difference <= _STANDING * np.maximum(before, self._slowest)).all():
            return None
        fastest = np.maximum(np.maximum.accumulate(speeds, axis=0), before)
        part = np.where(np.abs(seen) <= _ROUNDING * fastest, _STANDING, _CONSISTENT)
        bad = np.any(difference > part * np.maximum(fastest, self._slowest), axis=1)
        self.cut_out += CutOut(inconsistent_velocity=int(np.count_nonzero(bad)))
        return np.asarray(bad)

    def _not_stuck(self, qd: Array, tau: Array) -> Array:
        """
        Return the torques of S states, NaN where one does not change while its joint moves.

        :param qd: (S, n) velocities [rad/s, m/s].
        :param tau: (S, n) torques [N m, N].
        """
        before, self._before = self._before, (qd[-1:], tau[-1:])
        still = (np.abs(tau - np.concatenate([before[1], tau[:-1]])) <= _ROUNDING * np.abs(tau))
        if not still.any():
            return tau
        change = np.abs(qd - np.concatenate([before[0], qd[:-1]]))
        moving = (change > _ROUNDING * self._fastest) & (np.abs(qd) > _MOVING * self._fastest)
        self.cut_out += CutOut(implausible_effort=int(np.count_nonzero(still & moving)))
        return np.where(still & moving, np.nan, tau)
