# SPDX-License-Identifier: Apache-2.0
"""Frames over scalars."""

import math

import numpy as np
import pytest
from support.chains import random_chain, random_pose
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.dynamics.scalars.frames import (
    FixedFrame,
    JointFrame,
    gravity_vector,
    joint_frames,
)


def tuples(array):
    return tuple(map(tuple, array.tolist()))


@pytest.mark.parametrize('types', ['R', 'P', 'RP', 'PRRPR'])
def test_frames_are_the_poses_of_the_joints(rng, types):
    chain = random_chain(rng, len(types), types=types)
    q = rng.normal(size=len(types))
    frames = joint_frames(chain, q.tolist(), math.cos, math.sin)
    assert len(frames) == len(types) + 1
    for joint, frame, position in zip(chain.joints, frames[1:], q):
        pose = joint.pose(position)
        v = rng.normal(size=3)
        assert frame.revolute == joint.revolute
        assert_close(frame.rotation, pose.rotation, SAME_ALGEBRA)
        assert_close(frame.origin, pose.translation, SAME_ALGEBRA)
        assert_close(frame.axis_in_parent, pose.rotation[:, 2], SAME_ALGEBRA)
        assert_close(frame.to_parent(tuple(v)), pose.rotation @ v, SAME_ALGEBRA)
        assert_close(frame.to_link(tuple(v)), pose.rotation.T @ v, SAME_ALGEBRA)


@pytest.mark.parametrize('beta', [0.0, math.pi, math.pi / 2, -math.pi / 2, 0.7])
@pytest.mark.parametrize('theta', [0.0, math.pi, math.pi / 2, -0.4])
def test_tensors_turn_with_the_frame(rng, beta, theta):
    cb, sb = round(math.cos(beta), 15), round(math.sin(beta), 15)
    c, s = round(math.cos(theta), 15), round(math.sin(theta), 15)
    frame = JointFrame(True, 0.1, cb, sb, 0.2, c, s)
    R = np.array(frame.rotation)
    X = rng.normal(size=(3, 3))
    assert_close(frame.matrix_to_parent(tuples(X)), R @ X @ R.T, SAME_ALGEBRA)
    S = X + X.T
    assert_close(frame.tensor_to_parent(tuples(S)), R @ S @ R.T, SAME_ALGEBRA)


def test_fixed_frame_is_its_pose(rng):
    pose = random_pose(rng)
    frame = FixedFrame.at(pose)
    v = rng.normal(size=3)
    assert_close(frame.origin, pose.translation, SAME_ALGEBRA)
    assert_close(frame.to_parent(tuple(v)), pose.rotation @ v, SAME_ALGEBRA)
    assert_close(frame.to_link(tuple(v)), pose.rotation.T @ v, SAME_ALGEBRA)


def test_right_angles_are_exact_so_that_code_generation_can_drop_terms():
    chain = chain_from_dh('RP', beta=[math.pi / 2, -math.pi / 2], b=[0, 0], d=[0, 0],
                          theta=[0, math.pi / 2])
    frames = joint_frames(chain, [0.3, 0.4], math.cos, math.sin)
    assert (frames[1].cb, frames[1].sb) == (0.0, 1.0)
    assert (frames[2].cb, frames[2].sb, frames[2].c, frames[2].s) == (0.0, -1.0, 0.0, 1.0)


def test_gravity_is_in_frame_0(rng):
    chain = random_chain(rng, 2, gravity=[1.0, 2.0, -9.0])
    assert gravity_vector(chain) == (1.0, 2.0, -9.0)
