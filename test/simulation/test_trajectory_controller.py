# SPDX-License-Identifier: Apache-2.0
"""PID plus interpolated effort, hold before and after."""

import numpy as np
import pytest

from robot_dynamics_ros.control.pid import PidGains
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.simulation.trajectory_controller import TrajectoryController

GAINS = PidGains([100.0], [0.0], [10.0], [0.0])
TRAJECTORY = Trajectory(('a',), [0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]],
                        efforts=[[4.0], [8.0]])


def controller(limit=1e3):
    return TrajectoryController(GAINS, EffortLimits(('a',), np.array([limit])), np.array([0.3]))


def effort(control, now, q=0.0, qd=0.0):
    return control.effort(now, np.array([q]), np.array([qd]), 0.001).effort[0]


def test_before_the_first_trajectory_it_holds_its_position():
    assert effort(controller(), 5.0, q=0.2) == pytest.approx(100.0 * 0.1)


def test_effort_is_pid_plus_the_interpolated_effort():
    control = controller()
    control.follow(TRAJECTORY, 2.0, 2.0, np.zeros(1), np.zeros(1))
    curve = TRAJECTORY.sample(0.25)
    expected = 100.0 * (curve.q[0] - 0.1) + 10.0 * (curve.qd[0] - 0.2) + 5.0
    assert effort(control, 2.25, q=0.1, qd=0.2) == pytest.approx(expected)


def test_after_the_end_the_last_point_is_held_with_its_effort():
    control = controller()
    control.follow(TRAJECTORY, 2.0, 2.0, np.zeros(1), np.zeros(1))
    assert effort(control, 50.0, q=1.0) == pytest.approx(8.0)


def test_before_a_late_first_point_the_state_is_blended_in_with_the_last_commanded_effort():
    control = controller()
    assert effort(control, 1.0, q=0.28) == pytest.approx(2.0)
    late = Trajectory(('a',), [1.0], [[1.0]], [[0.0]], efforts=[[8.0]])
    control.follow(late, 2.0, 2.0, np.array([0.5]), np.zeros(1))
    middle = control.desired(2.5)
    assert middle.q[0] == pytest.approx(0.75)
    assert middle.effort[0] == pytest.approx(5.0)


def test_a_continuous_joint_goes_the_short_way_and_a_limited_one_does_not():
    for continuous, way in ((True, 2.0 * np.pi - 6.0), (False, -6.0)):
        control = TrajectoryController(GAINS, EffortLimits(('a',), np.array([1e3])),
                                       np.array([3.0]), np.array([continuous]))
        control.follow(Trajectory(('a',), [1.0], [[-3.0]]), 0.0, 0.0, np.array([3.0]),
                       np.zeros(1))
        assert control.desired(0.5).qd[0] == pytest.approx(way)
        assert control.error(0.0, np.array([3.0]))[0] == pytest.approx(0.0)


def test_scaling_stretches_the_time_of_the_trajectory_and_not_its_efforts():
    control = controller()
    control.scaling = 0.5
    control.follow(TRAJECTORY, 2.0, 2.0, np.zeros(1), np.zeros(1))
    for k in range(500):
        effort(control, 2.0 + 0.001 * k)
    assert control.elapsed(2.5) == pytest.approx(0.25)
    assert control.desired(2.5).effort[0] == pytest.approx(5.0)


def test_a_stop_keeps_the_integral_and_an_activation_empties_it():
    gains = PidGains([0.0], [100.0], [0.0], [50.0])
    control = TrajectoryController(gains, EffortLimits(('a',), np.array([1e3])), np.ones(1))
    assert effort(control, 0.0) == pytest.approx(0.1)
    control.hold(np.zeros(1))
    assert effort(control, 0.0) == pytest.approx(0.1)
    control.activate(np.zeros(1))
    assert effort(control, 0.0) == 0.0


def test_a_start_in_the_future_is_waited_for():
    control = controller()
    control.follow(TRAJECTORY, 12.0, 10.0, np.array([0.0]), np.zeros(1))
    assert control.desired(11.0).q[0] == pytest.approx(0.0)
    assert control.desired(12.5).q[0] == pytest.approx(0.5)


def test_hold_stops_with_pid_alone():
    control = controller()
    control.follow(TRAJECTORY, 2.0, 2.0, np.zeros(1), np.zeros(1))
    control.hold(np.array([0.4]))
    assert effort(control, 2.5, q=0.4) == pytest.approx(0.0)


def test_efforts_are_limited_and_never_nan():
    control = controller(limit=3.0)
    assert effort(control, 0.0, q=-9.0) == 3.0
    with pytest.raises(StateError, match='joint a'):
        effort(control, 0.0, q=np.nan)
