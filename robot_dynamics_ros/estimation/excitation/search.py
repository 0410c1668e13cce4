# SPDX-License-Identifier: Apache-2.0
"""
The search for a motion: every trial is inside the limits, and each step is better.

The unknowns are the free coefficients of the Fourier series. A logarithmic barrier keeps the
motion away from its limits while a quasi-Newton method (BFGS) descends; the barrier is lowered in
stages. Slopes are exact up to rounding: the regressor is differentiated per sample and joint state
(3 n differences for all samples at once), the chain rule to the coefficients is a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.estimation.excitation.fourier import FourierBasis
from robot_dynamics_ros.estimation.excitation.information import (
    ExcitationRegressor,
    Quality,
    States,
)
from robot_dynamics_ros.estimation.excitation.limits import HeightPoints, MotionLimits

#: Weights of the barrier, one stage each.
BARRIERS = (0.1, 0.02, 0.005)

#: Height over the lowest one where the barrier begins to be felt [m].
_NEAR_GROUND = 0.1

#: Sufficient decrease of a step (Armijo), and how often it is halved.
_ARMIJO, _HALVINGS = 1e-4, 25

#: Length of the first step, in parts of full speed.
_FIRST_STEP = 0.02

#: Step of the difference quotients of the heights [rad, m].
_HEIGHT_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class MotionProblem:
    """
    The exciting motion as a function of free coefficients z (n, size), in parts of full speed.

    :param basis: of the Fourier series.
    :param limits: of the motion.
    :param model: of the robot, for its efforts.
    :param regressor: what the motion shows.
    :param points: whose height is limited.
    :param quality: judge of an information matrix.
    :param known: information (p, p) there is already.
    :param times: (N,) where the motion is looked at, equally spaced [s].
    """

    basis: FourierBasis
    limits: MotionLimits
    model: Model
    regressor: ExcitationRegressor
    points: HeightPoints
    quality: Callable[[Array], Quality]
    known: Array
    times: Array

    @cached_property
    def _shapes(self) -> States:
        """Displacement, speed and acceleration (N, size) of the unit coefficients."""
        return self.basis.sample(self.times)

    @cached_property
    def _parameters(self) -> Array:
        """Values of all columns of the regressor: they give the torque."""
        physics = self.model.joint_physics
        return np.concatenate([self.model.parameters, np.nan_to_num(physics.rotor_inertia),
                               physics.viscous, physics.coulomb, physics.offset])

    def states(self, z: Array) -> States:
        """Return q, qd, qdd (N, n)."""
        c = (z * self.limits.speed[:, None]).T
        q, qd, qdd = (shape @ c for shape in self._shapes)
        return self.limits.start + q, qd, qdd

    def information(self, rows: Array) -> Array:
        """Return the information of the motion and what is known already."""
        return self.known + self.regressor.information(rows, self.basis.duration)

    def kinematic_share(self, states: States) -> tuple[Array, Array, Array]:
        """Return positions, speeds and accelerations in parts of their limits, within +-1."""
        q, qd, qdd = states
        low, high = self.limits.lower, self.limits.upper
        return ((2.0 * q - low - high) / (high - low), qd / self.limits.speed,
                qdd / self.limits.acceleration)

    def barrier(self, z: Array, weight: float) -> float:
        """Return quality plus `weight` times the barrier; infinite outside of the limits."""
        look = self._look(z)
        if look is None:
            return np.inf
        parts = [*look.shares, look.effort_share]
        logarithms = sum(float(np.sum(np.log1p(-share**2))) for share in parts)
        logarithms += float(np.sum(np.log(look.clearance / (1.0 + look.clearance))))
        value = self.quality(self.information(look.rows)).value
        return value - weight / len(self.times) * logarithms

    def barrier_slope(self, z: Array, weight: float) -> Array:
        """Return the slope (n, size) of `barrier` at a motion inside the limits."""
        look = self._look(z)
        if look is None:
            raise ExcitationError('the motion is outside of its limits')
        limits = self.limits
        per_sample = weight / len(self.times)
        slope = self.quality(self.information(look.rows)).slope
        force = per_sample * _log_slope(look.effort_share) / limits.effort
        factor = self.regressor.factor(look.rows, slope, self.basis.duration)
        slopes = self.regressor.state_slopes(look.states,
                                             factor + force[..., None] * self._parameters)
        scales = (0.5 * (limits.upper - limits.lower), limits.speed, limits.acceleration)
        on_q, on_qd, on_qdd = (
            of_rows + per_sample * _log_slope(share) / scale
            for of_rows, share, scale in zip(slopes, look.shares, scales))
        on_q = on_q - per_sample * self._height_slopes(look)
        total = sum(part.T @ shape for part, shape in zip((on_q, on_qd, on_qdd), self._shapes))
        return np.asarray(total * limits.speed[:, None])

    def _look(self, z: Array) -> _Look | None:
        """Return what there is to know about a motion; None when it is outside of its limits."""
        states = self.states(z)
        shares = self.kinematic_share(states)
        if any(np.max(np.abs(share)) >= 1.0 for share in shares):
            return None
        clearance = self._clearance(states[0])
        if np.min(clearance, initial=np.inf) <= 0.0:
            return None
        rows = self.regressor.rows(states)
        effort_share = rows @ self._parameters / self.limits.effort
        if np.max(np.abs(effort_share)) >= 1.0:
            return None
        return _Look(states, shares, clearance, rows, effort_share)

    def feasible(self, z: Array) -> bool:
        """Return whether the motion is inside all limits at all `times`."""
        states = self.states(z)
        return (max(float(np.max(np.abs(share))) for share in self.kinematic_share(states)) < 1.0
                and float(np.min(self._clearance(states[0]), initial=np.inf)) > 0.0
                and bool(np.all(np.abs(self.model.torque(*states)) < self.limits.effort)))

    def _clearance(self, q: Array) -> Array:
        """Return the heights (N, points) above the lowest one, in parts of _NEAR_GROUND."""
        if np.isinf(self.limits.height):
            return np.empty((len(q), 0))
        return np.asarray((self.points.heights(q) - self.limits.height) / _NEAR_GROUND)

    def _height_slopes(self, look: _Look) -> Array:
        """Return the slopes (N, n) of the sum of ``log(h / (1 + h))`` over q."""
        q, h = look.states[0], look.clearance
        if h.size == 0:
            return np.zeros_like(q)
        n = q.shape[1]
        shifted = np.tile(q, (n, 1, 1))
        shifted[np.arange(n), :, np.arange(n)] += _HEIGHT_STEP
        moved = self._clearance(shifted.reshape(-1, n)).reshape(n, *h.shape)
        weight = 1.0 / h - 1.0 / (1.0 + h)
        return np.asarray(np.einsum('dtk,tk->td', moved - h, weight) / _HEIGHT_STEP)


class _Look(NamedTuple):
    """A motion inside its limits: states, parts of the limits, regressor."""

    states: States
    shares: States
    clearance: Array
    rows: Array
    effort_share: Array


def _log_slope(share: Array) -> Array:
    """Return the slope of ``-log(1 - share^2)``."""
    return np.asarray(2.0 * share / (1.0 - share**2))


def descend(problem: MotionProblem, z: Array, iterations: int,
            progress: Callable[[int], None]) -> list[Array]:
    """
    Return ever better motions, one per stage of BARRIERS, each closer to the limits.

    :param problem: what is searched.
    :param z: (n, size) a motion inside the limits.
    :param iterations: number of steps in each stage.
    :param progress: called with the number of iterations done.
    """
    motions = []
    for stage, weight in enumerate(BARRIERS):
        z = _bfgs(problem, z, weight, iterations, stage * iterations, progress)
        motions.append(z)
        progress((stage + 1) * iterations)
    return motions


def _bfgs(problem: MotionProblem, z: Array, weight: float, iterations: int, done: int,
          progress: Callable[[int], None]) -> Array:
    """Return the motion after `iterations` steps, or fewer where no step is better."""
    value, gradient = problem.barrier(z, weight), problem.barrier_slope(z, weight).ravel()
    identity = np.eye(z.size)
    inverse = identity * (_FIRST_STEP / max(float(np.linalg.norm(gradient)), 1e-12))
    for iteration in range(iterations):
        step = -inverse @ gradient
        decrease = _ARMIJO * float(gradient @ step)
        for _ in range(_HALVINGS):
            trial = z + step.reshape(z.shape)
            trial_value = problem.barrier(trial, weight)
            if trial_value <= value + decrease:
                break
            step, decrease = 0.5 * step, 0.5 * decrease
        else:
            return z
        z, value = trial, trial_value
        before, gradient = gradient, problem.barrier_slope(z, weight).ravel()
        change = gradient - before
        curvature = float(step @ change)
        if curvature > 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            if iteration == 0:
                inverse = identity * (curvature / float(change @ change))
            left = identity - np.outer(step, change) / curvature
            inverse = left @ inverse @ left.T + np.outer(step, step) / curvature
        progress(done + iteration + 1)
    return z
