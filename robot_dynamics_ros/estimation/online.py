# SPDX-License-Identifier: Apache-2.0
"""Minimal parameters learned while the robot works, from a stream of joint states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.dynamics.formulations.wrenches import wrench_torque
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.estimation.consistency.mass_matrix import (
    mass_matrix_objection,
    possible_postures,
)
from robot_dynamics_ros.estimation.consistency.possible import possible_unknowns
from robot_dynamics_ros.estimation.identification.study import excited_unknowns, not_negative
from robot_dynamics_ros.estimation.recordings.cleaning import CutOut
from robot_dynamics_ros.estimation.recursion.learning_state import LearningState, require_sizes
from robot_dynamics_ros.estimation.recursion.outliers import OutlierBuffer, TorqueSample, far_off
from robot_dynamics_ros.estimation.recursion.recursive import (
    RecursiveLeastSquares,
    inner_loops,
)
from robot_dynamics_ros.estimation.recursion.stream_blocks import StreamBlocks
from robot_dynamics_ros.estimation.recursion.stream_columns import StreamColumns
from robot_dynamics_ros.estimation.regression.friction_law import FrictionLaw
from robot_dynamics_ros.estimation.regression.least_squares import without_negative
from robot_dynamics_ros.estimation.regression.prior import prior_from_chain
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms
from robot_dynamics_ros.estimation.smoothing.fixed_lag import SmoothedState
from robot_dynamics_ros.estimation.smoothing.stream_sampler import StreamSampler


class OnlineEstimator:
    """
    Estimates the parameters of one robot from its joint states, sample by sample.

    Unusable samples (NaN, backward time, gaps, saturated effort, implausible values, torques far
    from their prediction for a moment) are left out and counted in `cut_out`. While the robot
    stands still or reports no effort, nothing is learned and nothing forgotten; while the motion
    adds little new information, nothing is forgotten.

    :param chain: the robot.
    :param effort: meaning of the efforts; None = joint torques [N m, N].
    :param cutoff: cut-off frequency of the smoother [Hz], at most 0.4 of the sampling rate.
    :param horizon: time of motion after which the weight of a sample has fallen to 1/e [s].
    :param prior_strength: confidence in the parameters of the chain; 1 = their errors may be
        as large as the links.
    :param load_friction: learn friction under load in all joints; the friction law of the chain
        (static, asymmetric, presliding, under load) is learned in any case.
    :param compiled: compile the recursion by numba; None = where numba is installed.
    :raises ParameterError: a cut-off frequency or horizon that is not positive.
    """

    def __init__(self, chain: Chain, *, effort: EffortSemantics | None = None,
                 cutoff: float = 10.0, horizon: float = 60.0, prior_strength: float = 1.0,
                 load_friction: bool = False, compiled: bool | None = None) -> None:
        if not (cutoff > 0.0 and horizon > 0.0):
            raise ParameterError('online estimation: cutoff and horizon must be positive, got '
                                 f'{cutoff} Hz and {horizon} s')
        self.chain = chain
        self._effort = effort or EffortSemantics.torque(len(chain))
        self._terms = TorqueTerms(chain, gravity_removed=self._effort.gravity_removed)
        law = FrictionLaw.of(chain.joint_physics)
        if load_friction:
            law = replace(law, loaded=np.ones_like(law.loaded))
        self._columns = StreamColumns(self._terms, law)
        self.unknowns = self._columns.unknowns
        self._cutoff, self._horizon = float(cutoff), float(horizon)
        self._strength, self._compiled = prior_strength, compiled
        self._not_negative = not_negative(self.unknowns.names, self._effort.side)
        self._payload = np.zeros(len(self.unknowns.mlc))
        self._postures = possible_postures(chain)
        self._judge: Model | None = None  # to look at mass matrices
        self._prepare()
        self.reset()

    def _prepare(self) -> None:
        """Compile now what would stop a stream at its first samples for a second or more."""
        inner_loops(self._compiled)
        rest = np.zeros((1, len(self.chain)))
        self._columns.at(rest, rest, rest, np.zeros(len(self.unknowns)))

    def reset(self) -> None:
        """Forget everything and restart; the known payload is kept."""
        self._sampler = StreamSampler(self.chain, self._effort, self._cutoff)
        self._recursion: RecursiveLeastSquares | None = None
        self._columns.reset()
        self._blocks = StreamBlocks(len(self.unknowns), len(self.chain), np.inf)
        self._cut = CutOut()
        self._learning = LearningState(self.chain, self._columns, self._horizon)
        self._outliers = OutlierBuffer()

    @property
    def cut_out(self) -> CutOut:
        """Counts of what was not used so far."""
        return (self._cut + self._sampler.cut_out
                + CutOut(unexpected_torque=self._outliers.outliers))

    @property
    def lag(self) -> float:
        """Age of the smoothed samples when they are used [s]; NaN at first."""
        return self._sampler.lag

    @property
    def samples(self) -> int:
        """Number of smoothed samples used; each has the torque of at least one joint."""
        return 0 if self._recursion is None else self._recursion.samples

    @property
    def relative_error(self) -> Array:
        """Recent relative error of the prediction one sample ahead (n,); NaN at first."""
        return self._learning.relative_error

    def feed(self, t: float, q: ArrayLike, qd: ArrayLike | None, tau: ArrayLike,
             wrench: ArrayLike | None = None) -> Array | None:
        """
        Take one joint state.

        :param t: time [s].
        :param q: (n,) positions [rad, m].
        :param qd: (n,) velocities [rad/s, m/s]; None = not measured.
        :param tau: (n,) efforts as the robot reports them; NaN = none.
        :param wrench: (6,) force and moment of the environment on the tip link, at its origin, in
            its frame [N, N m], measured at this time; None = nothing touches it.
        :returns: (n,) error of the torque predicted for the last sample that was used [N m, N];
            None if no sample was used.
        :raises StateError: a wrong size.
        """
        n = len(self.chain)
        position, effort = np.asarray(q, dtype=np.float64), np.asarray(tau, dtype=np.float64)
        velocity = None if qd is None else np.asarray(qd, dtype=np.float64)
        for name, values in (('q', position), ('qd', velocity), ('tau', effort)):
            if values is not None and values.shape != (n,):
                raise StateError(f'{name} has shape {values.shape}, expected ({n},): '
                                 f'{", ".join(self.chain.joint_names)}')
        return self.feed_many(np.array([t], dtype=np.float64), position[None],
                              None if velocity is None else velocity[None], effort[None],
                              None if wrench is None else np.asarray(wrench, np.float64)[None])

    def feed_many(self, t: Array, q: Array, qd: Array | None, tau: Array,
                  wrench: Array | None = None) -> Array | None:
        """
        Take N joint states at once: the same as N calls of `feed`, but faster.

        :param t: (N,) time [s].
        :param q: (N, n) positions [rad, m].
        :param qd: (N, n) velocities [rad/s, m/s]; None = not measured.
        :param tau: (N, n) efforts as the robot reports them; NaN = none.
        :param wrench: (N, 6) wrenches as for `feed`; None = nothing touches the tip.
        :returns: (n,) prediction error as from `feed`.
        """
        outer = (None if wrench is None
                 else wrench_torque(self.chain, q, {self.chain.tip: wrench}))
        states = self._sampler.feed_many(t, q, qd, tau, outer)
        if self._recursion is None and self._sampler.step > 0.0:
            self._recursion = self._started(self._sampler.first_torque, self._sampler.step)
            self._blocks = StreamBlocks(len(self.unknowns), len(self.chain),
                                        self._horizon / self._sampler.step)
        error = None
        for state in states:
            error = self._learn(state)
        return error

    def expected(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> tuple[Array, Array]:
        """
        Return the torque (n,) expected in a state, and how far off it may be (n,) [N m, N].

        The standard deviation is that of uncertain parameters and of what no parameter explains;
        it shrinks as the robot is learned. Infinite before the first samples.

        :param q: (n,) positions [rad, m].
        :param qd: (n,) velocities [rad/s, m/s].
        :param qdd: (n,) accelerations [rad/s^2, m/s^2].
        """
        recursion = self._recursion
        state = [np.asarray(each, dtype=np.float64)[None] for each in (q, qd, qdd)]
        if recursion is None:
            n = len(self.chain)
            return np.zeros(n), np.full(n, np.inf)
        rows = self._columns.at(state[0], state[1], state[2], recursion.x)[0]
        spread = np.linalg.solve(recursion.triangle.T, rows.T)
        variance = np.sum(spread ** 2, axis=0) + recursion.residual_sigma ** 2
        return np.asarray(rows @ recursion.solution().x), np.sqrt(variance)

    def _started(self, torque: Array, step: float) -> RecursiveLeastSquares:
        """Return a recursion that starts from the chain, scaled by typical torques."""
        n = len(self.chain)
        gravity = self._terms.model.gravity_torque(np.zeros(n))
        limits = np.nan_to_num(0.1 * self.chain.effort_limits)
        size = np.maximum.reduce([torque, np.abs(gravity), limits])
        size = np.maximum(size, 0.05 * np.max(size) + 1e-6)
        velocity = np.nan_to_num(0.2 * self.chain.velocity_limits, nan=1.0)
        prior = prior_from_chain(self.unknowns, size, velocity, strength=self._strength)
        recursion = RecursiveLeastSquares(prior, self.unknowns.blocks, size,
                                          horizon=max(self._horizon / step, 2.0),
                                          compiled=self._compiled)
        recursion.shift(self._in_unknowns(self._payload))
        return recursion

    def carry(self, payload: Array) -> None:
        """
        Continue with another known payload; estimates remain those of the arm alone.

        :param payload: (p,) contribution of the payload to the minimal parameters.
        """
        if self._recursion is not None:
            step = self._in_unknowns(payload - self._payload)
            self._recursion.shift(step)
            self._blocks.shift(step)
        self._payload = np.array(payload, dtype=np.float64)

    def _in_unknowns(self, minimal: Array) -> Array:
        """Return the change of the unknowns (u,) that a change of the minimal parameters makes."""
        return np.asarray(self.unknowns.grouping[:, :minimal.size] @ minimal)

    @property
    def excitation(self) -> Array:
        """Fraction of the unknowns of each joint that the motion has excited (n,)."""
        recursion, blocks = self._recursion, np.asarray(self.unknowns.blocks)
        excited = np.zeros(blocks.size)
        if recursion is not None:
            sigma = np.sqrt(np.diag(self._covariance(recursion)))
            excited += excited_unknowns(sigma, recursion.prior, np.zeros_like(excited, bool))
        return np.array([np.mean(excited[blocks == j]) if np.any(blocks == j) else 1.0
                         for j in range(len(self.chain))])

    def state(self) -> dict[str, Array]:
        """Return the state of the estimator, for `restore`; empty before the first samples."""
        if self._recursion is None:
            return {}
        return {**self._recursion.state(), **self._blocks.state(),
                'law': self._columns.law.numbers, 'load': self._payload,
                **self._learning.state()}

    def continues(self, other: OnlineEstimator) -> bool:
        """Return whether another estimator can continue from this one's state."""
        return (self.unknowns.mlc.model_hash == other.unknowns.mlc.model_hash
                and np.array_equal(self._columns.law.numbers, other._columns.law.numbers))

    def restore(self, state: Mapping[str, Array]) -> None:
        """
        Continue from the state of an estimator of the same robot.

        :param state: arrays returned by `state`.
        :raises ParameterError: the state of another robot or friction law.
        """
        self.reset()
        if not state:
            return
        law = self._columns.law
        plain = FrictionLaw.plain(len(self.chain), law.coulomb_velocity)
        if not np.array_equal(state.get('law', plain.numbers), law.numbers):
            raise ParameterError('online estimation: the state belongs to another friction law '
                                 '(coulomb_velocity, Stribeck velocity, presliding, friction '
                                 'under load or asymmetry of the joints)')
        require_sizes(state, {'load': self._payload})
        learning = LearningState(self.chain, self._columns, self._horizon)
        learning.restore(state)
        n = len(self.chain)
        recursion = self._started(np.zeros(n), 1.0)
        recursion.restore(state)
        self._blocks = StreamBlocks(len(self.unknowns), n, recursion.horizon)
        self._blocks.restore(state)
        learning.expect(recursion.residual_sigma)
        self._recursion, self._learning = recursion, learning
        carried, self._payload = self._payload, np.array(state['load'])
        self.carry(carried)

    def _learn(self, state: SmoothedState) -> Array | None:
        """Learn from one smoothed sample."""
        recursion, learning = self._recursion, self._learning
        assert recursion is not None
        if learning.at_rest(state.qd):
            self._cut += CutOut(standstill=1)
            return None
        if not np.any(np.isfinite(state.tau)):  # without a torque nothing is learned or forgotten
            learning.freeze()
            return None
        Y = self._columns.along(state.q, state.qd, state.qdd, recursion.x)
        if not np.isfinite(Y).all():  # once absorbed, it would never leave the triangle
            self._cut += CutOut(invalid_state=1)
            return None
        learning.moved(state.qd, state.qdd, recursion.samples)
        sample = np.ascontiguousarray(Y), state.tau
        error = None
        far = far_off(recursion, sample, learning.torque)
        for each in self._outliers.passed(sample, far):
            error = self._absorb(recursion, each)
        return error

    def _absorb(self, recursion: RecursiveLeastSquares, sample: TorqueSample) -> Array:
        """Learn from a sample that is no outlier; return the error of its prediction."""
        rows, tau = sample
        forget, sigma = self._learning.may_forget(recursion), recursion.residual_sigma
        error = recursion.update(rows, tau, forget=forget)
        self._blocks.add(rows, tau, error, sigma, recursion.fading)
        self._learning.learned(recursion, tau, error, sigma)
        return error

    def _covariance(self, recursion: RecursiveLeastSquares) -> Array:
        """Return the covariance (u, u): the correlations of the recursion, other sigmas."""
        covariance = recursion.covariance
        stated = np.sqrt(np.diag(covariance))
        factor = self._blocks.standard_deviations(recursion.prior, stated) / stated
        return np.asarray(covariance * np.outer(factor, factor))

    def _possible_values(self, x: Array, covariance: Array, free: Mask) -> Array:
        """Return the nearest unknowns (u,) of possible bodies where no robot has this inertia."""
        unknowns = self.unknowns
        if self._judge is None:
            self._judge = compile_model(self.chain)
        self._judge.swap(unknowns.minimal(x), unknowns.physics(x, self._columns.law))
        if not mass_matrix_objection(self._judge, self._postures):
            return x
        # the covariance of the free unknowns, given that the others are zero
        given = np.zeros_like(covariance)
        places = np.ix_(free, free)
        given[places] = np.linalg.inv(np.linalg.inv(covariance)[places])
        return possible_unknowns(unknowns, x, given, free, self._not_negative)

    def estimate(self) -> MlcEstimate:
        """Return the current estimate; the parameters of the chain before any sample was used."""
        chain, unknowns = self.chain, self.unknowns
        mlc = replace(unknowns.mlc, formulas=unknowns.formulas)
        recursion = self._recursion
        if recursion is None or recursion.samples == 0:
            x = unknowns.values(unknowns.mlc.of(chain), chain.joint_physics)
            size = len(unknowns)
            return MlcEstimate(
                chain.robot, chain.base, chain.tip, mlc.with_values(unknowns.minimal(x)),
                unknowns.physics(x, self._columns.law), (False,) * len(mlc), unknowns.names,
                np.full((size, size), np.nan), 0, float('inf'), np.full(len(chain), np.nan),
                EstimateState.FROM_URDF)
        solution = recursion.solution()
        x, free = solution.x, without_negative(solution, recursion.prior, self._not_negative)
        if not np.all(free):
            z = solution.triangle @ x
            x = np.zeros(x.size)
            x[free] = np.linalg.lstsq(solution.triangle[:, free], z, rcond=None)[0]
        x = x - self._in_unknowns(self._payload)
        covariance = self._covariance(recursion)
        state = self._learning.verdict(recursion, covariance,
                                       unsettled=self._outliers.unsettled)
        if state == EstimateState.CONVERGED:
            x = self._possible_values(x, covariance, free)
        sure = excited_unknowns(np.sqrt(np.diag(covariance)), recursion.prior, ~free)
        known = dict(zip(unknowns.names, sure.tolist()))
        return MlcEstimate(
            chain.robot, chain.base, chain.tip, mlc.with_values(unknowns.minimal(x)),
            unknowns.physics(x, self._columns.law),
            tuple(known.get(name, False) for name in mlc.names), unknowns.names, covariance,
            recursion.samples, recursion.condition_number, recursion.residual_sigma, state)
