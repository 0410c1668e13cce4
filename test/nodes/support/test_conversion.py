# SPDX-License-Identifier: Apache-2.0
"""Messages to the core and back."""

from dataclasses import replace

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from geometry_msgs.msg import InertiaStamped
from std_msgs.msg import Header
from support.robots import URDF_FOLDER
from support.trajectories import random_trajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros import chain_from_urdf, minimal_parameters
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.chain.joint_physics import PER_JOINT, JointPhysics
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.errors import ParameterError, TrajectoryError
from robot_dynamics_ros.nodes.support.conversion import (
    doubles,
    duration,
    estimate_from_message,
    estimate_to_message,
    payload_from_message,
    payload_to_message,
    seconds,
    stamp,
    trajectory_from_message,
    trajectory_to_message,
)

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('degree', [1, 3, 5])
def test_a_trajectory_survives_the_way_through_a_message(rng, degree):
    trajectory = random_trajectory(rng, degree=degree).with_efforts(rng.normal(size=(6, 3)))
    message = trajectory_to_message(trajectory, Header(frame_id='world'))
    assert message.header.frame_id == 'world'
    assert bool(message.points[0].velocities) == (degree > 1)
    assert bool(message.points[0].accelerations) == (degree > 3)
    back = trajectory_from_message(message, with_efforts=True)
    assert back.joint_names == trajectory.joint_names
    np.testing.assert_allclose(back.times, trajectory.times, atol=1e-9)
    for field in ('positions', 'velocities', 'accelerations', 'efforts'):
        np.testing.assert_array_equal(getattr(back, field), getattr(trajectory, field))


def test_efforts_can_be_ignored_even_where_they_are_wrong():
    point = JointTrajectoryPoint(positions=[1.0], effort=[np.nan, 2.0, 3.0])
    message = JointTrajectory(joint_names=['a'], points=[point])
    assert np.isnan(trajectory_from_message(message).efforts).all()
    with pytest.raises(TrajectoryError, match='3 efforts'):
        trajectory_from_message(message, with_efforts=True)


def test_a_trajectory_without_names_is_refused():
    with pytest.raises(TrajectoryError, match='names no joints'):
        trajectory_from_message(JointTrajectory(points=[JointTrajectoryPoint()]))


def test_times_are_kept_to_the_nanosecond():
    for nanoseconds in (0, 1, 999_999_999, 1_000_000_000, 123_456_789_012):
        assert duration(nanoseconds * 1e-9).sec * 10**9 + duration(
            nanoseconds * 1e-9).nanosec == nanoseconds
    assert seconds(stamp(1.5)) == 1.5


def test_doubles_are_a_copy():
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    result = doubles(values[:, 1])
    values[0, 1] = 9.0
    assert list(result) == [2.0, 4.0]


def test_a_payload_survives_the_way_through_a_message():
    tensor = [[0.02, 0.001, 0.0], [0.001, 0.03, 0.002], [0.0, 0.002, 0.025]]
    payload = payload_inertia(2.0, [0.1, -0.2, 0.3], tensor)
    back = payload_from_message(payload_to_message(payload, 'tool', stamp(1.0)), 'tool')
    np.testing.assert_allclose(back.standard_parameters, payload.standard_parameters, atol=1e-15)


def test_a_payload_in_another_frame_is_refused():
    message = InertiaStamped()
    message.header.frame_id, message.inertia.m = 'elbow', 1.0
    with pytest.raises(ParameterError, match="'elbow', expected the tip link 'tool'"):
        payload_from_message(message, 'tool')


def test_no_payload_needs_no_frame():
    assert payload_from_message(InertiaStamped(), 'tool').mass == 0.0


@pytest.fixture
def estimate(rng):
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    mlc = minimal_parameters(chain)
    p = len(mlc)
    root = rng.normal(size=(p, p))
    physics = JointPhysics(
        [np.nan, 0.3], [1.0, 2.0], [0.4, 0.5], [0.1, -0.2], 0.02, coupling=[[1, 0], [-1, 1]],
        static=[0.6, 0.7], stribeck_velocity=[0.1, 0.2], load_friction=[0.05, 0.0],
        viscous_asymmetry=[0.1, -0.1], presliding=[1e-3, 2e-3])
    return MlcEstimate('planar', 'base_link', 'link_2', mlc.with_values(rng.normal(size=p)),
                       physics, (False, *[True] * (p - 1)), mlc.names, root @ root.T, 4321, 17.5,
                       np.array([0.2, 0.3]), EstimateState.LEARNING)


def test_an_estimate_survives_the_way_through_a_message(estimate):
    message = estimate_to_message(estimate, stamp(2.0))
    assert (message.header.frame_id, message.header.stamp.sec) == ('base_link', 2)
    back = estimate_from_message(message, estimate.mlc)
    np.testing.assert_array_equal(back.mlc.values, estimate.mlc.values)
    np.testing.assert_array_equal(back.standard_deviations, estimate.standard_deviations)
    for name in (*PER_JOINT, 'coulomb_velocity', 'coupling'):
        np.testing.assert_array_equal(getattr(back.joint_physics, name),
                                      getattr(estimate.joint_physics, name))
    for name in ('robot', 'base_link', 'tip_link', 'identified', 'samples', 'condition_number',
                 'state', 'model_hash'):
        assert getattr(back, name) == getattr(estimate, name), name
    np.testing.assert_array_equal(back.residual_rms, estimate.residual_rms)


def test_terms_that_a_friction_law_does_not_have_stay_out(estimate):
    plain = replace(estimate, joint_physics=JointPhysics.zero(2))
    message = estimate_to_message(plain, stamp(2.0))
    assert not len(message.static_friction) and not len(message.presliding_distance)
    assert estimate_from_message(message, estimate.mlc).joint_physics.static is None


@pytest.mark.parametrize(('field', 'value', 'message'), [
    ('model_hash', 'abc', 'another geometry, gravity or set'),
    ('values', [1.0], '1 values, expected'),
    ('values', 'nan', 'not finite'),
    ('viscous_friction', [1.0], '1 viscous_friction, expected 2'),
    ('residual_rms', [], '0 residual_rms, expected 2'),
    ('load_friction', [0.1], '1 load_friction, expected 2'),
    ('coupling', [1.0, 0.0], '2 coupling, expected 4'),
    ('static_friction', [], 'belong together'),
    ('parents', [-1, -1], 'the robot is a tree'),
    ('tip_links', ['a', 'b'], 'the robot is a tree'),
    ('identified', [], '0 identified'),
])
def test_an_estimate_that_does_not_fit_is_refused(estimate, field, value, message):
    sent = estimate_to_message(estimate, stamp(2.0))
    setattr(sent, field, [np.nan] * len(estimate.mlc) if value == 'nan' else value)
    with pytest.raises(ParameterError, match=message):
        estimate_from_message(sent, estimate.mlc)
