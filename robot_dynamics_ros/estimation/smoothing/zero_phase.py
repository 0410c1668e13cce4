# SPDX-License-Identifier: Apache-2.0
"""
Smoothing of recordings: zero-phase low-pass, differentiation, downsampling.

Positions, velocities and torques pass the same filter, forward and backward, so that none is
delayed against another. Derivatives are those of the polynomial through nine neighbours, exact to
the eighth order: only the filter removes noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import ndimage, signal

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.errors import IdentificationError
from robot_dynamics_ros.estimation.recordings.cleaning import Stretch

#: Samples per period of the cut-off frequency that are kept.
OVERSAMPLING = 20.0

#: Part of the power of the velocities that lies below the bandwidth of a motion.
_POWER = 0.99

#: Spectral lines less than this many times above the noise floor are noise.
_NOISE = 20.0

#: No arm is moved on purpose at a higher frequency [Hz]; what is found there is jitter.
_HIGHEST = 20.0

#: The cut-off frequency is this many times the bandwidth of the motion...
_CUTOFF_FACTOR = 10.0
#: ...but at most this [Hz], beyond which arms are not rigid...
_LARGEST_CUTOFF = 50.0
#: ...and at most this part of the sampling rate.
_NYQUIST_PART = 0.4

#: A joint slower than this part of its root mean square velocity stands still...
_STILL_PART = 0.01
#: ...if it does so for longer than this [s].
_STILL_TIME = 0.15

_STENCIL = 9


@dataclass(frozen=True, eq=False)
class SmoothedSamples:
    """
    Evenly sampled motion and torque of one stretch, all equally filtered.

    :param t: (N,) time [s].
    :param step: time between samples [s].
    :param q: (N, n) positions [rad, m].
    :param qd: (N, n) velocities [rad/s, m/s].
    :param qdd: (N, n) accelerations [rad/s^2, m/s^2].
    :param tau: (N, n) torques [N m, N].
    :param usable: (N, n) mask of samples whose torque and motion may be compared.
    """

    t: Array
    step: float
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    usable: Mask

    def __len__(self) -> int:
        """Return the number of samples N."""
        return self.t.size


def low_pass(values: Array, step: float, cutoff: float) -> Array:
    """
    Return values without the frequencies above a cut-off, without delay.

    Butterworth of order 4, forward and backward along the first axis.

    :param values: (N, ...) evenly sampled values.
    :param step: time between samples [s].
    :param cutoff: cut-off frequency [Hz]; at or above half the sampling rate nothing is filtered.
    """
    if cutoff * step >= 0.5:
        return values
    padding = min(len(values) - 1, int(np.ceil(3.0 / (cutoff * step))))
    return np.asarray(signal.sosfiltfilt(_sections(2.0 * cutoff * step), values, axis=0,
                                         padlen=padding))


@lru_cache(maxsize=64)
def _sections(cutoff: float) -> Array:
    """Return the sections of the filter for a cut-off over half the sampling rate."""
    return np.asarray(signal.butter(4, cutoff, output='sos'))


def derivative(values: Array, step: float) -> Array:
    """Return d/dt of values (N, ...), exact to the eighth order; N >= 9."""
    return np.asarray(signal.savgol_filter(values, _STENCIL, _STENCIL - 1, deriv=1, delta=step,
                                           axis=0))


def motion_bandwidth(stretches: list[Stretch]) -> float:
    """
    Return the frequency below which nearly all power of the velocities lies [Hz].

    The spectrum of the recorded velocities, or that of the positions times the squared frequency,
    over all stretches, without the floor that noise leaves at high frequencies and without what
    is faster than any arm. The joint with the widest spectrum decides; joints that hardly move do
    not count.
    """
    frequencies, powers = [], []
    for stretch in stretches:
        N = len(stretch.q)
        values = stretch.q if stretch.qd is None else stretch.qd
        centred = signal.detrend(values, axis=0) * np.hanning(N)[:, None]
        power = np.abs(np.fft.rfft(centred, axis=0)) ** 2 * stretch.step / N
        floor = np.median(power[len(power) // 2:], axis=0)
        power[power <= _NOISE * floor] = 0.0
        frequency = np.fft.rfftfreq(N, stretch.step)
        slow = frequency <= _HIGHEST
        if stretch.qd is None:
            power *= (2.0 * np.pi * frequency[:, None]) ** 2
        frequencies.append(frequency[slow])
        powers.append(power[slow])
    frequency, power = np.concatenate(frequencies), np.concatenate(powers)
    order = np.argsort(frequency, kind='stable')
    total = power.sum(axis=0)
    moving = (total > 1e-4 * total.max()) & (total > 0.0)
    if not np.any(moving):
        return 0.0
    below = np.cumsum(power[order][:, moving], axis=0) / total[moving]
    return float(frequency[order][np.argmax(below >= _POWER, axis=0)].max())


def chosen_cutoff(stretches: list[Stretch]) -> float:
    """Return a cut-off frequency that keeps the motion and removes the noise [Hz]."""
    bandwidth = motion_bandwidth(stretches)
    step = max(stretch.step for stretch in stretches)
    if bandwidth == 0.0:
        raise IdentificationError('not identifiable: no joint moves in the recording')
    return min(_CUTOFF_FACTOR * bandwidth, _LARGEST_CUTOFF, _NYQUIST_PART / step)


def smooth(stretch: Stretch, cutoff: float | None) -> SmoothedSamples:
    """
    Filter and differentiate one stretch, and downsample it as far as the filter allows.

    :param stretch: stretch of a recording.
    :param cutoff: cut-off frequency of the low-pass [Hz]; None = no filter, no downsampling.
    """
    step = stretch.step
    q, qd, tau = stretch.q, stretch.qd, stretch.tau
    usable = stretch.usable
    if cutoff is not None:
        q, tau = low_pass(q, step, cutoff), low_pass(tau, step, cutoff)
        qd = None if qd is None else low_pass(qd, step, cutoff)
        usable = shrunk(usable, int(np.ceil(0.5 / (cutoff * step))))
    if qd is None:
        qd = derivative(q, step)
    qdd = derivative(qd, step)
    every = 1 if cutoff is None else max(1, int(1.0 / (step * OVERSAMPLING * cutoff)))
    pick = slice(None, None, every)
    return SmoothedSamples(stretch.t[pick], step * every, q[pick], qd[pick], qdd[pick], tau[pick],
                           usable[pick])


def shrunk(usable: Mask, by: int) -> Mask:
    """Return the mask (N, n) without samples that are within `by` of a hole or an end."""
    spread = ndimage.maximum_filter1d((~usable).astype(np.uint8), 2 * by + 1, axis=0,
                                      mode='constant', cval=1)
    return np.asarray(spread == 0)


def standstill(samples: SmoothedSamples, typical_velocity: Array) -> Mask:
    """
    Return the mask (N,) of pauses: no joint moves for longer than a moment.

    A drive at rest may hold any torque within its friction, so its torque says little about the
    arm.

    :param samples: smoothed samples.
    :param typical_velocity: (n,) root mean square velocity of each joint [rad/s, m/s].
    """
    slow = np.all(np.abs(samples.qd) <= _STILL_PART * np.maximum(typical_velocity, 1e-9), axis=1)
    length = int(np.ceil(_STILL_TIME / samples.step))
    if len(slow) < length:
        return slow if np.all(slow) else np.zeros_like(slow)
    return np.asarray(ndimage.binary_opening(slow, np.ones(max(1, length), dtype=np.bool_)))
