# SPDX-License-Identifier: Apache-2.0
"""Blocks of a stream: standard deviations that know of errors which last."""

import numpy as np
import pytest
from scipy.signal import lfilter

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recursion.recursive import RecursiveLeastSquares
from robot_dynamics_ros.estimation.recursion.stream_blocks import StreamBlocks
from robot_dynamics_ros.estimation.regression.prior import Prior

X = np.array([1.0, -2.0, 0.5])
PRIOR = Prior(np.zeros(3), np.full(3, 100.0))
ONE = np.ones(1)


def stream(rng, N, lasting):
    """Return regressors (N, 1, 3) and an error (N, 1) that last so many samples."""
    keep = np.exp(-1.0 / lasting)
    drive = rng.normal(size=(N + 1000, 4))
    out = lfilter([np.sqrt(1.0 - keep ** 2)], [1.0, -keep], drive, axis=0)[1000:]
    return out[:, None, :3], 0.1 * out[:, 3:]


def learned(rng, N, lasting, horizon=1e5):
    recursion = RecursiveLeastSquares(PRIOR, [0, 0, 0], ONE, horizon=horizon, compiled=False)
    blocks = StreamBlocks(3, 1, horizon)
    for Y, error in zip(*stream(rng, N, lasting)):
        sigma = recursion.residual_sigma
        predicted = recursion.update(Y, Y @ X + error)
        blocks.add(Y, Y @ X + error, predicted, sigma, recursion.fading)
    return recursion, blocks


def deviations(recursion, blocks):
    return blocks.standard_deviations(recursion.prior, np.sqrt(np.diag(recursion.covariance)))


def test_errors_that_last_are_covered_where_the_recursion_is_too_sure(rng):
    plain, better = [], []
    for _ in range(40):
        recursion, blocks = learned(rng, 1500, 30.0)
        plain.append((recursion.x - X) / np.sqrt(np.diag(recursion.covariance)))
        better.append((recursion.x - X) / deviations(recursion, blocks))
    assert np.mean(np.abs(plain) < 2.0) < 0.5
    assert 0.86 < np.mean(np.abs(better) < 2.0) <= 1.0
    assert 0.75 < np.sqrt(np.mean(np.square(better))) < 1.3


def test_the_first_samples_are_taken_to_be_alike(rng):
    recursion, blocks = learned(rng, 40, 1.0)
    stated = np.sqrt(np.diag(recursion.covariance))
    np.testing.assert_allclose(deviations(recursion, blocks), 4.0 * stated, rtol=1e-2)


def test_memory_stays_the_same_however_long_the_stream_is(rng):
    _, short = learned(rng, 700, 5.0, horizon=300.0)
    recursion, long = learned(rng, 4000, 5.0, horizon=300.0)
    assert {name: values.shape for name, values in short.state().items()} == {
        name: values.shape for name, values in long.state().items()}
    assert np.all(deviations(recursion, long) < 0.2)


def test_a_known_payload_changes_nothing(rng):
    recursion, blocks = learned(rng, 600, 5.0)
    before = deviations(recursion, blocks)
    by = np.array([3.0, 1.0, -2.0])
    recursion.shift(by)
    blocks.shift(by)
    blocks.add(np.zeros((1, 3)), np.zeros(1), np.zeros(1), ONE, 1.0)
    np.testing.assert_allclose(deviations(recursion, blocks), before, rtol=1e-6)


def test_restored_blocks_continue_and_wrong_ones_are_refused(rng):
    recursion, blocks = learned(rng, 600, 5.0)
    other = StreamBlocks(3, 1, 1e5)
    state = blocks.state()
    other.restore(state)
    np.testing.assert_array_equal(deviations(recursion, other), deviations(recursion, blocks))
    other.restore({})  # of a version that had none
    for name, values in (('blocks', np.zeros((2, 3, 3))), ('block_counters', np.zeros(2)),
                         ('block_counters', np.array([99, 16, 0])),
                         ('blocks', np.full_like(state['blocks'], np.nan))):
        with pytest.raises(ParameterError, match=r'online estimation: .*block'):
            other.restore({**state, name: values})
