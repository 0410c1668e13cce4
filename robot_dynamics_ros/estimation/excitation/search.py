# SPDX-License-Identifier: Apache-2.0
"""
The search for a motion: every trial is inside the limits, and every step is an improvement.

The unknowns are the free coefficients of the Fourier series. A logarithmic barrier keeps the
motion away from its limits while a quasi-Newton method (BFGS) descends; the barrier is lowered in
stages. For the gradient, the regressor is differentiated by the joint state of every sample (3 n
differences for all samples at once); the chain rule to the coefficients is a matrix product.
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
from robot_dynamics_ros.estimation.excitation.limits import ExcitationLimits, HeightPoints
from robot_dynamics_ros.estimation.excitation.room import NearPairs, RoomBarrier

#: Weights of the barrier, one stage each.
BARRIERS = (0.1, 0.02, 0.005)

#: Postures whose distances are looked at, per time at which the motion is evaluated.
_POSTURES = 2

#: Height over the lowest one at which the barrier sets in [m].
_NEAR_GROUND = 0.1

#: Sufficient decrease of a step (Armijo), and how often it is halved.
_ARMIJO, _HALVINGS = 1e-4, 25

#: A stage that so many iterations improve by less than this begins anew once, and then ends.
_STALL, _STALLED = 20, 0.005

#: Length of the first step, as a fraction of full velocity.
_FIRST_STEP = 0.02

#: Step of the difference quotients of the heights [rad, m].
_HEIGHT_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class MotionProblem:
    """
    The exciting motion as a function of free coefficients z (n, size), relative to full velocity.

    :param basis: basis of the Fourier series.
    :param limits: limits of the motion.
    :param model: model of the robot, for its efforts.
    :param regressor: regressor whose information counts.
    :param points: points whose height is limited.
    :param quality: criterion on the information matrix.
    :param known: (p, p) information of motions recorded before.
    :param times: (N,) equally spaced times at which the motion is evaluated [s].
    :param room: barrier around everything that must not be touched; None = nothing is.
    """

    basis: FourierBasis
    limits: ExcitationLimits
    model: Model
    regressor: ExcitationRegressor
    points: HeightPoints
    quality: Callable[[Array], Quality]
    known: Array
    times: Array
    room: RoomBarrier | None = None

    @cached_property
    def _latest(self) -> dict[bytes, _Look | None]:
        """The motion that was looked at last, by its coefficients."""
        return {}

    @cached_property
    def _posture_shapes(self) -> Array:
        """Displacements (_POSTURES N, size) of the unit coefficients where distances count."""
        count = _POSTURES * len(self.times)
        times = np.asarray((np.arange(count) + 0.5) * (self.basis.duration / count))
        return self.basis.sample(times)[0]

    def postures(self, z: Array) -> Array:
        """Return the positions (_POSTURES N, n) where distances count."""
        c = (z * self.limits.velocity[:, None]).T
        return np.asarray(self.limits.start + self._posture_shapes @ c)

    @cached_property
    def _shapes(self) -> States:
        """Displacement, velocity and acceleration (N, size) of the unit coefficients."""
        return self.basis.sample(self.times)

    @cached_property
    def _parameters(self) -> Array:
        """Parameters of all columns of the regressor, for the torque."""
        physics = self.model.joint_physics
        return np.concatenate([self.model.parameters, np.nan_to_num(physics.rotor_inertia),
                               physics.viscous, physics.coulomb, physics.offset])

    def states(self, z: Array) -> States:
        """Return q, qd, qdd (N, n)."""
        c = (z * self.limits.velocity[:, None]).T
        q, qd, qdd = (shape @ c for shape in self._shapes)
        return self.limits.start + q, qd, qdd

    def information(self, rows: Array) -> Array:
        """Return the information of the motion, added to what is known already."""
        return self.known + self.regressor.information(rows, self.basis.duration)

    def kinematic_utilisation(self, states: States) -> States:
        """Return positions, velocities and accelerations relative to their limits, +-1."""
        q, qd, qdd = states
        low, high = self.limits.lower, self.limits.upper
        return ((2.0 * q - low - high) / (high - low), qd / self.limits.velocity,
                qdd / self.limits.acceleration)

    def barrier(self, z: Array, weight: float) -> float:
        """Return quality plus `weight` times the barrier; infinite outside of the limits."""
        look = self._look(z)
        if look is None:
            return np.inf
        parts = [*look.kinematic, look.effort]
        logarithms = sum(float(np.sum(np.log1p(-part**2))) for part in parts)
        logarithms += float(np.sum(np.log(look.clearance / (1.0 + look.clearance))))
        value = look.quality.value
        if look.near is not None and self.room is not None:
            value += weight * self.room.value(look.near)
        return value - weight / len(self.times) * logarithms

    def barrier_slope(self, z: Array, weight: float) -> Array:
        """Return the gradient (n, size) of `barrier` at a motion inside the limits."""
        look = self._look(z)
        if look is None:
            raise ExcitationError('the motion exceeds its limits')
        limits = self.limits
        per_sample = weight / len(self.times)
        slope = look.quality.slope
        force = per_sample * _log_slope(look.effort) / limits.effort
        factor = self.regressor.factor(look.rows, slope, self.basis.duration)
        slopes = self.regressor.state_slopes(look.states,
                                             factor + force[..., None] * self._parameters)
        scales = (0.5 * (limits.upper - limits.lower), limits.velocity, limits.acceleration)
        on_q, on_qd, on_qdd = (
            of_rows + per_sample * _log_slope(part) / scale
            for of_rows, part, scale in zip(slopes, look.kinematic, scales))
        on_q = on_q - per_sample * self._height_slopes(look)
        total = sum(part.T @ shape for part, shape in zip((on_q, on_qd, on_qdd), self._shapes))
        if look.near is not None and self.room is not None:
            total = total + weight * self.room.slope(look.near).T @ self._posture_shapes
        return np.asarray(total * limits.velocity[:, None])

    def _look(self, z: Array) -> _Look | None:
        """Return a motion relative to its limits; None if it exceeds them."""
        key = z.tobytes()
        if key not in self._latest:
            look = self._new_look(z)
            self._latest.clear()
            self._latest[key] = look
        return self._latest[key]

    def _new_look(self, z: Array) -> _Look | None:
        states = self.states(z)
        kinematic = self.kinematic_utilisation(states)
        if any(np.max(np.abs(part)) >= 1.0 for part in kinematic):
            return None
        clearance = self._clearance(states[0])
        if np.min(clearance, initial=np.inf) <= 0.0:
            return None
        rows = self.regressor.rows(states)
        effort = rows @ self._parameters / self.limits.effort
        if np.max(np.abs(effort)) >= 1.0:
            return None
        near = None if self.room is None else self.room.look(self.postures(z))
        if self.room is not None and near is None:
            return None
        return _Look(states, kinematic, clearance, rows, effort, near,
                     self.quality(self.information(rows)))

    def feasible(self, z: Array) -> bool:
        """Return whether the motion is inside all limits at all `times`."""
        states = self.states(z)
        kinematic = self.kinematic_utilisation(states)
        return (max(float(np.max(np.abs(part))) for part in kinematic) < 1.0
                and float(np.min(self._clearance(states[0]), initial=np.inf)) > 0.0
                and bool(np.all(np.abs(self.model.torque(*states)) < self.limits.effort)))

    def free(self, z: Array) -> bool:
        """Return whether nothing is too close at the samples of the postures."""
        return (self.room is None
                or self.room.look(self.postures(z), barrier=False) is not None)

    def _clearance(self, q: Array) -> Array:
        """Return the heights (N, points) above the lowest one, in units of _NEAR_GROUND."""
        if np.isinf(self.limits.height):
            return np.empty((len(q), 0))
        return np.asarray((self.points.heights(q) - self.limits.height) / _NEAR_GROUND)

    def _height_slopes(self, look: _Look) -> Array:
        """Return the derivatives (N, n) of the sum of ``log(h / (1 + h))`` by q."""
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
    """A motion inside its limits: states, their size relative to the limits, regressor."""

    states: States
    kinematic: States
    clearance: Array
    rows: Array
    effort: Array
    near: NearPairs | None
    quality: Quality


def _log_slope(x: Array) -> Array:
    """Return the derivative of ``-log(1 - x^2)``."""
    return np.asarray(2.0 * x / (1.0 - x**2))


def descend(problem: MotionProblem, z: Array, iterations: int,
            progress: Callable[[int], None]) -> list[Array]:
    """
    Return ever better motions, one per stage of BARRIERS, each closer to the limits.

    :param problem: motion as a function of z.
    :param z: (n, size) coefficients of a motion inside the limits.
    :param iterations: number of iterations in each stage.
    :param progress: function that is called with the number of iterations done.
    """
    motions = []
    for stage, weight in enumerate(BARRIERS):
        z = _bfgs(problem, z, weight, iterations, stage * iterations, progress)
        motions.append(z)
        progress((stage + 1) * iterations)
    return motions


def improved(problem: MotionProblem, z: Array, iterations: int) -> tuple[float, Array]:
    """
    Return a motion after some iterations of the first stage, and how good it is: less is better.

    :param problem: motion as a function of z.
    :param z: (n, size) coefficients of a motion inside the limits.
    :param iterations: number of iterations.
    """
    if np.isfinite(problem.barrier(z, BARRIERS[0])):
        z = _bfgs(problem, z, BARRIERS[0], iterations, 0, lambda done: None)
    return problem.barrier(z, BARRIERS[0]), z


def _bfgs(problem: MotionProblem, z: Array, weight: float, iterations: int, done: int,
          progress: Callable[[int], None]) -> Array:
    """Return the motion after `iterations` steps, or fewer if steps improve it no more."""
    values: list[float] = []
    restarted = False
    value, gradient = problem.barrier(z, weight), problem.barrier_slope(z, weight).ravel()
    identity = np.eye(z.size)
    inverse = _first_inverse(gradient)
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
        values.append(value)
        z, value = trial, trial_value
        if len(values) > _STALL and values[-_STALL] - value < _STALLED:
            if restarted:
                return z
            restarted, values = True, []  # nearest points have changed: forget the curvature
            gradient = problem.barrier_slope(z, weight).ravel()
            inverse = _first_inverse(gradient)
            continue
        before, gradient = gradient, problem.barrier_slope(z, weight).ravel()
        change = gradient - before
        curvature = float(step @ change)
        if curvature > 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            if len(values) == 1:
                inverse = identity * (curvature / float(change @ change))
            left = identity - np.outer(step, change) / curvature
            inverse = left @ inverse @ left.T + np.outer(step, step) / curvature
        progress(done + iteration + 1)
    return z


def _first_inverse(gradient: Array) -> Array:
    """Return the inverse Hessian that begins with a step of _FIRST_STEP."""
    return np.eye(len(gradient)) * (_FIRST_STEP / max(float(np.linalg.norm(gradient)), 1e-12))
