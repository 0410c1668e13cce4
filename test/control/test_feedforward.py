# SPDX-License-Identifier: Apache-2.0
"""Trajectory in, trajectory with effort out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pendulum import Pendulums
from support.tolerances import SAME_ALGEBRA
from support.trajectories import NAMES, random_trajectory

from robot_dynamics_ros.control.feedforward import (
    FeedforwardSettings,
    Onset,
    add_feedforward,
    feedforward_torque,
)
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.trajectory import Trajectory

WIDE = EffortLimits(NAMES, np.full(3, 1e9))


def one_joint(limit, **settings):
    return FeedforwardSettings(EffortLimits(('a',), np.array([limit])), **settings)


@pytest.mark.parametrize('degree', [1, 3, 5])
def test_efforts_are_the_torque_of_the_curve(rng, degree):
    trajectory = random_trajectory(rng, degree=degree)
    result = add_feedforward(Pendulums(), trajectory, FeedforwardSettings(WIDE)).trajectory
    curve = trajectory.sample(result.times)
    expected = Pendulums().torque(curve.q, curve.qd, curve.qdd)
    np.testing.assert_allclose(result.efforts, expected, rtol=SAME_ALGEBRA)
    assert len(result) > 10 * len(trajectory)


def test_the_gravity_modes(rng):
    q, qd, qdd = rng.normal(size=(3, 3))
    model = Pendulums()
    full = feedforward_torque(model, q, qd, qdd)
    only = feedforward_torque(model, q, qd, qdd, 'only')
    none = feedforward_torque(model, q, qd, qdd, 'none')
    np.testing.assert_allclose(only, 10.0 * np.cos(q))
    np.testing.assert_allclose(none, 2.0 * qdd + 0.5 * qd)
    np.testing.assert_allclose(full, only + none)
    with pytest.raises(ParameterError, match='full, none, only'):
        feedforward_torque(model, q, qd, qdd, 'half')


def test_efforts_are_cut_at_the_limit_and_counted():
    trajectory = Trajectory(('a',), [0.0, 1.0], [[0.0], [np.pi / 2]], [[0.0], [0.0]])
    result = add_feedforward(Pendulums(), trajectory, one_joint(5.0))
    efforts = result.trajectory.efforts[:, 0]
    assert np.abs(efforts).max() == 5.0
    assert result.clamped[0] == np.sum(np.abs(efforts) == 5.0) > 0


def test_a_decelerating_end_is_followed_by_the_torque_at_rest():
    trajectory = Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]], [[6.0], [-6.0]])
    result = add_feedforward(Pendulums(), trajectory, one_joint(100.0, rate=10.0)).trajectory
    weight = 10.0 * np.cos(1.0)
    np.testing.assert_allclose(result.efforts[-2:, 0], [weight - 12.0, weight], rtol=1e-12)
    np.testing.assert_allclose(result.sample(5.0).effort, [weight], rtol=1e-12)


def test_linear_effort_between_points_stays_close_to_the_true_torque():
    # 1 Hz content at 100 Hz: about A (2 pi f h)^2 / 8 = 0.05 % of the amplitude
    t = np.linspace(0.0, 1.0, 11)
    phase = 2.0 * np.pi * t[:, None]
    omega = 2.0 * np.pi
    trajectory = Trajectory(('a',), t, np.sin(phase), omega * np.cos(phase),
                            -omega**2 * np.sin(phase))
    result = add_feedforward(Pendulums(), trajectory, one_joint(1e3)).trajectory
    times = np.linspace(0.0, 0.999, 1777)
    curve = trajectory.sample(times)
    error = result.sample(times).effort - Pendulums().torque(curve.q, curve.qd, curve.qdd)
    assert np.abs(error).max() < 0.002 * Pendulums.inertia * omega**2


def test_a_model_that_gives_nan_publishes_nothing(rng):
    class Broken(Pendulums):
        def torque(self, q, qd, qdd):
            return np.where(q > 0, np.nan, q)

    with pytest.raises(StateError, match='not finite'):
        add_feedforward(Broken(), random_trajectory(rng), FeedforwardSettings(WIDE))


def test_shuffled_joints_come_back_in_their_order(rng):
    class Different(Pendulums):
        weight = np.array([1.0, 10.0, 100.0])

    trajectory = random_trajectory(rng)
    straight = add_feedforward(Different(), trajectory, FeedforwardSettings(WIDE)).trajectory
    shuffled = add_feedforward(Different(), trajectory.in_order(('c', 'a', 'b')),
                               FeedforwardSettings(WIDE)).trajectory
    assert shuffled.joint_names == ('c', 'a', 'b')
    np.testing.assert_array_equal(shuffled.in_order(NAMES).efforts, straight.efforts)


def measured(q, qd):
    return Onset(measured=JointSample(1.0, 1.0, np.array([q]), np.array([qd]),
                                      np.array([np.nan])))


def test_a_late_first_point_is_preceded_by_the_measured_state():
    late = Trajectory(('a',), [1.0, 2.0], [[1.0], [1.0]], [[0.0], [0.0]], [[0.0], [0.0]])
    result = add_feedforward(Pendulums(), late, one_joint(100.0), measured(0.5, np.nan))
    first = result.trajectory
    assert (first.times[0], first.positions[0, 0], first.velocities[0, 0]) == (0.0, 0.5, 0.0)
    assert first.efforts[0, 0] == pytest.approx(10.0 * np.cos(0.5))
    assert not result.warnings


def test_without_a_joint_state_no_point_is_invented_and_a_warning_says_so():
    late = Trajectory(('a',), [1.0, 2.0], [[1.0], [1.0]], [[0.0], [0.0]])
    result = add_feedforward(Pendulums(), late, one_joint(100.0))
    assert result.trajectory.times[0] == 1.0
    assert 'interpolates the effort from its last command' in result.warnings[0]


def test_positions_outside_the_limits_are_warned_about_and_sent():
    trajectory = Trajectory(('a',), [0.0, 1.0], [[0.0], [3.0]], [[0.0], [0.0]])
    settings = one_joint(100.0, position_limits=np.array([[-2.0], [2.0]]))
    result = add_feedforward(Pendulums(), trajectory, settings)
    assert 'joint a: positions from 0 to 3 leave the limits -2 to 2' in result.warnings[0]
    assert result.trajectory.positions[-1, 0] == 3.0


def test_points_without_velocities_are_warned_about():
    result = add_feedforward(Pendulums(), Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]]),
                             one_joint(100.0))
    assert 'without velocities' in result.warnings[0]


numbers = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.floats(0, 100), numbers, numbers, numbers), min_size=1, max_size=4))
def test_any_numbers_give_finite_limited_efforts_or_a_named_error(rows):
    t, q, qd, qdd = (np.array(column)[:, None] for column in zip(*rows))
    with np.errstate(all='ignore'):
        try:
            result = add_feedforward(Pendulums(), Trajectory(('a',), t[:, 0], q, qd, qdd),
                                     one_joint(5.0, rate=20.0)).trajectory
        except RobotDynamicsError:
            return
    assert np.all(np.abs(result.efforts) <= 5.0)
    assert np.all(np.isfinite(result.positions))
