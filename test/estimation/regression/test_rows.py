# SPDX-License-Identifier: Apache-2.0
"""Regression rows: stacking, counting, and the filter on columns and torques alike."""

import numpy as np
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.estimation.regression.rows import Rows, regression_rows
from robot_dynamics_ros.estimation.smoothing.zero_phase import SmoothedSamples, low_pass

STEP = 0.01


class SquareTerms:
    """One joint with the columns q and qd^2; the second is not linear in the motion."""

    chain = chain_from_dh('R', beta=[0.0], b=[0.0], d=[0.0], theta=[0.0])
    columns = ('linear', 'square')

    def regressor(self, q, qd, qdd):
        return np.stack([q, qd ** 2], axis=-1)


def samples_of(count, start=0.0, usable=True):
    t = start + STEP * np.arange(count)
    q = np.sin(3 * t)[:, None]
    qd = 3 * np.cos(3 * t)[:, None]
    tau = 2.0 * q + 0.5 * qd ** 2
    return SmoothedSamples(t, STEP, q, qd, -9 * q, tau, np.full(q.shape, usable))


def rows_of(tau, usable):
    tau = np.array(tau)
    N, n = tau.shape
    return Rows(np.ones((N, n, 1)), tau, np.array(usable), np.arange(N) * STEP,
                np.zeros(N, dtype=np.int64), np.zeros((N, 2 * n)))


def test_residuals_counts_and_torques_on_paper():
    rows = rows_of([[1.0, 9.0], [3.0, 9.0]], [[True, False], [True, False]])
    np.testing.assert_array_equal(rows.residuals(np.array([2.0])), [[-1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(rows.counts(), [2.0, 1.0])  # never a division by zero
    np.testing.assert_allclose(rows.rms_torque(), [np.sqrt(5.0), 0.0])


def test_rows_without_filter_are_the_columns_at_the_samples():
    first, second = samples_of(50), samples_of(30, start=2.0)
    rows = regression_rows(SquareTerms(), [first, second], [np.full(50, True), np.full(30, True)],
                           None)
    assert len(rows) == 80
    np.testing.assert_array_equal(rows.stretch, np.repeat([0, 1], [50, 30]))
    np.testing.assert_array_equal(rows.states[50:], np.hstack([second.q, second.qd]))
    np.testing.assert_array_equal(rows.residuals(np.array([2.0, 0.5])), 0.0)


def test_only_samples_in_motion_with_a_usable_torque_are_kept():
    samples = samples_of(40)
    samples.usable[30:] = False
    moving = np.arange(40) >= 10
    rows = regression_rows(SquareTerms(), [samples], [moving], None)
    np.testing.assert_array_equal(rows.t, samples.t[10:30])


def test_the_parallel_filter_keeps_nonlinear_columns_and_torque_alike():
    samples = samples_of(2000)
    use = [np.full(2000, True)]
    rows = regression_rows(SquareTerms(), [samples], use, 0.8)  # below the frequency of qd^2
    every = round((rows.t[1] - rows.t[0]) / STEP)
    assert every == 31  # four samples per period of the filter
    assert_close(rows.Y @ [2.0, 0.5], rows.tau, SAME_ALGEBRA)
    filtered = low_pass(samples.qd ** 2, STEP, 0.8)[np.round(rows.t / STEP).astype(int)]
    assert_close(rows.Y[:, :, 1], filtered, SAME_ALGEBRA)
    assert np.max(np.abs(filtered - rows.states[:, 1:] ** 2)) > 3.0  # it does filter


def test_progress_is_that_of_all_stretches():
    seen = []
    regression_rows(SquareTerms(), [samples_of(5000), samples_of(3000)],
                    [np.full(5000, True), np.full(3000, True)], None, seen.append)
    np.testing.assert_allclose(seen, [0.5, 0.625, 1.0])


def test_columns_and_samples_are_chosen(rng):
    rows = Rows(rng.normal(size=(4, 2, 3)), rng.normal(size=(4, 2)), np.ones((4, 2), dtype=bool),
                np.arange(4.0), np.arange(4), rng.normal(size=(4, 4)))
    np.testing.assert_array_equal(rows.of_columns([2, 0]).Y, rows.Y[:, :, [2, 0]])
    odd = rows.of_samples(np.array([False, True, False, True]))
    np.testing.assert_array_equal(odd.stretch, [1, 3])
    np.testing.assert_array_equal(odd.Y, rows.Y[1::2])
    both = Rows.stacked([odd, rows])
    np.testing.assert_array_equal(both.t, [1.0, 3.0, 0.0, 1.0, 2.0, 3.0])
