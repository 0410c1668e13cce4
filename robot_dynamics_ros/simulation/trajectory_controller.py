# SPDX-License-Identifier: Apache-2.0
"""ros2_control's joint_trajectory_controller with an effort interface, for the simulated robot."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.pid import Pid, PidGains
from robot_dynamics_ros.motion.effort_limits import EffortLimits, LimitedEffort
from robot_dynamics_ros.motion.trajectory import Trajectory, TrajectorySample


class TrajectoryController:
    """
    PID on position and velocity plus the effort of the trajectory, interpolated linearly.

    Before the first trajectory, and after a stop, it holds the position it was given with PID
    alone; after the last point it holds that point with its effort.
    """

    def __init__(self, gains: PidGains, limits: EffortLimits, hold: Array) -> None:
        """
        Hold a position.

        :param gains: of the PID.
        :param limits: of the efforts.
        :param hold: (n,) the position to hold [rad, m].
        """
        self.limits = limits
        self._pid = Pid(gains)
        self._start = 0.0
        self._trajectory = self._standing_at(hold)

    def follow(self, trajectory: Trajectory, start: float, now: float, q: Array,
               qd: Array) -> None:
        """
        Execute a trajectory from now on.

        Before its first point the present state, with effort zero, is blended into it.

        :param trajectory: joints in the order of the robot.
        :param start: time of its time zero [s].
        :param now: present time [s].
        :param q: (n,) measured positions [rad, m].
        :param qd: (n,) measured velocities [rad/s, m/s].
        """
        self._trajectory, delay = trajectory.begun(now - start, q, qd)
        self._start = start - delay

    def hold(self, q: Array) -> None:
        """Stop: hold a position (n,) [rad, m] with PID alone."""
        self._trajectory = self._standing_at(q)

    def desired(self, now: float) -> TrajectorySample:
        """Return the desired state (n,) at a time [s]."""
        return self._trajectory.sample(now - self._start)

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
        feedback = self._pid.effort(desired.q - q, desired.qd - qd, step)
        return self.limits.limit(desired.effort + feedback)

    def _standing_at(self, q: Array) -> Trajectory:
        return Trajectory(self.limits.joint_names, np.zeros(1), np.asarray(q)[None])
