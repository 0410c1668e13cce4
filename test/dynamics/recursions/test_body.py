# SPDX-License-Identifier: Apache-2.0
"""Links by mass centre and central tensor."""

import numpy as np
import pytest
from support.chains import random_chain
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.recursions.body import bodies
from robot_dynamics_ros.errors import ParameterError


def test_body_is_the_inertia_of_the_link(rng):
    chain = random_chain(rng, 3)
    for body, link in zip(bodies(chain), chain.links):
        again = Inertia.from_centre_of_mass(body.mass, body.centre, body.tensor)
        assert_close(again.standard_parameters, link.standard_parameters, SAME_ALGEBRA)


def test_a_massless_link_has_its_centre_at_the_origin(rng):
    rotor = Inertia(0.0, np.zeros(3), np.diag([0.1, 0.2, 0.3]))
    body = bodies(random_chain(rng, 1).with_links([rotor]))[0]
    assert body.centre == (0.0, 0.0, 0.0)
    assert body.tensor[2] == (0.0, 0.0, 0.3)


def test_a_first_moment_without_mass_is_refused_by_name(rng):
    chain = random_chain(rng, 2)
    strange = Inertia(0.0, np.array([0.1, 0.0, 0.0]), np.eye(3))
    with pytest.raises(ParameterError, match='link2 has a first moment'):
        bodies(chain.with_links([chain.links[0], strange]))
