# SPDX-License-Identifier: Apache-2.0
"""The friction law that the data call for: with Stribeck friction or without."""

from dataclasses import replace

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.estimation.regression.friction_choice import (
    STRIBECK_PARTS,
    chosen_friction,
    friction_candidates,
)
from robot_dynamics_ros.estimation.regression.prior import prior_from_chain
from robot_dynamics_ros.estimation.regression.rows import regression_rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms
from robot_dynamics_ros.estimation.smoothing.zero_phase import SmoothedSamples

#: Typical velocity of both joints; the Stribeck velocity that is planted is a quarter of it.
VELOCITY = np.ones(2)
PLANTED = STRIBECK_PARTS.index(0.25)


def chain_with(rng, **physics):
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    return chain.with_joint_physics(random_physics(rng, 2, coulomb=np.full(2, 2.0), **physics))


def terms_and_rows(rng, chain):
    """Return the columns of all candidates, and rows of a motion of the chain with noise."""
    data = excitation(rng, chain)
    tau = data.tau + 0.1 * rng.normal(size=data.tau.shape)
    samples = SmoothedSamples(data.t, data.t[1], data.q, data.qd, data.qdd, tau,
                              np.ones(tau.shape, dtype=bool))
    terms = TorqueTerms(chain, stribeck=np.outer(STRIBECK_PARTS, VELOCITY))
    return terms, regression_rows(terms, [samples], [np.ones(len(tau), dtype=bool)], None)


def test_candidates_are_the_plain_law_and_one_for_every_velocity(rng):
    terms = TorqueTerms(chain_with(rng), stribeck=np.outer(STRIBECK_PARTS, VELOCITY))
    plain, *others = friction_candidates(terms)
    assert plain.stribeck_velocity is None and 'Fs1' not in plain.unknowns.names
    assert [each.stribeck_velocity[0] for each in others] == list(STRIBECK_PARTS)
    assert len({each.unknowns.columns for each in others}) == len(STRIBECK_PARTS)
    assert all(each.unknowns.names[-2:] == ('Fs1', 'Fs2') for each in others)


@pytest.mark.parametrize('static, expected', [(6.0, PLANTED + 1), (None, 0)])
def test_the_law_of_the_robot_is_chosen(static, expected, rng):
    stribeck = {} if static is None else {
        'static': np.full(2, static), 'stribeck_velocity': STRIBECK_PARTS[PLANTED] * VELOCITY}
    terms, rows = terms_and_rows(rng, chain_with(rng, **stribeck))
    candidates = friction_candidates(terms)
    assert chosen_friction(candidates, rows, believed(rows)) is candidates[expected]


def believed(rows):
    return lambda unknowns: prior_from_chain(unknowns, rows.rms_torque(), VELOCITY)


def test_a_single_candidate_needs_no_data(rng):
    terms, rows = terms_and_rows(rng, chain_with(rng))
    only = friction_candidates(TorqueTerms(terms.chain))
    assert len(only) == 1
    nothing = replace(rows, usable=np.zeros_like(rows.usable))
    assert chosen_friction(only, nothing, believed(nothing)) is only[0]
