# SPDX-License-Identifier: Apache-2.0
"""Held-out blocks: a repeated motion is never both trained and tested."""

import numpy as np
import pytest
from support.excitation import fourier_motion

from robot_dynamics_ros.estimation.regression.time_blocks import (
    block_numbers,
    folds_of,
    last_part,
    period,
)


def motion(rng, duration, noise=0.0):
    t, q, qd, _ = fourier_motion(rng, 3, duration=duration, step=0.02)  # period 10 s
    return t, q + noise * rng.normal(size=q.shape), qd


@pytest.mark.parametrize('cycles', [1.5, 2, 5.3])
@pytest.mark.parametrize('noise', [0.0, 0.01])
def test_the_period_of_a_repeated_motion_is_found(cycles, noise, rng):
    _, q, _ = motion(rng, 10.0 * cycles, noise)
    assert period(q) == pytest.approx(500, abs=5)


def test_a_motion_seen_once_has_no_period(rng):
    assert period(motion(rng, 10.0)[1]) is None
    assert period(np.cumsum(rng.normal(size=(2000, 2)), axis=0)) is None
    assert period(np.zeros((100, 2))) is None
    assert period(np.linspace(0.0, 1.0, 5)[:, None]) is None  # too short to tell
    assert period(np.linspace(0.0, 1.0, 500)[:, None]) is None  # one slow move


def test_a_block_without_samples_is_not_tested(rng):
    states = rng.normal(size=(30, 2))
    assert list(folds_of(np.zeros(30, dtype=int), states, [0, 1])) == []


def test_blocks_of_a_repeated_motion_are_parts_of_its_cycle(rng):
    _, q, qd = motion(rng, 40.0)
    blocks, periods = block_numbers(np.zeros(len(q), dtype=int), q, 5)
    assert periods == pytest.approx([500], abs=5)
    np.testing.assert_array_equal(blocks[:450:100], [0, 1, 2, 3, 4])
    states = np.hstack([q, qd])
    folds = list(folds_of(blocks, states, range(5)))
    assert len(folds) == 5
    for training, test in folds:
        assert np.any(training) and np.any(test) and not np.any(training & test)
        nearest = np.min(np.max(np.abs(states[test][:, None] - states[training][None, ::7])
                                / np.std(states, axis=0), axis=2))
        assert nearest > 0.03  # no state was seen in training


def test_the_same_motion_in_a_second_recording_is_left_out_of_training(rng):
    _, q, qd = motion(rng, 8.0)
    groups = np.repeat([0, 1], len(q))
    states = np.vstack([np.hstack([q, qd])] * 2)
    blocks, periods = block_numbers(groups, states[:, :3], 2)
    assert periods == ()
    np.testing.assert_array_equal(blocks, groups)
    folds = list(folds_of(blocks, states, range(2)))
    assert len(folds) == 2
    for training, test in folds:
        assert np.any(test) and not np.any(training)  # nothing independent is left


def test_plain_blocks_are_contiguous_over_all_stretches(rng):
    groups = np.repeat([0, 1], [300, 200])
    blocks, _ = block_numbers(groups, rng.normal(size=(500, 2)), 5)
    np.testing.assert_array_equal(blocks, np.repeat(np.arange(5), 100))


def test_the_last_part_is_held_out():
    np.testing.assert_array_equal(last_part(10, 0.3), [0] * 7 + [1] * 3)
