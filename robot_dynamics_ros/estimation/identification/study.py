# SPDX-License-Identifier: Apache-2.0
"""The fit of parameters to rows: the same for all data and for the parts of a held-out test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.estimation.regression.friction_choice import (
    FrictionCandidate,
    chosen_friction,
    friction_candidates,
)
from robot_dynamics_ros.estimation.regression.instruments import instrumental_fit
from robot_dynamics_ros.estimation.regression.least_squares import Fit, fit
from robot_dynamics_ros.estimation.regression.lin_recursion import lin_fit
from robot_dynamics_ros.estimation.regression.prior import Prior, prior_from_chain
from robot_dynamics_ros.estimation.regression.prior_choice import chosen_room
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.estimation.regression.time_blocks import Blocks
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms, Unknowns
from robot_dynamics_ros.estimation.settings import IdentificationSettings

#: An unknown is excited if the data reduce its sigma below this part of the prior's.
_EXCITED = 0.3

#: Terms that cannot be negative.
NOT_NEGATIVE = ('Ia', 'Fv', 'Fc')

def excited_unknowns(standard_deviations: Array, prior: Prior, fixed: Mask) -> Mask:
    """
    Return the mask (u,) of the unknowns that the data determine.

    :param standard_deviations: (u,) standard deviations given the data.
    :param prior: belief before the data.
    :param fixed: (u,) unknowns that were held at zero.
    """
    return np.asarray((standard_deviations < _EXCITED * prior.standard_deviations) & ~fixed)


@dataclass(frozen=True, eq=False)
class StudyFit:
    """
    Parameters fitted to some rows.

    :param candidate: chosen friction law.
    :param fit: result of the least squares.
    :param prior: belief it started from.
    """

    candidate: FrictionCandidate
    fit: Fit
    prior: Prior

    @property
    def unknowns(self) -> Unknowns:
        """Unknowns that were solved for."""
        return self.candidate.unknowns

    @property
    def excited(self) -> Mask:
        """Unknowns (u,) that the data determine."""
        return excited_unknowns(self.fit.standard_deviations, self.prior, self.fit.fixed)

    def torque(self, Y: Array) -> Array:
        """Return the torque (N, n) on rows with all columns (N, n, P)."""
        return np.asarray(Y[:, :, list(self.unknowns.columns)] @ self.fit.x)


class Study:
    """
    Friction law, prior and least squares with the same settings for any part of the rows.

    :param terms: columns of the regressor.
    :param rows: all rows with all columns.
    :param velocity: (n,) typical velocities [rad/s, m/s].
    :param acceleration: (n,) typical accelerations [rad/s^2, m/s^2].
    :param settings: settings of the identification.
    :param blocks: (N,) blocks of time of the rows, to choose the prior by.
    :param halves: the same rows from either half of the recorded samples, for instrumental
        variables; None = least squares only.
    """

    def __init__(self, terms: TorqueTerms, rows: Rows, velocity: Array, acceleration: Array,
                 settings: IdentificationSettings, blocks: Blocks,
                 halves: tuple[Rows, Rows] | None = None) -> None:
        self.terms, self.rows, self.settings = terms, rows, settings
        self._velocity, self._acceleration = velocity, acceleration
        self._blocks, self._halves = blocks, halves
        self._candidates = friction_candidates(terms)

    def _prior(self, unknowns: Unknowns, torque: Array, room: float) -> Prior:
        """Return the prior, given the typical torques (n,) and a factor of its deviations."""
        return prior_from_chain(unknowns, torque, self._velocity, self._acceleration,
                                self.settings.prior_strength / room)

    def fitted(self, chosen: Mask) -> StudyFit:
        """Return the parameters fitted to the chosen samples (N,) only."""
        rows = self.rows.of_samples(chosen)
        torque = rows.rms_torque()
        plain = self._candidates[0].unknowns
        room = chosen_room(rows.of_columns(plain.columns), self._blocks[chosen],
                           lambda room: self._prior(plain, torque, room))
        candidate = chosen_friction(self._candidates, rows,
                                    lambda unknowns: self._prior(unknowns, torque, room))
        unknowns = candidate.unknowns
        prior = self._prior(unknowns, torque, room)
        not_negative = np.array([name.startswith(NOT_NEGATIVE) for name in unknowns.names])
        method = 'weighted' if self.settings.method == 'lin' else self.settings.method
        outcome = fit(rows.of_columns(unknowns.columns), prior, method, not_negative)
        if self.settings.method == 'lin':
            outcome = lin_fit(outcome, rows.of_columns(unknowns.columns), unknowns.blocks,
                              unknowns.names, self.terms.chain.joint_names, not_negative)
        if self._halves is not None:
            first, second = (half.of_samples(chosen).of_columns(unknowns.columns)
                             for half in self._halves)
            outcome = instrumental_fit(outcome, prior, (first, second), rows.tau,
                                       not_negative)
        return StudyFit(candidate, outcome, prior)
