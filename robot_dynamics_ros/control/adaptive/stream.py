# SPDX-License-Identifier: Apache-2.0
"""
An adaptive controller on a clock: start, follow, stop, and a safe end whatever happens.

It commands from the moment it is enabled: first it holds the arm where it is, then it follows
trajectories. Joint states that stay away or have no velocity, an arm far from where it should be,
a clock set back, or a torque that is not finite end control: from then on it commands the weight
of the arm (or zero), until it is enabled again or a new trajectory comes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.adaptive.controller import AdaptiveController
from robot_dynamics_ros.control.safe_stream import SafeEnd, SafeStream, check_safe_end
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.motion.blending import Reference
from robot_dynamics_ros.motion.effort_limits import EffortLimits, LimitedEffort
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class AdaptiveStreamSettings:
    """
    How control begins and ends.

    :param joint_state_timeout: age beyond which joint states end control [s].
    :param safe_end: command after the end of control.
    :param fade: shortest time in which a jump of the reference is smoothed out [s].
    :param speeds: (n,) largest velocity while doing so [rad/s, m/s].
    :param largest_error: distance from the reference that ends control [rad, m]; inf = never.
    """

    joint_state_timeout: float
    safe_end: SafeEnd
    fade: float
    speeds: Array
    largest_error: float = np.inf

    def __post_init__(self) -> None:
        """Refuse an unknown safe end."""
        check_safe_end(self.safe_end)


class AdaptiveStream(SafeStream[AdaptiveStreamSettings]):
    """
    Silent until enabled; then one command per call, and a last safe one when disabled.

    `enabled` tells whether it may take the arm over.
    """

    def __init__(self, controller: AdaptiveController, settings: AdaptiveStreamSettings) -> None:
        """
        Wait to be enabled.

        :param controller: controller with its memory of what was learned.
        :param settings: settings of begin and end.
        """
        super().__init__(settings, 'not enabled yet')
        self.controller = controller
        self.enabled = False
        self._waiting = False
        self._reference: Reference | None = None
        self._last_stamp = -np.inf

    @property
    def limits(self) -> EffortLimits:
        """Effort limits of every command."""
        return self.controller.limits

    def enable(self, now: float, measured: JointSample | None) -> None:
        """
        Take the arm over: hold it where it is.

        :param now: clock time [s].
        :param measured: the newest joint state, or None.
        :raises StateError: no fresh joint state with positions and velocities.
        """
        if not self.running:
            self._take_over(now, measured)
        self.enabled, self._waiting = True, False

    def enable_when_ready(self) -> None:
        """Take the arm over as soon as there is a fresh joint state."""
        self._waiting = True

    def disable(self, reason: str = 'disabled') -> None:
        """End control; `command` gives one last, safe torque and is silent after that."""
        self._end(reason)
        self.enabled = self._waiting = False

    def end(self, reason: str) -> None:
        """End control with safe torques; a trajectory or `enable` begins it again."""
        if self.running:
            self._end(reason)

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
        if not self.running:
            self._take_over(now, measured)
        assert self._reference is not None
        self._reference.follow(trajectory, start, now)

    def stop(self, now: float) -> None:
        """Come to rest and hold, at a clock time [s]."""
        if self.running and self._reference is not None:
            self._reference.stop(now)

    def command(self, now: float, measured: JointSample | None) -> LimitedEffort | None:
        """
        Return the efforts (n,) [N m, N] to command now, or None for silence.

        :param now: clock time [s].
        :param measured: the newest joint state, or None; learning takes a step where it is new.
        """
        if self._waiting and not self.objection(now, measured):
            self.enable(now, measured)
        return self._command(now, measured)

    def _take_over(self, now: float, measured: JointSample | None) -> None:
        state = self._usable(now, measured)
        self.controller.restart()
        self._reference = Reference(self.limits.joint_names, state.q, state.qd, now,
                                    fade=self.settings.fade, speeds=self.settings.speeds)
        self._last_stamp = state.time
        self._begin(now)

    def _missing_in(self, measured: JointSample) -> str:
        return '' if np.all(np.isfinite(measured.qd)) else 'joint states have no finite velocity'

    def _silent_after_end(self) -> bool:
        return not self.enabled

    def _effort(self, now: float, measured: JointSample) -> LimitedEffort:
        assert self._reference is not None
        step = max(0.0, measured.time - self._last_stamp)
        self._last_stamp = measured.time
        desired = self._reference.sample(now)
        if reason := self._too_far(desired.q - measured.q):
            raise StateError(reason)
        return self.controller.command(desired, measured.q, measured.qd, step)

    def _weight(self, q: Array) -> Array:
        return self.controller.weight(q)
