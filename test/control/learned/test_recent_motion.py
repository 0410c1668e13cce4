# SPDX-License-Identifier: Apache-2.0
"""How well a model explains the last seconds."""

from dataclasses import replace

import numpy as np
import pytest
from support.motions import swinging_samples
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.control.learned.recent_motion import RecentMotion


@pytest.fixture
def model():
    return compile_model(chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf'))


def filled(samples, window=10.0):
    motion = RecentMotion(window)
    for sample in samples:
        motion.add(sample)
    return motion


def test_the_true_model_explains_the_motion(model):
    residual = filled(swinging_samples(model, 4.0)).residual(model)
    assert residual.rms.max() < 0.01, 'what the trapezoid of 5 ms leaves'
    assert residual.samples.min() > 40


def test_a_constant_torque_that_the_model_does_not_know_is_its_residual(model):
    samples = [replace(sample, effort=sample.effort + [1.5, -0.5])
               for sample in swinging_samples(model, 4.0)]
    np.testing.assert_allclose(filled(samples).residual(model).rms, [1.5, 0.5], atol=0.01)


def test_noise_is_averaged_away(model):
    samples = swinging_samples(model, 4.0, noise=1.0)
    assert filled(samples).residual(model).rms.max() < 0.6


def test_only_the_window_and_what_came_since_count(model):
    quiet, loud = (swinging_samples(model, 2.0, start=start) for start in (1.0, 3.0))
    loud = [replace(sample, effort=sample.effort + 2.0) for sample in loud]
    motion = filled([*loud, *(replace(sample, time=sample.time + 4.0) for sample in quiet)],
                    window=1.5)
    assert motion.residual(model).rms.max() < 0.01
    both = filled([*quiet, *loud])
    np.testing.assert_allclose(both.residual(model, since=3.0).rms, 2.0, rtol=0.01)
    assert 1.0 < both.residual(model).rms[0] < 2.0


def test_a_joint_that_stands_still_says_nothing(model):
    samples = [replace(sample, qd=sample.qd * [1.0, 0.0])
               for sample in swinging_samples(model, 2.0)]
    residual = filled(samples).residual(model)
    assert np.isfinite(residual.rms[0])
    assert np.isnan(residual.rms[1])
    assert residual.samples[1] == 0


def test_a_pause_is_no_motion(model):
    samples = swinging_samples(model, 2.0)
    later = [replace(sample, time=sample.time + 3.0) for sample in swinging_samples(
        model, 2.0, start=2.5)]
    assert filled([*samples, *later]).residual(model).rms.max() < 0.01


def test_samples_with_gaps_are_left_out_and_a_clock_set_back_empties_it(model):
    samples = swinging_samples(model, 1.0)
    broken = [replace(sample, effort=np.array([np.nan, 1.0])) for sample in samples]
    assert filled(broken).residual(model).rms.size == 0
    motion = filled(samples)
    motion.add(samples[0])
    assert motion.residual(model).samples.max() == 0
    motion.clear()
    assert motion.residual(model).rms.size == 0


def test_quicker_samples_than_needed_are_thinned_out(model):
    motion = filled(swinging_samples(model, 1.0, rate=2000.0))
    assert len(motion._samples) < 210
    assert motion.residual(model).rms.max() < 0.01
