# SPDX-License-Identifier: Apache-2.0
"""Exciting trajectories: the motion, its limits, what it shows, and the search."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest
from support.oracle import Oracle
from support.robots import URDF_FOLDER
from support.tolerances import FINITE_DIFFERENCE, OTHER_IMPLEMENTATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.errors import ExcitationError, TrajectoryError
from robot_dynamics_ros.estimation.excitation.design import design_excitation
from robot_dynamics_ros.estimation.excitation.fourier import (
    FourierBasis,
    FourierTrajectory,
    JointMotion,
)
from robot_dynamics_ros.estimation.excitation.information import (
    ExcitationRegressor,
    condition_number,
    quality_function,
)
from robot_dynamics_ros.estimation.excitation.limits import HeightPoints, motion_limits
from robot_dynamics_ros.estimation.excitation.search import MotionProblem

DEMO_START = [0.0, 0.2, 0.0, -1.2, 0.0, 0.5, 0.0]


def robot(name):
    return chain_from_urdf(URDF_FOLDER / f'{name}.urdf')


def with_limits(chain, **limits):
    """Return the chain with other limits in all joints."""
    return replace(chain, joints=tuple(replace(joint, **limits) for joint in chain.joints))


@pytest.fixture
def series(rng):
    basis = FourierBasis(4.0, 4)
    return basis.trajectory(('a', 'b'), np.array([0.3, -1.0]), rng.normal(size=(2, basis.size)))


@pytest.fixture(scope='module')
def puma_excitation():
    """One design on the four-axis arm that several tests look at."""
    return design_excitation(robot('puma_4dof'), candidates=100, seed=3)


# the motion

def test_a_series_starts_and_ends_at_rest_in_its_start(series):
    motion = series.sample([0.0, series.duration])
    assert_close(motion.q, np.tile(series.start, (2, 1)), SAME_ALGEBRA)
    assert_close(motion.qd, np.zeros((2, 2)), 1e-9)
    assert_close(motion.qdd, np.zeros((2, 2)), 1e-9)


def test_speed_and_acceleration_are_the_derivatives_of_the_position(series):
    t, h = np.linspace(0.1, 3.9, 50), 1e-5
    before, now, after = (series.sample(t + shift) for shift in (-h, 0.0, h))
    assert_close(now.qd, (after.q - before.q) / (2 * h), FINITE_DIFFERENCE)
    assert_close(now.qdd, (after.qd - before.qd) / (2 * h), FINITE_DIFFERENCE)


def test_a_series_on_paper():
    # sin(t) - sin(2 t) / 2 in 2 pi seconds: speed cos t - cos 2t
    series = FourierTrajectory(('a',), [1.0], 2 * np.pi, [[1.0, -0.5]], [[0.0, 0.0]])
    motion = series.sample([np.pi / 2, np.pi])
    np.testing.assert_allclose(motion.q[:, 0], [2.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(motion.qd[:, 0], [1.0, -2.0], atol=1e-12)


def test_times_include_both_ends():
    series = FourierTrajectory(('a',), [0.0], 2.5, [[1.0, -0.5]], [[0.0, 0.0]])
    times = series.times(100.0)
    assert len(times) == 251 and times[0] == 0.0 and times[-1] == 2.5


def test_unit_coefficients_have_unit_peak_speed():
    speeds = FourierBasis(7.0, 5).sample(np.linspace(0.0, 7.0, 5000))[1]
    np.testing.assert_allclose(np.max(np.abs(speeds), axis=0), 1.0, rtol=1e-2)


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


# heights

@pytest.mark.parametrize('name', ['demo_arm', 'stanford'])
def test_heights_are_those_of_pinocchio(name, rng):
    chain = robot(name)
    points = HeightPoints.of(chain)
    oracle = Oracle(chain)
    q = rng.uniform(-1.0, 1.0, (5, len(chain)))
    expected = np.empty((len(q), len(points.names)))
    for row, state in enumerate(q):
        pinocchio.forwardKinematics(oracle.model, oracle.data, state)
        for k, (link, point) in enumerate(zip(points.links, points.points)):
            in_base = chain.base_pose.rotation @ oracle.data.oMi[link].act(np.array(point))
            expected[row, k] = in_base[2] + chain.base_pose.translation[2]
    assert_close(points.heights(q), expected, OTHER_IMPLEMENTATION)


def test_only_points_that_joints_can_raise_have_a_height():
    names = HeightPoints.of(robot('demo_arm')).names  # axis 1 is upright
    assert 'the centre of mass of link_1' not in names
    assert 'the centre of mass of link_2' in names and names[-1].startswith('the tip')


# what a motion shows

def problem(chain, criterion='condition', **options):
    """Return a small search problem."""
    model = compile_model(chain)
    model.joint_physics = replace(chain.joint_physics, coulomb_velocity=0.3)
    limits = motion_limits(chain, **options)
    basis = FourierBasis(5.0, 3)
    regressor = ExcitationRegressor.of(model, np.linspace(1.0, 2.0, len(chain)))
    size = len(regressor.kept)
    times = (np.arange(30) + 0.5) * 5.0 / 30
    return MotionProblem(basis, limits, model, regressor, HeightPoints.of(chain),
                         quality_function(criterion), np.zeros((size, size)), times)


def test_columns_are_those_that_can_be_told_apart(rng):
    chain = robot('puma_4dof')
    regressor = ExcitationRegressor.of(compile_model(chain), np.ones(len(chain)))
    states = rng.uniform(-2.0, 2.0, (3, 200, len(chain)))
    W = regressor.rows(tuple(states)).reshape(-1, len(regressor.model.columns))
    assert np.linalg.matrix_rank(W / np.linalg.norm(W, axis=0), tol=1e-7) == len(regressor.kept)
    assert 'Ia1' not in regressor.columns  # inside U1_33
    assert set(regressor.model.mlc.names) <= set(regressor.columns)


def test_condition_number_is_that_of_the_regressor_with_unit_columns(rng):
    trial = problem(robot('planar_2r'), height=None)
    states = tuple(rng.normal(size=(3, 40, 2)))
    rows = trial.regressor.rows(states)
    W = trial.regressor.weighted(rows).reshape(-1, len(trial.regressor.kept))
    expected = np.linalg.cond(W / np.linalg.norm(W, axis=0))
    found = condition_number(trial.regressor.information(rows, 2.0))
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_information_does_not_depend_on_the_sampling_rate():
    trial = problem(robot('planar_2r'))
    z = 0.1 * np.random.default_rng(0).normal(size=(2, trial.basis.size))
    dense = replace(trial, times=(np.arange(300) + 0.5) * 5.0 / 300)
    coarse, fine = (each.information(each.regressor.rows(each.states(z)))
                    for each in (trial, dense))
    np.testing.assert_allclose(coarse, fine, rtol=0.0, atol=0.02 * np.max(fine))


def test_the_smooth_condition_number_is_a_bound(rng):
    for _ in range(20):
        W = rng.normal(size=(40, 8)) * np.exp(rng.normal(size=8))
        value = quality_function('condition')(W.T @ W).value
        exact = np.log(condition_number(W.T @ W))
        assert exact <= value <= exact + np.log(8) / 4


@pytest.mark.parametrize('criterion', ['condition', 'determinant'])
@pytest.mark.parametrize('name, options', [
    ('puma_4dof', {}),
    ('stanford', {'acceleration': 30.0}),
    ('puma_4dof', {'height': -0.6}),
])
def test_slopes_are_those_of_difference_quotients(name, options, criterion, rng):
    trial = problem(robot(name), criterion, **options)
    z = rng.normal(size=(len(trial.limits.start), trial.basis.size))
    while not (trial.feasible(z) and np.isfinite(trial.barrier(z, 0.1))):
        z = 0.8 * z
    slope = trial.barrier_slope(z, 0.1)
    for _ in range(3):
        direction, h = rng.normal(size=z.shape), 1e-6
        expected = (trial.barrier(z + h * direction, 0.1)
                    - trial.barrier(z - h * direction, 0.1)) / (2 * h)
        np.testing.assert_allclose(np.sum(slope * direction), expected,
                                   rtol=1e-4, atol=1e-5 * np.linalg.norm(slope))


def test_a_motion_outside_of_its_limits_is_infinitely_bad():
    trial = problem(robot('planar_2r'))
    z = np.full((2, trial.basis.size), 5.0)
    assert not trial.feasible(z) and trial.barrier(z, 0.1) == np.inf


# the search

def test_the_motion_is_better_than_the_best_of_many_random_ones(puma_excitation):
    random = puma_excitation.random_condition_numbers
    assert len(random) == 100
    assert puma_excitation.condition_number < 0.9 * np.min(random)


@pytest.mark.parametrize('criterion', ['condition', 'determinant'])
def test_seven_joints_are_excited_far_better_than_by_random_motions(criterion):
    design = design_excitation(robot('demo_arm'), start=DEMO_START, criterion=criterion,
                               candidates=40, iterations=12)
    assert design.condition_number < 0.5 * np.median(design.random_condition_numbers)
    assert design.condition_number < np.min(design.random_condition_numbers)


def test_the_found_motion_keeps_all_limits(puma_excitation):
    chain, trajectory = robot('puma_4dof'), puma_excitation.trajectory
    motion = trajectory.sample(trajectory.times(500.0))
    lower, upper = chain.position_limits
    assert np.all((motion.q > lower) & (motion.q < upper))
    assert np.all(np.abs(motion.qd) <= 0.801 * chain.velocity_limits)
    oracle, physics = Oracle(chain), chain.joint_physics
    rigid = np.array([oracle.inverse_dynamics(*state) for state in zip(*motion)])
    friction = physics.viscous * motion.qd + physics.coulomb * np.sign(motion.qd)
    assert np.all(np.abs(rigid + friction) <= 0.81 * chain.effort_limits)


def test_the_share_of_the_limits_is_reported(puma_excitation):
    chain, trajectory = robot('puma_4dof'), puma_excitation.trajectory
    motion = trajectory.sample(trajectory.times(500.0))
    speed = np.max(np.abs(motion.qd), axis=0) / (0.8 * chain.velocity_limits)
    np.testing.assert_allclose(puma_excitation.utilisation[1], speed, atol=2e-3)
    assert np.max(puma_excitation.utilisation) < 1.0
    assert np.max(puma_excitation.utilisation[:2]) > 0.8  # it makes use of what it may


def test_the_same_seed_gives_the_same_motion():
    designs = [design_excitation(robot('planar_2r'), candidates=5, iterations=3, seed=seed)
               for seed in (7, 7, 8)]
    sines = [design.trajectory.sine for design in designs]
    np.testing.assert_array_equal(sines[0], sines[1])
    assert not np.allclose(sines[0], sines[2])


def test_the_motion_starts_where_it_is_told():
    start = [0.4, -0.7]
    trajectory = design_excitation(robot('planar_2r'), start=start, candidates=5,
                                   iterations=2).trajectory
    np.testing.assert_array_equal(trajectory.sample([0.0]).q[0], start)


def test_effort_limits_bind(puma_excitation):
    chain = robot('puma_4dof')
    weight = np.abs(compile_model(chain).gravity_torque(np.zeros(4)))
    weak = replace(chain, joints=tuple(
        replace(joint, effort_limit=1.5 * load + 0.15 * joint.effort_limit)
        for joint, load in zip(chain.joints, weight)))
    design = design_excitation(weak, start=np.zeros(4), candidates=20, iterations=8)
    motion = design.trajectory.sample(design.trajectory.times(200.0))
    tau = compile_model(weak).torque(*motion)
    assert np.all(np.abs(tau) <= 0.81 * weak.effort_limits)
    assert np.max(design.utilisation[3]) > 0.5


def test_the_arm_stays_above_the_lowest_height():
    chain = robot('demo_arm')
    design = design_excitation(chain, start=DEMO_START, height=0.2, candidates=10, iterations=4)
    motion = design.trajectory.sample(design.trajectory.times(50.0))
    tips = np.array([chain.tip_pose_at(q).translation[2] for q in motion.q])
    assert np.min(tips) > 0.2
    assert np.min(HeightPoints.of(chain).heights(motion.q)) > 0.2


def test_acceleration_limits_are_kept():
    design = design_excitation(robot('planar_2r'), acceleration=[1.5, 2.0], candidates=10,
                               iterations=6)
    motion = design.trajectory.sample(design.trajectory.times(200.0))
    assert np.all(np.max(np.abs(motion.qdd), axis=0) < 0.801 * np.array([1.5, 2.0]))
    assert np.max(design.utilisation[2]) > 0.8


def test_a_second_motion_adds_what_the_first_one_lacks():
    chain = robot('puma_4dof')
    trajectory = design_excitation(chain, candidates=1, iterations=0, seed=5).trajectory
    motion = trajectory.sample(trajectory.times(20.0)[:-1])
    turned = np.array([1.0, 0.02, 0.02, 0.02])  # hardly anything but joint 1 moves
    recorded = [(JointMotion(*(values * turned for values in motion)), 300.0)]
    plain, with_recording = (
        design_excitation(chain, recorded=motions, candidates=1, iterations=0).information
        for motions in ((), recorded))
    known = with_recording - plain
    alone = design_excitation(chain, candidates=20, seed=1)
    after = design_excitation(chain, recorded=recorded, candidates=20, seed=1)
    assert after.condition_number < 0.7 * condition_number(known + alone.information)


def test_progress_runs_to_its_end():
    seen = []
    design_excitation(robot('planar_2r'), candidates=3, iterations=4,
                      progress=lambda done, of: seen.append((done, of)))
    assert seen[0][0] == 0 and seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


# bad input

@pytest.mark.parametrize('limits, options, message', [
    ({'lower': 1.0, 'upper': 1.0}, {}, 'allow no motion'),
    ({'velocity_limit': np.nan}, {}, 'no velocity limit is known'),
    ({'effort_limit': np.nan}, {}, 'neither an effort nor an acceleration limit'),
    ({}, {'start': [9.0, 0.0]}, 'joint .*: the start 9 is not inside'),
    ({}, {'start': [0.0]}, 'start must be 2 finite numbers'),
    ({}, {'share': 0.0}, 'share of the limits must be between 0 and 1'),
    ({}, {'acceleration': -1.0}, 'acceleration limits must be positive'),
    ({'effort_limit': 1e-3}, {'start': [0.3, 0.3]}, 'holding the start needs'),
    ({}, {'height': 50.0}, 'starts at height .* not above the lowest height of 50 m'),
    ({}, {'criterion': 'beauty'}, "unknown criterion 'beauty'; known are condition"),
    ({}, {'noise': [1.0, 0.0]}, 'noise must be 2 positive numbers'),
    ({}, {'candidates': 0}, 'at least 1 candidate'),
])
def test_limits_that_allow_no_design_are_named(limits, options, message):
    with pytest.raises(ExcitationError, match=message):
        design_excitation(with_limits(robot('planar_2r'), **limits), **options)


def test_a_slide_without_limits_is_refused():
    chain = with_limits(robot('stanford'), lower=-np.inf, upper=np.inf)
    with pytest.raises(ExcitationError, match='slides but has no position limits'):
        design_excitation(chain)


def test_a_continuous_joint_turns_at_most_half_a_turn_from_its_start():
    limits = motion_limits(with_limits(robot('planar_2r'), lower=-np.inf, upper=np.inf),
                           start=[2.0, 0.0])
    np.testing.assert_allclose(limits.lower, [2.0 - np.pi, -np.pi])
    np.testing.assert_allclose(limits.upper, [2.0 + np.pi, np.pi])
