# SPDX-License-Identifier: Apache-2.0
"""
Drive gains (torque per unit of effort) from recordings with and without a known payload.

Motion and effort alone leave the scale open: all parameters times two and half the gain fit the
same data. A payload of known mass sets the scale. Gains and parameters are unknowns of one
least squares: ``gain effort = Y w + torque of the payload``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.codegen.runtime.model import compile_model
from robot_dynamics_ros.errors import IdentificationError, ParameterError
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.regression.least_squares import (
    integrated_correlation,
    joint_triangles,
    reweighted,
)
from robot_dynamics_ros.estimation.regression.prior import Prior, prior_from_chain
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms, Unknowns
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.preparation import prepare

#: Standard deviation of a gain in the prior, as a multiple of the given one.
_ROOM = 10.0

#: A gain with a larger relative standard deviation than this was not found.
_KNOWN = 0.2


@dataclass(frozen=True, eq=False)
class DriveGains:
    """
    Gains of the drives.

    :param gain: (n,) torque per unit of effort [N m, N per unit]; NaN where it was not found.
    :param standard_deviations: (n,) standard deviations of the gains.
    """

    gain: Array
    standard_deviations: Array


def identify_drive_gains(chain: Chain, unloaded: Sequence[Recording], loaded: Sequence[Recording],
                         payload: Inertia, *, effort: EffortSemantics | None = None,
                         cutoff: float | None = None) -> DriveGains:
    """
    Return the gains that make the torques fit a known payload.

    :param chain: the robot without the payload.
    :param unloaded: recordings without the payload.
    :param loaded: recordings with the payload.
    :param payload: inertia of the payload in the frame of the tip link.
    :param effort: sign and offset of the efforts, and gains to start from; None = torques.
    :param cutoff: cut-off frequency of the low-pass [Hz]; None = from the motion.
    :raises ParameterError: no payload, or efforts on the motor side of a coupled transmission.
    :raises IdentificationError: no gain can be found.
    """
    meaning = effort or EffortSemantics.torque(len(chain))
    if payload.mass <= 0.0 or not loaded or not unloaded:
        raise ParameterError('drive gains: recordings with and without a payload of known mass '
                             'are needed')
    if meaning.coupling is not None and 'motor' in meaning.side:
        raise ParameterError('drive gains: efforts of coupled motors are not supported; convert '
                             'them to the joint side first')
    unit = replace(meaning, gain=np.ones(len(chain)))
    settings = IdentificationSettings(cutoff=cutoff)
    terms = TorqueTerms(chain, gravity_removed=meaning.gravity_removed)
    choice = terms.choice()
    parts = [_rows(terms, choice, recordings, unit, settings, carried)
             for recordings, carried in ((unloaded, None), (loaded, payload))]
    rows = Rows.stacked([part for part, _ in parts])
    velocity = np.sqrt(np.mean(rows.states[:, len(chain):] ** 2, axis=0))
    efforts = np.concatenate([sizes for _, sizes in parts])
    torque = meaning.gain * np.sqrt(np.mean(efforts ** 2, axis=0))
    believed = prior_from_chain(choice, torque, velocity)
    prior = Prior(np.concatenate([believed.mean, meaning.gain]),
                  np.concatenate([_ROOM * believed.standard_deviations, _ROOM * meaning.gain]))
    triangles, counts = joint_triangles(rows, np.ones(rows.tau.shape)), rows.counts()
    found = reweighted(triangles, counts, np.ones(len(chain)), prior)
    correlation = integrated_correlation(rows.residuals(found.x))
    found = reweighted(triangles, counts, correlation, prior)
    inverse = np.linalg.inv(found.triangle)
    gain = found.x[len(choice):]
    sigma = np.sqrt(np.sum(inverse ** 2, axis=1))[len(choice):]
    unknown = ~((gain > 0.0) & (sigma < _KNOWN * np.abs(gain)))
    if np.all(unknown):
        raise IdentificationError('not identifiable: the efforts do not show the payload')
    return DriveGains(np.where(unknown, np.nan, gain), sigma)


def _rows(terms: TorqueTerms, choice: Unknowns, recordings: Sequence[Recording],
          unit: EffortSemantics, settings: IdentificationSettings,
          payload: Inertia | None) -> tuple[Rows, Array]:
    """Return rows ``[Y, -effort] (w, gain) = -torque of the payload``, and the efforts."""
    chain = terms.chain
    prepared = prepare(chain, recordings, unit, settings)
    columns = list(choice.columns)
    parts = []
    for number, (part, moving) in enumerate(zip(prepared.samples, prepared.moving)):
        every = max(1, len(part) // 4000)
        pick = slice(None, None, every)
        q, qd, qdd, effort = part.q[pick], part.qd[pick], part.qdd[pick], part.tau[pick]
        Y = terms.regressor(q, qd, qdd)[:, :, columns]
        drives = -effort[:, :, None] * np.eye(len(chain))
        torque = np.zeros_like(effort)
        if payload is not None:
            loaded = compile_model(chain.with_payload(payload))
            torque = (loaded.inverse_dynamics(q, qd, qdd)
                      - compile_model(chain).inverse_dynamics(q, qd, qdd))
        parts.append((Rows(np.concatenate([Y, drives], axis=2), -torque,
                           part.usable[pick] & moving[pick][:, None], part.t[pick],
                           np.full(len(q), number), np.hstack([q, qd])), effort))
    rows, efforts = zip(*parts)
    return Rows.stacked(rows), np.concatenate(efforts)
