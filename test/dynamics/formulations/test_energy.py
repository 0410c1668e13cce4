# SPDX-License-Identifier: Apache-2.0
"""Energies and energy functions against Pinocchio, and against each other."""

import numpy as np
import pytest
from support.chains import random_chain, random_states
from support.oracle import Oracle
from support.tolerances import OTHER_IMPLEMENTATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros import (
    coriolis_matrix,
    energy_functions,
    gravity_torque,
    kinetic_energy,
    mass_matrix,
    potential_energy,
)
from robot_dynamics_ros.errors import ParameterError


@pytest.mark.parametrize('seed', range(20))
def test_energies_are_those_of_pinocchio(seed):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, int(rng.integers(1, 8)))
    q, qd, _ = random_states(rng, len(chain))
    kinetic, potential = Oracle(chain).energies(q, qd)
    assert_close(kinetic_energy(chain, q, qd), kinetic, OTHER_IMPLEMENTATION)
    assert_close(potential_energy(chain, q), potential, OTHER_IMPLEMENTATION)
    A = mass_matrix(chain, q)
    assert_close(kinetic_energy(chain, q, qd), 0.5 * qd @ A @ qd, SAME_ALGEBRA)  # (9.5)


@pytest.mark.parametrize('seed', range(20))
def test_the_recursion_between_links_gives_the_same_functions(seed):
    """(9.44) against (9.45)-(9.47); the recursion goes through all of table 9.1."""
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, int(rng.integers(1, 8)))
    q, qd, _ = random_states(rng, len(chain), 5)
    h = energy_functions(chain, q, qd)
    assert_close(energy_functions(chain, q, qd, formulation='recursion'), h, SAME_ALGEBRA)
    assert_close(energy_functions(chain, q[0], qd[0], formulation='recursion'), h[0],
                 SAME_ALGEBRA)
    assert_close(h @ chain.standard_parameters,
                 kinetic_energy(chain, q, qd) + potential_energy(chain, q), SAME_ALGEBRA)


@pytest.mark.parametrize('seed', range(10))
def test_the_coriolis_matrix_keeps_the_energy(seed):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, int(rng.integers(1, 7)))
    q, qd, _ = random_states(rng, len(chain))
    C = coriolis_matrix(chain, q, qd)
    assert_close(C, Oracle(chain).coriolis_matrix(q, qd), OTHER_IMPLEMENTATION)
    step = 1e-6
    rate = (mass_matrix(chain, q + step * qd) - mass_matrix(chain, q - step * qd)) / (2 * step)
    skew = rate - 2.0 * C
    assert np.max(np.abs(skew + skew.T)) < 1e-7 * (1.0 + np.max(np.abs(C)))
    lift = [(potential_energy(chain, q + step * e) - potential_energy(chain, q - step * e))
            / (2 * step) for e in np.eye(len(chain))]
    assert np.max(np.abs(lift - gravity_torque(chain, q))) < 1e-6  # (9.8)


def test_an_unknown_formulation_is_refused():
    chain = random_chain(np.random.default_rng(1), 2)
    with pytest.raises(ParameterError, match="unknown formulation 'noether'"):
        energy_functions(chain, [0, 0], [0, 0], formulation='noether')
