# SPDX-License-Identifier: Apache-2.0
"""A motion is approached, played, watched and stopped safely."""

from dataclasses import replace

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.errors import StateError, TrajectoryError
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.motion.playing.player import (
    MotionPlayer,
    Phase,
    PlayerSettings,
    repeated,
)
from robot_dynamics_ros.motion.trajectory import Trajectory

SETTINGS = PlayerSettings()


@pytest.fixture
def chain():
    return chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')


@pytest.fixture
def motion(chain):
    return lively_motion(chain, duration=3.0)


class Robot:
    """Follows orders exactly, unless told to be somewhere else."""

    def __init__(self, q):
        self.q = np.array(q, dtype=float)
        self.order = None

    def sample(self, now, received=None):
        q, qd = self.q, np.zeros(2)
        if self.order is not None:
            point = self.order.trajectory.sample(now - self.order.start)
            q, qd = point.q, point.qd
        return JointSample(now, now if received is None else received, q, qd, np.zeros(2))


def play(player, robot, begin, end, step=0.05):
    """Return the phases seen between two times."""
    phases = []
    for now in np.arange(begin, end, step):
        order = player.step(now, robot.sample(now))
        if order is not None:
            robot.order = order
        phases.append(player.phase)
    return phases


def test_the_motion_is_approached_played_and_done(chain, motion):
    robot, player = Robot([0.5, -0.5]), MotionPlayer(motion, chain)
    assert not player.running
    robot.order = player.begin(10.0, robot.sample(10.0))
    assert player.running
    assert robot.order.start == 10.0 + SETTINGS.lead
    phases = play(player, robot, 10.0, 20.0)
    assert [phase for phase, before in zip(phases[1:], phases) if phase is not before] == [
        Phase.PLAY, Phase.DONE]
    assert robot.order.trajectory is player.motion
    assert player.progress(20.0) == 1.0
    assert not player.running
    assert player.step(21.0, robot.sample(21.0)) is None


def test_progress_goes_from_0_to_1(chain, motion):
    robot, player = Robot(motion.positions[0]), MotionPlayer(motion, chain)
    robot.order = player.begin(0.0, robot.sample(0.0))
    assert player.progress(1.0) == 0.0
    play(player, robot, 0.0, 4.0)
    assert player.phase is Phase.PLAY
    assert player.progress(player.start + 1.5) == pytest.approx(0.5)


def test_an_approach_keeps_the_speed_limit(chain, motion):
    far = Robot(np.array(chain.position_limits[0]).clip(-3.0))
    order = MotionPlayer(motion, chain).begin(0.0, far.sample(0.0))
    t = np.linspace(0.0, order.trajectory.duration, 500)
    speed = np.abs(order.trajectory.sample(t).qd).max(axis=0)
    assert np.all(speed <= SETTINGS.speed * np.nan_to_num(chain.velocity_limits, nan=1.0) * 1.001)


def test_a_start_far_outside_the_limits_is_refused(chain, motion):
    player = MotionPlayer(motion, chain)
    with pytest.raises(StateError, match='joint joint_2 is at 45, outside its limits'):
        player.begin(0.0, Robot([0.0, 45.0]).sample(0.0))
    assert not player.running
    player.begin(0.0, Robot([3.15, 0.0]).sample(0.0))  # a little is usual
    assert player.running


def test_an_approach_from_beside_ends_at_the_first_point(chain, motion):
    settings = replace(SETTINGS, beside=0.1)
    order = MotionPlayer(motion, chain, settings).begin(0.0, Robot([0.2, 0.2]).sample(0.0))
    assert len(order.trajectory) == 3
    np.testing.assert_allclose(order.trajectory.positions[1], motion.positions[0] + 0.1)
    np.testing.assert_array_equal(order.trajectory.positions[2], motion.positions[0])


def test_a_robot_that_leaves_the_motion_is_braked_where_it_is(chain, motion):
    robot, player = Robot(motion.positions[0]), MotionPlayer(motion, chain)
    robot.order = player.begin(0.0, robot.sample(0.0))
    play(player, robot, 0.0, 4.5)
    astray = JointSample(4.5, 4.5, np.array([1.5, 0.0]), np.array([0.4, 0.0]), np.zeros(2))
    order = player.step(4.5, astray)
    assert player.phase is Phase.STOPPED
    assert 'joint_1 is' in player.reason
    end = order.trajectory.sample(10.0)
    np.testing.assert_allclose(end.q, [1.5 + 0.5 * SETTINGS.brake * 0.4, 0.0])
    np.testing.assert_array_equal(end.qd, 0.0)
    assert player.step(5.0, astray) is None


def test_joint_states_that_stay_away_stop_it(chain, motion):
    robot, player = Robot(motion.positions[0]), MotionPlayer(motion, chain)
    robot.order = player.begin(0.0, robot.sample(0.0))
    assert player.step(0.4, robot.sample(0.4, received=0.0)) is None
    assert player.step(0.6, robot.sample(0.6, received=0.0)) is not None
    assert 'no joint state for 0.60 s' in player.reason


def playing(chain, motion, elapsed):
    """Return a player whose motion has been running for a time, and the robot and the clock."""
    robot, player = Robot(motion.positions[0]), MotionPlayer(motion, chain)
    robot.order = player.begin(0.0, robot.sample(0.0))
    now = 0.0
    while player.phase is Phase.APPROACH:
        now += 0.05
        robot.order = player.step(now, robot.sample(now)) or robot.order
    for later in np.arange(now, player.start + elapsed, 0.05):
        assert player.step(later, robot.sample(later)) is None
    return player, robot, player.start + elapsed


@pytest.mark.parametrize('elapsed', np.linspace(0.2, 2.4, 12))
def test_stale_joint_states_are_not_compared_with_a_motion_that_went_on(chain, motion, elapsed):
    strict = replace(motion, times=motion.times / 2.0, velocities=2.0 * motion.velocities,
                     accelerations=4.0 * motion.accelerations)
    player, robot, last = playing(chain, strict, 0.5 * elapsed)
    stale = robot.sample(last)
    now = last
    while player.running:
        now += 0.05
        order = player.step(now, stale)
    assert player.reason.startswith('no joint state')
    assert now - last == pytest.approx(SETTINGS.timeout, abs=0.051)
    assert order.start == now


@pytest.mark.parametrize('elapsed', np.linspace(0.0, 3.0, 13))
def test_a_robot_that_follows_is_braked_along_the_motion(chain, motion, elapsed):
    player, robot, now = playing(chain, motion, elapsed)
    brake = player.stop(now, 'test')
    before = robot.sample(now)
    curve, _ = brake.trajectory.begun(0.0, before.q, before.qd)
    t = np.linspace(0.0, SETTINGS.brake, 200)
    # the same path, its time slowing down from 1 to 0
    u = t / SETTINGS.brake
    path = motion.sample(elapsed + SETTINGS.brake * (u - u**3 + 0.5 * u**4))
    found = curve.sample(t)
    later = u >= 0.1  # the controller begins its first piece, of 50 ms, without acceleration
    np.testing.assert_allclose(found.q, path.q, atol=2e-3)
    np.testing.assert_allclose(found.q[later], path.q[later], atol=1e-4)
    rate = (1.0 - 3.0 * u**2 + 2.0 * u**3)[:, None]
    np.testing.assert_allclose(found.qd[later], (rate * path.qd)[later], atol=5e-3)
    np.testing.assert_allclose(brake.trajectory.velocities[-1], 0.0, atol=1e-12)
    np.testing.assert_allclose(brake.trajectory.accelerations[-1], 0.0, atol=1e-12)


def test_a_clock_set_back_brakes_where_the_motion_was(chain, motion):
    player, robot, now = playing(chain, motion, 1.0)
    brake = player.stop(now - 1000.0, 'clock')
    assert brake.start == now - 1000.0
    np.testing.assert_allclose(brake.trajectory.positions[0], robot.sample(now).q, atol=0.15)


def test_nothing_can_be_braked_before_anything_was_sent(chain, motion):
    with pytest.raises(StateError, match='nothing has been sent'):
        MotionPlayer(motion, chain).stop(0.0, 'test')


def test_a_brake_stays_inside_the_limits_and_knows_no_nan(chain, motion):
    player = MotionPlayer(motion, chain)
    upper = np.nan_to_num(chain.position_limits[1], posinf=3.0)
    rushing = JointSample(0.0, 0.0, upper, np.array([50.0, np.nan]), np.zeros(2))
    order = player.stop(0.0, 'test', rushing)
    assert np.all(np.isfinite(order.trajectory.positions))
    assert np.all(order.trajectory.positions <= chain.position_limits[1])


def test_a_robot_that_does_not_arrive_is_given_up(chain, motion):
    class Stuck(Robot):
        def sample(self, now, received=None):
            return JointSample(now, now, self.q, np.zeros(2), np.zeros(2))

    robot = Stuck(motion.positions[0] + [0.3, 0.0])
    player = MotionPlayer(motion, chain)
    robot.order = player.begin(0.0, robot.sample(0.0))
    play(player, robot, 0.0, 30.0)
    assert player.phase is Phase.STOPPED
    assert 'joint_1 is 0.30 rad away from the start after 3 approaches' in player.reason


@pytest.mark.parametrize(('change', 'message'), [
    (lambda m: replace(m, velocities=m.velocities + 0.1), 'at rest at both ends'),
    (lambda m: replace(m, positions=m.positions + 50.0), 'joint_1: the motion goes from'),
    (lambda m: replace(m, joint_names=('joint_1', 'elbow')), 'missing: joint_2'),
])
def test_motions_that_cannot_be_played_are_refused(chain, motion, change, message):
    with pytest.raises(TrajectoryError, match=message):
        MotionPlayer(change(motion), chain)


def test_a_motion_is_repeated_without_a_gap(motion):
    twice = repeated(motion, 2)
    assert twice.duration == 2.0 * motion.duration
    assert len(twice) == 2 * len(motion) - 1
    t = np.linspace(0.1, 2.9, 50)
    np.testing.assert_allclose(twice.sample(t + motion.duration).q, motion.sample(t).q,
                               atol=1e-12)
    assert repeated(motion, 1) is motion


def test_what_cannot_be_repeated_is_refused(motion):
    away = Trajectory(('a',), np.array([0.0, 1.0]), np.array([[0.0], [1.0]]))
    with pytest.raises(TrajectoryError, match='cannot be repeated'):
        repeated(away, 2)
    with pytest.raises(StateError, match='0 times'):
        repeated(motion, 0)
