# SPDX-License-Identifier: Apache-2.0
"""The comparison finds a wrong parameter, and leaves out what a robot does not allow."""

import numpy as np
from support.chains import random_chain
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, minimal_parameters
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.formulations.comparison import AGREEMENT, compare_formulations


def test_formulations_agree_on_random_chains(rng):
    for n in range(1, 8):
        chain = random_chain(rng, n)
        disagreement = compare_formulations(chain, minimal_parameters(chain))
        assert len(disagreement) == 18
        assert max(disagreement.values()) < AGREEMENT


def test_a_wrong_minimal_parameter_is_noticed():
    chain = chain_from_urdf(URDF_FOLDER / 'rx90.urdf')
    mlc = minimal_parameters(chain)
    wrong = mlc.with_values(mlc.values + 0.1 * (np.array(mlc.names) == 'U2_33'))
    disagreement = compare_formulations(chain, wrong)
    assert disagreement['minimal regressor'] > AGREEMENT
    assert disagreement['mass matrix: renaud'] > AGREEMENT
    assert disagreement['lin'] > AGREEMENT
    assert disagreement['lagrange'] < AGREEMENT


def test_a_wrong_first_moment_is_noticed_by_the_gravity_torque():
    chain = chain_from_urdf(URDF_FOLDER / 'rx90.urdf')
    mlc = minimal_parameters(chain)
    wrong = mlc.with_values(mlc.values + 0.1 * (np.array(mlc.names) == 'k3_x'))
    disagreement = compare_formulations(chain, wrong)
    assert disagreement['gravity torque: renaud'] > AGREEMENT
    assert disagreement['gravity torque: lagrange'] < AGREEMENT


def test_a_set_other_than_lins_leaves_out_what_is_written_in_lins():
    chain = chain_from_urdf(URDF_FOLDER / 'rx90.urdf')
    disagreement = compare_formulations(chain, minimal_parameters(chain, 'khalil'))
    assert 'lin' not in disagreement and 'mass matrix: renaud' not in disagreement
    assert max(disagreement.values()) < AGREEMENT
    assert 'mass matrix: renaud' in compare_formulations(chain)


def test_robots_without_mass_and_without_mass_centres_are_checked_as_far_as_they_can():
    chain = chain_from_urdf(URDF_FOLDER / 'stanford.urdf')
    assert 'kane' in compare_formulations(chain)
    nothing = chain.with_links([Inertia.zero()] * len(chain))
    assert max(compare_formulations(nothing, minimal_parameters(nothing)).values()) < AGREEMENT
    odd = chain.with_links([*chain.links[:-1], Inertia(0.0, [0.1, 0.2, 0.3], np.eye(3))])
    disagreement = compare_formulations(odd, minimal_parameters(odd))
    assert 'kane' not in disagreement and 'lagrange' in disagreement
    assert max(disagreement.values()) < AGREEMENT
