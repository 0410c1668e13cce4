# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler, linear in the link parameters."""

import math

import numpy as np
import pytest
from support.cases import random_cases
from support.chains import random_chain, random_states, reference_chains
from support.counting import Counted, cosine, sine
from support.oracle import Oracle
from support.tolerances import (
    OTHER_FORMULATION,
    OTHER_IMPLEMENTATION,
    SAME_ALGEBRA,
    assert_close,
)

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector, joint_frames


def test_a_pendulum_needs_the_torque_of_the_textbook():
    """2 kg at 0.5 m on a horizontal axis: tau = m r^2 qdd + m g r cos q."""
    bob = Inertia.from_centre_of_mass(2.0, [0.5, 0.0, 0.0], np.zeros((3, 3)))
    chain = chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0], links=[bob],
                          gravity=[0, -9.81, 0])
    tau = inverse_dynamics(chain, [0.4], [7.0], [3.0])
    assert_close(tau, [2.0 * 0.25 * 3.0 + 2.0 * 9.81 * 0.5 * math.cos(0.4)], SAME_ALGEBRA)


def test_a_lift_carries_its_weight():
    chain = chain_from_dh('P', beta=[0], b=[0], d=[0], theta=[0],
                          links=[Inertia.from_centre_of_mass(3.0, [0.1, 0.2, 0.3], np.eye(3))])
    assert_close(inverse_dynamics(chain, [0.7], [5.0], [2.0]), [3.0 * (2.0 + 9.81)], SAME_ALGEBRA)


def test_a_force_on_the_tip_relieves_the_joint():
    """The environment pushes with 4 N along +y, 0.5 m from the joint."""
    chain = chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0], gravity=[0, 0, 0],
                          tip_pose=Pose(np.eye(3), np.array([0.5, 0.0, 0.0])))
    tau = inverse_dynamics(chain, [0.3], [0.0], [0.0], wrench=[0, 4.0, 0, 0, 0, 1.5])
    assert_close(tau, [-(0.5 * 4.0 + 1.5)], SAME_ALGEBRA)


def test_torque_equals_pinocchio_on_random_chains():
    for case in random_cases():
        tau = inverse_dynamics(case.chain, case.q, case.qd, case.qdd)
        assert_close(tau, case.expected('inverse_dynamics', 'q', 'qd', 'qdd'),
                     OTHER_IMPLEMENTATION)


def test_torque_with_a_wrench_equals_pinocchio_on_random_chains():
    for case in random_cases():
        tau = inverse_dynamics(case.chain, case.q, case.qd, case.qdd, wrench=case.wrench)
        assert_close(tau, case.expected('inverse_dynamics', 'q', 'qd', 'qdd', 'wrench'),
                     OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('reference', reference_chains(), ids=lambda reference: reference.name)
def test_torque_equals_the_stored_numbers(reference):
    data = reference.data
    state = data['q'], data['qd'], data['qdd']
    assert_close(inverse_dynamics(reference.chain, *state), data['tau'], OTHER_IMPLEMENTATION)
    assert_close(inverse_dynamics(reference.chain, *state, wrench=reference.wrench),
                 data['tau_ext'], OTHER_IMPLEMENTATION)


def test_grouped_parameters_need_the_same_torque():
    """Khalil's base parameters at their places, zeros elsewhere."""
    for case in random_cases()[:24]:
        chain = case.chain
        mlc = minimal_parameters(chain, 'khalil')
        grouped = np.zeros(10 * len(chain))
        grouped[[chain.standard_parameter_names.index(name) for name in mlc.names]] = mlc.values
        assert_close(inverse_dynamics(chain.with_standard_parameters(grouped), case.q, case.qd,
                                      case.qdd),
                     inverse_dynamics(chain, case.q, case.qd, case.qdd), OTHER_FORMULATION)


def test_torque_is_linear_in_the_parameters(rng):
    chain, other = (random_chain(rng, 5, types='RPRRP') for _ in range(2))
    x, y = chain.standard_parameters, other.standard_parameters
    state = random_states(rng, 5)

    def tau(parameters):
        return inverse_dynamics(chain.with_standard_parameters(parameters), *state)

    assert_close(tau(2.0 * x - 3.0 * y), 2.0 * tau(x) - 3.0 * tau(y), SAME_ALGEBRA)


def test_a_batch_is_a_loop(rng):
    chain = random_chain(rng, 6)
    q, qd, qdd = random_states(rng, 6, 10)
    wrench = rng.normal(size=(10, 6))
    loop = [inverse_dynamics(chain, *state[:3], wrench=state[3])
            for state in zip(q, qd, qdd, wrench)]
    assert_close(inverse_dynamics(chain, q, qd, qdd, wrench=wrench), loop, SAME_ALGEBRA)


@pytest.mark.parametrize('place', range(4))
def test_non_finite_entries_make_their_sample_nan(rng, place):
    chain = random_chain(rng, 3)
    arrays = [*random_states(rng, 3, 3), rng.normal(size=(3, 6))]
    arrays[place][1, 0] = np.nan
    tau = inverse_dynamics(chain, *arrays[:3], wrench=arrays[3])
    assert np.all(np.isnan(tau[1]))
    assert np.all(np.isfinite(tau[[0, 2]]))


def test_sixty_joints_work(rng):
    chain = random_chain(rng, 60)
    state = random_states(rng, 60)
    assert_close(inverse_dynamics(chain, *state), Oracle(chain).inverse_dynamics(*state),
                 OTHER_IMPLEMENTATION)


def test_the_cost_grows_linearly_with_the_number_of_joints(rng):
    one = random_chain(rng, 1, types='R')

    def operations(n):
        joint = one.joints[0]
        chain = chain_from_dh('R' * n, beta=[0.3] * n, b=[0.2] * n, d=[0.1] * n,
                              theta=[joint.theta] * n, links=[one.links[0]] * n)
        counter = [0]
        q, qd, qdd = ([Counted(x, counter) for x in rng.normal(size=n).tolist()]
                      for _ in range(3))
        newton_euler(joint_frames(chain, q, cosine, sine),
                     [link.standard_parameters.tolist() for link in chain.links], qd, qdd,
                     gravity_vector(chain))
        return counter[0]

    assert operations(60) - operations(50) == operations(20) - operations(10) > 0
