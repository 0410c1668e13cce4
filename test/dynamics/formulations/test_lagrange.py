# SPDX-License-Identifier: Apache-2.0
"""Lagrange's equations and the energies."""

import numpy as np
import pytest
from support.cases import random_cases
from support.chains import random_chain, reference_chains
from support.tolerances import (
    FINITE_DIFFERENCE,
    OTHER_FORMULATION,
    OTHER_IMPLEMENTATION,
    SAME_ALGEBRA,
    assert_close,
)

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.formulations.lagrange import Lagrange
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples


def equations(chain, q):
    state = Samples.of(chain, q=q)
    return Lagrange(state.frames, [link.standard_parameters.tolist() for link in chain.links],
                    gravity_vector(chain))


def test_a_pendulum_has_the_energies_of_the_textbook():
    """2 kg at 0.5 m on a horizontal axis."""
    bob = Inertia.from_centre_of_mass(2.0, [0.5, 0.0, 0.0], np.zeros((3, 3)))
    chain = chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0], links=[bob],
                          gravity=[0, -9.81, 0])
    pendulum = equations(chain, [0.4])
    assert_close(pendulum.kinetic_energy([3.0]), 0.5 * 2.0 * (0.5 * 3.0)**2, SAME_ALGEBRA)
    assert_close(pendulum.potential_energy(), 2.0 * 9.81 * 0.5 * np.sin(0.4), SAME_ALGEBRA)
    assert_close(pendulum.gravity_torque(), [2.0 * 9.81 * 0.5 * np.cos(0.4)], SAME_ALGEBRA)
    assert pendulum.coriolis_matrix([3.0]) == [[0.0]]


def test_a_planar_arm_has_the_coriolis_matrix_of_the_textbook():
    """H = m2 l1 r2 sin q2: C = [-h qd2, -h (qd1 + qd2); h qd1, 0]."""
    bobs = [Inertia.from_centre_of_mass(m, [r, 0, 0], np.zeros((3, 3)))
            for m, r in ((2.0, 0.5), (3.0, 0.4))]
    chain = chain_from_dh('RR', beta=[0, 0], b=[0, 0.5], d=[0, 0], theta=[0, 0], links=bobs)
    h = 3.0 * 0.5 * 0.4 * np.sin(0.7)
    C = equations(chain, [0.2, 0.7]).coriolis_matrix([1.5, -0.8])
    assert_close(C, [[-h * -0.8, -h * (1.5 - 0.8)], [h * 1.5, 0.0]], SAME_ALGEBRA)


def test_all_parts_equal_pinocchio_on_random_chains():
    for case in random_cases():
        q, qd = case.q[0], case.qd[0]
        found = equations(case.chain, q)
        kinetic, potential = case.oracle.energies(q, qd)
        assert_close(found.kinetic_energy(qd), kinetic, OTHER_IMPLEMENTATION)
        assert_close(found.potential_energy(), potential, OTHER_IMPLEMENTATION)
        assert_close(found.gravity_torque(), case.oracle.gravity_torque(q), OTHER_IMPLEMENTATION)
        assert_close(found.coriolis_matrix(qd), case.oracle.coriolis_matrix(q, qd),
                     OTHER_IMPLEMENTATION)


def test_gravity_torque_equals_the_stored_numbers():
    for reference in reference_chains():
        assert_close(equations(reference.chain, reference.data['q']).gravity_torque(),
                     reference.data['G'], OTHER_IMPLEMENTATION, reference.name)


@pytest.mark.parametrize('types', ['RRRR', 'RPRP', 'PRPR'])
def test_derivatives_of_the_mass_matrix_are_its_differences(rng, types):
    chain = random_chain(rng, 4, types=types)
    q, h = rng.normal(size=4), 1e-5
    dA = equations(chain, q).mass_matrix_derivatives()
    for k, e in enumerate(np.eye(4)):
        ahead = np.array(equations(chain, q + h * e).mass_matrix())
        behind = np.array(equations(chain, q - h * e).mass_matrix())
        assert_close(dA[k], (ahead - behind) / (2 * h), FINITE_DIFFERENCE)


def test_the_gravity_torque_is_the_slope_of_the_potential(rng):
    chain = random_chain(rng, 4, types='RPRR')
    q, h = rng.normal(size=4), 1e-5
    slope = [(equations(chain, q + h * e).potential_energy()
              - equations(chain, q - h * e).potential_energy()) / (2 * h) for e in np.eye(4)]
    assert_close(equations(chain, q).gravity_torque(), slope, FINITE_DIFFERENCE)


def test_the_rate_of_the_mass_matrix_minus_twice_c_is_skew():
    for case in random_cases()[:80]:
        found, qd = equations(case.chain, case.q[0]), case.qd[0]
        A_dot = np.einsum('m,mjk->jk', qd, found.mass_matrix_derivatives())
        N = A_dot - 2.0 * np.array(found.coriolis_matrix(qd))
        size = max(np.max(np.abs(found.mass_matrix())), np.max(np.abs(N)))
        assert_close((N + N.T) / size, np.zeros_like(N), OTHER_FORMULATION)


def test_kinetic_energy_is_that_of_the_mass_matrix(rng):
    chain = random_chain(rng, 5)
    q, qd = rng.normal(size=(2, 5))
    found = equations(chain, q)
    assert_close(found.kinetic_energy(qd), 0.5 * qd @ np.array(found.mass_matrix()) @ qd,
                 SAME_ALGEBRA)


def test_power_is_the_rate_of_the_energy(rng):
    """Tau qd = dE/dt at any state: the energy along q(t) by differences."""
    chain = random_chain(rng, 4, types='RRPR')
    q, qd, qdd = rng.normal(size=(3, 4))
    h = 1e-5

    def energy(t):
        found = equations(chain, q + t * qd + 0.5 * t * t * qdd)
        return found.kinetic_energy(qd + t * qdd) + found.potential_energy()

    power = np.array(equations(chain, q).torque(qd, qdd)) @ qd
    assert_close((energy(h) - energy(-h)) / (2 * h), power, FINITE_DIFFERENCE)
