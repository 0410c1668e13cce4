# SPDX-License-Identifier: Apache-2.0
"""The sweep that gives torque, its derivatives and the mass matrix at once."""

import numpy as np
import pytest
from support.chains import random_chain, random_states
from support.oracle import Oracle
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros import Inertia, chain_from_dh
from robot_dynamics_ros.dynamics.recursions.derivatives import rigid_derivatives
from robot_dynamics_ros.dynamics.recursions.motion import link_motion
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.pair import wrench_at_last_joint
from robot_dynamics_ros.dynamics.scalars.samples import Samples


def sweep(chain, q, qd, qdd, wrench=None):
    frames = Samples.of(chain, q=q).frames
    motion = link_motion(frames, qd.tolist(), qdd.tolist(), gravity_vector(chain))
    return rigid_derivatives(frames, chain.standard_parameters.reshape(-1, 10).tolist(), motion,
                             qd.tolist(), None if wrench is None
                             else wrench_at_last_joint(chain, wrench))


@pytest.mark.parametrize('seed', range(20))
def test_one_sweep_has_torque_derivatives_and_mass_matrix(seed):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, 1 + seed % 7)
    q, qd, qdd = random_states(rng, len(chain))
    wrench, oracle = rng.normal(size=6), Oracle(chain)
    found = sweep(chain, q, qd, qdd, wrench)
    assert_close(found.torque, oracle.inverse_dynamics(q, qd, qdd, wrench), OTHER_FORMULATION)
    assert_close(found.by_qdd, oracle.mass_matrix(q), OTHER_FORMULATION)
    for matrix, other in zip((found.by_q, found.by_qd),
                             oracle.inverse_dynamics_derivatives(q, qd, qdd, wrench)):
        assert_close(matrix, other, OTHER_FORMULATION)


def test_half_of_the_derivative_by_velocity_is_the_coriolis_matrix_of_christoffel(rng):
    chain = random_chain(rng, 6)
    q, qd, qdd = random_states(rng, 6)
    assert_close(0.5 * np.array(sweep(chain, q, qd, qdd).by_qd),
                 Oracle(chain).coriolis_matrix(q, qd), OTHER_FORMULATION)


def test_a_pendulum_on_paper():
    """Tau = J qdd + m g r sin(q): by q m g r cos(q), by qd nothing, by qdd J."""
    m, r, central, g = 2.0, 0.5, 0.1, 9.81
    chain = chain_from_dh('R', beta=[np.pi / 2], b=[0.0], d=[0.0], theta=[-np.pi / 2],
                          links=[Inertia.from_centre_of_mass(m, [r, 0.0, 0.0],
                                                             central * np.eye(3))])
    q, qd, qdd = np.array([0.3]), np.array([2.0]), np.array([1.0])
    found = sweep(chain, q, qd, qdd)
    inertia = central + m * r * r
    assert_close(found.torque, [inertia * qdd[0] + m * g * r * np.sin(q[0])], OTHER_FORMULATION)
    assert_close(found.by_q, [[m * g * r * np.cos(q[0])]], OTHER_FORMULATION)
    assert_close(found.by_qd, [[0.0]], OTHER_FORMULATION)
    assert_close(found.by_qdd, [[inertia]], OTHER_FORMULATION)
