# SPDX-License-Identifier: Apache-2.0
"""
Drive gains (torque per unit of effort) from recordings with and without a known payload.

Motion and effort alone leave the scale open: all parameters times two and half the gain fit the
same data. A payload of known mass sets the scale. The effort is what is noisy, so it is what is
explained, never a regressor: noise in a regressor makes its coefficient too small. Joint by joint

``effort = Y (w / gain) + (torque of the payload) / gain``

is linear in ``w / gain`` and ``1 / gain``. Every joint has unknowns ``w / gain`` of its own:
common ones would be known better (1.5 times in simulations), but would carry an error of the model
at one joint into the gains of all.
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
from robot_dynamics_ros.estimation.payload.identify import PayloadTerms
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.regression.least_squares import fit
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows, regression_rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.preparation import prepare

#: In the prior one column may explain an effort this many times the measured one.
_ROOM = 100.0

#: A gain with a larger relative standard deviation than this was not found.
KNOWN_GAIN = 0.2

#: Columns below this part of the largest are rounding errors.
_DUST = 1e-9


@dataclass(frozen=True, eq=False)
class DriveGains:
    """
    Gains of the drives.

    :param gain: (n,) torque per unit of effort [N m, N per unit]; NaN where it was not found.
    :param standard_deviations: (n,) standard deviations of the gains; NaN where not found.
    :param reasons: n texts: why a gain was not found; empty where it was.
    """

    gain: Array
    standard_deviations: Array
    reasons: tuple[str, ...] = ()

    @property
    def relative_deviations(self) -> Array:
        """Standard deviations over gains (n,), `gain_deviation` of joints.yaml."""
        return self.standard_deviations / self.gain


def identify_drive_gains(chain: Chain, unloaded: Sequence[Recording], loaded: Sequence[Recording],
                         payload: Inertia, *, effort: EffortSemantics | None = None,
                         cutoff: float | None = None) -> DriveGains:
    """
    Return the gains that make the torques fit a known payload.

    :param chain: the robot without the payload; its inertias and friction are not used.
    :param unloaded: recordings without the payload.
    :param loaded: recordings with the payload.
    :param payload: inertia of the payload in the frame of the tip link.
    :param effort: sign and offset of the efforts; None = torques. Its gains are not used.
    :param cutoff: cut-off frequency of the low-pass [Hz]; None = from the motion.
    :raises ParameterError: no payload, or efforts on the motor side of a coupled transmission.
    :raises IdentificationError: no gain can be found.
    """
    n = len(chain)
    meaning = effort or EffortSemantics.torque(n)
    if payload.mass <= 0.0 or not loaded or not unloaded:
        raise ParameterError('drive gains: recordings with and without a payload of known mass '
                             'are needed')
    if meaning.coupling is not None and 'motor' in meaning.side:
        raise ParameterError('drive gains: efforts of coupled motors are not supported; convert '
                             'them to the joint side first')
    unit = replace(meaning, gain=np.ones(n))
    # limits are torques, what is recorded may be currents
    unlimited = replace(chain, joints=tuple(replace(joint, effort_limit=np.nan)
                                            for joint in chain.joints))
    arm = TorqueTerms(chain, gravity_removed=meaning.gravity_removed)
    settings = IdentificationSettings(cutoff=cutoff)
    parts = []
    for recordings, carried in ((unloaded, Inertia.zero()), (loaded, payload)):
        prepared = prepare(unlimited, recordings, unit, settings)
        parts.append(regression_rows(_KnownPayloadTerms(arm, carried), prepared.samples,
                                     prepared.moving, prepared.parallel_cutoff))
    rows = Rows.stacked(parts)
    found = [_gain(_rows_of_joint(rows, j)) for j in range(n)]
    reasons = tuple(reason for *_, reason in found)
    if all(reasons):
        raise IdentificationError('not identifiable: the efforts do not show the payload; ' + (
            '; '.join(f'{name}: {reason}' for name, reason in zip(chain.joint_names, reasons))))
    return DriveGains(np.array([gain for gain, *_ in found]),
                      np.array([sigma for _, sigma, _ in found]), reasons)


class _KnownPayloadTerms:
    """
    The columns of the arm, and one with the torque of a known payload.

    :param arm: columns of the arm.
    :param payload: inertia in the frame of the tip link.
    """

    def __init__(self, arm: TorqueTerms, payload: Inertia) -> None:
        self.chain = arm.chain
        self._arm, self._chosen = arm, list(arm.choice().columns)
        self._payload = PayloadTerms(compile_model(arm.chain))
        self._parameters = payload.standard_parameters

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return (*(self._arm.columns[k] for k in self._chosen), 'payload')

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the columns (N, n, P) at N states."""
        torque = self._payload.regressor(q, qd, qdd) @ self._parameters
        return np.concatenate([self._arm.regressor(q, qd, qdd)[:, :, self._chosen],
                               torque[:, :, None]], axis=2)


def _rows_of_joint(rows: Rows, j: int) -> Rows:
    """Return the usable rows of one joint, with the columns that act on it and the payload's."""
    one = slice(j, j + 1)
    alone = replace(rows, Y=rows.Y[:, one], tau=rows.tau[:, one], usable=rows.usable[:, one])
    alone = alone.of_samples(alone.usable[:, 0])
    sizes = np.max(np.abs(alone.Y[:, 0]), axis=0, initial=0.0)
    acting = np.flatnonzero(sizes[:-1] > _DUST * np.max(sizes))
    return alone.of_columns([*acting.tolist(), len(sizes) - 1])


def _gain(rows: Rows) -> tuple[float, float, str]:
    """Return gain and standard deviation of one joint, or why there is none."""
    N, unknowns = len(rows), rows.Y.shape[2]
    effort = float(rows.rms_torque()[0])
    if unknowns >= N or effort <= 0.0:
        return np.nan, np.nan, f'only {N} usable samples of its effort'
    sizes = np.sqrt(np.mean(rows.Y[:, 0] ** 2, axis=0))
    if sizes[-1] <= _DUST * np.max(sizes):
        return np.nan, np.nan, 'the payload exerts no torque on it'
    prior = Prior(np.zeros(unknowns), _ROOM * effort / sizes)
    found = fit(rows, prior)
    inverse, sigma = found.x[-1], found.standard_deviations[-1]
    independent = N / float(found.correlation[0])
    taken = unknowns - float(np.sum(np.diag(found.covariance) / prior.standard_deviations ** 2))
    if independent <= taken + 1.0:
        return np.nan, np.nan, (f'its recordings are too short: {N} samples are only '
                                f'{independent:.0f} independent ones, for {unknowns} unknowns')
    # residuals lack what the unknowns absorbed, and that is a part of the independent ones
    sigma *= np.sqrt((1.0 - unknowns / N) / (1.0 - taken / independent))
    sigma *= _huber_factor(rows.residuals(found.x), found.weights)
    if inverse < -2.0 * sigma:
        return np.nan, np.nan, 'its effort falls where the payload adds torque: wrong sign?'
    if not sigma < KNOWN_GAIN * inverse:
        percent = 100.0 * sizes[-1] / effort
        return np.nan, np.nan, (f'the payload is {percent * inverse:.2g} +- {percent * sigma:.2g} '
                                '% of its effort')
    return 1.0 / inverse, sigma / inverse ** 2, ''


def _huber_factor(residuals: Array, weights: Array) -> float:
    """
    Return by how much Huber's weights make standard deviations too small.

    Weighted residuals are smaller than the noise. The variance of an estimate with Huber's
    influence psi is that of the noise times E(psi^2) / E(psi')^2 (Huber 1981, section 7.6).
    """
    psi, straight = weights * residuals, np.mean(weights == 1.0)
    believed = np.mean(psi * residuals) / np.mean(weights)
    return float(np.sqrt(np.mean(psi ** 2) / straight ** 2 / believed)) if believed > 0.0 else 1.0
