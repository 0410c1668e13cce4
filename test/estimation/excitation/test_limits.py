# SPDX-License-Identifier: Apache-2.0
"""Limits of an exciting motion: margins, the start, and heights above the base."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest
from support.oracle import Oracle
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.estimation.excitation.limits import (
    HeightPoints,
    check_start,
    motion_limits,
)


def robot(name):
    return chain_from_urdf(URDF_FOLDER / f'{name}.urdf')


def with_limits(chain, **limits):
    """Return the chain with other limits in all joints."""
    return replace(chain, joints=tuple(replace(joint, **limits) for joint in chain.joints))


def planar(**limits):
    given = {'lower': -1.0, 'upper': 3.0, 'velocity_limit': 2.0, 'effort_limit': 50.0}
    return with_limits(robot('planar_2r'), **given | limits)


def test_limits_on_paper():
    limits = motion_limits(planar(), share=0.5, acceleration=[4.0, 6.0], height=0.1)
    np.testing.assert_array_equal(limits.start, [0.0, 0.0])
    np.testing.assert_allclose(limits.lower, -1.0 + 0.02 * 4.0)  # 2 % of the range stay free
    np.testing.assert_allclose(limits.upper, 3.0 - 0.02 * 4.0)
    np.testing.assert_allclose(limits.velocity, 1.0)
    np.testing.assert_allclose(limits.acceleration, [2.0, 3.0])
    np.testing.assert_allclose(limits.effort, 25.0)
    assert limits.height == 0.1


def test_a_range_without_zero_starts_in_its_middle():
    np.testing.assert_allclose(motion_limits(planar(lower=1.0)).start, 2.0)


def test_an_unknown_limit_is_infinite():
    limits = motion_limits(planar(effort_limit=np.nan), acceleration=4.0)
    assert np.all(np.isinf(limits.effort)) and limits.height == -np.inf
    assert np.all(np.isinf(motion_limits(planar()).acceleration))


def test_a_continuous_joint_turns_at_most_half_a_turn_from_its_start():
    limits = motion_limits(with_limits(robot('planar_2r'), lower=-np.inf, upper=np.inf),
                           start=[2.0, 0.0])
    np.testing.assert_allclose(limits.lower, [2.0 - np.pi, -np.pi])
    np.testing.assert_allclose(limits.upper, [2.0 + np.pi, np.pi])


@pytest.mark.parametrize('limits, options, message', [
    ({'velocity_limit': np.nan}, {}, 'joint joint_1: no velocity limit is known; give it in'),
    ({'effort_limit': np.nan}, {}, 'joint joint_1: neither an effort nor an acceleration'),
    ({}, {'start': [0.0, 2.95]}, r'joint joint_2: the start 2.95 is not inside \[-0.92, 2.92\]'),
    ({}, {'start': [0.0, np.nan]}, 'start must be 2 finite numbers: joint_1, joint_2'),
    ({}, {'share': 1.5}, 'share of the limits must be between 0 and 1, got 1.5'),
    ({}, {'acceleration': [1.0, 0.0]}, 'acceleration limits must be positive'),
])
def test_limits_that_cannot_be_used_are_named(limits, options, message):
    with pytest.raises(ExcitationError, match=message):
        motion_limits(planar(**limits), **options)


def test_a_start_that_cannot_be_held_is_refused():
    chain = robot('puma_4dof')
    model, points = compile_model(chain), HeightPoints.of(chain)
    limits = motion_limits(chain)
    check_start(model, points, limits)
    gravity = np.abs(model.gravity_torque(limits.start))
    heaviest = int(np.argmax(gravity))
    weak = replace(limits, effort=np.where(np.arange(4) == heaviest, 0.9 * gravity, np.inf))
    with pytest.raises(ExcitationError, match=f'{chain.joint_names[heaviest]}: holding the start'):
        check_start(model, points, weak)
    lowest = float(np.min(points.heights(limits.start[None])))
    check_start(model, points, replace(limits, height=lowest - 1e-6))
    with pytest.raises(ExcitationError, match='not above the lowest height'):
        check_start(model, points, replace(limits, height=lowest))


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
            expected[row, k] = oracle.data.oMi[link].act(np.array(point))[2]
    assert_close(points.heights(q), expected, OTHER_IMPLEMENTATION)


def test_only_points_that_joints_can_raise_have_a_height():
    names = HeightPoints.of(robot('demo_arm')).names  # axis 1 is upright
    assert 'the centre of mass of link_1' not in names
    assert 'the centre of mass of link_2' in names and names[-1].startswith('the tip')


def test_without_gravity_up_is_the_z_axis():
    chain = robot('demo_arm')
    q = np.full((1, len(chain)), 0.3)
    points = HeightPoints.of(chain)
    floating = replace(chain, gravity=np.zeros(3))
    assert_close(HeightPoints.of(floating).heights(q), points.heights(q), OTHER_IMPLEMENTATION)


def test_an_arm_in_a_horizontal_plane_has_no_heights():
    chain = replace(robot('planar_2r'), gravity=robot('planar_2r').base_pose.rotation
                    @ np.array([0.0, 0.0, -9.81]))  # along the axes
    points = HeightPoints.of(chain)
    assert points.names == () and points.heights(np.zeros((3, 2))).shape == (3, 0)
