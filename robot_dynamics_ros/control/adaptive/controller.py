# SPDX-License-Identifier: Apache-2.0
"""
An adaptive law as a sampled controller: torque inside the limits, one step of learning per call.

Nothing is learned while a torque is clipped at its limit (the arm then lags for another reason
than wrong parameters) or while learning is switched off. A long step teaches no more than one of
`LONGEST_LEARNING_STEP`: what is stable in continuous time is not with any step.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.control.adaptive.adaptation import Adaptation, LowPass
from robot_dynamics_ros.control.adaptive.laws import AdaptiveLaw
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.control.adaptive.prediction import PredictionError
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits, LimitedEffort
from robot_dynamics_ros.motion.trajectory import TrajectorySample

#: Largest step of learning [s].
LONGEST_LEARNING_STEP = 0.005
#: Filter of the acceleration that Craig's law needs [rad/s].
_ACCELERATION_CUTOFF = 100.0


class AdaptiveController:
    """
    The law with its memory: the unknowns as learned so far.

    `learning` switches the adaptation on and off; `learned_now` tells whether the last call has
    changed the unknowns, `samples` how many calls have.
    """

    def __init__(self, law: AdaptiveLaw, learned: LearnedModel, adaptation: Adaptation,
                 limits: EffortLimits, prediction: PredictionError | None = None) -> None:
        """
        Begin with the first values of the unknowns.

        :param law: the control law.
        :param learned: the robot and what is unknown of it.
        :param adaptation: rule by which it is learned.
        :param limits: effort limits.
        :param prediction: learns from the commanded torque as well; None = from errors only.
        """
        self.law, self.learned, self.adaptation = law, learned, adaptation
        self.limits = limits
        self._prediction = prediction
        self.learning = True
        self.learned_now = False
        self.samples = 0
        self._speed = LowPass(_ACCELERATION_CUTOFF)
        self._theta = adaptation.unknowns.start

    @property
    def theta(self) -> Array:
        """The unknowns (m,) as learned so far, read-only; may be assigned, inside the bounds."""
        return self._theta

    @theta.setter
    def theta(self, values: Array) -> None:
        unknowns = self.adaptation.unknowns
        if np.shape(values) != unknowns.start.shape or not np.all(np.isfinite(values)):
            raise StateError(f'the unknowns must be {len(unknowns)} finite numbers, got {values}')
        self._theta = read_only(self.adaptation.bounded(values))

    def reset(self) -> None:
        """Forget what was learned."""
        self._theta = self.adaptation.unknowns.start
        self.samples = 0
        self.restart()

    def restart(self) -> None:
        """Begin a new motion: the next sample does not follow the last one."""
        self._speed.restart()
        if self._prediction is not None:
            self._prediction.restart()
        self.learned_now = False

    def weight(self, q: Array) -> Array:
        """Return the torque (n,) [N m, N] that carries the arm as learned so far."""
        Y = self.learned.model.regressor(q, np.zeros_like(q), np.zeros_like(q))
        return np.asarray(Y @ self.learned.links(self._theta))

    def estimate(self, set: str = 'lin') -> MlcEstimate:
        """
        Return the robot as learned so far; nothing is known about the accuracy.

        :param set: name of a minimal set, see `minimal_parameters`.
        :raises ParameterError: unknown set.
        """
        model, learned = self.learned.model, self.learned
        own = model.mlc.with_values(learned.links(self._theta))
        mlc = own if own.set == set else own.converted_to(minimal_parameters(model.chain, set))
        changed = np.any(own.conversion_to(mlc) @ learned.unknowns.matrix, axis=1) & (
            self.samples > 0)
        state = (EstimateState.FROM_URDF if self.samples == 0 else
                 EstimateState.LEARNING if self.learned_now else EstimateState.FROZEN)
        return replace(MlcEstimate.not_estimated(model.chain, mlc),
                       joint_physics=learned.joint_physics(self._theta), samples=self.samples,
                       identified=tuple(changed.tolist()), state=state)

    def command(self, desired: TrajectorySample, q: Array, qd: Array,
                step: float) -> LimitedEffort:
        """
        Return the efforts (n,) [N m, N] inside the limits, and learn.

        :param desired: the trajectory now, (n,) each.
        :param q: (n,) measured positions [rad, m].
        :param qd: (n,) measured velocities [rad/s, m/s].
        :param step: time since the last call [s].
        :raises StateError: the state or the torque is not finite; nothing was learned.
        """
        qdd = self._speed.update(qd, step)[1] if self.law.needs_acceleration else qd
        output = self.law.evaluate(self.learned, self.adaptation, self._theta, desired, q, qd,
                                   qdd)
        self.learned_now = False
        try:
            limited = self.limits.limit(output.torque)
        except StateError:
            self.restart()  # the next sample shall not be compared with this one
            raise
        gradient = output.gradient
        if self._prediction is not None and step > 0.0:
            gradient = gradient + self._prediction.gradient(self._theta, q, qd, step)
            self._prediction.applied(limited.effort)
        if self.learning and step > 0.0 and not limited.clamped.any():
            theta = self.adaptation.stepped(self._theta, gradient,
                                            min(step, LONGEST_LEARNING_STEP))
            if np.isfinite(theta).all():
                theta.setflags(write=False)
                self._theta, self.learned_now = theta, True
                self.samples += 1
        return limited
