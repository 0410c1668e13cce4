# SPDX-License-Identifier: Apache-2.0
"""
Held-out data: blocks of time that the training has not seen.

If only time were split, a periodic motion would be tested on what it was trained with. So a period
is searched for first, and the blocks are parts of it. Besides, training samples whose position and
velocity nearly equal those of a test sample are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from robot_dynamics_ros.arrays import Array, Mask

#: Number of the block of every sample (N,).
Blocks = NDArray[np.int64]

#: States closer than this fraction of the typical position and velocity are the same.
_SAME_STATE = 0.03

#: Mean squared difference after one period, relative to twice the variance.
_SAME_MOTION = 0.01


def period(q: Array) -> int | None:
    """
    Return after how many samples a motion repeats, or None.

    :param q: (N, n) evenly sampled positions of one recording.
    """
    N = len(q)
    centred = q - np.mean(q, axis=0)
    scale = np.sqrt(np.mean(centred ** 2, axis=0))
    moving = scale > 1e-3 * np.max(scale, initial=1e-12)
    x = centred[:, moving] / scale[moving]
    if N < 8 or x.shape[1] == 0:
        return None
    spectrum = np.fft.rfft(x, 2 * N, axis=0)
    products = np.fft.irfft(np.abs(spectrum) ** 2, 2 * N, axis=0)[:N].sum(axis=1)
    energy = np.cumsum(np.concatenate([[0.0], np.sum(x ** 2, axis=1)]))
    lags = np.arange(N)
    # sum over the overlap of |x(t + lag) - x(t)|^2, relative to 2 |x|^2
    squares = (energy[N] - energy[lags]) + energy[N - lags]
    difference = (squares - 2.0 * products) / np.maximum(squares, 1e-300)
    longest = int(N * 0.75)  # at least a third of a cycle must be seen twice
    left = int(np.argmax(difference > 0.2))  # lags before this are merely slow motion
    if difference[left] <= 0.2 or left >= longest:
        return None
    best = left + int(np.argmin(difference[left:longest]))
    if difference[best] > _SAME_MOTION:
        return None
    same = np.flatnonzero(difference[left:longest] <= max(_SAME_MOTION / 2, 2 * difference[best]))
    run = left + int(same[0])  # the first of several periods
    while run + 1 < longest and difference[run + 1] < difference[run]:
        run += 1
    return run


def block_numbers(groups: Blocks, positions: Array,
                  folds: int) -> tuple[Blocks, tuple[int, ...]]:
    """
    Return the block (N,) of every sample, and the periods found (in samples).

    :param groups: (N,) number of the stretch of each sample.
    :param positions: (N, n) joint positions.
    :param folds: number of blocks.
    """
    phase, length = np.zeros(len(groups)), np.full(len(groups), np.nan)
    periods: list[int] = []
    plain = 0
    for group in np.unique(groups):
        places = np.flatnonzero(groups == group)
        found = period(positions[places])
        if found is None:
            phase[places] = plain + np.arange(places.size)
            plain += places.size
        else:
            phase[places], length[places] = np.arange(places.size) % found, found
            periods.append(found)
    length[np.isnan(length)] = max(plain, 1)
    return np.minimum((folds * phase / length).astype(np.int64), folds - 1), tuple(periods)


def last_part(count: int, part: float) -> Blocks:
    """
    Return 0 for samples (N,) to train with and 1 for the last ones.

    :param count: number of samples N.
    :param part: part that is held out.
    """
    return (np.arange(count) >= round((1.0 - part) * count)).astype(np.int64)


def folds_of(blocks: Blocks, states: Array,
             tested: Sequence[int]) -> Iterator[tuple[Mask, Mask]]:
    """
    Yield masks (N,) of training and test samples, one pair per tested block.

    :param blocks: (N,) blocks from `block_numbers` or `last_part`.
    :param states: (N, 2 n) positions and velocities.
    :param tested: blocks to hold out.
    """
    scale = np.std(states, axis=0)
    moving = scale > 1e-6 * np.max(scale, initial=1e-12)
    points = states[:, moving] / (scale[moving] * _SAME_STATE)
    for block in tested:
        test = blocks == block
        if not np.any(test) or np.all(test):
            continue
        tree = KDTree(points[test])
        distance, _ = tree.query(points[~test], distance_upper_bound=1.0, p=np.inf)
        training = ~test
        training[np.flatnonzero(training)[np.isfinite(distance)]] = False
        yield training, test
