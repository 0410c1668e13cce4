# SPDX-License-Identifier: Apache-2.0
"""The curve through waypoints, judged by scipy's Hermite interpolants."""

import numpy as np
import pytest
from scipy.interpolate import BPoly
from support.tolerances import OTHER_IMPLEMENTATION
from support.trajectories import NAMES, random_trajectory

from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.trajectory import Trajectory


def hermite(trajectory, derivatives):
    """Return scipy's interpolant through positions and this many derivatives."""
    fields = (trajectory.positions, trajectory.velocities, trajectory.accelerations)
    return BPoly.from_derivatives(trajectory.times, np.stack(fields[:derivatives + 1], axis=1))


@pytest.mark.parametrize('degree', [1, 3, 5])
def test_the_curve_is_the_hermite_interpolant_of_the_filled_fields(rng, degree):
    trajectory = random_trajectory(rng, degree=degree)
    curve = hermite(trajectory, (degree - 1) // 2)
    times = rng.uniform(trajectory.times[0], trajectory.times[-1], 200)
    sample = trajectory.sample(times)
    for order, ours in enumerate((sample.q, sample.qd, sample.qdd)):
        expected = (curve.derivative(order) if order else curve)(times)
        np.testing.assert_allclose(ours, expected, rtol=0,
                                   atol=OTHER_IMPLEMENTATION * max(1, np.abs(expected).max()))


def test_a_linear_segment_on_paper():
    trajectory = Trajectory(('a',), [0.0, 2.0], [[1.0], [5.0]])
    sample = trajectory.sample(0.5)
    assert (sample.q[0], sample.qd[0], sample.qdd[0]) == (2.0, 2.0, 0.0)


def test_a_cubic_segment_on_paper():
    # q = 3 t^2 - 2 t^3 between 0 and 1 with zero end velocities
    trajectory = Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]])
    sample = trajectory.sample(0.25)
    np.testing.assert_allclose([x[0] for x in sample[:3]], [0.15625, 1.125, 3.0], rtol=1e-14)


def test_degree_follows_what_both_points_fill():
    nan = np.nan
    trajectory = Trajectory(
        ('a',), [0.0, 1.0, 2.0, 3.0, 4.0], [[0.0], [1.0], [2.0], [0.0], [1.0]],
        velocities=[[nan], [0.0], [0.0], [1.0], [0.0]],
        accelerations=[[nan], [nan], [0.0], [0.0], [nan]])
    assert trajectory.degrees.tolist() == [1, 3, 5, 3]


def test_a_waypoint_belongs_to_the_segment_that_begins_there():
    trajectory = Trajectory(('a',), [0.0, 1.0, 2.0], [[0.0], [1.0], [4.0]])
    assert trajectory.sample(1.0).qd[0] == 3.0


def test_the_last_point_is_held_with_what_it_fills(rng):
    trajectory = random_trajectory(rng, degree=3)
    for time in (trajectory.duration, trajectory.duration + 5.0):
        sample = trajectory.sample(time)
        np.testing.assert_array_equal(sample.q, trajectory.positions[-1])
        np.testing.assert_array_equal(sample.qd, trajectory.velocities[-1])
        assert not sample.qdd.any()


def test_before_the_first_point_the_robot_rests_there(rng):
    trajectory = random_trajectory(rng)
    sample = trajectory.sample(trajectory.times[0] - 0.01)
    np.testing.assert_array_equal(sample.q, trajectory.positions[0])
    assert not sample.qd.any() and not sample.qdd.any()


def test_efforts_are_interpolated_linearly_and_held(rng):
    efforts = rng.uniform(-5, 5, (6, 3))
    trajectory = random_trajectory(rng).with_efforts(efforts)
    middle = 0.5 * (trajectory.times[2] + trajectory.times[3])
    sample = trajectory.sample([middle, trajectory.duration + 1.0])
    np.testing.assert_allclose(sample.effort, [0.5 * (efforts[2] + efforts[3]), efforts[-1]])


def test_one_point_is_a_trajectory():
    sample = Trajectory(('a',), [0.5], [[2.0]]).sample([0.0, 0.5, 9.0])
    np.testing.assert_array_equal(sample.q, [[2.0]] * 3)


def test_a_start_point_fills_what_the_first_point_fills(rng):
    for degree in (1, 3, 5):
        trajectory = random_trajectory(rng, degree=degree)
        started = trajectory.with_start(0.0, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3])
        assert started.degrees[0] == degree
        np.testing.assert_array_equal(started.positions[1:], trajectory.positions)
        if degree > 1:
            np.testing.assert_array_equal(started.velocities[0], [0.1, 0.2, 0.3])


def test_joints_are_mapped_by_name(rng):
    trajectory = random_trajectory(rng).with_efforts(rng.uniform(-1, 1, (6, 3)))
    shuffled = trajectory.in_order(('c', 'a', 'b'))
    np.testing.assert_array_equal(shuffled.positions[:, 0], trajectory.positions[:, 2])
    np.testing.assert_array_equal(shuffled.in_order(NAMES).efforts, trajectory.efforts)


def test_missing_and_unknown_joints_are_named(rng):
    with pytest.raises(TrajectoryError, match=r'missing: d; unknown: c'):
        random_trajectory(rng).in_order(('a', 'b', 'd'))


@pytest.mark.parametrize(('changes', 'message'), [
    ({'times': [0.0, 1.0, 1.0]}, r'increase strictly: point 1 .* point 2'),
    ({'times': [0.0, 2.0, 1.0]}, r'increase strictly'),
    ({'times': [-1.0, 0.0, 1.0]}, r'not negative'),
    ({'times': [0.0, np.nan, 1.0]}, r'finite'),
    ({'times': []}, r'at least one point'),
    ({'positions': np.zeros((3, 2))}, r'positions has shape \(3, 2\), expected \(3, 3\)'),
    ({'positions': np.full((3, 3), np.nan)}, r'joint a: positions of point 0 is not finite'),
    ({'velocities': [[0, 0, 0], [0, np.inf, 0], [0, 0, 0]]}, r'joint b: velocities of point 1'),
    ({'velocities': [[0, 0, 0], [0, np.nan, 0], [0, 0, 0]]}, r'joint b: velocities of point 1'),
    ({'accelerations': np.zeros((3, 3))}, r'accelerations but no velocities'),
    ({'joint_names': ('a', 'a', 'b')}, r'different names'),
])
def test_a_wrong_trajectory_is_refused(changes, message):
    fields = {'joint_names': NAMES, 'times': [0.0, 1.0, 2.0], 'positions': np.zeros((3, 3))}
    with pytest.raises(TrajectoryError, match=message):
        Trajectory(**{**fields, **changes})


@pytest.mark.parametrize('degree', [1, 3, 5])
def test_one_time_of_a_long_trajectory_is_that_of_all_times(rng, degree):
    trajectory = random_trajectory(rng, points=1025, degree=degree)
    times = np.concatenate([[0.0, trajectory.duration + 1.0], trajectory.times[::64],
                            trajectory.times[255:258], rng.uniform(0, trajectory.duration, 50)])
    together = trajectory.sample(times)
    for i, time in enumerate(times):
        for one, all_of_them in zip(trajectory.sample(time), together):
            np.testing.assert_array_equal(one, all_of_them[i])
