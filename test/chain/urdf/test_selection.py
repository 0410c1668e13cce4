# SPDX-License-Identifier: Apache-2.0
"""Choosing joints of a robot with two arms: tips, patterns, groups of an SRDF, followers."""

import numpy as np
import pytest
from support.robots import URDF_FOLDER, example_robots

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.chain.urdf.choices import choices
from robot_dynamics_ros.chain.urdf.srdf import group_of_srdf
from robot_dynamics_ros.chain.urdf.tree import tree_from_urdf
from robot_dynamics_ros.errors import ChainError, UrdfError

TWO_ARMS = URDF_FOLDER / 'demo_two_arms.urdf'
SRDF = """<robot name="demo_two_arms">
  <group name="left"><chain base_link="torso" tip_link="left_hand"/></group>
  <group name="turn"><joint name="torso_joint"/></group>
  <group name="both"><group name="left"/><group name="turn"/></group>
  <group name="lost"><joint name="nowhere"/></group>
</robot>"""


def test_a_robot_with_two_arms_loads_as_it_is():
    chain = chain_from_urdf(TWO_ARMS)
    assert len(chain) == 17 and len(chain.moving) == 19 and not chain.serial
    assert [tip.link for tip in chain.tips] == ['left_hand', 'right_hand']
    assert [each.joint.name for each in chain.followers] == ['left_other_finger_joint',
                                                             'right_other_finger_joint']
    assert 'left_other_finger_joint' not in chain.joint_names


def test_one_tip_cuts_out_a_serial_chain_and_several_a_tree():
    arm = chain_from_urdf(TWO_ARMS, tip='left_hand')
    assert arm.serial and arm.joint_names == ('torso_joint', *(f'left_joint_{k}'
                                                               for k in range(1, 8)))
    both = chain_from_urdf(TWO_ARMS, tips=['left_hand', 'right_hand'])
    assert len(both) == 15 and both.parents.count(1) == 2


def test_a_pattern_locks_all_joints_that_match():
    chain = chain_from_urdf(TWO_ARMS, locked={'right*': 0.0, '*finger*': 0.01})
    assert chain.joint_names == ('torso_joint', *(f'left_joint_{k}' for k in range(1, 8)))
    position = {finding.where: finding.value for finding in chain.findings}
    assert position['left_other_finger_joint'] == 0.01


def test_a_follower_of_a_locked_joint_stays_where_that_puts_it():
    opened = chain_from_urdf(TWO_ARMS, locked={'left_finger_joint': 0.03})
    position = {finding.where: finding.value for finding in opened.findings}
    assert position['left_other_finger_joint'] == 0.03


def test_a_follower_of_a_locked_follower_stays_where_that_puts_it():
    text = TWO_ARMS.read_text().replace('<mimic joint="left_finger_joint"/>',
                                        '<mimic joint="right_other_finger_joint" '
                                        'multiplier="-0.5" offset="0.01"/>')
    chain = chain_from_urdf(text, locked={'right_other_finger_joint': 0.03})
    position = {finding.where: finding.value for finding in chain.findings}
    assert position['left_other_finger_joint'] == pytest.approx(0.01 - 0.5 * 0.03)
    assert 'right_finger_joint' in chain.joint_names and not chain.followers


def test_a_follower_without_its_leader_is_refused():
    with pytest.raises(ChainError, match="mimics 'left_finger_joint', which is not on it"):
        chain_from_urdf(TWO_ARMS, tip='left_other_finger')


def test_followers_move_with_their_leader():
    chain = chain_from_urdf(TWO_ARMS)
    q = np.zeros(17)
    q[chain.joint_names.index('left_finger_joint')] = 0.02
    before, after = (chain.joint_poses(each) for each in (np.zeros(17), q))
    moved = [np.linalg.norm(b.translation - a.translation) for a, b in zip(before, after)]
    names = [joint.name for joint in chain.moving]
    assert [name for name, way in zip(names, moved) if way > 1e-12] == [
        'left_finger_joint', 'left_other_finger_joint']
    np.testing.assert_allclose(max(moved), 0.02)


def test_sensible_tips_are_hands_and_not_fingers():
    assert [(choice.tip, len(choice.joints)) for choice in choices(tree_from_urdf(TWO_ARMS))] == [
        ('left_hand', 8), ('right_hand', 8)]
    panda = next(path for path in example_robots() if path.name == 'panda.urdf')
    assert [choice.tip for choice in choices(tree_from_urdf(panda))] == ['panda_hand_tcp']
    with pytest.raises(ChainError, match=r'tips: --tip left_hand \(8 joints\), --tip right_hand'):
        chain_from_urdf(TWO_ARMS, tip='left_tool')


def test_tips_of_a_group_of_groups_are_in_its_order(tmp_path):
    path = tmp_path / 'robot.srdf'
    path.write_text(SRDF.replace('</robot>', """
      <group name="right"><chain base_link="torso" tip_link="right_hand"/></group>
      <group name="arms"><group name="left"/><group name="right"/></group></robot>"""))
    assert group_of_srdf(path, 'arms', tree_from_urdf(TWO_ARMS)).tips == (
        'left_hand', 'right_hand')


def test_a_group_of_an_srdf_locks_all_other_joints(tmp_path):
    path = tmp_path / 'robot.srdf'
    path.write_text(SRDF)
    tree = tree_from_urdf(TWO_ARMS)
    group = group_of_srdf(path, 'both', tree)
    chain = chain_from_urdf(TWO_ARMS, tips=group.tips, locked=group.locked)
    assert chain.joint_names == chain_from_urdf(TWO_ARMS, tip='left_hand').joint_names
    assert len(chain_from_urdf(TWO_ARMS, locked=group_of_srdf(path, 'turn', tree).locked)) == 1
    for name, message in (('arm', "no group 'arm'; groups: left, turn, both, lost"),
                          ('lost', 'does not have: nowhere')):
        with pytest.raises(ChainError, match=message):
            group_of_srdf(path, name, tree)
    path.write_text('<group/>')
    with pytest.raises(UrdfError, match='this is not an SRDF'):
        group_of_srdf(path, 'left', tree)


def test_links_of_a_group_stand_for_the_joints_that_carry_them(tmp_path):
    path, tree = tmp_path / 'robot.srdf', tree_from_urdf(TWO_ARMS)
    carrier = tree.parent_joint('left_hand')
    path.write_text(f'<robot><group name="a"><link name="left_hand"/><link name="{tree.root}"/>'
                    '</group></robot>')
    moving = {joint.name for joint in tree.joints.values() if joint.moving}
    assert set(group_of_srdf(path, 'a', tree).locked) == moving - {carrier.name}


@pytest.mark.parametrize(('text', 'error', 'message'), [
    ('<robot><group name="a"><chain base_link="base" tip_link="no\nwhere"/></group></robot>',
     ChainError, "of group 'a' is not in"),
    ('<robot><group name="a">', UrdfError, 'robot.srdf: '),
    (None, UrdfError, 'No such file'),
    ('<robot>' + ' ' * 10_000_000 + '</robot>', UrdfError, 'larger than'),
], ids=['link', 'syntax', 'missing', 'large'])
def test_an_srdf_that_cannot_be_used_is_refused_in_one_line(text, error, message, tmp_path):
    path = tmp_path / 'robot.srdf'
    if text is not None:
        path.write_text(text)
    with pytest.raises(error, match=message) as refused:
        group_of_srdf(path, 'a', tree_from_urdf(TWO_ARMS))
    assert '\n' not in str(refused.value)


def test_a_payload_without_a_tip_is_on_the_first_one():
    chain = chain_from_urdf(TWO_ARMS)
    first = chain.with_payload(1.0, [0.0, 0.0, 0.1])
    named = chain.with_payload(1.0, [0.0, 0.0, 0.1], tip='left_hand')
    np.testing.assert_array_equal(first.standard_parameters, named.standard_parameters)
    with pytest.raises(ChainError, match="no tip 'left_tool'; tips: left_hand, right_hand"):
        chain.with_payload(1.0, [0.0, 0.0, 0.1], tip='left_tool')
