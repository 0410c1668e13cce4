# SPDX-License-Identifier: Apache-2.0
"""The causal smoother: late by a fixed time, but without phase error."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recordings.cleaning import CutOut
from robot_dynamics_ros.estimation.recordings.plausibility import PlausibleRange
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


@pytest.mark.parametrize('size', [1, 7])
def test_samples_without_velocity_among_others_give_finite_states(size):
    t = np.arange(1000) * STEP
    q, qd = np.sin(3 * t)[:, None], 3 * np.cos(3 * t)[:, None]
    smoother, states = FixedLagSmoother(1, STEP, CUTOFF), []
    for k in range(0, 1000, size):
        part = slice(k, k + size)
        states += smoother.feed_many(t[part], q[part], None if k // size == 50 else qd[part],
                                     q[part])
    at = np.array([state.t for state in states])
    np.testing.assert_allclose(np.diff(at), STEP, atol=1e-9)
    np.testing.assert_allclose([state.qd[0] for state in states], 3 * np.cos(3 * at), atol=2e-3)
    np.testing.assert_allclose([state.qdd[0] for state in states], -9 * np.sin(3 * at), atol=2e-3)


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
    tau[150:160] = np.nan
    smoother, states = run(t, q, None, tau)
    assert smoother.cut_out == CutOut(duplicate_time=1, backward_time=1, invalid_state=1, gaps=1)
    at = np.array([state.t for state in states])
    assert np.all(np.diff(at) > 0.0) and np.max(np.diff(at)) > 1.0  # nothing across the gap
    good = np.array([np.isfinite(state.tau[0]) for state in states])
    window = 2 * (round(smoother.lag / STEP) - 2) + 1
    assert 10 < np.sum(~good) <= window + 12  # only windows with the missing efforts
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


@pytest.mark.parametrize(('period', 'jitter'), [(2, 0.0), (3, 0.0), (7, 0.0), (7, 0.0006)])
def test_single_missing_torques_of_one_joint_are_bridged(rng, period, jitter):
    t = np.arange(1000) * STEP + rng.uniform(-jitter, jitter, 1000)
    q = np.sin(3 * t)[:, None].repeat(2, axis=1)
    tau = q.copy()
    tau[::period, 1] = np.nan
    _, states = run(t, q, None, tau)
    torques = np.array([state.tau for state in states])
    at = np.array([state.t for state in states])
    known = np.isfinite(torques)
    # with jitter a sample spoils two points of the grid, and a window may begin between them
    assert np.all(known[:, 0]) and np.mean(known[:, 1]) > (0.8 if jitter else 0.999)
    expected = np.sin(3 * at)[:, None].repeat(2, axis=1)
    np.testing.assert_allclose(torques[known], expected[known], atol=1e-3)


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


# Implausible samples

RANGE = PlausibleRange(middle=[0.5], reach=[2.0], velocity=[10.0], torque=[1.0])


def swing(rng, count=1000, noise=0.0):
    t = np.arange(count) * STEP
    q, qd = np.sin(3 * t)[:, None], 3 * np.cos(3 * t)[:, None]
    return t, q + noise * rng.normal(size=q.shape), qd + noise * rng.normal(size=q.shape), q.copy()


def smoothed(t, q, qd, tau, size=50):
    smoother = FixedLagSmoother(1, STEP, CUTOFF, 5, RANGE)
    return smoother, [state for k in range(0, len(t), size) for state in smoother.feed_many(
        t[k:k + size], q[k:k + size], None if qd is None else qd[k:k + size], tau[k:k + size])]


def assert_right(states):
    at = np.array([state.t for state in states])
    exact = {'q': np.sin(3 * at), 'qd': 3 * np.cos(3 * at), 'qdd': -9 * np.sin(3 * at)}
    for name, column in exact.items():
        np.testing.assert_allclose([getattr(state, name)[0] for state in states], column,
                                   atol=0.02, err_msg=name)


@pytest.mark.parametrize('value', [3.0, -1e3, 1e6, 1e155])
@pytest.mark.parametrize('with_velocity', [True, False])
def test_a_position_that_no_motion_leads_to_is_left_out(rng, value, with_velocity):
    t, q, qd, tau = swing(rng)
    q[500] += value
    smoother, states = smoothed(t, q, qd if with_velocity else None, tau)
    assert smoother.cut_out == CutOut(implausible_state=1)
    assert_right(states)


@pytest.mark.parametrize('value', [11.0, -1e3, 1e6, 1e155])
def test_a_velocity_beyond_its_limit_is_left_out(rng, value):
    t, q, qd, tau = swing(rng)
    qd[500] = value
    smoother, states = smoothed(t, q, qd, tau)
    assert smoother.cut_out == CutOut(implausible_state=1)
    assert_right(states)


def test_a_wrong_first_position_is_forgotten_after_a_pause(rng):
    t, q, qd, tau = swing(rng)
    q[0] = 2.0
    smoother, states = smoothed(t, q, qd, tau)
    assert smoother.cut_out.gaps == 1
    assert 0 < smoother.cut_out.implausible_state < 10
    assert_right(states)
    assert len(states) > 150


@pytest.mark.parametrize('stuck', ['q', 'qd'])
def test_a_stuck_value_contradicts_the_other(rng, stuck):
    t, q, qd, tau = swing(rng, 3000, noise=1e-3)
    (q if stuck == 'q' else qd)[1000:2000] = (q if stuck == 'q' else qd)[1000]
    smoother, states = smoothed(t, q, qd, tau)
    inside = [state for state in states if t[1000] + 0.1 < state.t < t[2000] - 0.1]
    true = np.array([3 * np.cos(3 * state.t) for state in inside])
    said = np.array([state.qd[0] for state in inside])
    assert smoother.cut_out.inconsistent_velocity > 100
    assert np.all(np.abs(said - true) < 0.3 * 3.0)


def test_a_torque_that_is_stuck_while_the_joint_moves_is_left_out(rng):
    t, q, qd, tau = swing(rng, 3000)
    tau[1000:2000] = tau[1000]
    smoother, states = smoothed(t, q, qd, tau)
    inside = [state for state in states if t[1000] + 0.2 < state.t < t[2000] - 0.1]
    assert all(np.isnan(state.tau[0]) or abs(state.qd[0]) < 0.05 for state in inside)
    outside = [state for state in states if not t[1000] - 0.1 < state.t < t[2000] + 0.1]
    assert all(np.isfinite(state.tau[0]) for state in outside)
    assert smoother.cut_out.implausible_effort > 150


def test_a_torque_that_is_constant_because_nothing_changes_stays(rng):
    t = np.arange(1000) * STEP
    q = 1.0 - 0.5 * t[:, None]
    smoother, states = smoothed(t, q, np.full_like(q, -0.5), np.full_like(q, 3.0))
    assert smoother.cut_out == CutOut()
    np.testing.assert_allclose([state.tau[0] for state in states], 3.0)


def test_noise_quantisation_and_late_velocities_are_no_contradiction(rng):
    t, q, _, tau = swing(rng, 5000)
    q = np.round(q / 1.5e-3) * 1.5e-3  # 12 bits per turn
    late = 3 * np.cos(3 * (t - 0.02))[:, None] + 0.05 * rng.normal(size=q.shape)
    smoother, _ = smoothed(t, q, late, tau)
    assert smoother.cut_out == CutOut()


def test_velocities_in_another_unit_are_not_used(rng):
    t, q, qd, tau = swing(rng)
    smoother, states = smoothed(t, q, 0.1 * qd, tau)
    assert smoother.cut_out.inconsistent_velocity > 5 * len(states)


@pytest.mark.parametrize('size', [1, 7, 1000])
def test_what_is_left_out_does_not_depend_on_the_batches(rng, size):
    t, q, qd, tau = swing(rng, noise=1e-3)
    q[300] += 3.0
    qd[500] = 11.0
    qd[600:700] = qd[600]
    expected, single = smoothed(t, q, qd, tau, 50)
    smoother, states = smoothed(t, q, qd, tau, size)
    assert smoother.cut_out == expected.cut_out
    assert [state.t for state in states] == pytest.approx([state.t for state in single])
    np.testing.assert_allclose([state.qd for state in states], [state.qd for state in single],
                               atol=1e-9)


def test_a_cutoff_above_half_the_sampling_rate_is_refused():
    with pytest.raises(ParameterError, match='must be below half the sampling rate 500 Hz'):
        FixedLagSmoother(1, STEP, 300.0)
