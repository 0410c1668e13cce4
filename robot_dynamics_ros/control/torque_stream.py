# SPDX-License-Identifier: Apache-2.0
"""Feedforward or computed torque at a rate while a trajectory runs, with a safe end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.computed_torque import ComputedTorqueGains, computed_torque
from robot_dynamics_ros.control.feedforward import GravityMode, feedforward_torque
from robot_dynamics_ros.control.safe_stream import SafeEnd, SafeStream, check_safe_end
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits, LimitedEffort
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class StreamSettings:
    """
    How torques are made while a trajectory runs and after it.

    :param limits: effort limits.
    :param gravity_mode: see feedforward_torque; 'none' also makes the gravity hold zero.
    :param safe_end: command after the motion.
    :param joint_state_timeout: age beyond which joint states end the motion [s].
    :param feedback: gains of computed torque, or None for feedforward alone.
    """

    limits: EffortLimits
    gravity_mode: GravityMode = 'full'
    safe_end: SafeEnd = 'gravity'
    joint_state_timeout: float = 0.1
    feedback: ComputedTorqueGains | None = None

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other."""
        check_safe_end(self.safe_end)
        if self.feedback is not None and self.gravity_mode == 'only':
            raise ParameterError("gravity_mode 'only' has no computed torque; use 'full' or "
                                 "'none', or leave the feedback gains away")


class TorqueStream(SafeStream[StreamSettings]):
    """Silent until a trajectory starts; then one command per call, a safe one after its end."""

    def __init__(self, settings: StreamSettings) -> None:
        """
        Wait for a trajectory.

        :param settings: settings of the stream.
        """
        super().__init__(settings, 'no trajectory yet')
        self._model: TorqueModel | None = None
        self._trajectory: Trajectory | None = None
        self._start = 0.0

    @property
    def limits(self) -> EffortLimits:
        """Effort limits of every command."""
        return self.settings.limits

    def start(self, trajectory: Trajectory, start: float, now: float,
              measured: JointSample | None) -> None:
        """
        Execute a trajectory instead of the present one.

        :param trajectory: joints in the order of the model.
        :param start: clock time of its time zero [s].
        :param now: clock time [s].
        :param measured: the newest joint state, or None.
        :raises StateError: no fresh joint state: nobody knows where the robot is.
        """
        try:
            state = self._usable(now, measured)
        except StateError as error:
            self.stop('no fresh joint state')
            raise StateError('no fresh joint state: a torque stream cannot start; check '
                             'joint_states and joint_state_timeout') from error
        self._trajectory, delay = trajectory.begun(now - start, state.q, state.qd_or_rest)
        self._start = start - delay
        self._begin(now)

    def stop(self, reason: str) -> None:
        """
        End the motion; the next command is the safe one.

        :param reason: reason for people.
        """
        if self.running:
            self._end(reason)

    def command(self, model: TorqueModel, now: float,
                measured: JointSample | None) -> LimitedEffort | None:
        """
        Return the torque to command now, or None as long as no trajectory has ever started.

        :param model: the robot.
        :param now: clock time [s].
        :param measured: the newest joint state, or None.
        """
        self._model = model
        return self._command(now, measured)

    def _finished(self, now: float) -> str:
        assert self._trajectory is not None
        return ('the trajectory has ended' if now - self._start > self._trajectory.duration
                else '')

    def _effort(self, now: float, measured: JointSample) -> LimitedEffort:
        assert self._trajectory is not None and self._model is not None
        mode, feedback = self.settings.gravity_mode, self.settings.feedback
        desired = self._trajectory.sample(now - self._start)
        if feedback is None:
            return self.limits.limit(feedforward_torque(self._model, desired.q, desired.qd,
                                                        desired.qdd, mode))
        if np.any(np.isnan(measured.qd)):
            raise StateError('computed torque needs measured velocities of every joint')
        torque = computed_torque(self._model, feedback, desired, measured.q, measured.qd)
        if mode == 'none':
            torque = torque - self._model.gravity_torque(measured.q)
        return self.limits.limit(torque)

    def _weight(self, q: Array) -> Array:
        assert self._model is not None
        return np.zeros_like(q) if self.settings.gravity_mode == 'none' else (
            self._model.gravity_torque(q))

    def _after_failure(self, measured: JointSample | None) -> LimitedEffort:
        # a model that has just failed is not asked for the weight at the same state
        return self._zero_effort()
