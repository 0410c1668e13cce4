# SPDX-License-Identifier: Apache-2.0
"""The wrench on the tip link."""

import numpy as np
from support.chains import random_chain
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.dynamics.scalars.pair import wrench_at_last_joint, wrench_on_environment


def test_a_force_at_the_tip_has_a_moment_at_the_last_joint():
    """Tip 0.5 m along x, turned by 90 degrees about z: its x axis is y of the last joint."""
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    chain = chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0],
                          tip_pose=Pose(turn, np.array([0.5, 0.0, 0.0])))
    force, moment = wrench_at_last_joint(chain, [2.0, 0.0, 0.0, 0.0, 0.0, 3.0])
    assert force == (0.0, 2.0, 0.0)
    assert moment == (0.0, 0.0, 4.0)


def test_it_is_the_same_wrench_about_another_point(rng):
    chain = random_chain(rng, 2)
    wrench = rng.normal(size=6)
    force, moment = wrench_at_last_joint(chain, wrench.tolist())
    R, p = chain.tip_pose.rotation, chain.tip_pose.translation
    assert_close(force, R @ wrench[:3], SAME_ALGEBRA)
    assert_close(moment, R @ wrench[3:] + np.cross(p, R @ wrench[:3]), SAME_ALGEBRA)


def test_the_robot_exerts_the_opposite():
    assert wrench_on_environment(None) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert wrench_on_environment(((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))) == (
        (-1.0, -2.0, -3.0), (-4.0, -5.0, -6.0))
