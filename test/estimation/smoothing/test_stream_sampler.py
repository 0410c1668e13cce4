# SPDX-License-Identifier: Apache-2.0
"""From a stream of joint states to smoothed samples: sampling rate, torques, saturation."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros import EffortSemantics
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recordings.cleaning import CutOut
from robot_dynamics_ros.estimation.smoothing.stream_sampler import StreamSampler

STEP, CUTOFF = 0.002, 10.0


def sampler(cutoff=CUTOFF, effort_limit=np.nan, **meaning):
    chain = chain_from_dh('RR', beta=[0.0, 0.0], b=[0.0, 0.5], d=[0.0, 0.0], theta=[0.0, 0.0])
    chain = replace(chain, joints=tuple(replace(joint, effort_limit=effort_limit)
                                        for joint in chain.joints))
    return StreamSampler(chain, replace(EffortSemantics.torque(2), **meaning), cutoff)


def stream(count=1000, step=STEP):
    t = step * np.arange(count)
    q = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    return t, q, None, 4.0 * q


def test_the_sampling_rate_is_found_and_samples_are_thinned_out():
    stage = sampler()
    assert stage.step == 0.0 and np.isnan(stage.lag)
    t, q, qd, tau = stream()
    assert stage.feed_many(t[:29], q[:29], qd, tau[:29]) == []
    assert stage.step == 0.0
    states = stage.feed_many(t[29:], q[29:], qd, tau[29:])
    assert stage.step == pytest.approx(12 * STEP)  # four samples per period of 0.1 s
    at = np.array([state.t for state in states])
    np.testing.assert_allclose(np.diff(at), stage.step, atol=1e-9)
    assert 0.0 < stage.lag == pytest.approx(t[-1] - at[-1], abs=stage.step)
    np.testing.assert_allclose([state.q[0] for state in states], np.sin(3 * at), atol=2e-3)
    np.testing.assert_allclose(stage.first_torque,
                               np.sqrt(np.mean(tau[:30] ** 2, axis=0)), rtol=1e-12)
    assert stage.cut_out == CutOut()


def test_efforts_become_torques():
    stage = sampler(sign=[1.0, -1.0], gain=[1.0, 2.0], offset=[0.0, 0.5])
    states = stage.feed_many(*stream())
    assert len(states) > 50
    for state in states:
        np.testing.assert_allclose(state.tau, [4.0 * state.q[0], -2.0 * (4.0 * state.q[1] - 0.5)],
                                   atol=1e-9)


def test_one_by_one_is_the_same_as_all_at_once():
    t, q, _, tau = stream()
    single, many = sampler(), sampler()
    states = [state for k in range(len(t)) for state in single.feed_many(
        t[k:k + 1], q[k:k + 1], None, tau[k:k + 1])]
    expected = many.feed_many(t, q, None, tau)
    assert [state.t for state in states] == pytest.approx([state.t for state in expected])
    np.testing.assert_allclose([state.tau for state in states],
                               [state.tau for state in expected], atol=1e-9)


def test_saturated_efforts_are_counted_and_leave_no_torque():
    t, q, _, tau = stream()
    clipped = np.clip(tau, -3.0, 3.0)
    stage = sampler(effort_limit=3.0)
    states = stage.feed_many(t, q, None, clipped)
    at_limit = np.abs(clipped) >= 0.998 * 3.0
    assert stage.cut_out == CutOut(saturated_effort=int(at_limit.sum()))
    missing = np.array([np.isnan(state.tau) for state in states])
    assert 0 < missing.sum() < missing.size
    known = np.array([state.tau for state in states])[~missing]
    assert np.max(np.abs(known)) < 3.0


@pytest.mark.parametrize('value', [16.0, -1e6, 1e155, np.inf])
def test_an_effort_far_beyond_its_limit_is_counted_and_leaves_no_torque(value):
    t, q, _, tau = stream()
    tau = 0.5 * tau
    tau[500, 1] = value
    stage = sampler(effort_limit=3.0)
    states = stage.feed_many(t, q, None, tau)
    assert stage.cut_out == CutOut(implausible_effort=1)
    assert np.max(np.abs(np.nan_to_num([state.tau for state in states]))) < 3.0


@pytest.mark.parametrize('value', [1e155, np.inf])
def test_without_limits_only_the_impossible_is_left_out(value):
    t, q, _, tau = stream()
    tau[500, 1], q[600, 0] = value, value
    stage = sampler()
    states = stage.feed_many(t, q, None, tau)
    assert stage.cut_out.implausible_effort == 1
    assert stage.cut_out.implausible_state + stage.cut_out.invalid_state == 1
    assert np.max(np.abs(np.nan_to_num([state.tau for state in states]))) < 5.0


def test_one_wrong_effort_does_not_set_the_scale():
    t, q, _, tau = stream()
    expected = np.sqrt(np.mean(tau[:30] ** 2, axis=0))
    tau[10, 1] = 1e8
    stage = sampler()
    stage.feed_many(t, q, None, tau)
    np.testing.assert_array_less(stage.first_torque, 3.0 * expected)


def test_a_slow_stream_lowers_the_cutoff():
    stage = sampler(cutoff=100.0)
    states = stage.feed_many(*stream(step=0.02))
    assert stage.step == pytest.approx(0.02)  # 0.4 of 50 Hz: nothing is thinned out
    assert len(states) > 900


def test_a_clock_that_stands_still_gives_no_rate():
    stage = sampler()
    t, q, _, tau = stream()
    assert stage.feed_many(np.zeros(100), q[:100], None, tau[:100]) == []
    assert stage.step == 0.0
    assert stage.feed_many(t[100:], q[100:], None, tau[100:]) != []
    assert stage.step > 0.0


def test_a_cutoff_that_is_not_positive_is_refused():
    with pytest.raises(ParameterError, match='cutoff must be positive, got 0'):
        sampler(cutoff=0.0)


def test_a_sensor_value_that_is_far_off_is_left_out():
    t, q, qd, tau = stream(2000)
    stage = sampler()
    q[1000, 0] = 1e6
    states = stage.feed_many(t, q, qd, tau)
    assert stage.cut_out.implausible_state == 1
    assert len(states) > 100
    assert max(np.abs(state.qd).max() for state in states) < 1e3
    assert states[-1].t > t[1500], 'it goes on after that'


def test_stamps_that_no_robot_sends_do_not_set_the_sampling_rate():
    t, q, qd, tau = stream()
    stage = sampler()
    assert stage.feed_many(1e-9 * np.arange(60), q[:60], qd, tau[:60]) == []
    assert stage.step == 0.0
    assert stage.feed_many(1.0 + t, q, qd, tau)
    assert stage.step == pytest.approx(12 * STEP)
