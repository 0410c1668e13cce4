# SPDX-License-Identifier: Apache-2.0
"""
Plays a motion on a robot: go to its first point, begin, watch, and stop safely.

The player only says what to send to a trajectory controller and when. It stops where joint states
stay away, where the robot leaves the motion, and when it is told to: by a motion that brakes and
then holds, which every trajectory controller understands. A robot that follows is braked along the
motion that is running, which needs no joint state; one that has left it is braked where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import CollisionError, StateError, TrajectoryError
from robot_dynamics_ros.motion.braking import brake_along, brake_on_the_spot
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.motion_limits import FREE_VELOCITY
from robot_dynamics_ros.motion.playing.lively_motion import approach
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.motion.waypoints import REST_TO_REST_PEAK

#: A joint may begin outside its limits by this [rad, m].
_OUTSIDE = 0.1
#: A robot that has moved less than this is still where its way begins [rad, m].
_SAME_PLACE = 5e-3


class Phase(Enum):
    """What the player does."""

    APPROACH = 'approach'
    PLAY = 'play'
    DONE = 'done'
    STOPPED = 'stopped'


class Order(NamedTuple):
    """
    A trajectory to send.

    :param trajectory: trajectory to play.
    :param start: clock time of its time zero [s].
    """

    trajectory: Trajectory
    start: float


@dataclass(frozen=True)
class PlayerSettings:
    """
    How a motion is played.

    :param lead: time between sending a trajectory and its start [s].
    :param approach: shortest time to reach the first point [s].
    :param beside: the first point is approached over a point beside it [rad, m], so that friction
        is overcome from the same side every time; 0 = straight.
    :param speed: largest part of the velocity limits on the way there.
    :param settle: time to come to rest there [s].
    :param arrived: the first point is reached within this [rad, m].
    :param tries: approaches before giving up.
    :param deviation: distance from the motion at which the robot is stopped [rad, m].
    :param timeout: joint states older than this stop the robot [s].
    :param brake: time to come to rest after a stop [s].
    """

    lead: float = 0.3
    approach: float = 2.0
    beside: float = 0.0
    speed: float = 0.3
    settle: float = 1.0
    arrived: float = 0.2
    tries: int = 3
    deviation: float = 0.5
    timeout: float = 0.5
    brake: float = 0.5


class MotionPlayer:
    """Plays one motion once."""

    def __init__(self, motion: Trajectory, chain: Chain, settings: PlayerSettings | None = None,
                 way: Callable[[Array, Array], Array] | None = None) -> None:
        """
        Prepare a motion; nothing moves before `begin`.

        :param motion: any joint order; at rest at both ends, inside the position limits.
        :param chain: the robot: its joints and limits.
        :param settings: settings of the player.
        :param way: function that returns postures (K, n) from one posture to another [rad, m], for
            the approach; None = straight.
        :raises TrajectoryError: other joints, not at rest at an end, or outside the limits.
        """
        self.motion = motion.in_order(chain.joint_names)
        self.settings = settings or PlayerSettings()
        self.phase = Phase.APPROACH
        self.reason = ''  # why it was stopped
        self._way = way
        self._found: tuple[Array, Array] | None = None  # where a way begins, its postures between
        self._limits = chain.position_limits
        self._units = ['rad' if joint.revolute else 'm' for joint in chain.joints]
        self._speeds = self.settings.speed * np.nan_to_num(chain.velocity_limits,
                                                           nan=FREE_VELOCITY)
        self._order: Order | None = None
        self._watched = -np.inf  # clock time of the last look at the motion [s]
        self._tries = 0
        self._check()

    def _check(self) -> None:
        speeds = np.nan_to_num(self.motion.velocities[[0, -1]])
        if np.any(np.abs(speeds) > 1e-6):
            raise TrajectoryError('a motion to play must be at rest at both ends')
        lower, upper = self._limits
        q = self.motion.sample(np.linspace(0.0, self.motion.duration, 10 * len(self.motion))).q
        for i, name in enumerate(self.motion.joint_names):
            if q[:, i].min() < lower[i] - 1e-9 or q[:, i].max() > upper[i] + 1e-9:
                raise TrajectoryError(
                    f'joint {name}: the motion goes from {q[:, i].min():.3f} to '
                    f'{q[:, i].max():.3f}, outside the limits {lower[i]:g} to {upper[i]:g}')

    @property
    def running(self) -> bool:
        """True while the robot moves because of this player."""
        return self._order is not None and self.phase in (Phase.APPROACH, Phase.PLAY)

    @property
    def start(self) -> float:
        """Clock time of the start of the last trajectory that was sent [s]."""
        return self._order.start if self._order is not None else np.nan

    def progress(self, now: float) -> float:
        """Return the part of the motion that is over, 0 to 1."""
        if self.phase is Phase.PLAY:
            return float(np.clip((now - self.start) / self.motion.duration, 0.0, 1.0))
        return 1.0 if self.phase is Phase.DONE else 0.0

    def begin(self, now: float, sample: JointSample) -> Order | None:
        """
        Return the approach to the first point, or None: call again with the next joint state.

        A way around what is there takes a while to find, and what is sent after that would have
        begun in the past. So it is only found at first, and sent while the robot is still there.

        :param now: clock time [s].
        :param sample: newest joint state of the robot.
        :raises CollisionError: there is no free way to it.
        :raises StateError: a joint is far outside its limits, so it is not what it seems.
        """
        lower, upper = self._limits
        outside = np.maximum(lower - sample.q, sample.q - upper)
        if np.any(outside > _OUTSIDE):
            i = int(np.argmax(outside))
            raise StateError(f'joint {self.motion.joint_names[i]} is at {sample.q[i]:.3g}, '
                             f'outside its limits {lower[i]:g} to {upper[i]:g}: check its zero '
                             'and its unit; nothing was sent')
        goal = self.motion.positions[0]
        between = np.zeros((0, goal.size))
        if self._way is not None:
            found, self._found = self._found, None
            if found is None or np.any(np.abs(sample.q - found[0]) > _SAME_PLACE):
                self._found = sample.q, self._way(sample.q, goal)[1:-1]
                return None
            between = found[1]
        self.phase = Phase.APPROACH
        self._tries += 1
        stops = np.array([sample.q, np.clip(goal + self.settings.beside, *self._limits), goal])
        if self.settings.beside == 0.0:
            stops = np.array([sample.q, *between, goal])
        distance = np.max(np.abs(np.diff(stops, axis=0)), axis=0)
        duration = max(self.settings.approach,
                       float(np.max(REST_TO_REST_PEAK * distance / self._speeds)))
        return self._send(approach(self.motion.joint_names, stops, duration), now)

    def step(self, now: float, sample: JointSample) -> Order | None:
        """
        Return what to send now, or None.

        :param now: clock time [s].
        :param sample: the newest joint state.
        """
        if not self.running or self._order is None:
            return None
        s, elapsed = self.settings, now - self._order.start
        self._watched = now
        if abs(now - sample.received) > s.timeout:
            return self.stop(now, f'no joint state for {now - sample.received:.2f} s')
        # a joint state is compared with the motion at its own time: the motion has moved on since
        seen = sample.received - self._order.start
        if seen >= 0.0:
            away = np.abs(self._order.trajectory.sample(seen).q - sample.q)
            if np.any(away > s.deviation):
                i = int(np.argmax(away))
                return self.stop(now, f'joint {self._distance(i, away)} away from the motion '
                                      f'({s.deviation:.2f} are allowed): the controller is too '
                                      'weak, or something is in the way', sample)
        if self.phase is Phase.APPROACH:
            return self._after_approach(now, elapsed, sample)
        if elapsed > self._order.trajectory.duration + s.lead:
            self.phase = Phase.DONE
        return None

    def stop(self, now: float, reason: str, astray: JointSample | None = None) -> Order:
        """
        Return the motion that brakes the robot.

        :param now: clock time [s].
        :param reason: reason for people.
        :param astray: fresh joint state of a robot that has left the motion, which is braked
            where it is; None = brake along the motion that is running.
        :raises StateError: no motion is running to brake along.
        """
        if astray is None and self._order is None:
            raise StateError('nothing has been sent yet that could be braked')
        self.phase, self.reason = Phase.STOPPED, reason
        brake = self._along_the_motion(now) if astray is None else self._on_the_spot(astray)
        return Order(brake, now)

    def _along_the_motion(self, now: float) -> Trajectory:
        """Return the running motion with its time slowing down smoothly to a halt."""
        assert self._order is not None
        # where the clock was set back, the last look tells how far the motion is
        elapsed = max(now, self._watched) - self._order.start
        return brake_along(self._order.trajectory, elapsed, self.settings.brake)

    def _on_the_spot(self, sample: JointSample) -> Trajectory:
        """Return a brake from the measured position and velocity."""
        return brake_on_the_spot(self.motion.joint_names, sample.q, sample.qd_or_rest,
                                 self.settings.brake, self._limits)

    def _after_approach(self, now: float, elapsed: float, sample: JointSample) -> Order | None:
        if self._order is None or elapsed < self._order.trajectory.duration + self.settings.settle:
            return None
        away = np.abs(sample.q - self.motion.positions[0])
        if np.all(away <= self.settings.arrived):
            self.phase = Phase.PLAY
            return self._send(self.motion, now)
        if self._tries < self.settings.tries:
            try:
                return self.begin(now, sample)
            except (CollisionError, StateError) as error:
                return self.stop(now, str(error), sample)
        i = int(np.argmax(away))
        return self.stop(now, f'joint {self._distance(i, away)} away from the start after '
                              f'{self._tries} approaches ({self.settings.arrived:.2f} are '
                              'allowed): the controller is too weak, or something is in the way',
                         sample)

    def _distance(self, i: int, away: Array) -> str:
        return f'{self.motion.joint_names[i]} is {away[i]:.2f} {self._units[i]}'

    def _send(self, trajectory: Trajectory, now: float) -> Order:
        self._order, self._watched = Order(trajectory, now + self.settings.lead), now
        return self._order


def repeated(motion: Trajectory, times: int) -> Trajectory:
    """
    Return a motion several times in a row.

    :param motion: ends where it begins, at rest.
    :param times: number of repetitions, at least 1.
    :raises TrajectoryError: it does not end where it begins.
    """
    if times < 1:
        raise StateError(f'a motion cannot be repeated {times} times')
    if times > 1 and not np.allclose(motion.positions[0], motion.positions[-1], atol=1e-6):
        raise TrajectoryError('a motion that does not end where it begins cannot be repeated')
    result = motion
    for k in range(1, times):
        later = replace(motion, times=motion.times + k * motion.duration)
        # the first point is the last one of the period before
        result = result.joined_with(replace(
            later, times=later.times[1:], positions=later.positions[1:],
            velocities=later.velocities[1:], accelerations=later.accelerations[1:],
            efforts=later.efforts[1:]))
    return result
