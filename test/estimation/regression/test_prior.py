# SPDX-License-Identifier: Apache-2.0
"""The prior: URDF values with standard deviations of the size of the links."""

import numpy as np
import pytest

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.estimation.regression.prior import composite_sizes, prior_from_chain
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms

TORQUE, VELOCITY = np.array([8.0, 4.0]), np.array([2.0, 1.0])


def planar_arm(masses=(3.0, 2.0), centre=0.25, **physics):
    """Return two links of 0.5 m that turn about z in the plane of gravity."""
    links = [Inertia.from_centre_of_mass(mass, np.array([centre, 0.0, 0.0]), 0.01 * np.eye(3))
             if mass > 0.0 else Inertia.zero() for mass in masses]
    chain = chain_from_dh('RR', beta=[0.0, 0.0], b=[0.0, 0.5], d=[0.0, 0.0], theta=[0.0, 0.0],
                          gravity=[0.0, -9.81, 0.0], links=links)
    terms = {'rotor_inertia': [0.1, 0.2], 'viscous': [1.0, 2.0], 'coulomb': [3.0, 4.0],
             'offset': [0.5, 0.6], 'coulomb_velocity': 0.01}
    return chain.with_joint_physics(JointPhysics(**terms | physics))


def by_name(chain, **options):
    unknowns = TorqueTerms(chain).choice()
    prior = prior_from_chain(unknowns, TORQUE, VELOCITY, **options)
    return {name: (mean, sigma) for name, mean, sigma in zip(unknowns.names, prior.mean,
                                                             prior.standard_deviations)}


def test_mass_and_reach_of_the_links_beyond_a_joint_on_paper():
    mass, reach = composite_sizes(planar_arm())
    np.testing.assert_allclose(mass, [5.0, 2.0])
    np.testing.assert_allclose(reach, [0.5 + 0.25, 0.25])


def test_links_without_inertia_get_a_size_all_the_same():
    mass, reach = composite_sizes(planar_arm((0.0, 0.0)))
    np.testing.assert_allclose(mass, [0.5, 0.5])
    np.testing.assert_allclose(reach, [0.5, 0.1])


def test_values_are_those_of_the_chain_and_sigmas_those_of_its_links():
    prior = by_name(planar_arm())
    assert prior['k2_x'] == pytest.approx((2.0 * 0.25, 2.0 * 0.25))  # kg m
    zz = 0.01 + 2.0 * 0.25 ** 2
    assert prior['U2_33'] == pytest.approx((zz, zz))  # the value exceeds 2 kg (0.25 m)^2
    assert prior['Ia2'] == pytest.approx((0.2, 3.0 * 2.0 * 0.25 ** 2))
    assert prior['Fc1'] == pytest.approx((3.0, 8.0))  # the typical torque
    assert prior['Fv1'] == pytest.approx((1.0, 8.0 / 2.0))
    assert prior['offset2'] == pytest.approx((0.6, 4.0))


def test_a_rotor_may_be_as_large_as_torque_over_acceleration():
    assert by_name(planar_arm(), acceleration=np.array([1.0, 0.5]))['Ia2'][1] == pytest.approx(
        4.0 / 0.5)
    fast = by_name(planar_arm(), acceleration=np.array([1e3, 1e3]))
    assert fast['Ia2'][1] == pytest.approx(3.0 * 2.0 * 0.25 ** 2)


def test_a_value_larger_than_its_link_has_room_of_its_own_size():
    prior = by_name(planar_arm(coulomb=[3.0, 70.0]))
    assert prior['Fc2'] == pytest.approx((70.0, 70.0))


def test_strength_divides_the_standard_deviations():
    weak, strong = by_name(planar_arm()), by_name(planar_arm(), strength=10.0)
    for name, (mean, sigma) in weak.items():
        assert strong[name] == pytest.approx((mean, sigma / 10.0))
