# SPDX-License-Identifier: Apache-2.0
"""The chain itself: poses, changed copies, identity, and what it refuses."""

import math
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from support.chains import random_chain, random_inertia, random_pose
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joint import Joint, exact_cos_sin
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.errors import ChainError, ParameterError, StateError


@pytest.fixture
def chain(rng):
    return random_chain(rng, 3, types='RPR')


@pytest.mark.parametrize('quarter', range(-5, 6))
def test_multiples_of_a_right_angle_are_exact(quarter):
    cosine, sine = exact_cos_sin(quarter * math.pi / 2)
    assert {abs(cosine), abs(sine)} == {0.0, 1.0}
    assert cosine == round(math.cos(quarter * math.pi / 2))
    assert sine == round(math.sin(quarter * math.pi / 2))


def test_an_angle_near_a_right_angle_is_not_rounded():
    angle = math.pi / 2 + 1e-12
    assert exact_cos_sin(angle) == (math.cos(angle), math.sin(angle))


def test_a_revolute_joint_turns_and_a_prismatic_one_slides():
    place = {'b': 1.0, 'beta': math.pi / 2, 'd': 2.0, 'theta': math.pi / 2}
    pose = Joint('turn', 'revolute', **place).pose(math.pi / 2)
    assert_close(pose.rotation, [[-1, 0, 0], [0, 0, -1], [0, -1, 0]], SAME_ALGEBRA)
    assert_close(pose.translation, [1.0, -2.0, 0.0], SAME_ALGEBRA)
    pose = Joint('slide', 'prismatic', **place).pose(0.5)
    assert_close(pose.rotation, [[0, -1, 0], [0, 0, -1], [1, 0, 0]], SAME_ALGEBRA)
    assert_close(pose.translation, [1.0, -2.5, 0.0], SAME_ALGEBRA)


def test_a_joint_of_an_unknown_type_is_not_taken_for_a_prismatic_one():
    with pytest.raises(ChainError, match="joint lift: type must be one of revolute, prismatic, "
                                         "got 'Prismatic'"):
        Joint('lift', 'Prismatic', b=0.0, beta=0.0, d=0.0, theta=0.0)


def test_the_tip_is_the_product_of_all_poses(rng, chain):
    q = rng.normal(size=3)
    product = np.eye(4)
    poses = [chain.base_pose, *(joint.pose(x) for joint, x in zip(chain.joints, q)),
             chain.tip_pose]
    for pose in poses:
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = pose.rotation, pose.translation
        product = product @ step
    tip = chain.tip_pose_at(q)
    assert_close(tip.rotation, product[:3, :3], SAME_ALGEBRA)
    assert_close(tip.translation, product[:3, 3], SAME_ALGEBRA)
    with pytest.raises(StateError, match=r'q has shape \(2,\).*joint1, joint2, joint3'):
        chain.tip_pose_at([0.0, 0.0])


def test_gravity_is_given_in_the_base_and_used_in_frame_0(rng, chain):
    turned = replace(chain, base_pose=random_pose(rng), gravity=[1.0, 2.0, -9.0])
    assert_close(turned.base_pose.rotation @ turned.gravity_in_frame_0, turned.gravity,
                 SAME_ALGEBRA)


def test_standard_parameters_come_back_by_name(rng, chain):
    x = rng.normal(size=30)
    changed = chain.with_standard_parameters(x)
    np.testing.assert_array_equal(changed.standard_parameters, x)
    assert changed.standard_parameter_names[:2] == ('XX1', 'XY1')
    assert x[changed.standard_parameter_names.index('M2')] == changed.links[1].mass
    with pytest.raises(ParameterError, match=r'shape \(29,\), expected \(30,\)'):
        chain.with_standard_parameters(x[:29])


def test_a_payload_joins_the_last_link(rng, chain):
    payload = random_inertia(rng)
    loaded = chain.with_payload(payload)
    assert loaded.links[:-1] == chain.links[:-1]
    assert_close(loaded.links[-1].mass, chain.links[-1].mass + payload.mass, SAME_ALGEBRA)
    centre = chain.tip_pose.rotation @ payload.centre_of_mass + chain.tip_pose.translation
    assert_close(loaded.links[-1].first_moment,
                 chain.links[-1].first_moment + payload.mass * centre, SAME_ALGEBRA)


def test_limits_are_those_of_the_joints():
    chain = chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf')
    for i, joint in enumerate(chain.joints):
        assert chain.effort_limits[i] == joint.effort_limit
        assert chain.velocity_limits[i] == joint.velocity_limit
        assert tuple(chain.position_limits[:, i]) == (joint.lower, joint.upper)


def test_findings_are_added(chain):
    first, second = Finding('a', 'joint1', 'odd'), Finding('b', '', 'odder')
    assert chain.with_findings([first]).with_findings([second]).findings == (first, second)
    assert (str(first), str(second)) == ('joint1: odd', 'odder')


def test_the_hash_knows_the_geometry_and_not_the_inertias(rng, chain):
    same = chain.with_links([random_inertia(rng)] * 3).with_joint_physics(
        JointPhysics(np.ones(3), np.ones(3), np.ones(3), np.ones(3)))
    assert same.geometry_hash('lin') == chain.geometry_hash('lin')
    first, *rest = chain.joints
    others = [replace(chain, joints=(replace(first, **change), *rest)) for change in (
        {'b': first.b + 1e-6}, {'beta': first.beta + 1e-6}, {'d': first.d + 1e-6},
        {'theta': first.theta + 1e-6}, {'name': 'other'}, {'type': 'prismatic'})]
    others.append(replace(chain, gravity=chain.gravity + [1e-6, 0.0, 0.0]))
    hashes = {other.geometry_hash('lin') for other in others}
    hashes |= {chain.geometry_hash('lin'), chain.geometry_hash('khalil')}
    assert len(hashes) == len(others) + 2


@pytest.mark.parametrize(('changes', 'message'), [
    ({'gravity': [0.0, 9.81]}, 'gravity must be three finite numbers'),
    ({'gravity': [0.0, 0.0, -1e308]}, r'at most 10000 m/s\^2'),
    ({'gravity': [0.0, 0.0, float('nan')]}, 'gravity must be three finite numbers'),
    ({'gravity': [0.0, 0.0, np.nan]}, 'gravity must be three finite numbers'),
    ({'joints': ()}, 'robot robot: no moving joint between base and tip'),
    ({'links': (Inertia.zero(),)}, '3 joints, 1 links and 3 link names do not fit together'),
])
def test_parts_that_do_not_fit_are_refused(chain, changes, message):
    with pytest.raises(ChainError, match=message):
        replace(chain, **changes)


def test_joint_physics_of_another_robot_is_refused(chain):
    with pytest.raises(ParameterError, match='for 2 joints, the chain has 3'):
        chain.with_joint_physics(JointPhysics.zero(2))


def test_a_chain_refuses_to_be_changed_and_says_what_to_do(chain):
    with pytest.raises(FrozenInstanceError, match=r'Chain\.gravity cannot be changed; '
                                                  r'dataclasses\.replace\(\.\.\., gravity='):
        chain.gravity = np.zeros(3)
    with pytest.raises(AttributeError, match="Chain has no field 'grvity'; its fields are robot"):
        chain.grvity = np.zeros(3)
    with pytest.raises(AttributeError, match=r'Chain\.tip cannot be changed'):
        del chain.tip
    with pytest.raises(ValueError, match='read-only'):
        chain.gravity[2] = 0.0


def test_a_chain_survives_pickling(chain):
    copy = pickle.loads(pickle.dumps(chain))
    assert copy.geometry_hash() == chain.geometry_hash()
    np.testing.assert_array_equal(copy.standard_parameters, chain.standard_parameters)


def test_a_chain_tells_its_joints_base_and_tip_in_one_line(rng):
    assert repr(chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf')) == (
        '<Chain of demo_arm: 7 joints (joint_1 ... joint_7) from base_link to link_7, RRRRRRR, '
        '17.5 kg>')
    assert '1 joint (joint1) from' in repr(random_chain(rng, 1))


def test_gravity_can_be_turned(chain):
    sideways = chain.with_gravity([9.81, 0.0, 0.0])
    np.testing.assert_array_equal(sideways.gravity, [9.81, 0.0, 0.0])
    assert sideways.joint_names == chain.joint_names
    with pytest.raises(ChainError, match='gravity must be three finite numbers'):
        chain.with_gravity([0.0, 0.0])


def test_a_payload_is_a_mass_and_where_it_is(chain):
    tensor = np.diag([0.02, 0.02, 0.01])
    for given, expected in (((1.5, [0.0, 0.1, 0.2]), np.zeros((3, 3))),
                            ((1.5, [0.0, 0.1, 0.2], tensor), tensor)):
        whole = chain.with_payload(Inertia.from_centre_of_mass(1.5, [0.0, 0.1, 0.2], expected))
        np.testing.assert_allclose(chain.with_payload(*given).standard_parameters,
                                   whole.standard_parameters, rtol=1e-14)
    for wrong, message in (((1.0,), 'needs a centre of mass'), ((-1.0, [0, 0, 0]), 'negative'),
                           ((Inertia.zero(), [0, 0, 0]), 'its own centre')):
        with pytest.raises(ParameterError, match=message):
            chain.with_payload(*wrong)


def test_joints_of_which_the_same_is_unknown_are_equal():
    """Python 3.13 compares fields one by one, and NaN is not equal to itself."""
    one, another = (Joint('a', 'revolute', 0.1, 0.0, 0.0, 0.0, effort_limit=float('nan'))
                    for _ in range(2))
    assert one == another and hash(one) == hash(another) and len({one, another}) == 1
    assert one != Joint('a', 'revolute', 0.1, 0.0, 0.0, 0.0, effort_limit=5.0)
    assert one != 'a'
