# SPDX-License-Identifier: Apache-2.0
"""The payload at the tip from a stream: the recursive form of `identify_payload`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.payload.estimate import (
    PRIOR_SIGMA,
    PayloadEstimate,
    gain_assumptions,
    gain_covariance,
    payload_estimate,
    scaled_with_efforts,
)
from robot_dynamics_ros.estimation.payload.identify import (
    ERROR_LIMIT,
    PayloadTerms,
    arm_model,
    uncertain_columns,
)
from robot_dynamics_ros.estimation.recordings.effort_torque import torque_shares
from robot_dynamics_ros.estimation.recursion.stream_blocks import StreamBlocks
from robot_dynamics_ros.estimation.regression.prior import Prior

_SIZE = len(PRIOR_SIGMA)
_PRIOR = Prior(np.zeros(_SIZE), PRIOR_SIGMA)


class PayloadEstimator:
    """
    Recursive least squares for the ten parameters of a payload, in square-root form.

    The state is the triangle of a QR decomposition of all rows so far, with old rows faded. The
    prior is added only when an estimate is asked for, so it never fades. The weights of the joints
    come from the identification of the arm and are constant: the result is exactly that of a
    weighted least squares, and a new payload counts as much as the first one. Weights learned from
    the errors, as for an arm, would mistake a new payload for noise.

    Standard deviations come from the jackknife over blocks of the stream, since neighbouring
    samples are alike and so are errors of the arm's model; those of the arm's parameters and of
    the gains of the drives, which no stretch of time shows, are added.

    :param chain: the robot.
    :param estimate: its parameters without payload; `residual_rms` weights the joints.
    :param memory: number of samples after which the weight of a sample has fallen to 1/e;
        inf = no sample fades.
    :param correlation: number of samples that carry the information of one independent one: the
        time constant of the smoother over the sampling period.
    :param error_limit: largest unexplained part of the torque with which the result is trusted.
    :param effort: meaning of the efforts that the torques come from, for how well their gains are
        known; None = torques of unknown calibration.
    :raises ParameterError: the parameters belong to another robot; a number below 1.
    """

    def __init__(self, chain: Chain, estimate: MlcEstimate, *, memory: float = np.inf,
                 correlation: float = 1.0, error_limit: float = ERROR_LIMIT,
                 effort: EffortSemantics | None = None) -> None:
        if not (memory >= 1.0 and correlation >= 1.0):
            raise ParameterError('payload: memory and correlation are numbers of samples, at '
                                 f'least 1; got {memory} and {correlation}')
        self._model = arm_model(chain, estimate)
        self._terms = PayloadTerms(self._model)
        self._effort = effort or EffortSemantics.torque(len(chain))
        self._scaled_arm = scaled_with_efforts(estimate)
        n = len(chain)
        self._shares_of_one = torque_shares(np.eye(n), self._effort).reshape(n, n * n)
        rms = np.nan_to_num(np.asarray(estimate.residual_rms))
        self._noise = np.maximum(rms, 1e-3 * max(float(np.max(rms)), 1.0))
        self._uncertain, self._arm_covariance = uncertain_columns(self._model, estimate)
        self._memory = float(memory)
        self._fading = 1.0 if np.isinf(memory) else float(np.exp(-0.5 / memory))
        self._correlation, self._error_limit = float(correlation), float(error_limit)
        self.reset()

    def reset(self) -> None:
        """Forget the payload."""
        self._triangle = np.zeros((_SIZE + 1, _SIZE + 1))
        self._by_drive = np.zeros((_SIZE, len(self._noise)))
        self._by_arm = np.zeros((_SIZE, len(self._uncertain)))
        self._blocks = StreamBlocks(_SIZE, len(self._noise), self._memory)
        self._rows = 0.0
        self._torque, self._left = 0.0, 0.0

    def update(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike) -> None:
        """
        Learn from one sample; joints with non-finite values are left out.

        :param q: (n,) smoothed positions [rad, m].
        :param qd: (n,) smoothed velocities [rad/s, m/s].
        :param qdd: (n,) smoothed accelerations [rad/s^2, m/s^2].
        :param tau: (n,) measured torques, equally filtered [N m, N]; NaN = none.
        """
        measured = np.asarray(tau, dtype=np.float64)
        left = (measured - self._model.torque(q, qd, qdd)) / self._noise
        usable = np.isfinite(left)
        if not np.any(usable):
            return
        state = [np.asarray(each, np.float64) for each in (q, qd, qdd)]
        Y = self._terms.regressor(*state)
        rows = np.column_stack([Y / self._noise[:, None], left])[usable]
        scaled = left * self._noise if self._scaled_arm else measured
        shares = (np.where(usable, scaled, 0.0) @ self._shares_of_one).reshape(len(scaled), -1)
        self._triangle = np.asarray(np.linalg.qr(
            np.vstack([self._fading * self._triangle, rows]), mode='r'))
        fading = self._fading**2
        self._by_drive = (fading * self._by_drive
                          + rows[:, :_SIZE].T @ (shares / self._noise[:, None])[usable])
        if self._uncertain:
            arm = self._model.regressor(state[0], state[1], state[2],
                                        joint_terms=True)[:, self._uncertain]
            self._by_arm = (fading * self._by_arm
                            + rows[:, :_SIZE].T @ (arm / self._noise[:, None])[usable])
        self._blocks.add(Y, left * self._noise, np.where(usable, 0.0, np.nan), self._noise,
                         self._fading)
        self._rows = fading * self._rows + len(rows)
        self._torque = fading * self._torque + float(np.sum((measured / self._noise)[usable]**2))
        self._left = fading * self._left + float(np.sum(left[usable]**2))

    @property
    def estimate(self) -> PayloadEstimate:
        """What is known about the payload now."""
        R = np.vstack([self._triangle, np.column_stack([np.diag(1.0 / PRIOR_SIGMA),
                                                        np.zeros(_SIZE)])])
        R = np.asarray(np.linalg.qr(R, mode='r'))
        x = np.linalg.solve(R[:_SIZE, :_SIZE], R[:_SIZE, _SIZE])
        rest = self._triangle[:, :_SIZE] @ x - self._triangle[:, _SIZE]
        variance = float(rest @ rest) / max(self._rows - _SIZE, 1.0)
        # the prior is not scaled with the noise of the data
        information = self._triangle[:, :_SIZE].T @ self._triangle[:, :_SIZE]
        information = information / max(variance * self._correlation, 1e-12)
        # in units of the prior its own part is 1: however much the data say, nothing is singular
        known, directions = np.linalg.eigh(np.outer(PRIOR_SIGMA, PRIOR_SIGMA) * information)
        spread = PRIOR_SIGMA[:, None] * directions / np.sqrt(1.0 + np.maximum(known, 0.0))
        covariance = np.asarray(spread @ spread.T)
        stated = np.sqrt(np.diag(covariance))
        factor = self._blocks.standard_deviations(_PRIOR, stated) / stated
        covariance = covariance * np.outer(factor, factor)

        def response(by: Array) -> Array:
            return np.asarray(np.linalg.solve(
                R[:_SIZE, :_SIZE], np.linalg.solve(R[:_SIZE, :_SIZE].T, by)))

        arm = response(self._by_arm)
        covariance += arm @ self._arm_covariance @ arm.T
        covariance += gain_covariance(response(self._by_drive), self._effort)
        size = self._torque or np.inf
        error_with = float(np.sqrt(rest @ rest / size))
        doubts: tuple[str, ...] = ()
        if self._rows <= _SIZE:
            doubts = ('too few samples so far',)
        elif error_with > self._error_limit:
            doubts = (f'{100 * error_with:.0f} % of the torque stays unexplained',)
        return payload_estimate(self._terms.chain.tip, x, covariance,
                                error_without=float(np.sqrt(self._left / size)),
                                error_with=error_with, doubts=doubts,
                                assumptions=gain_assumptions(self._terms.chain, self._effort))

    @property
    def triangle(self) -> Array:
        """The triangle (11, 11) of all rows so far, faded."""
        return self._triangle.copy()
