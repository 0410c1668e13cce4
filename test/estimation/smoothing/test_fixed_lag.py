# SPDX-License-Identifier: Apache-2.0
"""The causal smoother: late by a fixed time, but without phase error."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recordings.cleaning import CutOut
from robot_dynamics_ros.estimation.smoothing.fixed_lag import FixedLagSmoother, smoothing_kernel

STEP, CUTOFF = 0.002, 10.0


def run(t, q, qd, tau, cutoff=CUTOFF):
    smoother = FixedLagSmoother(q.shape[1], STEP, cutoff)
    states = [state for k in range(len(t)) for state in smoother.feed(
        t[k], q[k], None if qd is None else qd[k], tau[k])]
    return smoother, states


@pytest.mark.parametrize('half', [2, 5, 40])
def test_the_kernel_leaves_cubics_alone(half):
    kernel, i = smoothing_kernel(half), np.arange(-half, half + 1)
    np.testing.assert_allclose([kernel @ i ** k for k in range(4)], [1, 0, 0, 0], atol=1e-9)


@pytest.mark.parametrize('with_speed', [True, False])
def test_motion_comes_out_late_but_right(with_speed):
    t = np.arange(1000) * STEP
    q = np.stack([np.sin(3 * t), 1 + t ** 3 / 10], axis=1)
    qd = np.stack([3 * np.cos(3 * t), 0.3 * t ** 2], axis=1)
    smoother, states = run(t, q, qd if with_speed else None, 2 * q)
    at = np.array([state.t for state in states])
    assert t[-1] - at[-1] == pytest.approx(smoother.lag, abs=1e-9)
    np.testing.assert_allclose(np.diff(at), STEP, atol=1e-9)
    exact = {'q': [np.sin(3 * at), 1 + at ** 3 / 10], 'qd': [3 * np.cos(3 * at), 0.3 * at ** 2],
             'qdd': [-9 * np.sin(3 * at), 0.6 * at]}
    for name, columns in exact.items():
        found = np.array([getattr(state, name) for state in states])
        np.testing.assert_allclose(found, np.stack(columns, axis=1), atol=2e-3, err_msg=name)
    for state in states[::50]:
        np.testing.assert_allclose(state.tau, 2 * state.q, atol=1e-12)


def test_the_cutoff_frequency_is_halved():
    t = np.arange(2000) * STEP
    wave = np.sin(2 * np.pi * CUTOFF * t)[:, None]
    _, states = run(t, wave, None, wave)
    amplitude = np.max(np.abs([state.q for state in states]))
    assert 0.4 < amplitude <= 0.51


def test_jitter_does_no_harm(rng):
    t = np.arange(1000) * STEP + rng.uniform(-0.0006, 0.0006, 1000)
    q = np.sin(3 * t)[:, None]
    _, states = run(t, q, None, q)
    at = np.array([state.t for state in states])
    np.testing.assert_allclose([state.q[0] for state in states], np.sin(3 * at), atol=1e-4)


def test_odd_samples_are_left_out_and_counted():
    t = np.arange(600) * STEP
    t[100] = t[99]
    t[200] = t[199] - STEP / 2
    t[400:] += 1.0
    q = np.sin(3 * t)[:, None]
    q[300] = np.nan
    tau = q.copy()
    tau[150] = np.nan
    smoother, states = run(t, q, None, tau)
    assert smoother.cut_out == CutOut(duplicate_time=1, backward_time=1, invalid_state=1, gaps=1)
    at = np.array([state.t for state in states])
    assert np.all(np.diff(at) > 0.0) and np.max(np.diff(at)) > 1.0  # nothing across the gap
    good = np.array([np.isfinite(state.tau[0]) for state in states])
    window = 2 * (round(smoother.lag / STEP) - 2) + 1
    assert 0 < np.sum(~good) <= window + 2  # only windows with the missing effort
    np.testing.assert_allclose([state.q[0] for state in states], np.sin(3 * at), atol=1e-3)


def test_a_short_pause_is_bridged(rng):
    t = np.arange(2000) * 0.0005
    t = np.concatenate([t[:900], t[915:]])  # 8 ms, a delay of a busy machine
    q = np.sin(3 * t)[:, None]
    smoother = FixedLagSmoother(1, 0.0005, CUTOFF)
    states = smoother.feed_many(t, q, 3 * np.cos(3 * t)[:, None], q)
    at = np.array([state.t for state in states])
    assert smoother.cut_out == CutOut()
    np.testing.assert_allclose(np.diff(at), 0.0005, atol=1e-9)
    np.testing.assert_allclose([state.qdd[0] for state in states], -9 * np.sin(3 * at), atol=0.02)


@pytest.mark.parametrize('size', [1, 7, 1000])
@pytest.mark.parametrize('every', [1, 5])
def test_many_samples_at_once_are_smoothed_like_one_after_the_other(rng, size, every):
    t = np.arange(1000) * STEP + rng.uniform(-0.0006, 0.0006, 1000)
    t[300], t[700:] = t[299], t[700:] + 1.0
    q, qd, tau = rng.normal(size=(3, 1000, 2))
    tau[500, 1], q[600, 0] = np.nan, np.nan
    _, single = run(t, q, qd, tau)
    smoother = FixedLagSmoother(2, STEP, CUTOFF, every)
    many = [state for k in range(0, 1000, size) for state in smoother.feed_many(
        t[k:k + size], q[k:k + size], qd[k:k + size], tau[k:k + size])]
    # what is thinned out counts anew after the gap
    gap = next(k for k in range(1, len(single)) if single[k].t - single[k - 1].t > 0.5)
    kept = [*single[:gap][every - 1::every], *single[gap:][every - 1::every]]
    assert len(many) == len(kept)
    for one, other in zip(many, kept):
        assert one.t == pytest.approx(other.t, abs=1e-9)
        for name in ('q', 'qd', 'qdd', 'tau'):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-6)


def test_time_that_starts_anew_restarts_the_smoother():
    smoother, _ = run(np.arange(200) * STEP, np.zeros((200, 1)), None, np.zeros((200, 1)))
    assert smoother.feed(-100.0, np.zeros(1), None, np.zeros(1)) == []
    assert smoother.cut_out.gaps == 1
    states = [state for k in range(1, 200)
              for state in smoother.feed(-100.0 + k * STEP, np.zeros(1), None, np.zeros(1))]
    assert states and states[0].t < -99.0


def test_a_cutoff_above_half_the_sampling_rate_is_refused():
    with pytest.raises(ParameterError, match='must be below half the sampling rate 500 Hz'):
        FixedLagSmoother(1, STEP, 300.0)
