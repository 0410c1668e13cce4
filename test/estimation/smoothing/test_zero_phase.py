# SPDX-License-Identifier: Apache-2.0
"""Zero-phase filter, differentiation, bandwidth and standstill."""

import numpy as np
import pytest
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.errors import IdentificationError
from robot_dynamics_ros.estimation.recordings.cleaning import Stretch
from robot_dynamics_ros.estimation.smoothing.zero_phase import (
    chosen_cutoff,
    derivative,
    low_pass,
    motion_bandwidth,
    shrunk,
    smooth,
    standstill,
)

STEP = 0.002


def stretch_of(q, qd=None, tau=None):
    tau = np.zeros_like(q) if tau is None else tau
    return Stretch(0.0, STEP, q, qd, tau, np.ones(q.shape, dtype=bool))


@pytest.mark.parametrize('frequency, gain', [(0.5, 1.0), (10.0, 0.5), (100.0, 0.0)])
def test_the_filter_halves_its_cutoff_frequency_without_delay(frequency, gain):
    t = np.arange(5000) * STEP
    wave = np.sin(2 * np.pi * frequency * t)[:, None]
    middle = slice(1000, 4000)
    np.testing.assert_allclose(low_pass(wave, STEP, 10.0)[middle], gain * wave[middle], atol=2e-4)
    assert low_pass(wave, STEP, 250.0) is wave  # nothing above half the sampling rate


def test_the_derivative_is_exact_for_polynomials_of_degree_eight(rng):
    t = np.arange(40) * 0.1
    polynomial = np.polynomial.Polynomial(rng.normal(size=9), domain=(0, 4), window=(-1, 1))
    assert_close(derivative(polynomial(t)[:, None], 0.1)[:, 0], polynomial.deriv()(t), 1e-10)


@pytest.mark.parametrize('noise', [0.0, 1e-4])
def test_the_bandwidth_is_that_of_the_motion_not_of_the_noise(noise, rng):
    t = np.arange(10000) * STEP
    q = np.stack([np.sin(2 * np.pi * 0.5 * t), 0.3 * np.sin(2 * np.pi * 2.0 * t),
                  np.zeros_like(t)], axis=1)
    stretch = stretch_of(q + noise * rng.normal(size=q.shape))
    assert motion_bandwidth([stretch]) == pytest.approx(2.0, abs=0.15)
    assert chosen_cutoff([stretch]) == pytest.approx(20.0, abs=1.5)


def test_spectral_lines_of_jitter_are_no_motion():
    t = np.arange(10000) * STEP
    q = np.sin(2 * np.pi * 0.5 * t)[:, None]
    line = 1e-3 * np.sin(2 * np.pi * 187.3 * t)[:, None]  # faster than the motion, as a velocity
    assert motion_bandwidth([stretch_of(q + line)]) == pytest.approx(0.5, abs=0.15)


def test_the_bandwidth_is_read_from_recorded_velocities(rng):
    t = np.arange(10000) * STEP
    q = np.sin(2 * np.pi * 0.5 * t)[:, None]
    qd = np.pi * np.cos(2 * np.pi * 0.5 * t)[:, None]
    line = 0.03 * np.sin(2 * np.pi * 8.0 * t)[:, None]
    assert motion_bandwidth([stretch_of(q + line)]) > 5.0
    assert motion_bandwidth([stretch_of(q + line, qd)]) == pytest.approx(0.5, abs=0.15)


def test_a_short_stretch_does_not_widen_the_bandwidth():
    t = np.arange(10000) * STEP
    q = np.sin(2 * np.pi * 0.5 * t)[:, None]
    stretches = [stretch_of(q), stretch_of(q[200:240])]
    assert motion_bandwidth(stretches) == pytest.approx(0.5, abs=0.15)


def test_the_cutoff_has_an_upper_limit():
    t = np.arange(10000) * STEP
    assert chosen_cutoff([stretch_of(np.sin(2 * np.pi * 15.0 * t)[:, None])]) == 50.0


def test_no_motion_has_no_cutoff():
    with pytest.raises(IdentificationError, match='no joint moves'):
        chosen_cutoff([stretch_of(np.zeros((100, 2)))])


def test_velocities_and_accelerations_follow_from_positions_alone():
    t = np.arange(3000) * STEP
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], axis=1)
    samples = smooth(stretch_of(q), None)
    qdd = np.stack([-4 * np.sin(2 * t), -9 * np.cos(3 * t)], axis=1)
    np.testing.assert_allclose(samples.qdd, qdd, atol=1e-6)
    thinned = smooth(stretch_of(q), 5.0)
    assert thinned.step == pytest.approx(0.01)
    middle = slice(60, -60)
    every = np.round(thinned.t[middle] / STEP).astype(int)
    np.testing.assert_allclose(thinned.qdd[middle], qdd[every], atol=2e-3)


def test_torque_and_motion_are_filtered_alike(rng):
    q = np.cumsum(rng.normal(size=(2000, 1)), axis=0)
    samples = smooth(stretch_of(q, tau=7.0 * q), 8.0)
    assert_close(samples.tau, 7.0 * samples.q, SAME_ALGEBRA)


def test_a_mask_shrinks_around_holes_and_ends():
    usable = np.ones((20, 1), dtype=bool)
    usable[10] = False
    kept = shrunk(usable, 2)[:, 0]
    np.testing.assert_array_equal(np.flatnonzero(~kept), [0, 1, 8, 9, 10, 11, 12, 18, 19])


def test_pauses_are_standstill_but_a_turning_point_is_not():
    t = np.arange(3000) * STEP
    q = np.where(t < 4.0, np.sin(2 * t), np.sin(8.0))[:, None]
    samples = smooth(stretch_of(q), None)
    still = standstill(samples, np.array([1.0]))
    assert not np.any(still[samples.t < 3.9])
    assert np.all(still[samples.t > 4.1])


@pytest.mark.parametrize('velocity, still', [(0.0, True), (1.0, False)])
def test_a_stretch_shorter_than_a_pause_stands_still_as_a_whole(velocity, still):
    samples = smooth(stretch_of(np.linspace(0.0, 0.08 * velocity, 40)[:, None]), None)
    np.testing.assert_array_equal(standstill(samples, np.array([1.0])), np.full(40, still))
