# SPDX-License-Identifier: Apache-2.0
"""What cannot be used is cut out and counted; what remains is evenly sampled."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.recordings.cleaning import (
    CutOut,
    clean,
    in_time,
    saturation,
    screened,
)
from robot_dynamics_ros.estimation.recordings.plausibility import PlausibleRange
from robot_dynamics_ros.estimation.recordings.recording import Recording

NO_LIMITS = np.full(2, np.nan)


def recording(t, **changes):
    q = np.stack([np.sin(t), np.cos(2 * t)], axis=1)
    qd = np.stack([np.cos(t), -2 * np.sin(2 * t)], axis=1)
    return replace(Recording(t, q, qd, 3 * q, ('a', 'b')), **changes)


def test_a_clean_recording_is_returned_as_it_is():
    data = recording(np.arange(100) * 0.01)
    (stretch,), cut = clean(data, NO_LIMITS)
    assert cut == CutOut()
    np.testing.assert_array_equal(stretch.q, data.q)
    np.testing.assert_array_equal(stretch.tau, data.tau)
    np.testing.assert_allclose(stretch.t, data.t, atol=1e-12)
    assert np.all(stretch.usable)


def test_duplicate_backward_and_invalid_samples_are_counted():
    t = np.arange(100) * 0.01
    t[10] = t[9]
    t[20] = t[15]
    q = recording(t).q.copy()
    q[30, 1] = np.nan
    (stretch,), cut = clean(recording(t, q=q), NO_LIMITS)
    assert cut == CutOut(duplicate_time=1, backward_time=1, invalid_state=1)
    # single holes are closed by a cubic
    exact = recording(stretch.t)
    np.testing.assert_allclose(stretch.q, exact.q, atol=1e-8)


def test_jitter_is_resampled_away(rng):
    t = np.arange(400) * 0.01 + rng.uniform(-0.002, 0.002, 400)
    (stretch,), cut = clean(recording(t), NO_LIMITS)
    assert cut == CutOut()
    np.testing.assert_allclose(stretch.q, recording(stretch.t).q, atol=1e-7)


def test_a_gap_splits_the_recording_and_short_parts_are_left_out():
    t = np.arange(120) * 0.01
    t[50:] += 1.0
    t[110:] += 1.0
    stretches, cut = clean(recording(t), NO_LIMITS)
    assert [len(stretch.q) for stretch in stretches] == [50, 60]
    assert cut == CutOut(gaps=2, short_stretch=10)


def test_missing_efforts_are_marked_joint_by_joint():
    data = recording(np.arange(100) * 0.01)
    tau = data.tau.copy()
    tau[40:50, 1] = np.nan
    (stretch,), cut = clean(replace(data, tau=tau), NO_LIMITS)
    assert cut == CutOut(missing_effort=10)
    assert np.all(np.isfinite(stretch.tau))
    np.testing.assert_array_equal(stretch.usable[:, 1], np.isfinite(tau[:, 1]))
    assert np.all(stretch.usable[:, 0])


def test_saturation_is_the_limit_or_a_flat_top():
    tau = np.stack([np.clip(np.linspace(-3, 3, 101), -2, 2), np.linspace(0, 5, 101)], axis=1)
    flat = saturation(tau, NO_LIMITS)
    np.testing.assert_array_equal(flat[:, 0], np.abs(tau[:, 0]) == 2.0)
    assert not np.any(flat[:, 1])
    at_limit = saturation(tau, np.array([np.nan, 2.5]))
    np.testing.assert_array_equal(np.flatnonzero(at_limit[:, 1]), [50])


def test_nothing_usable_is_an_error():
    t = np.arange(40) * 0.01
    with pytest.raises(RecordingError, match='a time and finite positions and velocities'):
        clean(recording(t, q=np.full((40, 2), np.nan)), NO_LIMITS)
    with pytest.raises(RecordingError, match='20 usable samples, but never 25 in a row'):
        clean(recording(t[:20]), NO_LIMITS)


# Implausible values

RANGE = PlausibleRange(middle=[0.0, 0.0], reach=[5.0, 5.0], velocity=[10.0, 10.0],
                       torque=[50.0, 50.0])


def moving(rng, with_velocity=True):
    t = 0.01 * np.arange(2000)
    q = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    qd = np.stack([3 * np.cos(3 * t), -2 * np.sin(2 * t)], axis=1)
    noise = rng.normal(size=(3, *q.shape))
    # friction changes its sign at once
    return replace(recording(t, q=q + 1e-4 * noise[0]),
                   qd=qd + 0.01 * noise[1] if with_velocity else None,
                   tau=4.0 * q + np.sign(qd) + 0.1 * noise[2])


def test_a_good_recording_passes_the_screen(rng):
    data = moving(rng)
    kept, cut = screened(data, RANGE)
    assert cut == CutOut()
    np.testing.assert_array_equal(kept.q, data.q)
    assert clean(kept, NO_LIMITS, RANGE)[1] == CutOut()


@pytest.mark.parametrize('value', [2.0, -1e3, 1e6, 1e155])
@pytest.mark.parametrize(('name', 'with_velocity'), [('q', True), ('qd', True), ('q', False)])
def test_one_implausible_state_is_cut_and_counted(rng, name, with_velocity, value):
    data = moving(rng, with_velocity)
    values = getattr(data, name).copy()
    values[700, 1] += value
    kept, cut = screened(replace(data, **{name: values}), RANGE)
    assert cut == CutOut(implausible_state=1)
    np.testing.assert_array_equal(kept.t, np.delete(data.t, 700))
    (stretch,), _ = clean(kept, NO_LIMITS, RANGE)
    np.testing.assert_allclose(stretch.q[:, 1], np.cos(2 * stretch.t), atol=1e-3)


@pytest.mark.parametrize('value', [20.0, -1e3, 1e155])
def test_one_implausible_effort_is_interpolated_marked_and_counted(rng, value):
    data = moving(rng)
    tau = data.tau.copy()
    tau[700, 1] += value
    (stretch,), cut = clean(replace(data, tau=tau), NO_LIMITS, RANGE)
    assert cut == CutOut(implausible_effort=1)
    assert np.flatnonzero(~stretch.usable[:, 1]).tolist() == [700]
    assert np.max(np.abs(stretch.tau)) < 6.0


def test_velocities_and_efforts_in_another_unit_are_not_cut_but_left_to_the_checks(rng):
    data = moving(rng)
    other = replace(data, qd=57.3 * data.qd, tau=1000.0 * data.tau)
    kept, cut = screened(other, RANGE)
    assert cut == CutOut()
    assert len(kept.t) == len(data.t)
    assert clean(replace(kept, qd=data.qd), NO_LIMITS, RANGE)[1].implausible_effort == 0


def test_a_jump_of_the_positions_splits_the_recording(rng):
    data = moving(rng)
    q = data.q.copy()
    q[1000:, 0] += 1.0
    kept, lost = screened(replace(data, q=q), RANGE)
    stretches, cut = clean(kept, NO_LIMITS, RANGE)
    assert lost == CutOut()
    assert cut == CutOut(gaps=1)
    assert [len(stretch.q) for stretch in stretches] == [1000, 1000]


def test_absurd_stamps_are_cut_and_do_not_make_later_samples_old():
    t = np.arange(400) * 0.01
    odd = t.copy()
    odd[[50, 120, 300]] = [1e12, -3e7, 55.0]
    q = np.sin(t)[:, None]
    timed, cut = in_time(Recording(odd, q, None, 3.0 * q, ('a',)))
    assert cut.implausible_state == 3
    np.testing.assert_array_equal(timed.t, np.delete(t, [50, 120, 300]))
