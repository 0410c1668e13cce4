# SPDX-License-Identifier: Apache-2.0
"""More points, the identical curve."""

import numpy as np
import pytest
from support.trajectories import random_trajectory

from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.resampling import resample, with_hold
from robot_dynamics_ros.motion.trajectory import Trajectory

# differences of positions over 10 ms, squared, in double precision
CURVE = 1e-9


def mixed_trajectory(rng):
    """Return a trajectory whose points fill different fields."""
    trajectory = random_trajectory(rng, points=9)
    velocities, accelerations = trajectory.velocities.copy(), trajectory.accelerations.copy()
    velocities[[0, 4]] = np.nan
    accelerations[[0, 4, 6]] = np.nan
    return Trajectory(trajectory.joint_names, trajectory.times, trajectory.positions,
                      velocities, accelerations)


@pytest.mark.parametrize('degree', [1, 3, 5, 'mixed'])
def test_the_curve_through_the_added_points_is_the_identical_one(rng, degree):
    before = mixed_trajectory(rng) if degree == 'mixed' else random_trajectory(rng, degree=degree)
    after = resample(before, 100.0)
    times = rng.uniform(before.times[0], before.times[-1], 500)
    for ours, expected in zip(after.sample(times), before.sample(times)):
        np.testing.assert_allclose(ours, expected, rtol=0,
                                   atol=CURVE * max(1.0, np.abs(expected).max()))


def test_every_waypoint_stays_exactly_as_it_is(rng):
    before = mixed_trajectory(rng)
    after = resample(before, 37.0)
    kept = np.isin(after.times, before.times)
    assert kept.sum() == len(before)
    for field in ('times', 'positions', 'velocities', 'accelerations'):
        np.testing.assert_array_equal(getattr(after, field)[kept], getattr(before, field))


def test_points_are_at_most_one_period_apart(rng):
    for rate in (1.0, 10.0, 250.0):
        after = resample(random_trajectory(rng), rate)
        assert np.diff(after.times).max() <= 1.0 / rate + 2e-9


def test_one_second_at_100_hz_on_paper():
    after = resample(Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]]), 100.0)
    np.testing.assert_allclose(after.times, np.linspace(0, 1, 101), atol=1e-9)
    np.testing.assert_allclose(after.positions[:, 0], after.times, atol=1e-12)
    assert np.isnan(after.velocities).all()


def test_dense_waypoints_are_not_touched(rng):
    trajectory = random_trajectory(rng)
    assert len(resample(trajectory, 0.5)) == len(trajectory)


def test_added_times_are_whole_nanoseconds(rng):
    times = resample(random_trajectory(rng), 300.0).times[1:5]
    np.testing.assert_allclose(times * 1e9, np.round(times * 1e9), rtol=0, atol=1e-3)


def test_a_trajectory_of_years_is_refused_instead_of_filling_the_memory():
    years = Trajectory(('a',), [0.0, 2.0**31], [[0.0], [1.0]])
    with pytest.raises(TrajectoryError, match='more than the 100000 allowed'):
        resample(years, 100.0)


@pytest.mark.parametrize('rate', [0.0, -1.0, np.nan, np.inf])
def test_a_rate_must_be_positive(rng, rate):
    with pytest.raises(TrajectoryError, match='rate'):
        resample(random_trajectory(rng), rate)


def test_an_accelerated_end_gets_a_point_at_rest():
    trajectory = Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]], [[2.0], [-2.0]])
    held = with_hold(trajectory)
    assert len(held) == 3
    assert held.times[-1] - held.times[-2] == pytest.approx(1e-9, abs=1e-15)
    after = held.sample(2.0)
    assert (after.q[0], after.qd[0], after.qdd[0]) == (1.0, 0.0, 0.0)


def test_an_end_at_rest_or_in_motion_is_left_alone():
    rest = Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]], [[2.0], [0.0]])
    moving = Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [1.0]], [[2.0], [1.0]])
    assert with_hold(rest) is rest
    assert with_hold(moving) is moving
