# SPDX-License-Identifier: Apache-2.0
"""The space of a body, and the inertias that fit into it."""

import numpy as np
import pytest
from support.chains import random_chain, random_pose
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import chain_from_dh, chain_from_urdf
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.estimation.consistency.body_space import pseudo_inertia
from robot_dynamics_ros.estimation.consistency.hull import BodyHull, reach_hulls

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def points_with_masses(points, masses):
    """Return the inertia of point masses."""
    body = Inertia.zero()
    for point, mass in zip(points, masses):
        body = body + Inertia.from_centre_of_mass(mass, point, np.zeros((3, 3)))
    return body


def test_a_box_on_paper():
    hull = BodyHull.around(CUBE * [0.1, 0.2, 0.3] + [1.0, 0.0, 0.0])
    assert len(hull.normals) == 6 and len(hull.corners) == 8
    assert hull.volume == pytest.approx(8 * 0.1 * 0.2 * 0.3)
    assert hull.distance_outside(np.array([1.0, 0.19, 0.0])) == 0.0
    assert hull.distance_outside(np.array([1.15, 0.0, 0.0])) == pytest.approx(0.05)
    np.testing.assert_allclose(hull.solid.centre_of_mass, [1.0, 0.0, 0.0], atol=1e-12)
    expected = np.diag([0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04]) / 3.0
    np.testing.assert_allclose(hull.solid.central_tensor, expected, atol=1e-12)


def test_masses_inside_fit_and_masses_outside_do_not(rng):
    pose = random_pose(rng)
    corners = rng.normal(size=(20, 3)) @ pose.rotation.T + pose.translation
    hull = BodyHull.around(corners)
    shares = rng.dirichlet(np.ones(len(corners)), size=10)
    assert hull.holds(points_with_masses(shares @ corners, rng.uniform(0.1, 2.0, 10)))
    far = corners.mean(axis=0) + 1.01 * (corners - corners.mean(axis=0))
    masses = np.zeros(len(far))
    masses[np.argmax(far[:, 0])] = 1.0
    assert not hull.holds(points_with_masses(far, masses))


def test_a_centre_inside_is_not_enough():
    # two masses at both ends of a rod that is twice as long as the box: the centre is inside
    hull = BodyHull.around(0.1 * CUBE)
    rod = points_with_masses([[0.2, 0.0, 0.0], [-0.2, 0.0, 0.0]], [1.0, 1.0])
    assert hull.distance_outside(rod.centre_of_mass) == 0.0
    assert not hull.holds(rod)
    assert hull.fullness(rod) > 1.0 and hull.fullness(hull.solid) == pytest.approx(0.0)


def test_conditions_hold_for_the_solid_body(rng):
    hull = BodyHull.around(rng.normal(size=(30, 3)))
    values = np.einsum('fij,ij->f', hull.conditions, pseudo_inertia(hull.solid))
    assert np.all(values > 0.0)


@pytest.mark.parametrize('points', [
    [[0.0, 0.0, 0.0]],
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]],
], ids=['point', 'line', 'plate'])
def test_flat_geometry_gets_a_thickness(points):
    hull = BodyHull.around(np.array(points))
    assert hull.volume > 0.0
    assert hull.distance_outside(np.mean(points, axis=0)) == 0.0


def test_a_fine_mesh_is_replaced_by_a_polyhedron_inside_it(rng):
    points = rng.normal(size=(5000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    hull = BodyHull.around(points)
    assert len(hull.corners) <= 206
    assert np.max(np.linalg.norm(hull.corners, axis=1)) <= 1.0 + 1e-12
    assert 0.9 < hull.volume / (4.0 / 3.0 * np.pi) < 1.0


def test_the_reach_of_a_pendulum_on_paper():
    # a rod of 1 m: from joint to tip, and 15 % of that on all sides
    rod = Inertia.from_centre_of_mass(1.0, [0.5, 0.0, 0.0], np.diag([0.0, 1.0, 1.0]) / 12.0)
    chain = chain_from_dh('RR', beta=[0.0, 0.0], b=[0.0, 1.0], d=[0.0, 0.0], theta=[0.0, 0.0],
                          gravity=[0.0, -9.81, 0.0], links=[rod, Inertia.zero()])
    first, second = reach_hulls(chain, chain.links)
    assert not first.measured
    assert_close(first.corners.min(axis=0), [-0.15, -0.15, -0.15], SAME_ALGEBRA)
    assert_close(first.corners.max(axis=0), [1.15, 0.15, 0.15], SAME_ALGEBRA)
    assert_close(second.corners.max(axis=0), [0.15, 0.15, 0.15], SAME_ALGEBRA)


def test_the_reach_holds_the_bodies_of_the_urdf(rng):
    chains = [chain_from_urdf(path) for path in sorted(URDF_FOLDER.glob('*.urdf'))]
    for chain in [*chains, *(random_chain(rng, 4) for _ in range(10))]:
        for hull, link in zip(reach_hulls(chain, chain.links), chain.links):
            assert link.mass <= 0.0 or hull.holds(link)
