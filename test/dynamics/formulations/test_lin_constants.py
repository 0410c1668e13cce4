# SPDX-License-Identifier: Apache-2.0
"""Inertia constants as Lin's recursions use them."""

from support.chains import reference_chains
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.dynamics.formulations.lin import LinConstants
from robot_dynamics_ros.dynamics.minimal.structure import structure


def test_names_find_their_places_and_what_is_missing_is_zero():
    constants = LinConstants.from_names(3, {
        'U2_11-22': 1.0, 'U2_12': 2.0, 'U2_13': 3.0, 'U2_23': 4.0, 'U2_33': 5.0,
        'k2_x': 6.0, 'k2_y': 7.0, 'm3': 8.0, 'k3_z': 9.0, 'kap1_3': 10.0, 'kap2_3': 11.0})
    assert constants.U[2] == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert constants.k == [(0.0,) * 3, (0.0,) * 3, (6.0, 7.0, 0.0), (0.0, 0.0, 9.0)]
    assert constants.m_hat == [0.0, 0.0, 0.0, 8.0]
    assert (constants.kappa_1[3], constants.kappa_2[3]) == (10.0, 11.0)


def test_representative_first_moments_have_the_kappas():
    """Chain V21: a prismatic joint oblique to joint 1."""
    chain = next(each for each in reference_chains() if each.name == 'V21').chain
    groups = structure(chain)
    constants = LinConstants.from_names(3, {'kap1_2': 0.7, 'kap2_2': -0.4, 'm2': 2.0})
    full = constants.representative(groups)
    (u_x, u_y, u_z), (k_x, k_y, k_z) = groups.u_r[2], full.k[2]
    assert_close(u_x * k_y - u_y * k_x, 0.7, SAME_ALGEBRA)  # (86)
    assert_close((1.0 - u_z**2) * k_z - u_z * (u_x * k_x + u_y * k_y), -0.4, SAME_ALGEBRA)  # (87)
    assert full.m_hat[2] == 2.0
