# SPDX-License-Identifier: Apache-2.0
"""
Torque commands on a clock, with a safe end: the state machine of every torque stream.

A forward_command_controller keeps the last torque for ever, so whatever ends control (the end of
the motion, a stop, joint states that stay away, a clock set back, a torque that is not finite)
must be followed by commands that are safe to keep: the weight of the arm, or zero.

    silent ── begin ──► running ── end ──► safe ── begin ──► running
                                            └── one last safe command ──► silent, if so wanted

What always holds:

- every command is finite and inside the effort limits, whatever the law returns or raises;
- control begins only with a fresh joint state that the law can use;
- control that has ended stays ended until it is begun again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Literal, Protocol, TypeVar, get_args

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits, LimitedEffort
from robot_dynamics_ros.motion.joint_state import JointSample

#: gravity: carry the weight of the arm; zero: no torque.
SafeEnd = Literal['gravity', 'zero']
SAFE_ENDS: tuple[SafeEnd, ...] = get_args(SafeEnd)


def check_safe_end(safe_end: str) -> None:
    """
    Refuse an unknown safe end.

    :raises ParameterError: none of SAFE_ENDS.
    """
    if safe_end not in SAFE_ENDS:
        raise ParameterError(f"safe_end must be one of {', '.join(SAFE_ENDS)}, "
                             f"got '{safe_end}'")


class SafeSettings(Protocol):
    """Settings that every torque stream has."""

    @property
    def joint_state_timeout(self) -> float:
        """Age beyond which joint states end control [s]."""

    @property
    def safe_end(self) -> SafeEnd:
        """Command after the end of control."""

    @property
    def largest_error(self) -> float:
        """Distance of a joint from its reference that ends control [rad, m]; inf = never."""


Settings = TypeVar('Settings', bound=SafeSettings)


class SafeStream(ABC, Generic[Settings]):
    """
    Silent until control begins; then one command per call, and the safe one after the end.

    `ending` says why control has ended ('' while it runs). A subclass is the law: what to command
    while control runs, which joint states that needs, and the weight of the arm.
    """

    def __init__(self, settings: Settings, ending: str) -> None:
        """
        Wait in silence.

        :param settings: settings of the stream; may be replaced while it runs.
        :param ending: reason why nothing runs yet, for people.
        """
        self.settings = settings
        self.ending = ending
        self._running = False
        self._silent = True
        self._last_time = -np.inf

    @property
    def running(self) -> bool:
        """True while the law is in control."""
        return self._running

    @property
    @abstractmethod
    def limits(self) -> EffortLimits:
        """Effort limits of every command."""

    @abstractmethod
    def _effort(self, now: float, measured: JointSample) -> LimitedEffort:
        """
        Return the efforts (n,) [N m, N] of the law.

        :raises RobotDynamicsError: the law cannot go on; control ends.
        """

    @abstractmethod
    def _weight(self, q: Array) -> Array:
        """Return the torque (n,) [N m, N] that carries the arm at positions q (n,) [rad, m]."""

    def _missing_in(self, measured: JointSample) -> str:
        """Return why the law cannot use a fresh joint state, or ''."""
        return ''

    def _finished(self, now: float, measured: JointSample) -> str:
        """Return why the law has nothing more to do, or ''."""
        return ''

    def _too_far(self, error: Array) -> str:
        """Return which joint is too far from its reference, or '', for errors (n,) [rad, m]."""
        far = int(np.argmax(np.abs(error)))
        if abs(error[far]) <= self.settings.largest_error:  # false for NaN, too
            return ''
        return (f'joint {self.limits.joint_names[far]} is {error[far]:.3g} rad or m away from its '
                f'reference, more than largest_error {self.settings.largest_error:g}')

    def _silent_after_end(self) -> bool:
        """Return whether one safe command is enough."""
        return False

    def _after_failure(self, measured: JointSample | None) -> LimitedEffort:
        """Return the command of the call in which the law has failed."""
        return self._safe_effort(measured)

    def objection(self, now: float, measured: JointSample | None) -> str:
        """Return why control cannot run with the newest joint state, or ''."""
        if measured is None:
            return 'no joint state yet'
        if not abs(now - measured.received) <= self.settings.joint_state_timeout:
            return 'joint states are stale'
        return self._missing_in(measured)

    def _usable(self, now: float, measured: JointSample | None) -> JointSample:
        """
        Return the newest joint state, if control can begin with it.

        :raises StateError: it cannot.
        """
        reason = self.objection(now, measured)
        if reason or measured is None:
            raise StateError(f'{reason}: control cannot begin; check joint_states and '
                             'joint_state_timeout')
        return measured

    def _begin(self, now: float) -> None:
        """Give control to the law, which has made itself ready."""
        self._running, self._silent, self.ending = True, False, ''
        self._last_time = now

    def _end(self, reason: str) -> None:
        self._running, self.ending = False, reason

    def _command(self, now: float, measured: JointSample | None) -> LimitedEffort | None:
        """Return the efforts (n,) [N m, N] to command now, or None for silence."""
        if self._silent:
            return None
        if self._running:
            reason = ('the clock was set back' if now < self._last_time else
                      self.objection(now, measured))
            if not reason and measured is not None:
                reason = self._finished(now, measured)
            if reason:
                self._end(reason)
        self._last_time = now
        if self._running and measured is not None:
            try:
                return self._checked(self._effort(now, measured))
            except RobotDynamicsError as error:
                self._end(str(error))
                return self._after_failure(measured)
        self._silent = self._silent_after_end()
        return self._safe_effort(measured)

    def _checked(self, command: LimitedEffort) -> LimitedEffort:
        """Return a command of the law as it is; refuse one that must not leave."""
        if not np.all(np.abs(command.effort) <= self.limits.values):  # false for NaN, too
            raise StateError(f'the controller gave the efforts {command.effort}: not finite, or '
                             'beyond the limits')
        return command

    def _safe_effort(self, measured: JointSample | None) -> LimitedEffort:
        """Return the weight of the arm where it was seen last, or zero."""
        if self.settings.safe_end == 'gravity' and measured is not None:
            try:
                return self.limits.limit(self._weight(measured.q))
            except Exception:  # whatever fails: a controller would apply the last torque for ever
                pass  # no weight is known there
        return self._zero_effort()

    def _zero_effort(self) -> LimitedEffort:
        n = len(self.limits.joint_names)
        return LimitedEffort(np.zeros(n), np.zeros(n, dtype=np.int64))
