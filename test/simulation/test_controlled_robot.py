# SPDX-License-Identifier: Apache-2.0
"""The simulated robot with its controllers, in step with a clock."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.robots import example_robot

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
from robot_dynamics_ros.codegen.runtime.model import compile_model
from robot_dynamics_ros.control.feedforward import FeedforwardSettings, add_feedforward
from robot_dynamics_ros.errors import ParameterError, StateError, TrajectoryError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion, middle_position
from robot_dynamics_ros.motion.playing.tracking import Tracking
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.simulation.controlled_robot import ControlledRobot, SensorNoise, pid_gains
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error
from robot_dynamics_ros.simulation.robot import SimulatedRobot

URDF = Path(__file__).resolve().parent.parent.parent / 'urdf' / 'planar_2r.urdf'
START = 100.0


@pytest.fixture
def chain():
    physics = JointPhysics([0.1, 0.05], [0.5, 0.3], [1.0, 0.5], [0.0, 0.0])
    return chain_from_urdf(URDF).with_joint_physics(physics)


def make_cell(chain, *, error=0.0, noise=None, step=0.002, q=None):
    true = with_parameter_error(chain, error, 3)
    robot = SimulatedRobot(true, compile_model(true), q=q, step=step)
    limits = EffortLimits.of_chain(chain)
    gains = pid_gains(compile_model(chain), robot.q, 20.0, 0.5, limits)
    return ControlledRobot(robot, gains, limits, noise=noise, now=START)


def run_until(cell, time):
    assert cell.advance_to(time, at_most=10**6)


def test_gains_place_the_poles_of_a_joint(chain):
    model = compile_model(chain)
    gains = pid_gains(model, [0.0, 0.0], 10.0, 0.5, EffortLimits.of_chain(chain))
    inertia = np.diag(model.mass_matrix([0.0, 0.0]))
    np.testing.assert_allclose(gains.p, 100.0 * inertia)
    np.testing.assert_allclose(gains.d, 20.0 * inertia)
    np.testing.assert_allclose(gains.i, 200.0 * inertia)
    with pytest.raises(ParameterError, match='frequency'):
        pid_gains(model, [0.0, 0.0], 0.0, 0.5, EffortLimits.of_chain(chain))


@pytest.mark.parametrize(('name', 'tip'), [('panda', 'panda_link8'), ('xarm7', None)])
def test_the_damping_of_an_arm_with_parallel_axes_does_not_chatter(name, tip):
    """The mass matrix alone gives gains whose damping turns velocities round in every step."""
    chain = chain_from_urdf(example_robot(name), tip=tip)
    model, middle = compile_model(chain), middle_position(chain)
    gains = pid_gains(model, middle, 20.0, 0.5, EffortLimits.of_chain(chain))
    plain = 40.0 * np.diag(model.mass_matrix(middle))
    q = np.random.default_rng(7).uniform(*chain.position_limits, (100, len(chain)))
    inverses = np.linalg.inv(model.mass_matrix(q))

    def largest(damping):
        return np.max(np.abs(np.linalg.eigvals(inverses * damping * 0.002)))
    assert largest(plain) > 2.0 > largest(gains.d)
    assert np.all(gains.d <= plain) and np.any(gains.d > 0.95 * plain), 'only where needed'


def test_at_first_it_holds_its_position_against_gravity(chain):
    cell = make_cell(chain, q=[0.3, 0.2], step=0.005)
    run_until(cell, START + 3.0)
    np.testing.assert_allclose(cell.robot.q, [0.3, 0.2], atol=2e-3)


def test_feedforward_tracks_at_least_three_times_better_than_pid(chain):
    motion = lively_motion(chain, duration=3.0)
    errors = []
    for settings in (None, FeedforwardSettings(EffortLimits.of_chain(chain))):
        cell = make_cell(chain, error=0.1, q=motion.positions[0], step=0.004)
        sent = motion if settings is None else add_feedforward(
            compile_model(chain), motion, settings).trajectory
        cell.follow(sent, START)
        times, positions = [], []
        for time in START + np.arange(0.0, 3.0, 0.01):
            run_until(cell, time)
            times.append(cell.time - START)
            positions.append(cell.robot.q)
        errors.append(Tracking.of(motion, times, positions).total_rms)
    assert errors[0] > 3.0 * errors[1]


def test_commanded_efforts_stay_until_the_next_ones(chain):
    cell = make_cell(chain)
    weight = cell.robot.model.gravity_torque([0.0, 0.0])
    cell.command(weight)
    run_until(cell, START + 0.5)
    assert np.abs(cell.robot.q).max() < 1e-6
    np.testing.assert_array_equal(cell.robot.effort, weight)
    cell.command([1e6, -1e6])
    run_until(cell, START + 0.51)
    assert cell.robot.effort.tolist() == [60.0, -30.0]


@pytest.mark.parametrize('effort', [[np.nan, 0.0], [np.inf, 0.0], [1.0], [1.0, 2.0, 3.0], []])
def test_a_wrong_command_is_refused(chain, effort):
    cell = make_cell(chain)
    with pytest.raises(StateError):
        cell.command(effort)
    run_until(cell, START + 0.01)


def test_a_trajectory_with_other_joints_is_refused(chain):
    with pytest.raises(TrajectoryError, match='elbow'):
        make_cell(chain).follow(Trajectory(('elbow',), [0.0], [[1.0]]), START)


def test_joints_of_a_trajectory_may_be_in_any_order(chain):
    cell = make_cell(chain)
    cell.follow(Trajectory(('joint_2', 'joint_1'), [0.0], [[0.1, -0.2]]), START)
    assert cell.controller.desired(START + 1.0).q.tolist() == [-0.2, 0.1]


def test_time_that_cannot_be_caught_up_with_is_skipped(chain):
    cell = make_cell(chain)
    assert not cell.advance_to(START + 10.0, at_most=5)
    assert cell.time == pytest.approx(START + 10.0, abs=0.002)
    assert cell.robot.time == pytest.approx(0.01, abs=0.002)


def test_a_clock_set_back_makes_it_hold_on_the_new_clock(chain):
    cell = make_cell(chain)
    cell.follow(Trajectory(chain.joint_names, [0.0, 9.0], [[0.0, 0.0], [1.0, 1.0]]), START)
    run_until(cell, START + 1.0)
    assert not cell.advance_to(5.0, at_most=100)
    assert cell.time == pytest.approx(5.0, abs=0.002)
    here = cell.robot.q
    run_until(cell, 5.3)
    np.testing.assert_allclose(cell.controller.desired(5.3).q, here)


def test_noise_is_seeded_and_has_its_size(chain):
    noise = SensorNoise(1e-3, 1e-2, 0.1)
    one, two = make_cell(chain, noise=noise), make_cell(chain, noise=noise)
    samples = np.array([one.measure() for _ in range(2000)])
    np.testing.assert_array_equal(samples[0], two.measure())
    np.testing.assert_allclose(samples.std(axis=(0, 2)), [1e-3, 1e-2, 0.1], rtol=0.1)


def test_an_elastic_robot_reports_the_motor_side(chain):
    stiff = SimulatedRobot(chain, compile_model(chain), stiffness=[500.0, 500.0], step=0.002,
                           spring_damping=0.001)
    limits = EffortLimits.of_chain(chain)
    gains = pid_gains(compile_model(chain), stiff.q, 10.0, 0.5, limits)
    cell = ControlledRobot(stiff, replace(gains, i=np.zeros(2)), limits, now=START)
    run_until(cell, START + 2.0)
    np.testing.assert_array_equal(cell.measure()[0], stiff.q_motor)
    assert np.abs(stiff.q_motor - stiff.q).max() > 1e-3
