# SPDX-License-Identifier: Apache-2.0
"""Unknowns that no bodies have give way to the nearest ones that some have."""

import numpy as np
import pytest
from support.excitation import random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.estimation.consistency.mass_matrix import (
    mass_matrix_objection,
    possible_postures,
)
from robot_dynamics_ros.estimation.consistency.possible import possible_unknowns
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms


@pytest.fixture(scope='module', params=['puma_4dof', 'rx90'])
def known(request):
    """Return unknowns of a robot, their true values and what a motion tells about them."""
    rng = np.random.default_rng(3)
    chain = chain_from_urdf(URDF_FOLDER / f'{request.param}.urdf')
    chain = chain.with_joint_physics(random_physics(rng, len(chain)))
    terms = TorqueTerms(chain)
    unknowns = terms.choice()
    x = unknowns.values(unknowns.mlc.of(chain), chain.joint_physics)
    # a slow motion: weights and friction show, inertias hardly
    q, qd, qdd = rng.normal(size=(3, 300, len(chain))) * np.array([1.0, 0.2, 0.2])[:, None, None]
    Y = terms.regressor(q, qd, qdd)[:, :, list(unknowns.columns)].reshape(-1, len(unknowns))
    covariance = np.linalg.inv(Y.T @ Y / 0.5 ** 2 + 1e-3 * np.eye(len(unknowns)))
    return unknowns, x, covariance, Y


def objection(unknowns, x):
    model = compile_model(unknowns.chain)
    model.swap(unknowns.minimal(x), unknowns.physics(x, None))
    return mass_matrix_objection(model, possible_postures(unknowns.chain))


def test_a_robot_that_exists_stays_as_it_is(known):
    unknowns, x, covariance, _ = known
    everything = np.ones(len(x), dtype=bool)
    found = possible_unknowns(unknowns, x, covariance, everything, ~everything)
    if unknowns.chain.robot == 'rx90':
        np.testing.assert_array_equal(found, x)
    else:  # its bodies are thin rods, at the very end of what is possible
        distance = np.linalg.solve(np.linalg.cholesky(covariance), found - x)
        assert np.linalg.norm(distance) < 1.0


def test_impossible_inertias_give_way_and_the_torque_hardly_changes(known):
    unknowns, x, covariance, Y = known
    rng = np.random.default_rng(5)
    free = np.ones(len(x), dtype=bool)
    friction = np.array([name.startswith(('Fc', 'Fv', 'Ia')) for name in unknowns.names])
    root = np.linalg.cholesky(covariance)
    wrong = next(each for each in (x + 1.5 * root @ rng.normal(size=x.size) for _ in range(100))
                 if objection(unknowns, each))
    found = possible_unknowns(unknowns, wrong, covariance, free, friction)
    assert objection(unknowns, wrong) and not objection(unknowns, found)
    assert np.all(found[friction] >= 0.0)
    distance = [np.linalg.norm(np.linalg.solve(root, each - x)) for each in (wrong, found)]
    assert distance[1] < distance[0], 'it is nearer to the truth, which is possible'
    change, noise = Y @ (found - wrong), 0.5
    assert np.sqrt(np.mean(change ** 2)) < noise, 'within what the motion leaves open'


def test_what_is_held_at_zero_stays_zero(known):
    unknowns, x, covariance, _ = known
    free = np.array([not name.startswith('Ia') for name in unknowns.names])
    wrong = np.where(free, x, 0.0)
    k = unknowns.names.index(next(name for name in unknowns.names if name.endswith('_33')))
    wrong[k] = -5.0 * abs(wrong[k])
    given = np.zeros_like(covariance)
    given[np.ix_(free, free)] = np.linalg.inv(np.linalg.inv(covariance)[np.ix_(free, free)])
    found = possible_unknowns(unknowns, wrong, given, free, ~free)
    assert np.all(found[~free] == 0.0) and not objection(unknowns, found)
