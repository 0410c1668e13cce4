# SPDX-License-Identifier: Apache-2.0
"""Minimal parameters learned while the robot works: joint states in, estimates out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.estimation.identification.study import NOT_NEGATIVE, excited_unknowns
from robot_dynamics_ros.estimation.recordings.cleaning import CutOut
from robot_dynamics_ros.estimation.regression.least_squares import without_negative
from robot_dynamics_ros.estimation.regression.prior import prior_from_chain
from robot_dynamics_ros.estimation.regression.recursive import RecursiveLeastSquares
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms
from robot_dynamics_ros.estimation.smoothing.fixed_lag import SmoothedState
from robot_dynamics_ros.estimation.smoothing.stream_sampler import StreamSampler

#: A robot whose joints are all slower than this part of their fastest speed so far stands still.
_STILL = 0.01

#: Forgetting stops while new samples bring less than this part of what it takes away.
_POOR = 0.7

#: Converged: what the uncertainty of the parameters adds to the torque is below this part of the
#: prediction error.
_CONVERGED = 0.3

#: Memory of the averages, in samples used; a poor motion must be noticed sooner.
_MEMORY, _GAIN_MEMORY = 400.0, 100.0


class OnlineEstimator:
    """
    Estimates the parameters of one robot from its joint states, sample by sample.

    Samples that cannot be used (NaN, backward time, gaps, saturated effort) are left out and
    counted in `cut_out`. While the robot stands still nothing is learned and nothing forgotten;
    while the motion shows little that is new, nothing is forgotten.
    """

    def __init__(self, chain: Chain, *, effort: EffortSemantics | None = None,
                 cutoff: float = 10.0, horizon: float = 60.0, prior_strength: float = 1.0,
                 compiled: bool | None = None) -> None:
        """
        Begin with the parameters of the chain.

        :param chain: the robot.
        :param effort: what the efforts mean; None = joint torques [N m, N].
        :param cutoff: of the smoother [Hz]; lowered to 0.4 of the sampling rate.
        :param horizon: time of motion after which a sample counts 1/e [s].
        :param prior_strength: of the belief in the chain's parameters.
        :param compiled: of the recursion; None = where numba is installed.
        :raises ParameterError: a cut-off frequency or horizon that is not positive.
        """
        if not (cutoff > 0.0 and horizon > 0.0):
            raise ParameterError('online estimation: cutoff and horizon must be positive, got '
                                 f'{cutoff} Hz and {horizon} s')
        self.chain = chain
        self._effort = effort or EffortSemantics.torque(len(chain))
        self._terms = TorqueTerms(chain, gravity_removed=self._effort.gravity_removed)
        self.unknowns = self._terms.choice()
        self._columns = list(self.unknowns.columns)
        self._cutoff, self._horizon = float(cutoff), float(horizon)
        self._strength, self._compiled = prior_strength, compiled
        self._not_negative = np.array([name.startswith(NOT_NEGATIVE)
                                       for name in self.unknowns.names])
        self._load = np.zeros(len(self.unknowns.mlc))
        self.reset()

    def reset(self) -> None:
        """Forget everything and begin anew; what the robot carries stays known."""
        self._sampler = StreamSampler(self.chain, self._effort, self._cutoff)
        self._recursion: RecursiveLeastSquares | None = None
        self._cut = CutOut()
        self._fastest = np.zeros(len(self.chain))
        self._frozen = False
        self._gain = self._spread = 0.0
        self._squares = np.zeros((2, len(self.chain)))

    @property
    def cut_out(self) -> CutOut:
        """What was not used so far."""
        return self._cut + self._sampler.cut_out

    @property
    def lag(self) -> float:
        """Time by which the samples in use are older than the newest one [s]; NaN at first."""
        return self._sampler.lag

    @property
    def samples(self) -> int:
        """Number of smoothed samples used."""
        return 0 if self._recursion is None else self._recursion.samples

    @property
    def relative_error(self) -> Array:
        """Recent error of the prediction one sample ahead (n,), relative; NaN at first."""
        with np.errstate(invalid='ignore', divide='ignore'):
            return np.asarray(np.sqrt(self._squares[0] / self._squares[1]))

    def feed(self, t: float, q: ArrayLike, qd: ArrayLike | None, tau: ArrayLike) -> Array | None:
        """
        Take one joint state.

        :param t: time [s].
        :param q: (n,) positions [rad, m].
        :param qd: (n,) speeds [rad/s, m/s]; None = not measured.
        :param tau: (n,) efforts as the robot reports them; NaN = none.
        :returns: (n,) error of the torque predicted for the last sample that was used
            [N m, N], or None if none was.
        :raises StateError: a wrong size.
        """
        n = len(self.chain)
        position, effort = np.asarray(q, dtype=np.float64), np.asarray(tau, dtype=np.float64)
        speed = None if qd is None else np.asarray(qd, dtype=np.float64)
        for name, values in (('q', position), ('qd', speed), ('tau', effort)):
            if values is not None and values.shape != (n,):
                raise StateError(f'{name} has shape {values.shape}, expected ({n},): '
                                 f'{", ".join(self.chain.joint_names)}')
        return self.feed_many(np.array([t], dtype=np.float64), position[None],
                              None if speed is None else speed[None], effort[None])

    def feed_many(self, t: Array, q: Array, qd: Array | None, tau: Array) -> Array | None:
        """
        Take N joint states at once, as `feed` one after the other; quicker.

        :param t: (N,) time [s].
        :param q: (N, n) positions [rad, m].
        :param qd: (N, n) speeds [rad/s, m/s]; None = not measured.
        :param tau: (N, n) efforts as the robot reports them; NaN = none.
        :returns: as of `feed`.
        """
        states = self._sampler.feed_many(t, q, qd, tau)
        if self._recursion is None and self._sampler.step > 0.0:
            self._recursion = self._begun(self._sampler.first_torque, self._sampler.step)
        error = None
        for state in states:
            error = self._learn(state)
        return error

    def _begun(self, torque: Array, step: float) -> RecursiveLeastSquares:
        """Return a recursion that starts from the chain; torques of the URDF give the scale."""
        n = len(self.chain)
        weight = self._terms.model.gravity_torque(np.zeros(n))
        limits = np.nan_to_num(0.1 * self.chain.effort_limits)
        size = np.maximum.reduce([torque, np.abs(weight), limits])
        size = np.maximum(size, 0.05 * np.max(size) + 1e-6)
        speed = np.nan_to_num(0.2 * self.chain.velocity_limits, nan=1.0)
        prior = prior_from_chain(self.unknowns, size, speed, self._strength)
        recursion = RecursiveLeastSquares(prior, self.unknowns.blocks, size,
                                          horizon=max(self._horizon / step, 2.0),
                                          compiled=self._compiled)
        recursion.shift(self._in_unknowns(self._load))
        return recursion

    def carry(self, load: Array) -> None:
        """
        Go on with the same arm and another known load; estimates are of the arm alone.

        :param load: (p,) what the load adds to the minimal parameters.
        """
        if self._recursion is not None:
            self._recursion.shift(self._in_unknowns(load - self._load))
        self._load = np.array(load, dtype=np.float64)

    def _in_unknowns(self, minimal: Array) -> Array:
        """Return what a change of the minimal parameters changes in the unknowns (u,)."""
        return np.asarray(self.unknowns.grouping[:, :minimal.size] @ minimal)

    @property
    def excitation(self) -> Array:
        """Part of the unknowns of every joint that the motion has shown (n,), 0 to 1."""
        recursion, blocks = self._recursion, np.asarray(self.unknowns.blocks)
        shown = np.zeros(blocks.size)
        if recursion is not None:
            deviations = np.sqrt(np.diag(recursion.covariance))
            shown += excited_unknowns(deviations, recursion.prior, np.zeros_like(shown, bool))
        return np.array([np.mean(shown[blocks == j]) if np.any(blocks == j) else 1.0
                         for j in range(len(self.chain))])

    def state(self) -> dict[str, Array]:
        """Return what was learned so far, for `restore`; nothing before the first samples."""
        if self._recursion is None:
            return {}
        return {**self._recursion.state(), 'load': self._load, 'fastest': self._fastest,
                'averages': np.array([self._gain, self._spread]), 'squares': self._squares}

    def restore(self, state: Mapping[str, Array]) -> None:
        """
        Go on where an estimator of the same robot was.

        :param state: of `state`.
        :raises ParameterError: of another robot.
        """
        self.reset()
        if not state:
            return
        n, p = len(self.chain), len(self.unknowns.mlc)
        shapes = {'load': (p,), 'fastest': (n,), 'averages': (2,), 'squares': (2, n)}
        for name, shape in shapes.items():
            if name not in state or state[name].shape != shape:
                raise ParameterError(f'online estimation: {name} of the state is missing or of '
                                     'another size')
        recursion = self._begun(np.zeros(n), 1.0)
        recursion.restore(state)
        load, self._load = self._load, np.array(state['load'])
        self._recursion = recursion
        self._fastest, self._squares = state['fastest'].copy(), state['squares'].copy()
        self._gain, self._spread = (float(value) for value in state['averages'])
        self.carry(load)

    def _learn(self, state: SmoothedState) -> Array | None:
        """Use one smoothed sample."""
        recursion = self._recursion
        assert recursion is not None
        self._fastest = np.maximum(self._fastest, np.abs(state.qd))
        if np.all(np.abs(state.qd) <= _STILL * np.maximum(self._fastest, 1e-6)):
            self._frozen = True
            self._cut += CutOut(standstill=1)
            return None
        Y = self._terms.regressor(state.q[None], state.qd[None], state.qdd[None])[0]
        rows = np.ascontiguousarray(Y[:, self._columns])
        poor = recursion.samples > _MEMORY and self._gain < _POOR * recursion.loss
        error = recursion.update(rows, state.tau, forget=not poor)
        self._frozen = poor
        fade = 1.0 / min(recursion.samples, _MEMORY)
        self._gain += max(fade, 1.0 / _GAIN_MEMORY) * (recursion.gain - self._gain)
        measured = np.isfinite(error)
        new = np.stack([np.where(measured, error, 0.0), np.where(measured, state.tau, 0.0)]) ** 2
        self._squares += fade * (new - self._squares) * measured
        self._add_spread(rows, measured)
        return error

    def _add_spread(self, rows: Array, measured: Mask) -> None:
        """Now and then, average the torque variance that uncertain parameters cause, relative."""
        recursion = self._recursion
        assert recursion is not None
        if recursion.samples % 25 or not np.any(measured):
            return
        inverse = np.linalg.solve(recursion.triangle.T, rows[measured].T)
        share = np.sum(inverse ** 2, axis=0) / recursion.deviation[measured] ** 2
        self._spread += 0.2 * (float(np.mean(share)) - self._spread)

    def estimate(self) -> MlcEstimate:
        """Return what is known now; the parameters of the chain before any sample was used."""
        chain, unknowns = self.chain, self.unknowns
        mlc = replace(unknowns.mlc, formulas=unknowns.formulas)
        recursion = self._recursion
        if recursion is None or recursion.samples == 0:
            x = unknowns.values(unknowns.mlc.of(chain), chain.joint_physics)
            size = len(unknowns)
            return MlcEstimate(
                chain.robot, chain.base, chain.tip, mlc.with_values(unknowns.minimal(x)),
                unknowns.physics(x, None), (False,) * len(mlc), unknowns.names,
                np.full((size, size), np.nan), 0, float('inf'), np.full(len(chain), np.nan),
                EstimateState.FROM_URDF)
        solution = recursion.solution()
        x, free = solution.x, without_negative(solution, recursion.prior, self._not_negative)
        if not np.all(free):
            z = solution.triangle @ x
            x = np.zeros(x.size)
            x[free] = np.linalg.lstsq(solution.triangle[:, free], z, rcond=None)[0]
        x = x - self._in_unknowns(self._load)
        covariance = recursion.covariance
        sure = excited_unknowns(np.sqrt(np.diag(covariance)), recursion.prior, ~free)
        known = dict(zip(unknowns.names, sure.tolist()))
        state = EstimateState.LEARNING
        if self._frozen:
            state = EstimateState.FROZEN
        elif recursion.samples > _MEMORY and self._spread < _CONVERGED ** 2:
            state = EstimateState.CONVERGED
        return MlcEstimate(
            chain.robot, chain.base, chain.tip, mlc.with_values(unknowns.minimal(x)),
            unknowns.physics(x, None), tuple(known.get(name, False) for name in mlc.names),
            unknowns.names, covariance, recursion.samples, recursion.condition_number,
            recursion.deviation, state)
