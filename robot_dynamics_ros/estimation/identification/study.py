# SPDX-License-Identifier: Apache-2.0
"""The fit of parameters to rows: the same for all data and for the parts of a held-out test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.effort import EffortSemantics, EffortSide
from robot_dynamics_ros.estimation.hints.trial import Trial, TrialColumns
from robot_dynamics_ros.estimation.regression.friction_choice import (
    FrictionCandidates,
    FrictionData,
    chosen_law,
)
from robot_dynamics_ros.estimation.regression.friction_law import FrictionLaw
from robot_dynamics_ros.estimation.regression.friction_signals import FrictionSignals, Loads
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
_NOT_NEGATIVE = ('Ia', 'Fv', 'Fc', 'Fl')

#: Parts of a block of the held-out test that the friction law is chosen by: enough of them to tell
#: a law from an event.
INNER = 2

#: The law is chosen again after each of the first fits; then the load is improved, until no
#: friction per load moves by more than this [1], or so often.
_CHOICES, _SETTLED, _PASSES = 3, 1e-5, 10


def excited_unknowns(standard_deviations: Array, prior: Prior, fixed: Mask) -> Mask:
    """
    Return the mask (u,) of the unknowns that the data determine.

    :param standard_deviations: (u,) standard deviations given the data.
    :param prior: belief before the data.
    :param fixed: (u,) unknowns that were held at zero.
    """
    return np.asarray((standard_deviations < _EXCITED * prior.standard_deviations) & ~fixed)


def not_negative(names: Sequence[str], sides: Sequence[EffortSide]) -> Mask:
    """
    Return the mask (u,) of the unknowns that cannot be negative.

    A torque sensor on the link side does not feel what of its own link lies before it, while the
    other joints do: there the inertia of the rotor stands for that part, and is negative.

    :param names: names of the unknowns.
    :param sides: side of the gear that the effort of each joint belongs to.
    """
    free = {f'Ia{j}' for j, side in enumerate(sides, start=1) if side == 'link'}
    return np.array([name.startswith(_NOT_NEGATIVE) and name not in free for name in names])


@dataclass(frozen=True, eq=False)
class StudyFit:
    """
    Parameters fitted to some rows.

    :param law: chosen friction law; None = no friction.
    :param unknowns: unknowns that were solved for.
    :param fit: result of the least squares.
    :param prior: belief it started from.
    :param rows: all rows, with the columns of the unknowns.
    """

    law: FrictionLaw | None
    unknowns: Unknowns
    fit: Fit
    prior: Prior
    rows: Rows

    @property
    def excited(self) -> Mask:
        """Unknowns (u,) that the data determine."""
        return excited_unknowns(self.fit.standard_deviations, self.prior, self.fit.fixed)

    @property
    def torque(self) -> Array:
        """Torque (N, n) at all rows."""
        return np.asarray(self.rows.Y @ self.fit.x)


class Study:
    """
    Friction law, prior and least squares with the same settings for any part of the rows.

    :param terms: columns of the regressor.
    :param rows: all rows with all columns.
    :param signals: what the friction is multiplied with, at these rows.
    :param velocity: (n,) typical velocities [rad/s, m/s].
    :param acceleration: (n,) typical accelerations [rad/s^2, m/s^2].
    :param settings: settings of the identification.
    :param inner: (N,) blocks of time of the rows, to choose the friction law by; `INNER` of them
        make one to choose the prior by.
    :param sides: side of the gear that the effort of each joint belongs to.
    :param halves: the same rows and signals from either half of the recorded samples, for
        instrumental variables; None = least squares only.
    """

    def __init__(self, terms: TorqueTerms, rows: Rows, signals: FrictionSignals, velocity: Array,
                 acceleration: Array, settings: IdentificationSettings, inner: Blocks,
                 sides: Sequence[EffortSide],
                 halves: Sequence[tuple[Rows, FrictionSignals]] | None = None) -> None:
        self.terms, self.rows, self.settings = terms, rows, settings
        self._signals = signals
        self._velocity, self._acceleration = velocity, acceleration
        self._inner, self.blocks = inner, inner // INNER
        self._sides, self._halves = sides, halves
        self._plain = terms.choice()
        self._candidates = FrictionCandidates.of(
            terms.chain.joint_physics, velocity, stribeck=settings.friction != 'coulomb',
            others=settings.friction == 'auto', coulomb_velocity=settings.coulomb_velocity)

    def _prior(self, unknowns: Unknowns, torque: Array, room: float) -> Prior:
        """Return the prior, given the typical torques (n,) and a factor of its sigmas."""
        return prior_from_chain(unknowns, torque, self._velocity, self._acceleration,
                                self.settings.prior_strength / room)

    def fitted(self, chosen: Mask) -> StudyFit:
        """Return the parameters fitted to the chosen samples (N,) only."""
        rows = self.rows.of_columns(self._plain.columns)
        torque = rows.of_samples(chosen).rms_torque()
        room = chosen_room(rows.of_samples(chosen), self.blocks[chosen],
                           lambda room: self._prior(self._plain, torque, room))
        found = self._solved(None, self._plain, rows, chosen,
                             self._prior(self._plain, torque, room))
        if self.settings.friction == 'none':
            return self._finished(found, chosen, [])
        law = FrictionLaw.plain(len(torque), self.terms.chain.joint_physics.coulomb_velocity)
        shares = np.zeros(0)
        for k in range(_PASSES):
            loads = self._signals.loads(found.fit.x, found.unknowns)
            if k < _CHOICES:
                law, before = chosen_law(self._friction(found, chosen, loads),
                                         self._candidates), law
                if k and np.array_equal(law.numbers, before.numbers):
                    k = _CHOICES
            unknowns = self._plain.with_law(law)
            found = self._solved(law, unknowns,
                                 self._signals.rows(self.rows, unknowns, law, loads), chosen,
                                 self._prior(unknowns, torque, room))
            former, shares = shares, found.fit.x[[name.startswith('Fl')
                                                  for name in unknowns.names]]
            if k + 1 >= _CHOICES and (shares.size == 0 or (
                    former.size == shares.size
                    and np.max(np.abs(shares - former)) < _SETTLED)):
                break
        return self._finished(found, chosen, loads)

    def _solved(self, law: FrictionLaw | None, unknowns: Unknowns, rows: Rows, chosen: Mask,
                prior: Prior) -> StudyFit:
        method = 'weighted' if self.settings.method == 'lin' else self.settings.method
        return StudyFit(law, unknowns, fit(rows.of_samples(chosen), prior, method,
                                           self.not_negative(unknowns)), prior, rows)

    def friction(self, found: StudyFit) -> FrictionData:
        """Return what links and rotors of a fit to all rows leave of the torques of the motors."""
        return self._friction(found, np.ones(len(self.rows), dtype=np.bool_),
                              self._signals.loads(found.fit.x, found.unknowns))

    def _friction(self, found: StudyFit, chosen: Mask, loads: Loads) -> FrictionData:
        """Return what links and rotors leave over of the torques of the motors."""
        rigid = [not name.startswith(('Fv', 'Fc', 'offset', 'Fs', 'Fl', 'Fa'))
                 for name in found.unknowns.names]
        J = np.linalg.inv(self.terms.transmission.inverse)
        rest = found.rows.tau - found.rows.Y[:, :, rigid] @ found.fit.x[rigid]
        weights = np.zeros(rest.shape)
        weights[chosen] = found.fit.weights
        weights = np.where(self.rows.usable, weights, 0.0)
        return FrictionData(self._signals, chosen, rest @ J, self._signals.load(loads),
                            np.stack([np.min(weights[:, column != 0.0], axis=1)
                                      for column in J.T], axis=1), self._inner,
                            np.array([np.max(found.fit.correlation[column != 0.0])
                                      for column in J.T]))

    def _finished(self, found: StudyFit, chosen: Mask, loads: Loads) -> StudyFit:
        """Return a fit by Lin's procedure or instrumental variables where they are asked for."""
        if self.settings.method == 'lin':
            unknowns = found.unknowns
            found = replace(found, fit=lin_fit(
                found.fit, found.rows.of_samples(chosen), unknowns.blocks, unknowns.names,
                self.terms.chain.joint_names, self.not_negative(unknowns)))
        if self._halves is None:
            return found
        halves = [(rows.of_columns(found.unknowns.columns) if found.law is None
                   else signals.rows(rows, found.unknowns, found.law, loads)).of_samples(chosen)
                  for rows, signals in self._halves]
        return replace(found, fit=instrumental_fit(
            found.fit, found.prior, (halves[0], halves[1]), self.rows.tau[chosen],
            self.not_negative(found.unknowns)))

    def trial(self, found: StudyFit, effort: EffortSemantics) -> Trial:
        """
        Return a fit to all rows as the start of trials with other meanings of the recording.

        :param found: fit to all rows.
        :param effort: meaning of the efforts.
        """
        plain, prior = self._plain, found.prior
        few = Prior(prior.mean[:len(plain)], prior.standard_deviations[:len(plain)])
        return Trial(
            self.terms.chain, effort, self.rows,
            TrialColumns(found.unknowns.names, found.rows.Y, prior,
                         self.not_negative(found.unknowns)),
            TrialColumns(plain.names, self.rows.Y[:, :, list(plain.columns)], few,
                         self.not_negative(plain)), found.fit, self.blocks, self._signals.way)

    def not_negative(self, unknowns: Unknowns) -> Mask:
        """Return the mask (u,) of the unknowns that cannot be negative."""
        return not_negative(unknowns.names, self._sides)
