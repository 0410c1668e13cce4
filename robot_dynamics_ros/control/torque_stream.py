# SPDX-License-Identifier: Apache-2.0
"""
Torque commands at a rate while a trajectory runs, with a safe end.

A forward_command_controller keeps the last torque for ever, so whatever ends the motion (the end
of the trajectory, a stop, joint states that stay away, a clock set back) must be followed by
commands that are safe to keep: the weight of the arm, or zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.computed_torque import ComputedTorqueGains, computed_torque
from robot_dynamics_ros.control.feedforward import GravityMode, feedforward_torque
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits, LimitedEffort
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.trajectory import Trajectory

#: gravity: carry the weight of the arm; zero: no torque.
SafeEnd = Literal['gravity', 'zero']
SAFE_ENDS: tuple[SafeEnd, ...] = get_args(SafeEnd)


@dataclass(frozen=True, eq=False)
class StreamSettings:
    """
    How torques are made while a trajectory runs and after it.

    :param limits: of the efforts.
    :param gravity_mode: see feedforward_torque; 'none' also makes the gravity hold zero.
    :param safe_end: what to command after the motion.
    :param joint_state_timeout: older joint states end the motion [s].
    :param feedback: gains of computed torque, or None for feedforward alone.
    """

    limits: EffortLimits
    gravity_mode: GravityMode = 'full'
    safe_end: SafeEnd = 'gravity'
    joint_state_timeout: float = 0.1
    feedback: ComputedTorqueGains | None = None

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other."""
        if self.safe_end not in SAFE_ENDS:
            raise ParameterError(f"safe_end must be one of {', '.join(SAFE_ENDS)}, "
                                 f"got '{self.safe_end}'")
        if self.feedback is not None and self.gravity_mode == 'only':
            raise ParameterError("gravity_mode 'only' has no computed torque; use 'full' or "
                                 "'none', or leave the feedback gains away")


class TorqueStream:
    """
    Idle until a trajectory starts; then one command per call, for ever after a safe one.

    `ending` says why the last motion ended ('' while one runs).
    """

    def __init__(self, settings: StreamSettings) -> None:
        """
        Wait for a trajectory.

        :param settings: how torques are made.
        """
        self.settings = settings
        self.ending = 'no trajectory yet'
        self._trajectory: Trajectory | None = None
        self._start = 0.0
        self._last_time = -np.inf
        self._commanding = False

    @property
    def running(self) -> bool:
        """True while a trajectory is being executed."""
        return self._trajectory is not None

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
        if measured is None or not self._fresh(measured, now):
            self.stop('no fresh joint state')
            raise StateError('no fresh joint state: a torque stream cannot start; check '
                             'joint_states and joint_state_timeout')
        self._trajectory, delay = trajectory.begun(now - start, measured.q, measured.qd_or_rest)
        self._start, self._last_time = start - delay, now
        self._commanding, self.ending = True, ''

    def stop(self, reason: str) -> None:
        """
        End the motion; the next command is the safe one.

        :param reason: why, for people.
        """
        if self._trajectory is not None:
            self._trajectory, self.ending = None, reason

    def command(self, model: TorqueModel, now: float,
                measured: JointSample | None) -> LimitedEffort | None:
        """
        Return the torque to command now, or None as long as no trajectory has ever started.

        :param model: the robot.
        :param now: clock time [s].
        :param measured: the newest joint state, or None.
        """
        if not self._commanding:
            return None
        if now < self._last_time:
            self.stop('the clock was set back')
        elif not self._fresh(measured, now):
            self.stop('joint states are stale')
        elif self._trajectory is not None and now - self._start > self._trajectory.duration:
            self.stop('the trajectory has ended')
        self._last_time = now
        try:
            return self.settings.limits.limit(self._torque(model, now, measured))
        except StateError as error:
            self.stop(str(error))
            return LimitedEffort(np.zeros(len(self.settings.limits.joint_names)),
                                 np.zeros(len(self.settings.limits.joint_names), dtype=np.int64))

    def _torque(self, model: TorqueModel, now: float, measured: JointSample | None) -> Array:
        mode = self.settings.gravity_mode
        if self._trajectory is None or measured is None:
            if self.settings.safe_end == 'zero' or mode == 'none' or measured is None:
                return np.zeros(len(self.settings.limits.joint_names))
            return model.gravity_torque(measured.q)
        desired = self._trajectory.sample(now - self._start)
        feedback = self.settings.feedback
        if feedback is None:
            return feedforward_torque(model, desired.q, desired.qd, desired.qdd, mode)
        if np.any(np.isnan(measured.qd)):
            raise StateError('computed torque needs measured velocities of every joint')
        torque = computed_torque(model, feedback, desired, measured.q, measured.qd)
        return torque - model.gravity_torque(measured.q) if mode == 'none' else torque

    def _fresh(self, measured: JointSample | None, now: float) -> bool:
        return (measured is not None
                and abs(now - measured.received) <= self.settings.joint_state_timeout)
