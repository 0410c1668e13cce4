# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.errors import UrdfError
from robot_dynamics_ros.picture.drawn_robot import drawn_robot

DEMO_ARM = URDF_FOLDER / 'demo_arm.urdf'

HAND = """<robot name="hand"><material name="red"><color rgba="1 0 0 0.5"/></material>
  <link name="palm"><visual><geometry><box size="0.1 0.2 0.3"/></geometry>
    <material name="red"/></visual></link>
  <joint name="left" type="prismatic"><parent link="palm"/><child link="a"/>
    <axis xyz="0 1 0"/><limit lower="0.01" upper="0.05" velocity="1" effort="1"/></joint>
  <link name="a"><visual><geometry><mesh filename="package://nowhere/a.stl"/></geometry></visual>
    <collision><geometry><sphere radius="0.02"/></geometry></collision></link>
  <joint name="right" type="prismatic"><parent link="palm"/><child link="b"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/>
    <mimic joint="left" multiplier="-2" offset="0.1"/></joint>
  <link name="b"><visual><geometry><mesh filename="b.stl"/></geometry></visual></link>
  <joint name="nail_joint" type="fixed"><parent link="b"/><child link="nail"/>
    <origin xyz="0 0 0.4"/></joint>
  <link name="nail"/>
</robot>"""


def test_links_are_where_the_chain_has_them(rng):
    chain, drawn = chain_from_urdf(DEMO_ARM), drawn_robot(DEMO_ARM)
    for q in rng.uniform(-2.0, 2.0, (5, len(chain))):
        poses = drawn.link_poses(dict(zip(chain.joint_names, q)))
        found, expected = poses[chain.tip], poses[chain.base] @ chain.tip_pose_at(q)
        np.testing.assert_allclose(found.translation, expected.translation, atol=SAME_ALGEBRA)
        np.testing.assert_allclose(found.rotation, expected.rotation, atol=1e-9)


def test_a_joint_that_mimics_follows_its_leader():
    drawn = drawn_robot(HAND)
    assert [joint.name for joint in drawn.joints] == ['left']
    assert drawn.rest() == {'left': 0.01}
    poses = drawn.link_poses({'left': 0.03})
    np.testing.assert_allclose(poses['b'].translation, [0.0, 0.04, 0.0], atol=SAME_ALGEBRA)


def test_joints_that_mimic_each_other_rest():
    text = HAND.replace('<axis xyz="0 1 0"/><limit lower="0.01"',
                        '<axis xyz="0 1 0"/><mimic joint="right"/><limit lower="0.01"')
    assert np.all(np.isfinite(drawn_robot(text).link_poses({'left': 0.03})['b'].translation))


def test_what_cannot_be_read_is_drawn_from_collision_shapes_or_as_a_stick_and_told():
    drawn = drawn_robot(HAND)
    np.testing.assert_allclose(np.ptp(drawn.solids['a'][0].vertices, axis=0), 0.04, rtol=0.02)
    lengths = [np.ptp(solid.vertices[:, 2]) for solid in drawn.solids['b']]
    assert max(lengths) == pytest.approx(0.4)
    assert [(finding.where, finding.kind) for finding in drawn.findings] == [
        ('a', 'not_drawn'), ('b', 'not_drawn')]
    assert 'collision' in str(drawn.findings[0]) and 'stick' in str(drawn.findings[1])
    assert drawn.solids['nail'] == ()  # a frame only


def test_a_material_gives_colour_and_opacity():
    palm = drawn_robot(HAND).solids['palm'][0]
    assert palm.colour == (1.0, 0.0, 0.0) and palm.opacity == 0.5


def test_a_robot_without_any_shape_is_a_skeleton():
    drawn = drawn_robot(URDF_FOLDER / 'rx90.urdf')
    assert any(drawn.solids.values())
    assert drawn.findings == ()


def test_meshes_of_a_package_above_the_file_are_found(tmp_path):
    (tmp_path / 'arm_description' / 'urdf').mkdir(parents=True)
    (tmp_path / 'arm_description' / 'a.obj').write_text('v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n')
    urdf = tmp_path / 'arm_description' / 'urdf' / 'arm.urdf'
    urdf.write_text('<robot name="arm"><link name="base"><visual><geometry><mesh filename='
                    '"package://arm_description/a.obj"/></geometry></visual></link></robot>')
    drawn = drawn_robot(urdf)
    assert drawn.findings == () and len(drawn.solids['base'][0].faces) == 1
    urdf.write_text(urdf.read_text().replace('arm_description', '..'))
    assert drawn_robot(urdf).findings  # never out of the folders


def test_what_is_not_a_robot_is_refused():
    with pytest.raises(UrdfError, match='not a robot'):
        drawn_robot('<robot name="x"/>')
