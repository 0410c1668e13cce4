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
from robot_dynamics_ros.motion.motion_limits import MotionLimits
from robot_dynamics_ros.motion.trajectory import Trajectory, TrajectorySample

#: Why a motion ends that has gone well.
TRAJECTORY_ENDED = 'the trajectory has ended'


@dataclass(frozen=True, eq=False)
class StreamSettings:
    """
    How torques are made while a trajectory runs and after it.

    :param limits: effort limits.
    :param gravity_mode: see feedforward_torque; 'none' also makes the gravity hold zero.
    :param safe_end: command after the motion.
    :param joint_state_timeout: age beyond which joint states end the motion [s].
    :param feedback: gains of computed torque, or None for feedforward alone.
    :param largest_error: distance of a joint from its reference with which no motion starts, and
        that ends one [rad, m]; inf = never.
    :param motion_limits: limits of positions and velocities, or None for none.
    """

    limits: EffortLimits
    gravity_mode: GravityMode = 'full'
    safe_end: SafeEnd = 'gravity'
    joint_state_timeout: float = 0.1
    feedback: ComputedTorqueGains | None = None
    largest_error: float = np.inf
    motion_limits: MotionLimits | None = None

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other."""
        check_safe_end(self.safe_end)
        if self.feedback is not None and self.gravity_mode == 'only':
            raise ParameterError("gravity_mode 'only' has no computed torque; use 'full' or "
                                 "'none', or leave out the feedback gains")


@dataclass(frozen=True, eq=False)
class _Motion:
    """A trajectory on the clock, and the way from the measured state to its first point."""

    trajectory: Trajectory
    start: float
    approach: Trajectory
    approach_start: float

    @property
    def end(self) -> float:
        return self.start + self.trajectory.duration

    def sample(self, now: float) -> TrajectorySample:
        if now - self.start < self.trajectory.times[0]:
            return self.approach.sample(now - self.approach_start)
        return self.trajectory.sample(now - self.start)


class TorqueStream(SafeStream[StreamSettings]):
    """Silent until a trajectory starts; then one command per call, a safe one after its end."""

    def __init__(self, settings: StreamSettings) -> None:
        """
        Wait for a trajectory.

        :param settings: settings of the stream.
        """
        super().__init__(settings, 'no trajectory yet')
        self._model: TorqueModel | None = None
        self._motion: _Motion | None = None

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
        :raises StateError: no fresh joint state: nobody knows where the robot is; or the robot is
            too far from where the trajectory is now.
        :raises TrajectoryError: a position or velocity beyond its limits.
        """
        try:
            state = self._usable(now, measured)
        except StateError as error:
            self.stop('no fresh joint state')
            raise StateError('no fresh joint state: a torque stream cannot start; check '
                             'joint_states and joint_state_timeout') from error
        # only the first point is joined with the present state: the others may be many
        approach, delay = trajectory.first_point().begun(now - start, state.q, state.qd_or_rest)
        motion = _Motion(trajectory, start, approach, start - delay)
        if reason := self._too_far(motion.sample(now).q - state.q):
            raise StateError(f'{reason}: a torque stream cannot start there; begin where the '
                             'robot is, or leave time to the first point')
        if self.settings.motion_limits is not None:
            self.settings.motion_limits.check_velocities(approach)
            self.settings.motion_limits.check(trajectory)
        self._motion = motion
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

    def _finished(self, now: float, measured: JointSample) -> str:
        assert self._motion is not None
        if now > self._motion.end:
            return TRAJECTORY_ENDED
        return self._too_far(self._motion.sample(now).q - measured.q)

    def _effort(self, now: float, measured: JointSample) -> LimitedEffort:
        assert self._motion is not None and self._model is not None
        mode, feedback = self.settings.gravity_mode, self.settings.feedback
        desired = self._motion.sample(now)
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
