# SPDX-License-Identifier: Apache-2.0
"""
The payload at the tip of an identified arm, from recordings.

The payload is link n+1 (Lu & Meng 1993). The torque that the arm does not explain is linear in the
ten standard parameters of the payload, which are found by the same least squares as those of the
arm. Their standard deviations include the uncertainty of the arm's parameters and of the gains of
the drives, which do not average out however long the recording is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.inertia import STANDARD_PARAMETERS
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters, payload_matrix
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.payload.estimate import (
    PRIOR_SIGMA,
    PayloadEstimate,
    gain_assumptions,
    gain_covariance,
    payload_estimate,
    scaled_with_efforts,
)
from robot_dynamics_ros.estimation.recordings.effort_torque import removed_weight, torque_shares
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.regression.jackknife import jackknifed
from robot_dynamics_ros.estimation.regression.least_squares import Fit, fit
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows, regression_rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.preparation import prepare
from robot_dynamics_ros.estimation.smoothing.zero_phase import SmoothedSamples

#: Nothing is trusted if a larger part of the torque than this stays unexplained.
ERROR_LIMIT = 0.2


class PayloadTerms:
    """
    The columns of a payload at the tip.

    A payload adds to the standard parameters of link n, and so to the minimal parameters: its
    columns are combinations of those of the compiled model.

    :param model: model of the arm; its parameters are not used.
    """

    columns = STANDARD_PARAMETERS

    def __init__(self, model: Model) -> None:
        self.chain = model.chain
        self._model = model
        self._on_minimal = payload_matrix(model.mlc, self.chain)

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the columns (n, 10) or (N, n, 10) of the parameters in the tip frame."""
        return np.asarray(self._model.regressor(q, qd, qdd) @ self._on_minimal)


def arm_model(chain: Chain, estimate: MlcEstimate) -> Model:
    """
    Return the model of the arm without payload, with identified parameters.

    :raises ParameterError: the parameters belong to another robot.
    """
    model = compile_model(chain)
    expected = minimal_parameters(chain, estimate.mlc.set)
    if expected.model_hash != estimate.mlc.model_hash:
        raise ParameterError(f'the parameters are of {estimate.robot} from {estimate.base_link} '
                             f'to {estimate.tip_link}, not of this {chain.robot}: joints, '
                             'geometry or gravity differ')
    model.swap(estimate.mlc.converted_to(model.mlc).values, estimate.joint_physics)
    return model


def identify_payload(chain: Chain, estimate: MlcEstimate,
                     recordings: Recording | Sequence[Recording], *,
                     effort: EffortSemantics | None = None, error_limit: float = ERROR_LIMIT,
                     **options: Any) -> PayloadEstimate:
    """
    Return the payload that a robot carried in recordings.

    :param chain: the robot.
    :param estimate: its parameters without payload.
    :param recordings: one or many recordings with the same payload.
    :param effort: meaning of the efforts and how well their gains are known; None = joint torques
        [N m, N] of unknown calibration.
    :param error_limit: largest unexplained part of the torque with which the result is trusted.
    :param options: fields of `IdentificationSettings`.
    :raises ParameterError: the parameters belong to another robot.
    :raises RecordingError: a recording that cannot be used, or of another robot.
    :raises IdentificationError: nothing moves.
    """
    model = arm_model(chain, estimate)
    settings = IdentificationSettings(**options)
    meaning = effort or EffortSemantics.torque(len(chain))
    given = [recordings] if isinstance(recordings, Recording) else list(recordings)
    prepared = prepare(chain, given, meaning, settings)
    left = [replace(part, tau=part.tau - _arm_torque(model, part, meaning))
            for part in prepared.samples]
    rows = regression_rows(PayloadTerms(model), left, prepared.moving, prepared.parallel_cutoff)
    prior = Prior(np.zeros(len(PRIOR_SIGMA)), PRIOR_SIGMA)
    found = fit(rows, prior, settings.method)
    arm = regression_rows(TorqueTerms(chain, gravity_removed=meaning.gravity_removed),
                          prepared.samples, prepared.moving, prepared.parallel_cutoff)
    scaled = rows if scaled_with_efforts(estimate) else arm
    shares = torque_shares(np.where(rows.usable, scaled.tau, 0.0), meaning)
    covariance = (jackknifed(found, rows, prior, settings.method).covariance
                  + _arm_covariance(found, rows, arm, estimate, model)
                  + gain_covariance(_response(found, rows, shares), meaning))
    size = _rms(arm.tau, rows)
    error_without = _rms(rows.tau, rows) / size
    error_with = _rms(rows.residuals(found.x), rows) / size
    doubts = () if error_with <= error_limit else (
        f'{100 * error_with:.0f} % of the torque stays unexplained: another robot, other '
        'parameters, or another meaning of the efforts?',)
    return payload_estimate(chain.tip, found.x, covariance, error_without=error_without,
                            error_with=error_with, doubts=doubts,
                            assumptions=gain_assumptions(chain, meaning))


def _arm_torque(model: Model, part: SmoothedSamples, effort: EffortSemantics) -> Array:
    """Return what the arm alone explains of the measured torque (N, n)."""
    return (model.torque(part.q, part.qd, part.qdd)
            - removed_weight(model.gravity_torque, part.q, effort))


def uncertain_columns(model: Model, estimate: MlcEstimate) -> tuple[list[int], Array]:
    """
    Return the columns of the arm whose parameters are uncertain, and their covariance.

    Empty where nothing is known about it: parameters of a URDF, or of another minimal set.

    :param model: model of the arm.
    :param estimate: its parameters.
    """
    columns = dict(zip(model.columns, range(len(model.columns))))
    places = [k for k, name in enumerate(estimate.unknowns) if name in columns]
    covariance = estimate.covariance[np.ix_(places, places)]
    if estimate.mlc.set != model.mlc.set or not np.all(np.isfinite(covariance)):
        return [], np.zeros((0, 0))
    return [columns[estimate.unknowns[k]] for k in places], np.asarray(covariance)


def _arm_covariance(found: Fit, rows: Rows, arm: Rows, estimate: MlcEstimate,
                    model: Model) -> Array:
    """Return the covariance (10, 10) due to the uncertainty of the arm's parameters."""
    columns, covariance = uncertain_columns(model, estimate)
    response = _response(found, rows, arm.Y[:, :, columns])
    return np.asarray(response @ covariance @ response.T)


def _response(found: Fit, rows: Rows, columns: Array) -> Array:
    """Return the change (10, u) of the payload's parameters with the torques (N, n, u)."""
    weights = found.weights * rows.usable / (found.residual_sigma**2 * found.correlation)
    return np.asarray(found.covariance @ np.einsum('tjk,tj,tju->ku', rows.Y, weights, columns,
                                                   optimize=True))


def _rms(values: Array, rows: Rows) -> float:
    """Return the root mean square over the usable entries."""
    return float(np.sqrt(np.mean(values[rows.usable]**2)))
