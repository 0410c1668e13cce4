# SPDX-License-Identifier: Apache-2.0
"""Lin's procedure from joint n to 1 (Lin 1995, section IV)."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_chain, random_states, reference_chains
from support.oracle import Oracle
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros import minimal_parameters
from robot_dynamics_ros.dynamics.recursions.motion import link_motion
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector, joint_frames
from robot_dynamics_ros.estimation.regression.least_squares import fit
from robot_dynamics_ros.estimation.regression.lin_recursion import lin_recursion
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms

#: The largest error that the reading of the paper found was 5e-12.
NOISE_FREE = 1e-9


def rows_and_unknowns(rng, chain, count=80):
    """Return rows of random states without joint terms, and the unknowns."""
    terms = TorqueTerms(chain, friction=False)
    unknowns = terms.choice()
    links = [k for k, name in enumerate(unknowns.names) if name in unknowns.mlc.names]
    q, qd, qdd = random_states(rng, len(chain), count)
    Y = terms.regressor(q, qd, qdd)[:, :, [unknowns.columns[k] for k in links]]
    tau = Y @ unknowns.mlc.of(chain)
    rows = Rows(Y, tau, np.ones(tau.shape, dtype=bool), np.arange(count) * 0.01,
                np.zeros(count, dtype=np.int64), np.hstack([q, qd]))
    return rows, [unknowns.blocks[k] for k in links], unknowns.mlc.names


@pytest.mark.parametrize('reference', [each for each in reference_chains()
                                       if np.any(each.chain.gravity)], ids=lambda each: each.name)
def test_noise_free_data_give_back_the_parameters(reference, rng):
    chain = reference.chain
    rows, blocks, names = rows_and_unknowns(rng, chain)
    x, diagnosis = lin_recursion(rows, blocks, names, chain.joint_names, np.zeros(len(names)))
    assert_close(x, minimal_parameters(chain).values, NOISE_FREE)
    for line in diagnosis:
        assert line.rank == len(line.unknowns)
        assert line.relative_error < NOISE_FREE or (
            np.isnan(line.relative_error) and not line.unknowns)  # a joint that nothing moves


@pytest.mark.parametrize('reference', [each for each in reference_chains()
                                       if np.any(each.chain.gravity)], ids=lambda each: each.name)
def test_torques_of_another_library_give_back_the_parameters(reference, rng):
    """Torques by Pinocchio: only the regressor is ours."""
    chain = reference.chain
    rows, blocks, names = rows_and_unknowns(rng, chain)
    oracle, n = Oracle(chain), len(chain)
    q, qd, qdd = random_states(np.random.default_rng(5), n, len(rows.tau))
    terms = TorqueTerms(chain, friction=False)
    columns = [terms.choice().columns[terms.choice().names.index(name)] for name in names]
    tau = np.array([oracle.inverse_dynamics(*state) for state in zip(q, qd, qdd)])
    x, _ = lin_recursion(replace(rows, Y=terms.regressor(q, qd, qdd)[:, :, columns], tau=tau),
                         blocks, names, chain.joint_names, np.zeros(len(names)))
    assert_close(x, minimal_parameters(chain).values, NOISE_FREE)


def test_the_blocks_are_the_vectors_of_the_paper(rng):
    chain = random_chain(rng, 6, types='RRRRRR')
    rows, blocks, names = rows_and_unknowns(rng, chain, count=20)
    s = minimal_parameters(chain).s
    for sample in range(20):
        q, qd = np.split(rows.states[sample], 2)
        frames = joint_frames(chain, q.tolist(), math.cos, math.sin)
        for i in range(s, 7):
            own = {names[k]: rows.Y[sample, i - 1, k] for k, block in enumerate(blocks)
                   if block == i - 1}
            still = link_motion(frames, qd.tolist(), [0.0] * 6, gravity_vector(chain))[i]
            wx, wy, _ = still.omega
            # entries of (98) that do not depend on accelerations
            assert_close(own[f'U{i}_11-22'], -wx * wy, OTHER_FORMULATION)
            assert_close(own[f'U{i}_12'], wx * wx - wy * wy, OTHER_FORMULATION)


def test_errors_grow_inward_and_one_least_squares_is_better(rng):
    errors = {'recursive': [], 'weighted': []}
    for _ in range(6):
        chain = random_chain(rng, 6, types='RRRRRR', gravity=[0, 0, -9.81])
        rows, blocks, names = rows_and_unknowns(rng, chain, count=300)
        true = minimal_parameters(chain).values
        size = 0.01 * rows.rms_torque()
        noisy = Rows(rows.Y, rows.tau + size * rng.normal(size=rows.tau.shape), rows.usable,
                     rows.t, rows.stretch, rows.states)
        x, _ = lin_recursion(noisy, blocks, names, chain.joint_names, np.zeros(len(names)))
        prior = Prior(np.zeros(len(names)), np.full(len(names), 1e6))
        errors['recursive'].append(np.linalg.norm(x - true) / np.linalg.norm(true))
        errors['weighted'].append(np.linalg.norm(fit(noisy, prior, 'weighted').x - true)
                                  / np.linalg.norm(true))
    assert np.median(errors['weighted']) < np.median(errors['recursive']) < 0.2


def test_what_is_not_excited_keeps_its_start_value(rng):
    chain = random_chain(rng, 3, types='RRR')
    rows, blocks, names = rows_and_unknowns(rng, chain)
    rows.Y[:, 2] = 0.0  # the last joint shows nothing
    start = np.arange(float(len(names)))
    x, diagnosis = lin_recursion(rows, blocks, names, chain.joint_names, start)
    last = np.array(blocks) == 2
    np.testing.assert_array_equal(x[last], start[last])
    assert diagnosis[2].rank == 0 and diagnosis[2].condition_number == np.inf
