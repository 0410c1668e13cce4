# SPDX-License-Identifier: Apache-2.0
"""
When the samples of a recording were taken.

Drives measure at an even rate; stamps are often those of a computer that was busy, or of messages
that came in bursts. A position measured at one time and stamped with another looks like noise as
large as velocity times error. So both readings of the stamps are tried on the positions: as they
are, and as delayed by chance while the samples are even. The one with which the positions are
smoother is right.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.estimation.recordings.recording import Recording

#: Stamps beyond this are none [s].
_LATEST = 1e12

#: The step is the median over this many samples at a time: bursts are shorter.
_WINDOW = 32

#: Stamps that stray by less than this part of a step are even already.
_EVEN = 0.02

#: Even times are taken only if they make the positions this much smoother.
_SMOOTHER = 0.5


def evened(recording: Recording) -> tuple[Recording, list[Finding]]:
    """
    Return a recording with even times where its stamps are wrong by chance.

    :param recording: recording whose times may jitter; lost samples leave their gaps.
    """
    t = recording.t
    finite = (np.abs(t) < _LATEST) & np.all(np.isfinite(recording.q), axis=1)
    later = np.concatenate([[-np.inf], np.maximum.accumulate(np.where(finite, t, -np.inf))[:-1]])
    rows = np.flatnonzero(finite & (t > later))
    if rows.size < 3 * _WINDOW:
        return recording, []
    stamps, q = t[rows], recording.q[rows]
    even = even_times(stamps)
    strays = float(np.median(np.abs(stamps - even)))
    step = float(np.median(np.diff(even)))
    if strays < _EVEN * step or _roughness(even, q) > _SMOOTHER * _roughness(stamps, q):
        return recording, []
    times = t.copy()
    times[rows] = even
    finding = Finding('jittered_stamps', '', f'the stamps stray by {1e3 * strays:.2g} ms, but the '
                      f'positions are even, every {1e3 * step:.4g} ms: even times are used',
                      strays)
    return replace(recording, t=times), [finding]


def even_times(stamps: Array) -> Array:
    """
    Return times (N,) on an even grid; samples that were lost leave their places empty.

    :param stamps: (N,) increasing times [s] that stray from the grid by chance.
    """
    step = float(np.median(stamps[_WINDOW:] - stamps[:-_WINDOW])) / _WINDOW
    start = stamps[0]
    for _ in range(3):  # the grid from the stamps, the stamps' places in the grid, and again
        nearest = np.round((stamps - start) / step)
        order = np.arange(stamps.size)
        places = np.maximum.accumulate(nearest - order) + order  # each after the one before
        step, start = np.polyfit(places, stamps, 1)
    return np.asarray(start + step * places)


def _roughness(t: Array, q: Array) -> float:
    """Return how far positions are from the line between their neighbours; one in ten is worse."""
    part = ((t[1:-1] - t[:-2]) / (t[2:] - t[:-2]))[:, None]
    off = np.abs(q[1:-1] - (1.0 - part) * q[:-2] - part * q[2:])
    size = np.ptp(q, axis=0) + 1e-12
    return float(np.percentile(np.max(off / size, axis=1), 90.0))
