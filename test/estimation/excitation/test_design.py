# SPDX-License-Identifier: Apache-2.0
"""Design of exciting trajectories: better than random motions, inside the limits."""

from dataclasses import replace

import numpy as np
import pytest
from support.oracle import Oracle
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.estimation.excitation.design import design_excitation
from robot_dynamics_ros.estimation.excitation.fourier import JointMotion
from robot_dynamics_ros.estimation.excitation.information import condition_number
from robot_dynamics_ros.estimation.excitation.limits import HeightPoints

DEMO_START = [0.0, 0.2, 0.0, -1.2, 0.0, 0.5, 0.0]


def robot(name):
    return chain_from_urdf(URDF_FOLDER / f'{name}.urdf')


def with_limits(chain, **limits):
    """Return the chain with other limits in all joints."""
    return replace(chain, joints=tuple(replace(joint, **limits) for joint in chain.joints))


@pytest.fixture(scope='module')
def puma_excitation():
    """One design on the four-axis arm that several tests look at."""
    return design_excitation(robot('puma_4dof'), unchecked=True, candidates=100, seed=3)


def test_the_motion_is_better_than_the_best_of_many_random_ones(puma_excitation):
    random = puma_excitation.random_condition_numbers
    assert len(random) == 100
    assert puma_excitation.condition_number < 0.9 * np.min(random)


@pytest.mark.parametrize('criterion', ['condition', 'determinant'])
def test_seven_joints_are_excited_far_better_than_by_random_motions(criterion):
    design = design_excitation(robot('demo_arm'), unchecked=True,
                               start=DEMO_START, criterion=criterion,
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


def test_the_utilisation_of_the_limits_is_reported(puma_excitation):
    chain, trajectory = robot('puma_4dof'), puma_excitation.trajectory
    motion = trajectory.sample(trajectory.times(500.0))
    velocity = np.max(np.abs(motion.qd), axis=0) / (0.8 * chain.velocity_limits)
    np.testing.assert_allclose(puma_excitation.utilisation[1], velocity, atol=2e-3)
    assert np.max(puma_excitation.utilisation) < 1.0
    assert np.max(puma_excitation.utilisation[:2]) > 0.8  # it makes use of what it may


def test_the_same_seed_gives_the_same_motion():
    designs = [design_excitation(robot('planar_2r'), unchecked=True,
                                 candidates=5, iterations=3, seed=seed)
               for seed in (7, 7, 8)]
    sines = [design.trajectory.sine for design in designs]
    np.testing.assert_array_equal(sines[0], sines[1])
    assert not np.allclose(sines[0], sines[2])


def test_the_motion_starts_where_it_is_told():
    start = [0.4, -0.7]
    trajectory = design_excitation(robot('planar_2r'), unchecked=True, start=start, candidates=5,
                                   iterations=2).trajectory
    np.testing.assert_array_equal(trajectory.sample([0.0]).q[0], start)


def test_effort_limits_bind(puma_excitation):
    chain = robot('puma_4dof')
    weight = np.abs(compile_model(chain).gravity_torque(np.zeros(4)))
    weak = replace(chain, joints=tuple(
        replace(joint, effort_limit=1.5 * load + 0.15 * joint.effort_limit)
        for joint, load in zip(chain.joints, weight)))
    design = design_excitation(weak, unchecked=True,
                               start=np.zeros(4), candidates=20, iterations=8)
    motion = design.trajectory.sample(design.trajectory.times(200.0))
    tau = compile_model(weak).torque(*motion)
    assert np.all(np.abs(tau) <= 0.81 * weak.effort_limits)
    assert np.max(design.utilisation[3]) > 0.5


def test_the_arm_stays_above_the_lowest_height():
    chain = robot('demo_arm')
    design = design_excitation(chain, unchecked=True,
                               start=DEMO_START, height=0.2, candidates=10, iterations=4)
    motion = design.trajectory.sample(design.trajectory.times(50.0))
    tips = np.array([chain.tip_pose_at(q).translation[2] for q in motion.q])
    assert np.min(tips) > 0.2
    assert np.min(HeightPoints.of(chain).heights(motion.q)) > 0.2


def test_acceleration_limits_are_kept():
    design = design_excitation(robot('planar_2r'), unchecked=True,
                               acceleration=[1.5, 2.0], candidates=10,
                               iterations=6)
    motion = design.trajectory.sample(design.trajectory.times(200.0))
    assert np.all(np.max(np.abs(motion.qdd), axis=0) < 0.801 * np.array([1.5, 2.0]))
    assert np.max(design.utilisation[2]) > 0.8


def test_a_second_motion_adds_what_the_first_one_lacks():
    chain = robot('puma_4dof')
    trajectory = design_excitation(chain, unchecked=True,
                                   candidates=1, iterations=0, seed=5).trajectory
    motion = trajectory.sample(trajectory.times(20.0)[:-1])
    turned = np.array([1.0, 0.02, 0.02, 0.02])  # hardly anything but joint 1 moves
    recorded = [(JointMotion(*(values * turned for values in motion)), 300.0)]
    plain, with_recording = (
        design_excitation(chain, unchecked=True,
                          recorded=motions, candidates=1, iterations=0).information
        for motions in ((), recorded))
    known = with_recording - plain
    alone = design_excitation(chain, unchecked=True, candidates=20, seed=1)
    after = design_excitation(chain, unchecked=True, recorded=recorded, candidates=20, seed=1)
    assert after.condition_number < 0.7 * condition_number(known + alone.information)


def test_progress_runs_to_its_end():
    seen = []
    design_excitation(robot('planar_2r'), unchecked=True, candidates=3, iterations=4,
                      progress=lambda done, of: seen.append((done, of)))
    assert seen[0][0] == 0 and seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


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
        design_excitation(with_limits(robot('planar_2r'), **limits), unchecked=True, **options)


def test_a_slide_without_limits_is_refused():
    chain = with_limits(robot('stanford'), lower=-np.inf, upper=np.inf)
    with pytest.raises(ExcitationError, match='slides but has no position limits'):
        design_excitation(chain, unchecked=True)
