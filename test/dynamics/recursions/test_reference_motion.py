# SPDX-License-Identifier: Apache-2.0
"""The regressor of Slotine and Li: Coriolis matrix of one speed, times another speed."""

import numpy as np
from support.cases import random_cases
from support.chains import random_chain, random_states
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
from robot_dynamics_ros.dynamics.recursions.motion import reference_motion
from robot_dynamics_ros.dynamics.recursions.regressor import (
    link_twists,
    regressor_rows,
    standard_regressor,
)
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples


def standard_reference_regressor(chain, q, qd, qd_r, qdd_r):
    """Return Y of the standard parameters as an array."""
    state = Samples.of(chain, q=q, qd=qd, qd_r=qd_r, qdd_r=qdd_r)
    motion = reference_motion(state.frames, state['qd'], state['qd_r'], state['qdd_r'],
                              gravity_vector(chain))
    return state.matrix(regressor_rows(motion, link_twists(state.frames)))


def torque(chain, q, qd, qd_r, qdd_r):
    return standard_reference_regressor(chain, q, qd, qd_r, qdd_r) @ chain.standard_parameters


def coriolis_matrix(chain, q, qd):
    """Return C column by column, gravity taken off."""
    rest = np.zeros(len(chain))
    weight = torque(chain, q, qd, rest, rest)
    return np.array([torque(chain, q, qd, unit, rest) - weight for unit in np.eye(len(chain))]).T


def test_a_planar_arm_has_the_coriolis_matrix_of_the_textbook():
    """H = m2 l1 r2 sin q2: C = [-h qd2, -h (qd1 + qd2); h qd1, 0]."""
    bobs = [Inertia.from_centre_of_mass(m, [r, 0, 0], np.zeros((3, 3)))
            for m, r in ((2.0, 0.5), (3.0, 0.4))]
    chain = chain_from_dh('RR', beta=[0, 0], b=[0, 0.5], d=[0, 0], theta=[0, 0], links=bobs)
    h = 3.0 * 0.5 * 0.4 * np.sin(0.7)
    C = coriolis_matrix(chain, [0.2, 0.7], [1.5, -0.8])
    assert_close(C, [[-h * -0.8, -h * (1.5 - 0.8)], [h * 1.5, 0.0]], SAME_ALGEBRA)


def test_it_equals_pinocchio_on_random_chains(rng):
    for case in random_cases()[::3]:
        q, qd, qdd_r = case.q[0], case.qd[0], case.qdd[0]
        qd_r = rng.normal(size=q.size)
        expected = (case.oracle.mass_matrix(q) @ qdd_r
                    + case.oracle.coriolis_matrix(q, qd) @ qd_r + case.oracle.gravity_torque(q))
        assert_close(torque(case.chain, q, qd, qd_r, qdd_r), expected, OTHER_IMPLEMENTATION)


def test_the_coriolis_matrix_is_that_of_christoffel_symbols(rng):
    for n in range(1, 7):
        chain = random_chain(rng, n)
        q, qd, _ = random_states(rng, n)
        links = [link.standard_parameters.tolist() for link in chain.links]
        lagrange = Lagrange(Samples.of(chain, q=q).frames, links, gravity_vector(chain))
        assert_close(coriolis_matrix(chain, q, qd), lagrange.coriolis_matrix(qd),
                     OTHER_FORMULATION)


def test_the_rate_of_the_mass_matrix_minus_twice_it_is_skew(rng):
    chain = random_chain(rng, 5, types='RRPRR')
    q, qd, _ = random_states(rng, 5)
    rest, step = np.zeros(5), 1e-6

    def mass_matrix(at):
        weight = torque(chain, at, rest, rest, rest)
        return np.array([torque(chain, at, rest, rest, unit) - weight for unit in np.eye(5)]).T

    rate = (mass_matrix(q + step * qd) - mass_matrix(q - step * qd)) / (2.0 * step)
    skew = rate - 2.0 * coriolis_matrix(chain, q, qd)
    assert_close(skew, -skew.T, FINITE_DIFFERENCE)


def test_at_the_measured_speed_it_is_the_ordinary_regressor(rng):
    chain = random_chain(rng, 6)
    q, qd, qdd = random_states(rng, 6, 4)
    assert_close(standard_reference_regressor(chain, q, qd, qd, qdd),
                 standard_regressor(chain, q, qd, qdd), SAME_ALGEBRA)


def test_a_batch_equals_its_states_and_nan_stays_in_its_state(rng):
    chain = random_chain(rng, 3)
    q, qd, qdd = random_states(rng, 3, 4)
    qd_r = rng.normal(size=(4, 3))
    qd_r[2, 0] = np.nan
    Y = standard_reference_regressor(chain, q, qd, qd_r, qdd)
    for k in (0, 1, 3):
        assert_close(Y[k], standard_reference_regressor(chain, q[k], qd[k], qd_r[k], qdd[k]),
                     SAME_ALGEBRA)
    assert np.all(np.isnan(Y[2])) and np.all(np.isfinite(Y[[0, 1, 3]]))
