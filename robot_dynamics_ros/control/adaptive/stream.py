# SPDX-License-Identifier: Apache-2.0
"""
An adaptive controller on a clock: start, follow, stop, and a safe end whatever happens.

It commands from the moment it is enabled: first it holds the arm where it is, then it follows
trajectories. Joint states that stay away or have no speed, an arm far from where it should be, a
clock set back, or a torque that is not finite end control: from then on it commands the weight of
the arm (or zero), until it is enabled again or a new trajectory comes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.adaptive.controller import AdaptiveController
from robot_dynamics_ros.control.torque_stream import SAFE_ENDS, SafeEnd
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError, StateError
from robot_dynamics_ros.motion.blending import Reference
from robot_dynamics_ros.motion.effort_limits import LimitedEffort
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class AdaptiveStreamSettings:
    """
    How control begins and ends.

    :param joint_state_timeout: older joint states end control [s].
    :param safe_end: what to command then.
    :param fade: shortest time in which a jump of the orders is smoothed out [s].
    :param speeds: (n,) largest speed of that [rad/s, m/s].
    :param largest_error: an arm farther from its reference ends control [rad, m]; inf = never.
    """

    joint_state_timeout: float
    safe_end: SafeEnd
    fade: float
    speeds: Array
    largest_error: float = np.inf

    def __post_init__(self) -> None:
        """Refuse an unknown safe end."""
        if self.safe_end not in SAFE_ENDS:
            raise ParameterError(f"safe_end must be one of {', '.join(SAFE_ENDS)}, "
                                 f"got '{self.safe_end}'")


class AdaptiveStream:
    """
    Silent until enabled; then one command per call.

    `ending` says why control has ended ('' while it runs).
    """

    def __init__(self, controller: AdaptiveController, settings: AdaptiveStreamSettings) -> None:
        """
        Wait to be enabled.

        :param controller: with its memory of what was learned.
        :param settings: how control begins and ends.
        """
        self.controller, self.settings = controller, settings
        self.enabled = False
        self.ending = 'not enabled yet'
        self._waiting = False
        self._silent = True
        self._reference: Reference | None = None
        self._last_time = -np.inf
        self._last_stamp = -np.inf

    @property
    def running(self) -> bool:
        """True while the arm is under control."""
        return self._reference is not None

    def enable(self, now: float, measured: JointSample | None) -> None:
        """
        Take the arm over: hold it where it is.

        :param now: clock time [s].
        :param measured: the newest joint state, or None.
        :raises StateError: no fresh joint state with positions and speeds.
        """
        if not self.running:
            self._begin(now, measured)
        self.enabled, self._waiting = True, False

    def enable_when_ready(self) -> None:
        """Take the arm over as soon as there is a fresh joint state."""
        self._waiting = True

    def disable(self, reason: str = 'disabled') -> None:
        """End control; `command` gives one last, safe torque and is silent after that."""
        self._end(reason)
        self.enabled = self._waiting = False

    def follow(self, trajectory: Trajectory, start: float, now: float,
               measured: JointSample | None) -> None:
        """
        Follow a trajectory.

        :param trajectory: joints in the order of the robot.
        :param start: clock time of its time zero [s].
        :param now: clock time [s].
        :param measured: the newest joint state, or None.
        :raises StateError: not enabled, or no fresh joint state.
        """
        if self._waiting:
            self.enable(now, measured)
        if not self.enabled:
            raise StateError('the controller is not enabled: call ~/enable first')
        if self._reference is None:
            self._begin(now, measured)
        assert self._reference is not None
        self._reference.follow(trajectory, start, now)

    def stop(self, now: float) -> None:
        """Come to rest and hold, at a clock time [s]."""
        if self._reference is not None:
            self._reference.stop(now)

    def command(self, now: float, measured: JointSample | None) -> LimitedEffort | None:
        """
        Return the efforts (n,) [N m, N] to command now, or None for silence.

        :param now: clock time [s].
        :param measured: the newest joint state, or None; learning takes a step where it is new.
        """
        if self._waiting and not self._objection(now, measured):
            self.enable(now, measured)
        if self._silent:
            return None
        if self.running:
            self._check(now, measured)
        self._last_time = now
        if self._reference is not None and measured is not None:
            step = max(0.0, measured.time - self._last_stamp)
            self._last_stamp = measured.time
            try:
                desired = self._reference.sample(now)
                self._check_distance(desired.q - measured.q)
                return self.controller.command(desired, measured.q, measured.qd, step)
            except RobotDynamicsError as error:
                self._end(str(error))
        self._silent = not self.enabled
        return self._safe(measured)

    def _begin(self, now: float, measured: JointSample | None) -> None:
        reason = self._objection(now, measured)
        if reason or measured is None:
            raise StateError(f'{reason}: control cannot begin; check joint_states and '
                             'joint_state_timeout')
        self.controller.restart()
        self._reference = Reference(self.controller.limits.joint_names, measured.q, measured.qd,
                                    now, fade=self.settings.fade, speeds=self.settings.speeds)
        self._last_time, self._last_stamp = now, measured.time
        self._silent, self.ending = False, ''

    def _check(self, now: float, measured: JointSample | None) -> None:
        if now < self._last_time:
            self._end('the clock was set back')
        elif reason := self._objection(now, measured):
            self._end(reason)

    def _check_distance(self, error: Array) -> None:
        far = int(np.argmax(np.abs(error)))
        if not abs(error[far]) <= self.settings.largest_error:
            name = self.controller.limits.joint_names[far]
            raise StateError(f'joint {name} is {error[far]:.3g} rad or m away from its reference, '
                             f'more than largest_error {self.settings.largest_error:g}')

    def _objection(self, now: float, measured: JointSample | None) -> str:
        """Return why a joint state cannot be used, or ''."""
        if measured is None:
            return 'no joint state yet'
        if not abs(now - measured.received) <= self.settings.joint_state_timeout:
            return 'joint states are stale'
        if not np.all(np.isfinite(measured.qd)):
            return 'joint states have no finite speed'
        return ''

    def _end(self, reason: str) -> None:
        self._reference, self.ending = None, reason

    def _safe(self, measured: JointSample | None) -> LimitedEffort:
        """Return the weight of the arm where it was seen last, or zero."""
        limits = self.controller.limits
        zero = np.zeros(len(limits.joint_names))
        if self.settings.safe_end == 'zero' or measured is None:
            return limits.limit(zero)
        try:
            return limits.limit(self.controller.weight(measured.q))
        except StateError:
            return limits.limit(zero)
