# SPDX-License-Identifier: Apache-2.0
"""A chain from a table of modified Denavit-Hartenberg parameters."""

import numpy as np
import pytest
from support.chains import random_inertia, random_pose
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.errors import ChainError

TABLE = {'beta': [0.0, np.pi / 2], 'b': [0.0, 0.5], 'd': [0.3, 0.1], 'theta': [0.0, 0.2]}


def test_the_columns_of_the_table_are_those_of_the_joints():
    chain = chain_from_dh('RP', **TABLE)
    assert [joint.type for joint in chain.joints] == ['revolute', 'prismatic']
    for name, column in TABLE.items():
        assert [getattr(joint, name) for joint in chain.joints] == column
    assert chain.joint_names == ('joint1', 'joint2')
    assert not np.any(chain.standard_parameters)
    np.testing.assert_array_equal(chain.gravity, [0.0, 0.0, -9.81])


def test_a_planar_arm_reaches_where_a_ruler_says():
    """Links of 0.5 m and 0.4 m: the second frame stands at the elbow, the tip is its end."""
    chain = chain_from_dh('RR', beta=[0, 0], b=[0, 0.5], d=[0, 0], theta=[0, 0])
    elbow, = [chain.joint_poses([np.pi / 2, 0.0])[1].translation]
    assert_close(elbow, [0.0, 0.5, 0.0], SAME_ALGEBRA)


def test_what_is_given_is_taken_over(rng):
    links, tip = [random_inertia(rng) for _ in range(2)], random_pose(rng)
    physics = JointPhysics(np.ones(2), np.zeros(2), np.zeros(2), np.zeros(2))
    chain = chain_from_dh('RP', **TABLE, links=links, gravity=[1.0, 2.0, 3.0], robot='crane',
                          joint_names=['slew', 'lift'], tip_pose=tip, joint_physics=physics)
    assert chain.links == tuple(links)
    assert (chain.robot, chain.joint_names) == ('crane', ('slew', 'lift'))
    assert chain.tip_pose is tip and chain.joint_physics is physics
    np.testing.assert_array_equal(chain.gravity, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(('types', 'changes', 'message'), [
    ('', {}, "types must be a word of R and P, one letter per joint, got ''"),
    ('RX', {}, "got 'RX'"),
    ('rp', {}, "got 'rp'"),
    ('RP', {'b': [0.0]}, 'b must be 2 finite numbers'),
    ('RP', {'beta': 0.0}, 'beta must be 2 finite numbers'),
    ('RP', {'d': [0.0, np.inf]}, 'd must be 2 finite numbers'),
    ('RP', {'theta': [np.nan, 0.0]}, 'theta must be 2 finite numbers'),
    ('RP', {'joint_names': ['a', 'a']}, 'joint_names must be 2 different names'),
    ('RP', {'joint_names': ['a', 'b', 'c']}, 'joint_names must be 2 different names'),
])
def test_a_table_that_is_none_is_refused(types, changes, message):
    with pytest.raises(ChainError, match=message):
        chain_from_dh(types, **{**TABLE, **changes})
