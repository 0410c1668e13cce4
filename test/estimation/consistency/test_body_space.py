# SPDX-License-Identifier: Apache-2.0
"""Bodies as positive definite matrices around reference bodies."""

import numpy as np
import pytest
from support.chains import random_inertia
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.estimation.consistency.body_space import (
    ENTRIES,
    BodySpace,
    inertia_from_pseudo,
    pseudo_inertia,
    symmetric_from_entries,
)


def test_the_pseudo_inertia_of_a_body_on_paper():
    # two point masses of 1 kg at (1, 0, 0) and (0, 2, 0)
    body = Inertia(2.0, [1.0, 2.0, 0.0], np.diag([4.0, 1.0, 5.0]))
    expected = [[1, 0, 0, 1], [0, 4, 0, 2], [0, 0, 0, 0], [1, 2, 0, 2]]
    np.testing.assert_allclose(pseudo_inertia(body), expected, atol=1e-15)


def test_a_pseudo_inertia_gives_its_body_back(rng):
    body = random_inertia(rng)
    again = inertia_from_pseudo(pseudo_inertia(body))
    assert_close(again.standard_parameters, body.standard_parameters, SAME_ALGEBRA)


def test_entries_keep_the_length_of_a_matrix(rng):
    y = rng.normal(size=ENTRIES)
    Y = symmetric_from_entries(y)
    np.testing.assert_array_equal(Y, Y.T)
    assert np.linalg.norm(Y) == pytest.approx(np.linalg.norm(y))


def test_the_reference_bodies_are_the_identity(rng):
    bodies = [random_inertia(rng) for _ in range(3)]
    space = BodySpace.around(bodies)
    expected = np.concatenate([body.standard_parameters for body in bodies])
    assert_close(space.to_parameters @ space.reference, expected, SAME_ALGEBRA)
    np.testing.assert_allclose(space.smallest_eigenvalues(space.reference), 1.0)
    assert len(space) == 3


def test_a_body_of_twice_the_mass_is_twice_the_identity(rng):
    body = random_inertia(rng)
    space = BodySpace.around([body])
    assert_close(space.to_parameters @ (2.0 * space.reference), 2.0 * body.standard_parameters,
                 SAME_ALGEBRA)
    np.testing.assert_allclose(space.smallest_eigenvalues(-2.0 * space.reference), -2.0)


@pytest.mark.parametrize('body', [
    Inertia.zero(),
    Inertia(1.0, np.zeros(3), np.zeros((3, 3))),
    Inertia(-1.0, np.array([0.1, 0.0, 0.0]), np.diag([0.1, -0.2, 0.3])),
], ids=['nothing', 'point mass', 'impossible'])
def test_a_body_that_cannot_exist_is_made_possible(body, rng):
    solid = random_inertia(rng)
    space = BodySpace.around([solid, body])
    parameters = space.to_parameters @ space.reference
    assert_close(parameters[:10], solid.standard_parameters, SAME_ALGEBRA)
    P = pseudo_inertia(Inertia.from_standard_parameters(parameters[10:]))
    assert np.min(np.linalg.eigvalsh(P)) > 0.0
    mean = solid.mass if body.mass <= 0.0 else 0.5 * (solid.mass + body.mass)
    assert P[3, 3] >= 0.99e-4 * mean  # a hundredth of a hundredth


def test_links_without_any_mass_get_a_small_ball_on_paper():
    # 1 kg with a radius of gyration of 1 cm as the scale, and a hundredth of that
    space = BodySpace.around([Inertia.zero()])
    body = Inertia.from_standard_parameters(space.to_parameters @ space.reference)
    assert body.mass == pytest.approx(0.01)
    np.testing.assert_allclose(body.tensor, 2.0 * 0.01 * 0.01 ** 2 * np.eye(3), rtol=1e-12)
