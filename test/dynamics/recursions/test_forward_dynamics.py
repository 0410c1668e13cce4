# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics, two ways."""

import numpy as np
import pytest
from support.cases import random_cases
from support.chains import random_chain, random_states
from support.counting import Counted, cosine, sine
from support.oracle import Oracle
from support.tolerances import OTHER_IMPLEMENTATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.dynamics.formulations.lagrange import Lagrange
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.recursions.forward_dynamics import (
    by_mass_matrix,
    customized_recursion,
    linear_recursion,
)
from robot_dynamics_ros.dynamics.scalars.factored_matrix import solve_from_tip
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector, joint_frames
from robot_dynamics_ros.dynamics.scalars.pair import wrench_at_last_joint
from robot_dynamics_ros.dynamics.scalars.samples import Samples

METHODS = [by_mass_matrix, linear_recursion, customized_recursion]


def links(chain):
    return [link.standard_parameters.tolist() for link in chain.links]


def acceleration(method, chain, q, qd, tau, wrench=None, rotor_inertia=None, parameters=None):
    state = Samples.of(chain, q=q, qd=qd, tau=tau, wrench=wrench)
    external = None if wrench is None else wrench_at_last_joint(chain, state['wrench'])
    return state.vector(method(state.frames, parameters or links(chain), state['qd'],
                               state['tau'], gravity_vector(chain), external, rotor_inertia))


@pytest.mark.parametrize('n', [1, 2, 5])
def test_the_solution_from_the_tip_is_that_of_numpy(rng, n):
    X = rng.normal(size=(n, n))
    A, b = X @ X.T + np.eye(n), rng.normal(size=n)
    assert_close(solve_from_tip(A.tolist(), b.tolist()), np.linalg.solve(A, b), SAME_ALGEBRA)


@pytest.mark.parametrize('method', METHODS)
def test_a_pendulum_falls_as_in_the_textbook(method):
    """2 kg at 0.5 m, rotor 0.3 kg m^2: qdd = (tau - m g r cos q) / (m r^2 + Ia)."""
    bob = Inertia.from_centre_of_mass(2.0, [0.5, 0.0, 0.0], np.zeros((3, 3)))
    chain = chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0], links=[bob],
                          gravity=[0, -9.81, 0])
    qdd = acceleration(method, chain, [0.4], [7.0], [3.0], rotor_inertia=[0.3])
    assert_close(qdd, [(3.0 - 9.81 * np.cos(0.4)) / (0.5 + 0.3)], SAME_ALGEBRA)


@pytest.mark.parametrize('method', METHODS)
def test_acceleration_equals_pinocchio_on_random_chains(method):
    for case in random_cases():
        qdd = acceleration(method, case.chain, case.q[0], case.qd[0], case.tau[0])
        assert_close(qdd, case.oracle.forward_dynamics(case.q[0], case.qd[0], case.tau[0]),
                     OTHER_IMPLEMENTATION)
        state = case.q[0], case.qd[0], case.tau[0], case.wrench[0]
        assert_close(acceleration(method, case.chain, *state),
                     case.oracle.forward_dynamics(*state), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('method', METHODS)
def test_forward_is_the_inverse_of_inverse_with_rotors(rng, method):
    chain = random_chain(rng, 6, types='RRPRRR')
    q, qd, qdd = random_states(rng, 6, 4)
    rotor = rng.uniform(0.1, 1.0, 6)
    tau = inverse_dynamics(chain, q, qd, qdd) + rotor * qdd
    assert_close(acceleration(method, chain, q, qd, tau, rotor_inertia=rotor.tolist()), qdd,
                 OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('method', METHODS)
def test_grouped_parameters_give_the_same_acceleration(rng, method):
    """Base parameters: zeros where a link parameter has been grouped away."""
    chain = random_chain(rng, 4, types='RRPR')
    mlc = minimal_parameters(chain, 'khalil')
    grouped = np.zeros(40)
    grouped[[chain.standard_parameter_names.index(name) for name in mlc.names]] = mlc.values
    state = random_states(rng, 4)
    qdd = acceleration(method, chain, *state, parameters=grouped.reshape(4, 10).tolist())
    assert_close(qdd, acceleration(method, chain, *state), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('method', METHODS)
def test_non_finite_entries_make_their_sample_nan(rng, method):
    chain = random_chain(rng, 3)
    q, qd, tau = random_states(rng, 3, 3)
    tau[1, 2] = np.inf
    qdd = acceleration(method, chain, q, qd, tau)
    assert np.all(np.isnan(qdd[1]))
    assert np.all(np.isfinite(qdd[[0, 2]]))


@pytest.mark.parametrize('method', METHODS)
def test_sixty_joints_work(rng, method):
    chain = random_chain(rng, 60)
    state = random_states(rng, 60)
    assert_close(acceleration(method, chain, *state), Oracle(chain).forward_dynamics(*state),
                 OTHER_IMPLEMENTATION)


def test_the_cost_of_the_recursion_grows_linearly(rng):
    link = random_chain(rng, 1).links[0]

    def operations(n):
        chain = chain_from_dh('R' * n, beta=[0.3] * n, b=[0.2] * n, d=[0.1] * n, theta=[0.0] * n,
                              links=[link] * n)
        counter = [0]
        q, qd, tau = ([Counted(x, counter) for x in rng.normal(size=n).tolist()]
                      for _ in range(3))
        linear_recursion(joint_frames(chain, q, cosine, sine), links(chain), qd, tau,
                         gravity_vector(chain))
        return counter[0]

    assert operations(40) - operations(30) == operations(20) - operations(10) > 0


@pytest.mark.parametrize('types', ['RRR', 'RPR', 'PRR'])
def test_energy_changes_by_the_work_of_the_torques(rng, types):
    """Runge-Kutta over 0.5 s: kinetic + potential energy against the integral of tau qd."""
    chain = random_chain(rng, 3, types=types)
    step, amplitude = 1e-3, rng.normal(size=3)

    def torque(t):
        return amplitude * np.sin(5.0 * t)

    def rate(t, y):
        q, qd = y[:3], y[3:6]
        qdd = acceleration(linear_recursion, chain, q, qd, torque(t))
        return np.concatenate([qd, qdd, [torque(t) @ qd]])

    def energy(y):
        state = Samples.of(chain, q=y[:3], qd=y[3:6])
        equations = Lagrange(state.frames, links(chain), gravity_vector(chain))
        return equations.kinetic_energy(state['qd']) + equations.potential_energy()

    y = np.concatenate([rng.normal(size=3), rng.normal(size=3), [0.0]])
    start = energy(y)
    highest = 0.0
    for k in range(500):
        t = k * step
        k1 = rate(t, y)
        k2 = rate(t + step / 2, y + step / 2 * k1)
        k3 = rate(t + step / 2, y + step / 2 * k2)
        k4 = rate(t + step, y + step * k3)
        y = y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        highest = max(highest, abs(y[6]), abs(energy(y) - start) if k % 100 == 0 else 0.0)
    assert highest > 0.1  # something happened
    assert abs(energy(y) - start - y[6]) < 1e-6 * highest
