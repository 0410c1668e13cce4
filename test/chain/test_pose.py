# SPDX-License-Identifier: Apache-2.0
"""Poses: products, inverses and distances."""

import numpy as np
import pytest
from support.chains import random_pose
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.errors import ParameterError

QUARTER_TURN = Pose([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 2.0, 3.0])


def matrix(pose):
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = pose.rotation, pose.translation
    return result


def test_a_product_maps_as_one_after_the_other(rng):
    a, b = random_pose(rng), random_pose(rng)
    assert_close(matrix(a @ b), matrix(a) @ matrix(b), SAME_ALGEBRA)


def test_the_inverse_leads_back(rng):
    pose = random_pose(rng)
    assert_close(matrix(pose @ pose.inverse()), np.eye(4), SAME_ALGEBRA)
    assert_close(matrix(pose.inverse() @ pose), np.eye(4), SAME_ALGEBRA)


def test_a_matrix_is_read_without_the_dust_of_its_right_angles():
    given = matrix(QUARTER_TURN)
    given[0, 0] = 6e-17
    pose = Pose.from_matrix(given)
    assert pose.rotation[0, 0] == 0.0
    np.testing.assert_array_equal(matrix(pose), matrix(QUARTER_TURN))


def test_dust_in_the_translation_is_a_length_and_stays():
    given = np.eye(4)
    given[0, 3] = 6e-17
    assert Pose.from_matrix(given).translation[0] == 6e-17


@pytest.mark.parametrize('angle', [0.0, 1e-9, 0.3, np.pi / 2, np.pi - 1e-9, np.pi])
def test_the_distance_is_a_length_and_an_angle(rng, angle):
    cosine, sine = np.cos(angle), np.sin(angle)
    turn = Pose([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]], [0.0, 3.0, 4.0])
    start = random_pose(rng)
    length, found = start.distance_to(start @ turn)
    assert_close(length, 5.0, SAME_ALGEBRA)
    assert abs(found - angle) < SAME_ALGEBRA


def test_arrays_are_copied_and_read_only():
    translation = np.zeros(3)
    pose = Pose(np.eye(3), translation)
    translation[0] = 1.0
    assert pose.translation[0] == 0.0
    with pytest.raises(ValueError, match='read-only'):
        pose.rotation[0, 0] = 2.0


@pytest.mark.parametrize(('rotation', 'translation'), [
    (np.eye(2), np.zeros(3)), (np.eye(3), np.zeros(2)), (np.eye(3), np.zeros((3, 1)))])
def test_arrays_of_another_shape_are_refused(rotation, translation):
    with pytest.raises(ParameterError, match=r'expected \(3, 3\) and \(3,\)'):
        Pose(rotation, translation)
