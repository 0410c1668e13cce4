# SPDX-License-Identifier: Apache-2.0
"""The regressor of the standard parameters."""

import numpy as np
import pytest
from support.cases import random_cases
from support.chains import random_chain, random_inertia, random_pose, random_states
from support.oracle import Oracle
from support.tolerances import (
    OTHER_FORMULATION,
    OTHER_IMPLEMENTATION,
    SAME_ALGEBRA,
    assert_close,
)

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.dynamics.recursions.motion import link_motion
from robot_dynamics_ros.dynamics.recursions.regressor import (
    link_twists,
    regressor_array,
    standard_regressor,
)
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples


def test_one_joint_has_the_columns_of_the_textbook():
    """Tau = ZZ qdd + MX (g cos q) - MY (g sin q) about a horizontal axis."""
    chain = chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0], gravity=[0, -9.81, 0])
    Y = standard_regressor(chain, [0.4], [5.0], [3.0])
    names = chain.standard_parameter_names
    expected = {'ZZ1': 3.0, 'MX1': 9.81 * np.cos(0.4), 'MY1': -9.81 * np.sin(0.4)}
    assert_close(Y, [[expected.get(name, 0.0) for name in names]], SAME_ALGEBRA)


def test_regressor_equals_pinocchio_on_random_chains():
    for case in random_cases():
        Y = standard_regressor(case.chain, case.q, case.qd, case.qdd)
        assert_close(Y, case.expected('regressor', 'q', 'qd', 'qdd'), OTHER_IMPLEMENTATION)


def test_all_joints_at_once_have_the_same_regressor():
    for case in random_cases():
        for k in (slice(None), 0):
            state = Samples.of(case.chain, q=case.q[k], qd=case.qd[k], qdd=case.qdd[k])
            motion = link_motion(state.frames, state['qd'], state['qdd'],
                                 gravity_vector(case.chain))
            Y = regressor_array(motion, state.frames)
            assert_close(Y.T if k == 0 else Y.transpose(2, 1, 0),
                         standard_regressor(case.chain, case.q[k], case.qd[k], case.qdd[k]),
                         SAME_ALGEBRA)


def test_a_joint_does_not_feel_the_links_inside_of_it(rng):
    Y = standard_regressor(random_chain(rng, 5), *random_states(rng, 5))
    for i in range(5):
        assert np.all(Y[i, :10 * i] == 0.0)


def test_a_batch_is_a_loop(rng):
    chain = random_chain(rng, 4)
    states = random_states(rng, 4, 6)
    loop = [standard_regressor(chain, *state) for state in zip(*states)]
    assert_close(standard_regressor(chain, *states), loop, SAME_ALGEBRA)


def test_a_non_finite_entry_makes_the_whole_sample_nan(rng):
    chain = random_chain(rng, 3)
    q, qd, qdd = random_states(rng, 3, 2)
    qdd[0, 2] = np.nan
    Y = standard_regressor(chain, q, qd, qdd)
    assert np.all(np.isnan(Y[0]))
    assert np.all(np.isfinite(Y[1]))


def test_a_load_is_ten_more_columns(rng):
    chain = random_chain(rng, 4)
    load, pose = random_inertia(rng), random_pose(rng)
    states = random_states(rng, 4, 3)
    Y = standard_regressor(chain, *states, payload=pose)
    x = np.concatenate([chain.standard_parameters, load.standard_parameters])
    loaded = chain.with_payload(load.seen_from(pose))
    assert_close(Y @ x, inverse_dynamics(loaded, *states), OTHER_FORMULATION)
    assert_close(Y[..., :40], standard_regressor(chain, *states), SAME_ALGEBRA)


@pytest.mark.parametrize('types', ['RRR', 'RPR'])
def test_twists_are_the_columns_of_the_jacobian(rng, types):
    """Velocity of the last frame by differences of its pose."""
    chain = random_chain(rng, 3, types=types)
    q, h = rng.normal(size=3), 1e-6
    here = chain.joint_poses(q)[-1]
    for e, (v, w) in zip(np.eye(3), link_twists(Samples.of(chain, q=q).frames)[3]):
        ahead, behind = (chain.joint_poses(q + s * h * e)[-1] for s in (1, -1))
        velocity = (ahead.translation - behind.translation) / (2 * h)
        spin = here.rotation.T @ (ahead.rotation - behind.rotation) / (2 * h)
        np.testing.assert_allclose(v, here.rotation.T @ velocity, atol=1e-8)
        np.testing.assert_allclose(w, [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8)


def test_sixty_joints_work(rng):
    chain = random_chain(rng, 60)
    state = random_states(rng, 60)
    assert_close(standard_regressor(chain, *state), Oracle(chain).regressor(*state),
                 OTHER_IMPLEMENTATION)
