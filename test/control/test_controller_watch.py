# SPDX-License-Identifier: Apache-2.0
"""What the state of a controller says about what was sent to it."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros.control.carried_effort import CarriedEffort
from robot_dynamics_ros.control.controller_watch import ControllerWatch
from robot_dynamics_ros.motion.controller_state import ControllerState
from robot_dynamics_ros.motion.trajectory import Trajectory

MOTION = Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]], efforts=[[5.0], [3.0]])
WEIGHT = np.array([10.0])


def state(now, elapsed, q=None, *, qd=0.0, output=0.0, error=0.0, scaling=1.0):
    reference = MOTION.sample(elapsed).q if q is None else np.array([q])
    return ControllerState(now, elapsed, reference, np.array([qd]), np.array([error]),
                           np.array([output]), scaling)


def watching(*, until=0.5, carried=None, as_goal=False):
    """Return a watch that has seen a motion, sent at 100 s, run until a time."""
    watch = ControllerWatch()
    watch.see(state(99.99, 30.0, 0.0))
    watch.sent(MOTION, 100.0, 100.0, 0.0, carried, as_goal=as_goal)
    for elapsed in np.arange(0.0, until + 1e-9, 0.01):
        watch.see(state(100.0 + elapsed, elapsed))
    return watch


def test_a_motion_that_is_followed_is_known_to_run():
    trajectory, elapsed = watching().running(100.51)
    assert trajectory is MOTION
    assert elapsed == pytest.approx(0.51)


def test_the_clock_of_a_scaled_motion_is_that_of_the_controller():
    watch = ControllerWatch()
    watch.sent(MOTION, 100.0, 100.0, 0.0, None)
    for k in range(21):
        watch.see(state(100.0 + 0.01 * k, 0.005 * k, scaling=0.5))
    assert watch.running(100.22)[1] == pytest.approx(0.11)
    assert watch.scaling(100.22) == 0.5
    assert watch.scaling(200.0) == 1.0


def test_a_reference_that_stands_still_elsewhere_is_a_hold():
    watch = watching()
    watch.see(state(100.51, 0.0, 0.49))
    assert watch.running(100.51) is None
    assert watch.to_hold(100.51) is None, 'it may be the beginning of a motion'
    watch.see(state(100.54, 0.03, 0.49))
    np.testing.assert_array_equal(watch.to_hold(100.54), [0.49])


@pytest.mark.parametrize(('until', 'carried'), [(0.5, 10.0), (1.2, 4.0)], ids=['moving', 'rest'])
def test_what_d_does_against_the_momentum_is_not_what_the_integral_carries(until, carried):
    integral = CarriedEffort(WEIGHT, np.array([False]), 0.0)
    watch = watching(until=until, carried=integral)
    watch.see(state(100.002 + until, 0.002, 0.49, output=4.0))
    kept = watch.carried(WEIGHT, 100.002 + until, 1.5)
    np.testing.assert_array_equal(kept.effort, [carried])


def test_a_reference_without_velocity_after_its_time_zero_is_a_hold_at_once():
    watch = watching()
    watch.see(state(100.502, 0.0, 0.49))
    assert watch.to_hold(100.502) is None, 'so begins a motion, too'
    watch.see(state(100.504, 0.002, 0.49))
    np.testing.assert_array_equal(watch.to_hold(100.504), [0.49])
    # a controller that has just been activated
    watch = ControllerWatch()
    watch.see(state(100.002, 0.002, 0.3))
    np.testing.assert_array_equal(watch.to_hold(100.002), [0.3])


@pytest.mark.parametrize('qd', [1e-9, np.nan], ids=['moving', 'not shown'])
def test_a_reference_that_may_move_is_not_held_at_once(qd):
    watch = ControllerWatch()
    watch.see(state(100.002, 0.002, 0.3, qd=qd))
    assert watch.to_hold(100.002) is None
    watch.see(state(100.004, 0.004, 0.3, qd=qd))
    assert watch.to_hold(100.004) is None


def test_a_hold_that_was_announced_is_held_at_once():
    watch = watching(as_goal=True)
    watch.dropped(100.505)
    assert watch.to_hold(100.505) is None
    watch.see(state(100.51, 0.0, 0.49))
    np.testing.assert_array_equal(watch.to_hold(100.51), [0.49])


def test_an_announced_stop_that_still_slows_down_is_waited_for():
    watch = watching(as_goal=True)
    watch.dropped(100.505)
    for k in range(1, 6):
        watch.see(state(100.5 + 0.01 * k, 0.01 * k, 0.5 + 0.001 * k, qd=0.1))
        assert watch.to_hold(100.5 + 0.01 * k) is None
    watch.see(state(100.57, 0.07, 0.505))
    np.testing.assert_array_equal(watch.to_hold(100.57), [0.505])


def test_a_motion_of_somebody_else_is_left_alone_even_when_it_pauses():
    watch = watching()
    for k in range(1, 50):
        watch.see(state(100.5 + 0.01 * k, 0.01 * k, 0.4 + 0.001 * min(k, 10),
                        qd=0.1 if k <= 10 else 0.0))
        assert watch.to_hold(100.5 + 0.01 * k) is None


def test_the_end_of_a_motion_is_no_hold():
    watch = watching(until=3.0)
    assert watch.to_hold(103.0) is None
    assert watch.running(103.0)[1] == pytest.approx(3.0)


def test_the_point_held_after_success_is_the_one_that_was_sent():
    watch = watching(until=1.02, as_goal=True)
    for k in range(10):
        watch.see(state(101.03 + 0.01 * k, 0.01 * k, 1.0))
    assert watch.to_hold(101.12) is None
    # the same on the topic is a new activation just there
    watch = watching(until=1.02)
    for k in range(10):
        watch.see(state(101.03 + 0.01 * k, 0.01 * k, 1.0))
    np.testing.assert_array_equal(watch.to_hold(101.12), [1.0])


def test_a_state_from_before_the_arrival_decides_nothing():
    watch = ControllerWatch()
    watch.see(state(99.99, 30.0, 0.0))
    watch.sent(MOTION, 100.0, 100.0, 0.0, None)
    for k in range(5):
        watch.see(state(100.0 + 0.01 * k, 30.0 + 0.01 * k, 0.0))
    assert watch.running(100.05) is not None
    assert watch.to_hold(100.05) is None


def test_what_never_arrives_is_given_up():
    watch = ControllerWatch()
    watch.see(state(99.99, 30.0, 0.0))
    watch.sent(MOTION, 100.0, 100.0, 0.0, None)
    for k in range(130):
        watch.see(state(100.0 + 0.01 * k, 30.0 + 0.01 * k, 0.0))
    np.testing.assert_array_equal(watch.to_hold(101.3), [0.0])


def test_what_came_too_late_is_not_taken_for_the_hold_of_a_new_activation():
    # sent as the controller was deactivated; it is activated again where it was
    watch = watching(until=1.2)
    watch.sent(Trajectory(('a',), [0.0], [[1.0]]), 101.2, 101.2, 0.0, None)
    watch.see(state(103.0, 0.002, 1.0))
    assert watch.running(103.0) is None
    np.testing.assert_array_equal(watch.to_hold(103.0), [1.0])


def test_what_was_refused_does_not_run():
    watch = watching()
    watch.sent(Trajectory(('a',), [0.0], [[3.0]]), 100.5, 100.5, 0.0, None)
    watch.refused()
    assert watch.running(100.51)[0] is MOTION


def test_a_hold_that_is_good_is_left_as_it_is():
    watch = ControllerWatch()
    for k in range(5):
        watch.see(state(100.0 + 0.01 * k, 30.0, 0.0))
    assert watch.to_hold(100.04) is not None
    watch.leave()
    assert watch.to_hold(100.04) is None


def test_old_states_count_for_nothing():
    watch = ControllerWatch()
    for k in range(5):
        watch.see(state(100.0 + 0.01 * k, 30.0, 0.0))
    assert watch.to_hold(110.0) is None
    assert watch.carried(WEIGHT, 110.0, 1.5).fades


@pytest.mark.parametrize(('elapsed', 'output', 'error', 'expected'), [
    (30.0, 10.0, 0.0, 10.0),   # held for long: the integral
    (0.03, 10.0, 0.0, 10.0),   # just begun, but the integral was loaded before
    (0.03, 3.0, 0.003, 0.0),   # just activated: P and D against the fall
    (30.0, 10.0, 0.025, 10.0)])  # hanging on P
def test_what_a_controller_carries_that_is_not_ours(elapsed, output, error, expected):
    watch = ControllerWatch()
    watch.see(state(100.0, elapsed, 0.0, output=output, error=error))
    carried = watch.carried(WEIGHT, 100.0, 1.5)
    assert carried.effort[0] == expected
    assert carried.fades == (error > 0.02)


def test_what_is_carried_stays_with_what_was_sent_and_after_its_drop():
    kept = CarriedEffort(WEIGHT, np.zeros(1, bool), 0.0)
    watch = watching(carried=kept)
    # at another place, where the weight pulls the other way
    assert watch.carried(-WEIGHT, 100.5, 1.5).effort[0] == 10.0
    watch.see(state(100.51, 0.0, 0.49, output=10.0))
    assert watch.carried(-WEIGHT, 100.51, 1.5).effort[0] == 10.0
    watch = watching(until=1.2, carried=kept)  # at rest nothing but the integral is in the output
    watch.see(state(101.21, 0.0, 0.49, output=0.0))
    assert watch.carried(-WEIGHT, 101.21, 1.5).effort[0] == 0.0, 'the integral was emptied'


def test_without_an_output_everything_fades_in():
    watch = ControllerWatch()
    watch.see(state(100.0, 30.0, 0.0, output=np.nan))
    assert watch.carried(WEIGHT, 100.0, 1.5).fades


def test_a_clock_that_moves_in_steps_hides_no_arrival():
    watch = ControllerWatch()
    watch.see(state(99.9, 30.0, 0.0))
    watch.sent(MOTION, 100.0, 100.0, 0.0, None)
    watch.see(replace(state(100.0, 0.09), stamp=100.095))
    watch.see(state(101.0, 1.0))
    assert watch.running(101.0) is not None
    watch.see(state(101.1, 0.0, 0.4))
    assert watch.running(101.1) is None, 'it had been seen'


HOLD = Trajectory(('a',), [0.0], [[0.3]], efforts=[[0.0]])


@pytest.mark.parametrize(('after', 'feedback'), [
    (10.0, None),   # the integral carried the weight, as was guessed
    (9.0, None),
    (0.0, 0.0),     # the reference had the effort, and the hold has replaced it
    (2.0, 2.0),
])
def test_a_hold_shows_who_carried_the_weight(after, feedback):
    watch = ControllerWatch()
    watch.see(state(99.98, 30.0, 0.3, output=10.0))
    watch.see(state(99.99, 30.01, 0.3, output=10.0))
    carried = watch.carried(WEIGHT, 100.0, 1.5)
    assert carried.guessed
    np.testing.assert_array_equal(carried.effort, WEIGHT)
    watch.sent(HOLD, 100.0, 100.0, 0.0, carried)
    watch.see(state(100.0, 30.02, 0.3, output=10.0))
    assert watch.surprise() is None, 'not shown yet'
    watch.see(state(100.01, 0.005, 0.3, output=after))
    found = watch.surprise()
    if feedback is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found[0], [feedback])
    watch.see(state(100.02, 0.015, 0.3, output=3.0))
    assert watch.surprise() is None, 'asked once'
    assert not watch.carried(WEIGHT, 100.02, 1.5).guessed


def test_in_a_motion_feedback_has_more_to_do():
    watch = ControllerWatch()
    watch.see(state(99.99, 30.0, 0.0, output=10.0))
    watch.sent(MOTION, 100.0, 100.0, 0.0, watch.carried(WEIGHT, 100.0, 1.5))
    watch.see(state(100.01, 0.01, output=-20.0))
    assert watch.surprise() is None
