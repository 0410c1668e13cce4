# SPDX-License-Identifier: Apache-2.0
"""Inertias: steps that a reader can check, and the moving of frames."""

import numpy as np
import pytest
from support.tolerances import SAME_ALGEBRA

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia, parameters_seen_from
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.errors import ParameterError


def random_pose(rng):
    """Return a random pose."""
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Pose(rotation * np.sign(np.linalg.det(rotation)), rng.normal(size=3))


def random_inertia(rng):
    """Return the inertia of a cloud of point masses."""
    points, masses = rng.normal(size=(6, 3)), rng.uniform(0.1, 1.0, 6)
    body = Inertia.zero()
    for point, mass in zip(points, masses):
        body = body + Inertia.from_centre_of_mass(mass, point, np.zeros((3, 3)))
    return body


def test_a_point_mass_has_the_moments_of_the_textbook():
    body = Inertia.from_centre_of_mass(2.0, (3.0, 0.0, 0.0), np.zeros((3, 3)))
    np.testing.assert_array_equal(body.first_moment, [6.0, 0.0, 0.0])
    np.testing.assert_array_equal(body.tensor, np.diag([0.0, 18.0, 18.0]))


def test_a_frame_change_there_and_back_changes_nothing(rng):
    body, pose = random_inertia(rng), random_pose(rng)
    back = body.seen_from(pose).seen_from(pose.inverse())
    np.testing.assert_allclose(back.standard_parameters, body.standard_parameters,
                               atol=1e2 * SAME_ALGEBRA)


def test_kinetic_energy_does_not_depend_on_the_frame(rng):
    body, pose = random_inertia(rng), random_pose(rng)
    omega, v = rng.normal(size=3), rng.normal(size=3)  # of the frame of `body`

    def energy(inertia, omega, v):
        return (0.5 * inertia.mass * v @ v + v @ np.cross(omega, inertia.first_moment)
                + 0.5 * omega @ inertia.tensor @ omega)

    moved = body.seen_from(pose)
    omega_a = pose.rotation @ omega
    v_a = pose.rotation @ v - np.cross(omega_a, pose.translation)
    np.testing.assert_allclose(energy(moved, omega_a, v_a), energy(body, omega, v),
                               rtol=1e2 * SAME_ALGEBRA)


def test_standard_parameters_come_back(rng):
    x = rng.normal(size=10)
    np.testing.assert_array_equal(Inertia.from_standard_parameters(x).standard_parameters, x)


def test_a_body_seen_from_its_parent_frame_keeps_its_mass(rng):
    """Columns 9 and 10 of Table 9.1, with alpha and theta zero: r and d alone."""
    pose = chain_from_dh('R', beta=[0], b=[0.3], d=[0.2], theta=[0]).joints[0].pose()
    to_parent = parameters_seen_from(pose)
    r, d = 0.2, 0.3
    np.testing.assert_allclose(to_parent[:, 8], [2 * r, 0, -d, 2 * r, 0, 0, 0, 0, 1, 0],
                               atol=1e-15)
    np.testing.assert_allclose(to_parent[:, 9],
                               [r * r, 0, -d * r, d * d + r * r, 0, d * d, d, 0, r, 1],
                               atol=1e-15)
    x = rng.normal(size=10)
    pose = random_pose(rng)
    np.testing.assert_allclose(
        parameters_seen_from(pose) @ x,
        Inertia.from_standard_parameters(x).seen_from(pose).standard_parameters,
        atol=1e2 * SAME_ALGEBRA)


def test_arrays_cannot_be_changed(rng):
    body = random_inertia(rng)
    assert not body.tensor.flags.writeable
    assert not body.first_moment.flags.writeable
    assert not random_pose(rng).rotation.flags.writeable


@pytest.mark.parametrize(('first_moment', 'tensor'), [
    ([0.0, 0.0], np.eye(3)), ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])])
def test_arrays_of_another_shape_are_refused(first_moment, tensor):
    with pytest.raises(ParameterError, match=r'expected \(3,\) and \(3, 3\)'):
        Inertia(1.0, first_moment, tensor)
