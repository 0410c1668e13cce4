# SPDX-License-Identifier: Apache-2.0
"""The self-check finds a wrong parameter, and leaves out what a robot does not allow."""

import numpy as np
from support.chains import random_chain
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, minimal_parameters
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.formulations.comparison import AGREEMENT, self_check


def test_formulations_agree_on_random_chains(rng):
    for n in range(1, 8):
        chain = random_chain(rng, n)
        disagreement = self_check(chain, minimal_parameters(chain))
        assert len(disagreement) >= 12
        assert max(disagreement.values()) < AGREEMENT


def test_a_wrong_minimal_parameter_is_noticed():
    chain = chain_from_urdf(URDF_FOLDER / 'rx90.urdf')
    mlc = minimal_parameters(chain)
    wrong = mlc.with_values(mlc.values + 0.1 * (np.array(mlc.names) == 'U2_33'))
    disagreement = self_check(chain, wrong)
    assert disagreement['minimal regressor'] > AGREEMENT
    assert disagreement['mass matrix: renaud'] > AGREEMENT
    assert disagreement['lagrange'] < AGREEMENT


def test_robots_without_mass_and_without_mass_centres_are_checked_as_far_as_they_can():
    chain = chain_from_urdf(URDF_FOLDER / 'stanford.urdf')
    nothing = chain.with_links([Inertia.zero()] * len(chain))
    assert max(self_check(nothing, minimal_parameters(nothing)).values()) < AGREEMENT
    odd = chain.with_links([*chain.links[:-1], Inertia(0.0, [0.1, 0.2, 0.3], np.eye(3))])
    disagreement = self_check(odd, minimal_parameters(odd))
    assert 'kane' not in disagreement and 'lagrange' in disagreement
    assert max(disagreement.values()) < AGREEMENT
