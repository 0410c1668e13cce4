# SPDX-License-Identifier: Apache-2.0
"""
Choice of the friction law: with Stribeck friction or without, and which Stribeck velocity.

The Stribeck velocity enters the torque nonlinearly. A few candidates, fractions of the typical
velocity of each joint, are tried. The likelihood of the data decides among them, and Schwarz's
criterion (a penalty for every further unknown) whether the law without this term is good enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.estimation.regression.least_squares import (
    Solution,
    integrated_correlation,
    joint_triangles,
    reweighted,
)
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms, Unknowns

#: Candidates, as fractions of the root mean square velocity of a joint.
STRIBECK_PARTS = (0.06, 0.12, 0.25, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class FrictionCandidate:
    """
    A friction law to try.

    :param unknowns: unknowns of the torque with this law.
    :param stribeck_velocity: (n,) Stribeck velocities [rad/s, m/s]; None = Coulomb and viscous
        friction only.
    """

    unknowns: Unknowns
    stribeck_velocity: Array | None


def friction_candidates(terms: TorqueTerms) -> list[FrictionCandidate]:
    """Return the law without a Stribeck term, then one law for every candidate velocity."""
    n = len(terms.chain)
    return [FrictionCandidate(terms.choice(None), None),
            *(FrictionCandidate(terms.choice([k] * n), velocities)
              for k, velocities in enumerate(terms.stribeck))]


def chosen_friction(candidates: Sequence[FrictionCandidate], rows: Rows,
                    believed: Callable[[Unknowns], Prior]) -> FrictionCandidate:
    """
    Return the law that explains the rows best for its number of unknowns.

    :param candidates: laws to choose from; the residuals of the first one give the correlation
        in time.
    :param rows: rows with all columns of the terms.
    :param believed: function that returns the prior of unknowns.
    """
    if len(candidates) == 1:
        return candidates[0]
    triangles = joint_triangles(rows, np.ones(rows.tau.shape))
    counts = rows.counts()

    def solved(candidate: FrictionCandidate, correlation: Array) -> Solution:
        columns = [*candidate.unknowns.columns, -1]
        return reweighted([T[:, columns] for T in triangles], counts, correlation,
                          believed(candidate.unknowns))

    plain = candidates[0].unknowns.columns
    first = solved(candidates[0], np.ones(counts.size))
    correlation = integrated_correlation(rows.of_columns(plain).residuals(first.x))
    samples = counts / correlation
    costs = [2.0 * np.sum(samples * np.log(solved(candidate, correlation).residual_sigma))
             + len(candidate.unknowns) * np.log(np.sum(samples)) for candidate in candidates]
    return candidates[int(np.argmin(costs))]
