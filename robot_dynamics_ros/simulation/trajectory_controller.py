# SPDX-License-Identifier: Apache-2.0
"""ros2_control's joint_trajectory_controller with an effort interface, for simulated robots."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.pid import Pid, PidGains
from robot_dynamics_ros.motion.effort_limits import EffortLimits, LimitedEffort
from robot_dynamics_ros.motion.trajectory import Trajectory, TrajectorySample
from robot_dynamics_ros.motion.turns import in_nearest_turn


class TrajectoryController:
    """
    PID on position and velocity plus the effort of the trajectory, interpolated linearly.

    Before the first trajectory, and after a stop, it holds the position it was given with PID
    alone; after the last point it holds that point with its effort. A stop keeps the integral.

    `scaling` is the rate of the trajectory's time, `command` the last effort (n,) [N m, N], `pid`
    the feedback.
    """

    def __init__(self, gains: PidGains, limits: EffortLimits, hold: Array,
                 continuous: NDArray[np.bool_] | None = None) -> None:
        """
        Hold a position.

        :param gains: gains of the PID.
        :param limits: effort limits.
        :param hold: (n,) the position to hold [rad, m].
        :param continuous: (n,) True for joints that turn without end; None = no joint does.
        """
        self.limits = limits
        self.scaling = 1.0
        self.command = np.zeros(len(limits.joint_names))
        self.pid = Pid(gains)
        self._continuous = continuous
        self._start = 0.0  # time zero of the trajectory on its own clock [s]
        self._behind = 0.0  # how much the clock of the trajectory is behind because of scaling [s]
        self._trajectory = self._standing_at(hold)

    def follow(self, trajectory: Trajectory, start: float, now: float, q: Array,
               qd: Array) -> None:
        """
        Execute a trajectory from now on.

        Before its first point the present state, with the last commanded effort, is blended into
        it; a continuous joint goes the short way.

        :param trajectory: joints in the order of the robot.
        :param start: time of its time zero [s].
        :param now: present time [s].
        :param q: (n,) measured positions [rad, m].
        :param qd: (n,) measured velocities [rad/s, m/s].
        """
        near = in_nearest_turn(q, trajectory.positions[0], self._continuous)
        self._trajectory, delay = trajectory.begun(now - start, near, qd, self.command)
        self._start, self._behind = start - delay, 0.0

    def hold(self, q: Array, now: float = 0.0, effort: Array | None = None) -> None:
        """
        Stop: hold a position with PID, and an effort that is left from before.

        :param q: (n,) the position [rad, m].
        :param now: present time [s].
        :param effort: (n,) [N m, N]; None = zero.
        """
        self._trajectory, self._start, self._behind = self._standing_at(q, effort), now, 0.0

    def activate(self, q: Array, now: float = 0.0, effort: Array | None = None) -> None:
        """Hold a position (n,) [rad, m] as after a stop, with an empty integral."""
        self.pid.reset()
        self.command = np.zeros(len(self.limits.joint_names))
        self.hold(q, now, effort)

    def elapsed(self, now: float) -> float:
        """Return the time on the clock of the trajectory, from its start [s]."""
        return now - self._behind - self._start

    def desired(self, now: float) -> TrajectorySample:
        """Return the desired state (n,) at a time [s]."""
        return self._trajectory.sample(self.elapsed(now))

    def error(self, now: float, q: Array) -> Array:
        """Return how far (n,) [rad, m] measured positions are behind the desired ones."""
        desired = self.desired(now).q
        return desired - in_nearest_turn(q, desired, self._continuous)

    def effort(self, now: float, q: Array, qd: Array, step: float) -> LimitedEffort:
        """
        Return the effort (n,) [N m, N], inside the limits.

        :param now: present time [s].
        :param q: (n,) measured positions [rad, m].
        :param qd: (n,) measured velocities [rad/s, m/s].
        :param step: time since the last call [s].
        :raises StateError: the measured state is not finite.
        """
        desired = self.desired(now)
        feedback = self.pid.effort(self.error(now, q), desired.qd - qd, step)
        result = self.limits.limit(desired.effort + feedback)
        self.command = result.effort
        self._behind += step * (1.0 - self.scaling)
        return result

    def _standing_at(self, q: Array, effort: Array | None = None) -> Trajectory:
        return Trajectory(self.limits.joint_names, np.zeros(1), np.asarray(q)[None],
                          efforts=np.asarray(np.zeros_like(q) if effort is None else effort)[None])
