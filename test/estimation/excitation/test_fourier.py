# SPDX-License-Identifier: Apache-2.0
"""Fourier series that start and end at rest."""

import numpy as np
import pytest
from support.tolerances import FINITE_DIFFERENCE, SAME_ALGEBRA, assert_close

from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.estimation.excitation.fourier import FourierBasis, FourierTrajectory


@pytest.fixture
def series(rng):
    basis = FourierBasis(4.0, 4)
    return basis.trajectory(('a', 'b'), np.array([0.3, -1.0]), rng.normal(size=(2, basis.size)))


def test_a_series_starts_and_ends_at_rest_in_its_start(series):
    motion = series.sample([0.0, series.duration])
    assert_close(motion.q, np.tile(series.start, (2, 1)), SAME_ALGEBRA)
    assert_close(motion.qd, np.zeros((2, 2)), 1e-9)
    assert_close(motion.qdd, np.zeros((2, 2)), 1e-9)


def test_velocity_and_acceleration_are_the_derivatives_of_the_position(series):
    t, h = np.linspace(0.1, 3.9, 50), 1e-5
    before, now, after = (series.sample(t + shift) for shift in (-h, 0.0, h))
    assert_close(now.qd, (after.q - before.q) / (2 * h), FINITE_DIFFERENCE)
    assert_close(now.qdd, (after.qd - before.qd) / (2 * h), FINITE_DIFFERENCE)


def test_a_series_on_paper():
    # sin(t) - sin(2 t) / 2 in 2 pi seconds: velocity cos t - cos 2t
    series = FourierTrajectory(('a',), [1.0], 2 * np.pi, [[1.0, -0.5]], [[0.0, 0.0]])
    motion = series.sample([np.pi / 2, np.pi])
    np.testing.assert_allclose(motion.q[:, 0], [2.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(motion.qd[:, 0], [1.0, -2.0], atol=1e-12)


def test_times_include_both_ends():
    series = FourierTrajectory(('a',), [0.0], 2.5, [[1.0, -0.5]], [[0.0, 0.0]])
    times = series.times(100.0)
    assert len(times) == 251 and times[0] == 0.0 and times[-1] == 2.5


def test_unit_coefficients_have_unit_peak_velocity():
    velocities = FourierBasis(7.0, 5).sample(np.linspace(0.0, 7.0, 5000))[1]
    np.testing.assert_allclose(np.max(np.abs(velocities), axis=0), 1.0, rtol=1e-2)


@pytest.mark.parametrize('sine, cosine, message', [
    ([[1.0, 0.0]], [[0.0, 0.0]], 'joint a: the velocity at the ends is not zero'),
    ([[1.0, -0.5]], [[1.0, 0.0]], 'joint a: the acceleration at the ends is not zero'),
    ([[1.0, -0.5]], [[0.0]], 'do not fit 1 joints'),
])
def test_a_series_that_is_not_at_rest_is_refused(sine, cosine, message):
    with pytest.raises(TrajectoryError, match=message):
        FourierTrajectory(('a',), [0.0], 1.0, sine, cosine)


@pytest.mark.parametrize('duration, harmonics, message', [
    (5.0, 1, '1 harmonics cannot begin and end at rest'),
    (0.0, 5, 'duration must be positive'),
    (np.nan, 5, 'duration must be positive'),
])
def test_an_impossible_series_is_refused(duration, harmonics, message):
    with pytest.raises(TrajectoryError, match=message):
        FourierBasis(duration, harmonics)


def test_the_basis_spans_every_series_at_rest(rng):
    basis = FourierBasis(3.0, 3)
    # sine terms with s1 + 2 s2 + 3 s3 = 0, cosine terms with c1 + 4 c2 + 9 c3 = 0
    wanted = FourierTrajectory(('a',), [0.0], 3.0, [[1.0, 1.0, -1.0]], [[5.0, 1.0, -1.0]])
    times = np.linspace(0.0, 3.0, 50)
    shapes = basis.sample(times)[0]
    coefficients, *_ = np.linalg.lstsq(shapes, wanted.sample(times).q, rcond=None)
    again = basis.trajectory(('a',), np.zeros(1), coefficients.T)
    assert_close(again.sine, wanted.sine, 1e-9)
    assert_close(again.cosine, wanted.cosine, 1e-9)
    assert shapes.shape == (50, 4)
