# SPDX-License-Identifier: Apache-2.0
"""Joints that nobody names."""

import numpy as np

from robot_dynamics_ros.motion.unnamed_joints import PATIENCE, UnnamedJoints

ARM = ('a', 'b')
ALL = (*ARM, 'finger', 'wheel')


def test_a_joint_that_no_joint_state_names_is_frozen_at_zero_after_a_while():
    joints = UnnamedJoints(ALL)
    assert joints.look(10.0, ARM) == {}
    assert joints.look(10.0 + 0.9 * PATIENCE, ARM) == {}
    assert joints.look(10.0 + PATIENCE, ARM) == {'finger': 0.0, 'wheel': 0.0}


def test_a_joint_that_was_seen_is_frozen_where_it_was_seen_last():
    joints = UnnamedJoints(ALL)
    assert joints.look(10.0, ALL) == {}
    last = np.array([1.0, 2.0, 0.03, 4.0])
    assert joints.look(11.0, (*ARM, 'wheel'), last) == {}
    assert joints.look(11.0 + PATIENCE, (*ARM, 'wheel'), last) == {'finger': 0.03}


def test_joints_that_messages_name_in_turns_are_named():
    joints = UnnamedJoints(ALL)
    for k in range(100):
        frozen = joints.look(10.0 + 0.1 * k, ARM if k % 2 else ('finger', 'wheel', 'other'))
        assert frozen == {}


def test_a_pause_counts_from_its_own_beginning():
    joints = UnnamedJoints(ALL)
    joints.look(10.0, ARM)
    joints.look(10.5, ALL)
    assert joints.look(11.2, ARM) == {}
    assert joints.look(5.0, ARM) == {}, 'the clock was set back'
    assert joints.look(5.5, ARM) == {}


def test_a_joint_that_somebody_moves_is_not_frozen():
    joints = UnnamedJoints(ALL)
    assert joints.command(['wheel', 'a', 'nobody']) == {}
    assert joints.commanded == {'wheel', 'a'}
    joints.look(10.0, ARM)
    assert joints.look(12.0, ARM) == {}


def test_messages_of_other_joints_alone_freeze_nothing():
    joints = UnnamedJoints(ALL)
    for time in (10.0, 12.0, 14.0):
        assert joints.look(time, ('x', 'y')) == {}


def test_a_frozen_joint_thaws_when_it_is_named_with_the_others():
    joints = UnnamedJoints(ARM, {'finger': 0.03, 'wheel': 0.0})
    assert joints.look(10.0, ('finger',)) == joints.frozen, 'a message of its own changes nothing'
    assert joints.look(10.1, ARM) == joints.frozen
    assert joints.look(10.2, (*ARM, 'finger')) == {'wheel': 0.0}
    assert joints.command(['wheel']) == {'finger': 0.03}
