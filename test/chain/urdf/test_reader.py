# SPDX-License-Identifier: Apache-2.0
"""URDF to Chain: findings, gravity, freezing and lumping, on small robots."""

import math

import numpy as np
import pytest
from support.robots import ROBOTS, URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.pose import Pose

BODY = ('<inertial><origin xyz="{xyz}"/><mass value="{mass}"/><inertia ixx="{ixx}" ixy="0" '
        'ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>')


def body(mass=1.0, xyz='0.1 0 0', ixx=0.01, iyy=0.01, izz=0.01):
    """Return the text of an inertial."""
    return BODY.format(mass=mass, xyz=xyz, ixx=ixx, iyy=iyy, izz=izz)


def arm(first=None, second=None, limit='<limit lower="-1" upper="1" velocity="2" effort="3"/>',
        extra='', axis='<axis xyz="0 0 1"/>'):
    """Return a robot with two revolute joints and, optionally, more."""
    return f"""<robot name="arm"><link name="base"/>
    <link name="a">{body() if first is None else first}</link>
    <link name="b">{body() if second is None else second}</link>
    <joint name="j1" type="revolute"><parent link="base"/><child link="a"/>
      <origin xyz="0 0 0.5"/>{axis}{limit}</joint>
    <joint name="j2" type="revolute"><parent link="a"/><child link="b"/>
      <origin xyz="0.4 0 0" rpy="1.5707963267948966 0 0"/><axis xyz="0 0 1"/>{limit}</joint>
    {extra}</robot>"""


TOOL = ('<link name="tool">' + body(0.5, '0 0 0.2') + '</link><joint name="mount" type="fixed">'
        '<parent link="b"/><child link="tool"/><origin xyz="0.3 0.1 0" '
        'rpy="0.3 0.2 0.1"/></joint>')
FINGER = ('<link name="finger">' + body(0.2) + '</link><joint name="grip" type="prismatic">'
          '<parent link="b"/><child link="finger"/><origin xyz="0 0 0.1"/><axis xyz="1 0 0"/>'
          '<limit lower="0" upper="0.05" velocity="1" effort="9"/></joint>')


def kinds(chain):
    """Return pairs of kind and place of the findings."""
    return {(finding.kind, finding.where) for finding in chain.findings}


def test_a_clean_robot_has_no_findings():
    assert chain_from_urdf(arm()).findings == ()


@pytest.mark.parametrize('options, finding', [
    ({'first': body(mass=-1.0)}, ('negative_mass', 'a')),
    ({'first': body(ixx=-0.01)}, ('indefinite_inertia', 'a')),
    ({'second': body(ixx=0.03)}, ('triangle_inequality', 'b')),
    ({'second': ''}, ('zero_inertia', 'b')),
    ({'axis': ''}, ('missing_axis', 'j1')),
    ({'limit': ''}, ('unknown_effort_limit', 'j1')),
    ({'limit': ''}, ('unknown_position_limits', 'j2')),
    ({'limit': '<limit lower="-1" upper="1" velocity="0" effort="5"/>'},
     ('unknown_velocity_limit', 'j2')),
    ({'limit': '<limit lower="-1" upper="1" velocity="1" effort="0"/>'},
     ('unknown_effort_limit', 'j2')),
    ({'limit': '<limit lower="1" upper="-1" velocity="1" effort="1"/>'},
     ('unusable_position_limits', 'j1')),
    ({'limit': '<dynamics damping="-1"/>'}, ('negative_friction', 'j1')),
])
def test_odd_robots_load_with_a_finding(options, finding):
    chain = chain_from_urdf(arm(**options))
    assert finding in kinds(chain)


def test_a_tensor_just_outside_the_triangle_inequality_is_rounding():
    chain = chain_from_urdf(arm(first=body(ixx=0.02000001)))
    assert chain.findings == ()


def test_the_axis_of_the_standard_is_used_when_there_is_none():
    chain = chain_from_urdf(arm(axis=''))
    np.testing.assert_allclose(chain.joint_poses(np.zeros(2))[0].rotation[:, 2], [1, 0, 0],
                               atol=SAME_ALGEBRA)


def test_a_link_without_inertial_has_no_mass():
    assert chain_from_urdf(arm(second='')).links[1].mass == 0.0


def test_limits_and_friction_are_kept():
    chain = chain_from_urdf(arm(limit='<limit lower="-1" upper="2" velocity="3" effort="4"/>'
                                '<dynamics damping="0.5" friction="0.25"/>'))
    np.testing.assert_array_equal(chain.position_limits, [[-1, -1], [2, 2]])
    np.testing.assert_array_equal(chain.velocity_limits, [3, 3])
    np.testing.assert_array_equal(chain.effort_limits, [4, 4])
    np.testing.assert_array_equal(chain.joint_physics.viscous, [0.5, 0.5])
    np.testing.assert_array_equal(chain.joint_physics.coulomb, [0.25, 0.25])


def test_unknown_limits_are_nan_and_infinite():
    chain = chain_from_urdf(arm(limit=''))
    assert np.all(np.isnan(chain.effort_limits)) and np.all(np.isnan(chain.velocity_limits))
    np.testing.assert_array_equal(chain.position_limits, [[-np.inf] * 2, [np.inf] * 2])


def test_a_fixed_link_is_lumped_into_the_body_that_carries_it():
    plain, lumped = chain_from_urdf(arm()), chain_from_urdf(arm(extra=TOOL))
    assert lumped.tip == 'b'
    tool = Inertia.from_centre_of_mass(0.5, (0, 0, 0.2), np.diag([0.01] * 3))
    mounted = chain_from_urdf(arm(extra=TOOL), tip='tool').tip_pose
    expected = plain.links[1] + tool.seen_from(mounted)
    assert_close(lumped.links[1].standard_parameters, expected.standard_parameters, SAME_ALGEBRA)


def test_a_joint_off_the_chain_is_frozen_at_zero_and_reported():
    chain = chain_from_urdf(arm(extra=FINGER), tip='b')
    assert chain.joint_names == ('j1', 'j2')
    assert ('frozen_joint', 'grip') in kinds(chain)
    np.testing.assert_allclose(chain.links[1].mass, 1.2)


def test_a_locked_joint_is_frozen_where_it_is_told_to():
    at_zero = chain_from_urdf(arm(extra=FINGER), locked=['grip'])
    open_wide = chain_from_urdf(arm(extra=FINGER), locked={'grip': 0.05})
    assert at_zero.tip == open_wide.tip == 'b'
    shift = open_wide.links[1].first_moment - at_zero.links[1].first_moment
    np.testing.assert_allclose(np.linalg.norm(shift), 0.2 * 0.05, rtol=1e-12)


def test_the_name_of_one_joint_to_lock_is_not_a_list_of_letters():
    alone = chain_from_urdf(arm(extra=FINGER), locked='grip')
    listed = chain_from_urdf(arm(extra=FINGER), locked=['grip'])
    np.testing.assert_array_equal(alone.standard_parameters, listed.standard_parameters)
    assert alone.joint_names == listed.joint_names


def test_locking_an_inner_joint_joins_its_bodies():
    chain = chain_from_urdf(arm(), locked={'j2': 0.3})
    assert chain.joint_names == ('j1',)
    assert chain.links[0].mass == 2.0


def test_gravity_follows_the_mounting_through_fixed_and_locked_joints():
    wall = ('<link name="wall"/><joint name="bracket" type="fixed"><parent link="wall"/>'
            '<child link="base"/><origin rpy="0 1.5707963267948966 0"/></joint>')
    on_wall = chain_from_urdf(arm(extra=wall), base='base')
    np.testing.assert_allclose(on_wall.gravity, [9.81, 0, 0], atol=1e-12)
    np.testing.assert_allclose(chain_from_urdf(arm(extra=wall)).gravity, [0, 0, -9.81])
    bent = chain_from_urdf(arm(), base='a', locked={'j1': 0.5})
    np.testing.assert_allclose(bent.gravity, [0, 0, -9.81], atol=1e-12)
    told = chain_from_urdf(arm(), gravity=(1, 2, 3))
    np.testing.assert_array_equal(told.gravity, [1, 2, 3])


def test_gravity_that_almost_meets_an_axis_is_turned_onto_it_when_snapping():
    tilted = arm(axis='<axis xyz="0 0.000003 1"/>')
    chain = chain_from_urdf(tilted)
    np.testing.assert_allclose(chain.gravity_in_frame_0, [0, 0, -9.81], atol=1e-14)
    tilts = [f.value for f in chain.findings if f.kind == 'snapped' and f.where == '']
    np.testing.assert_allclose(tilts, [3e-6], rtol=1e-6)
    exact = chain_from_urdf(tilted, snap=False)
    assert np.max(np.abs(exact.gravity_in_frame_0[:2])) > 1e-5
    told = chain_from_urdf(tilted, gravity=(0, 0, -9.81))
    np.testing.assert_array_equal(told.gravity, [0, 0, -9.81])


def test_gravity_in_frame_0_is_the_same_vector():
    chain = chain_from_urdf(arm(axis='<axis xyz="0 1 0"/>'))
    np.testing.assert_allclose(chain.base_pose.rotation @ chain.gravity_in_frame_0,
                               chain.gravity, atol=1e-12)


def test_a_negative_axis_keeps_the_sign_of_the_urdf():
    up, down = (chain_from_urdf(arm(axis=f'<axis xyz="0 0 {sign}"/>')) for sign in ('1', '-1'))
    turned = up.tip_pose_at([0.3, 0.0]).distance_to(down.tip_pose_at([-0.3, 0.0]))
    np.testing.assert_allclose(turned, 0.0, atol=1e-12)


def test_a_continuous_joint_has_no_position_limits():
    chain = chain_from_urdf(arm().replace('type="revolute"', 'type="continuous"'))
    assert np.all(np.isinf(chain.position_limits))
    assert all(joint.revolute for joint in chain.joints)
    assert 'unknown_position_limits' not in {finding.kind for finding in chain.findings}


def test_a_mimic_joint_off_the_chain_says_that_it_does_not_follow():
    extra = FINGER.replace('</joint>', '<mimic joint="j1"/></joint>')
    chain = chain_from_urdf(arm(extra=extra), tip='b')
    message = next(str(f) for f in chain.findings if f.kind == 'frozen_joint')
    assert "although it follows 'j1'" in message


def test_payload_is_added_in_the_tip_frame():
    chain = chain_from_urdf(arm(extra=TOOL), tip='tool')
    load = Inertia.from_centre_of_mass(2.0, (0, 0, 0.1), np.zeros((3, 3)))
    loaded = chain.with_payload(load)
    assert loaded.links[1].mass == chain.links[1].mass + 2.0
    at = chain.tip_pose.rotation @ [0, 0, 0.1] + chain.tip_pose.translation
    np.testing.assert_allclose(loaded.links[1].first_moment - chain.links[1].first_moment, 2 * at)


def test_the_hash_is_about_geometry_not_inertia():
    chain = chain_from_urdf(arm())
    heavier = chain_from_urdf(arm(second=body(mass=3.0)))
    longer = chain_from_urdf(arm().replace('0.4 0 0', '0.41 0 0'))
    hanging = chain_from_urdf(arm(), gravity=(0, 0, 9.81))
    assert chain.geometry_hash() == heavier.geometry_hash()
    assert len({c.geometry_hash() for c in (chain, longer, hanging)}) == 3
    assert chain.geometry_hash('lin') != chain.geometry_hash('khalil')


@pytest.mark.parametrize('name', ROBOTS)
def test_the_bundled_robots_load(name):
    chain = chain_from_urdf(URDF_FOLDER / f'{name}.urdf')
    assert {finding.kind for finding in chain.findings} <= {'triangle_inequality'}
    assert np.all(np.isfinite(chain.effort_limits)) and np.all(np.isfinite(chain.position_limits))
    text = (URDF_FOLDER / f'{name}.urdf').read_text()
    assert 'continuous' not in text
    assert text.count('SPDX-License-Identifier: Apache-2.0') == 1


def table(name):
    """Return columns beta, b, d, theta of a bundled robot."""
    joints = chain_from_urdf(URDF_FOLDER / f'{name}.urdf').joints
    return np.array([[j.beta, j.b, j.d, j.theta] for j in joints]).T


def test_the_geometry_of_the_papers_comes_back():
    right = math.pi / 2
    np.testing.assert_allclose(table('rx90'), [[0, right, 0, -right, right, -right],
                               [0, 0, 0.45, 0, 0, 0], [0, 0, 0, 0.45, 0, 0], [0] * 6])
    np.testing.assert_allclose(table('stanford'), [[0, right, right, 0, right, right], [0] * 6,
                               [0, 0.1, 0, 0.6, 0, 0], [0] * 6])
    np.testing.assert_allclose(table('angeles_6r'), [[0, right, 0, 0, right, right],
                               [0, 0, 1.02, 1.02, 0.2, 0], [0] * 6, [0] * 6], atol=SAME_ALGEBRA)
    np.testing.assert_allclose(table('puma_4dof'), [[0, -right, 0, -right],
                               [0, 0, 0.4318, 0.0203], [0, 0, 0.15, 0], [0] * 4])


def test_the_pose_of_the_tip_is_that_of_the_urdf():
    chain = chain_from_urdf(arm(extra=TOOL), tip='tool')
    expected = (Pose(np.eye(3), [0, 0, 0.5]) @ Pose([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [0, 0, 0])
                @ Pose([[1, 0, 0], [0, 0, -1], [0, 1, 0]], [0.4, 0, 0]))
    actual = chain_from_urdf(arm(extra=TOOL)).tip_pose_at([math.pi / 2, 0.0])
    np.testing.assert_allclose(actual.distance_to(expected), 0.0, atol=1e-12)
    assert chain.base == 'base'
