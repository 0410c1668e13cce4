# SPDX-License-Identifier: Apache-2.0
"""
What a trajectory controller does with what was sent to it.

A controller may drop a trajectory (cancel, abort, a tolerance, a new activation): it then holds
the measured position with effort zero, and says so only by its state. The watch compares the
reference that the controller shows with what was sent. A reference that has left it and stands
still is such a hold; one that moves on belongs to somebody else and is left alone. A motion that
begins at rest has velocity zero at its time zero only: one state after that tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.carried_effort import CarriedEffort
from robot_dynamics_ros.motion.controller_state import ControllerState
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Distance within which a reference is the one that was sent [rad, m].
SAME = 1e-6
#: Time by which the clock of a trajectory may seem to run back [s].
JITTER = 1e-3
#: Longest time between sending a trajectory and seeing it in the state [s].
ARRIVAL = 1.0
#: Age beyond which a state tells nothing [s], and pause after which a controller is a new one.
FRESH = 0.5
#: Time for which a reference stands still before it is a hold where its clock tells nothing [s].
STILL = 0.006
#: Part of what was guessed by which feedback may differ from it.
SURPRISE = 0.25
#: Time for which the integral stays what it was after a drop or an activation [s].
MEMORY = 0.2


@dataclass(frozen=True, eq=False)
class _Sent:
    """A trajectory on its way or under way."""

    trajectory: Trajectory
    start: float  # clock time of its time zero
    at: float     # clock time of sending
    begun: float  # time on it when it was sent
    carried: CarriedEffort
    seen: float = -np.inf  # largest time on it that the state has shown

    def carried_at(self, elapsed: float) -> CarriedEffort:
        return self.carried.after(elapsed - self.begun)


class _Left(NamedTuple):
    """What feedback carried in place of a trajectory that was dropped."""

    carried: CarriedEffort
    at: float     # clock time of the drop
    moving: bool  # True where the trajectory was on its way


class ControllerWatch:
    """
    Remembers what was sent, and learns from states what became of it.

    `as_goal` is True where what was sent last is the goal of an action.
    """

    def __init__(self) -> None:
        self._sent: _Sent | None = None
        self._before: _Sent | None = None  # what was sent before
        self._state: ControllerState | None = None
        self._left: _Left | None = None
        self._activated = -np.inf
        self._still_since = np.inf
        self._told = False  # whoever sent it has said that it was dropped
        self._others = False  # somebody else moves the robot, or the hold is good as it is
        self.as_goal = False
        self._surprise: Array | None = None

    def sent(self, trajectory: Trajectory, start: float, now: float, begun: float,
             carried: CarriedEffort | None, *, as_goal: bool = False) -> None:
        """
        Remember what was sent.

        :param trajectory: joints in the order of the robot.
        :param start: clock time of its time zero [s].
        :param now: clock time [s].
        :param begun: time on the trajectory now [s].
        :param carried: what feedback carries from now on; None = nothing.
        :param as_goal: True = as the goal of an action, whose last point the controller holds as a
            trajectory of its own after success.
        """
        self._before = self._sent
        self._sent = _Sent(trajectory, start, now, begun,
                           carried or CarriedEffort.nothing(len(trajectory.joint_names)))
        self._left, self._others, self.as_goal = None, False, as_goal
        self._surprise = None

    def refused(self) -> None:
        """Take into account that what was sent last was not taken."""
        self._sent = self._before

    def dropped(self, now: float) -> None:
        """Take into account that a goal was cancelled or aborted: the controller stops."""
        self._drop(now, told=True)

    def leave(self) -> None:
        """Leave the hold of the controller as it is."""
        self._others = True

    def see(self, state: ControllerState) -> None:
        """Learn from a state of the controller."""
        before, self._state = self._state, state
        if before is None or not 0.0 <= state.received - before.received <= FRESH:
            before = None
            self._left, self._others, self._still_since = None, False, np.inf
            # it has just been activated, or has held for long
            self._activated = state.received if state.elapsed <= MEMORY else -np.inf
        sent = self._sent
        if sent is not None:
            if self._shows(state, sent):
                if sent.carried.guessed:
                    self._surprise = _surprise(before, state, sent)
                carried = replace(sent.carried, guessed=False).shown(state.error)
                self._sent = replace(sent, carried=carried, seen=max(state.elapsed, sent.seen))
                return
            if sent.seen == -np.inf and state.received - sent.at < ARRIVAL:
                return
            self._drop(state.received, told=False)
            if before is None:
                self._left = None
        if self._still_since == np.inf:
            self._still_since = state.received
        elif before is None or not np.array_equal(before.q, state.q):
            self._still_since, self._others = state.received, not self._told

    def relief(self) -> tuple[Trajectory, float, ControllerState, CarriedEffort] | None:
        """
        Return what runs, the time on it [s], its state, and what stays with the integral.

        None, unless a joint has come up to its reference before feedforward has taken over all
        that it was to take over.
        """
        sent, state = self._sent, self._state
        if sent is None or state is None or sent.seen != state.elapsed:
            return None
        carried = sent.carried_at(state.elapsed).relieved(state.error)
        return None if carried is None else (sent.trajectory, state.elapsed, state, carried)

    def surprise(self) -> tuple[Array, ControllerState] | None:
        """
        Return what feedback commands (n,) [N m, N], and the state that shows it, once.

        None, unless a hold was sent with a guess that has turned out to be wrong. An effort of the
        reference cannot be told from feedback: of a predecessor of this node, of another sender,
        or of a success before the activation. The hold replaces it, and the output tells.
        """
        if self._surprise is None or self._state is None:
            return None
        feedback, self._surprise = self._surprise, None
        return feedback, self._state

    def _drop(self, now: float, *, told: bool) -> None:
        sent = self._sent
        if sent is not None:
            elapsed = self._elapsed(sent, now)
            self._left = _Left(sent.carried_at(elapsed), now,
                               bool(np.any(sent.trajectory.sample(elapsed).qd)))
        self._sent, self._told, self._others, self._still_since = None, told, False, np.inf

    def _shows(self, state: ControllerState, sent: _Sent) -> bool:
        """Return whether a state belongs to what was sent."""
        last = sent.trajectory.positions[-1]
        if sent.seen == -np.inf:
            since = max(state.received, state.stamp) - sent.at
            if state.elapsed > JITTER + sent.begun + since * max(state.scaling, 1.0):
                return False  # of something that began earlier
            if state.elapsed < sent.begun + (since - ARRIVAL) * min(state.scaling, 1.0):
                return False  # of something that began later, such as a new activation
        if state.elapsed >= sent.seen - JITTER:
            return bool(np.max(np.abs(sent.trajectory.sample(state.elapsed).q - state.q)) < SAME)
        return (self.as_goal and sent.seen >= sent.trajectory.duration - FRESH
                and bool(np.max(np.abs(last - state.q)) < SAME))

    def fresh(self, now: float) -> ControllerState | None:
        """Return the newest state, or None where there is none or it is too old."""
        state = self._state
        return state if state is not None and abs(now - state.received) <= FRESH else None

    def running(self, now: float) -> tuple[Trajectory, float] | None:
        """Return what was sent and the time on it [s]; None where something else runs."""
        if self._sent is None:
            return None
        return self._sent.trajectory, self._elapsed(self._sent, now)

    def scaling(self, now: float) -> float:
        """Return the rate at which the controller plays the time of trajectories."""
        state = self.fresh(now)
        return 1.0 if state is None else state.scaling

    def to_hold(self, now: float) -> Array | None:
        """Return the position (n,) [rad, m] that the controller holds with effort zero, if so."""
        state = self.fresh(now)
        if state is None or self._sent is not None or self._others:
            return None
        begun = self._told or state.elapsed > 0.0  # at time zero a motion stands still, too
        still = now - self._still_since >= STILL or (
            begun and self._still_since < np.inf and not np.any(state.qd))
        return state.q if still else None

    def carried(self, effort: Array, now: float, duration: float) -> CarriedEffort:
        """
        Return what feedback carries of a feedforward effort that is about to begin.

        :param effort: (n,) [N m, N].
        :param now: clock time [s].
        :param duration: time in which feedforward takes over what does not stay [s].
        """
        if self._sent is not None:
            return self._sent.carried_at(self._elapsed(self._sent, now))
        state = self.fresh(now)
        left = self._left if self._left is not None and now - self._left.at <= MEMORY else None
        if state is None or np.any(np.isnan(state.output)):
            return left.carried if left else CarriedEffort.unknown(effort, duration)
        if left is not None:
            if left.moving:  # D brakes, and hides in the output what the integral carries
                return left.carried
            kept = left.carried.effort
            return replace(left.carried, effort=np.clip(
                state.output, np.minimum(kept, 0.0), np.maximum(kept, 0.0)))
        if now - self._activated <= MEMORY:
            carried = CarriedEffort.while_falling(state.output, state.error, effort, duration)
        else:
            carried = CarriedEffort.seen(state.output, state.error, effort, duration)
        return replace(carried, guessed=True)

    def _elapsed(self, sent: _Sent, now: float) -> float:
        state = self.fresh(now)
        if state is None or sent.seen == -np.inf:
            return now - sent.start
        return min(sent.seen + (now - state.received) * state.scaling,
                   max(sent.seen, sent.trajectory.duration))


def _surprise(before: ControllerState | None, state: ControllerState,
              sent: _Sent) -> Array | None:
    """
    Return what feedback commands (n,) [N m, N] where that is not what was guessed.

    :param before: state before what was sent was shown, or None.
    :param state: first state that shows it.
    :param sent: what was sent; only a hold tells, since in a motion feedback has more to do.
    """
    if (before is None or np.any(np.ptp(sent.trajectory.positions, axis=0))
            or np.any(before.qd_or_rest)):
        return None
    effort = sent.trajectory.sample(state.elapsed).effort
    thought = sent.carried_at(state.elapsed).effort
    replaced = effort - (state.output - before.output)  # effort of the reference before
    wrong = (thought != 0.0) & (np.abs(replaced) > SURPRISE * np.abs(thought))
    return state.output - effort if np.any(wrong) else None
