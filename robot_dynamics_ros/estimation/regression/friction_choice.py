# SPDX-License-Identifier: Apache-2.0
"""
The outer search for the Stribeck velocity, and whether Stribeck friction is needed at all.

The velocity enters the torque nonlinearly. A few candidates, parts of the typical speed of each
joint, are tried; the likelihood of the data decides among them, and Schwarz's criterion (a price
for every further unknown) whether the law without this term is good enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.estimation.regression.least_squares import (
    Solution,
    integrated_correlation,
    joint_triangles,
    reweighted,
)
from robot_dynamics_ros.estimation.regression.prior import prior_from_chain
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms, Unknowns

#: Candidates as parts of the root mean square speed of a joint.
STRIBECK_PARTS = (0.06, 0.12, 0.25, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class FrictionCandidate:
    """
    One law to try.

    :param unknowns: of the torque with this law.
    :param stribeck_velocity: (n,) [rad/s, m/s]; None = Coulomb and viscous friction only.
    """

    unknowns: Unknowns
    stribeck_velocity: Array | None


def friction_candidates(terms: TorqueTerms) -> list[FrictionCandidate]:
    """Return the law without Stribeck term first, then one for every candidate velocity."""
    n = len(terms.chain)
    return [FrictionCandidate(terms.choice(None), None),
            *(FrictionCandidate(terms.choice([k] * n), speeds)
              for k, speeds in enumerate(terms.stribeck))]


def chosen_friction(candidates: Sequence[FrictionCandidate], rows: Rows, speed: Array,
                    strength: float) -> FrictionCandidate:
    """
    Return the law that explains the rows best for its number of unknowns.

    :param candidates: the first one sets the standard of correlation in time.
    :param rows: with all columns of the terms.
    :param speed: (n,) typical speeds [rad/s, m/s].
    :param strength: of the prior.
    """
    if len(candidates) == 1:
        return candidates[0]
    triangles = joint_triangles(rows, np.ones(rows.tau.shape))
    counts, torque = rows.counts(), rows.rms_torque()

    def solved(candidate: FrictionCandidate, spread: Array) -> Solution:
        columns = [*candidate.unknowns.columns, -1]
        prior = prior_from_chain(candidate.unknowns, torque, speed, strength)
        return reweighted([T[:, columns] for T in triangles], counts, spread, prior)

    plain = candidates[0].unknowns.columns
    first = solved(candidates[0], np.ones(counts.size))
    spread = integrated_correlation(rows.of_columns(plain).residuals(first.x))
    samples = counts / spread
    costs = [2.0 * np.sum(samples * np.log(solved(candidate, spread).deviation))
             + len(candidate.unknowns) * np.log(np.sum(samples)) for candidate in candidates]
    return candidates[int(np.argmin(costs))]
