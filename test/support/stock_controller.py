# SPDX-License-Identifier: Apache-2.0
"""
A simulated arm behind ros2_control's joint_trajectory_controller, as messages see it. Needs ROS 2.

What it does was seen with the real one (joint_trajectory_controller 4.42.1): which trajectories it
refuses, what it holds with, where it blends from, and what its state shows.
"""

import numpy as np
from rclpy.duration import Duration

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.control.pid import PidGains
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.nodes.support.conversion import (
    duration,
    seconds,
    stamp,
    trajectory_from_message,
)
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.simulation.trajectory_controller import TrajectoryController
from support.messages import joint_state_message

STEP = 0.002  # [s]


class StockController:
    """Controller and arm on one clock, `time` [s]; `refusals` are the texts of its log."""

    def __init__(self, chain, *, q, p, i, d, time=100.0, model_error=None):
        """
        Activate the controller.

        :param q: first positions [rad, m].
        :param p: P gains of the joints [N m/rad], as are i [N m/(rad s)] and d [N m s/rad].
        :param model_error: function that makes the chain of the true arm of the known one.
        """
        self.chain, self.time = chain, time
        true = chain if model_error is None else model_error(chain)
        self.arm = SimulatedRobot(true, compile_model(true), q=np.array(q), step=STEP)
        limits = EffortLimits.of_chain(chain)
        gains = PidGains(np.array(p), np.array(i), np.array(d), limits.values)
        self.control = TrajectoryController(gains, limits, self.arm.q, chain.continuous)
        self.control.activate(self.arm.q, time)
        self.refusals = []
        self.active = True
        self.shows_scaling = True
        self._success = None  # last trajectory, for the point that is held after success
        self._left = np.zeros(len(chain))  # effort of the point that it holds

    @property
    def q(self):
        return self.arm.q

    @property
    def error(self):
        """Reference minus measured position (n,) [rad, m]."""
        return self.control.error(self.time, self.arm.q)

    def receive(self, message):
        """Follow a trajectory, or refuse it and go on; return whether it was taken."""
        text = self._objection(message)
        if text:
            self.refusals.append(text)
            return False
        trajectory = trajectory_from_message(message, with_efforts=True).in_order(
            self.chain.joint_names)
        self._success = trajectory
        start = seconds(message.header.stamp)
        if abs(start - self.time) < 1e-8:  # stamps are whole nanoseconds
            start = self.time
        self.control.follow(trajectory, start or self.time, self.time, self.arm.q, self.arm.qd)
        return True

    def _objection(self, message):
        n = len(self.chain.joint_names)
        if len(message.joint_names) != n:
            return "Joints on incoming trajectory don't match the controller joints."
        if not message.points:
            return 'Empty trajectory received.'
        if set(message.joint_names) != set(self.chain.joint_names):
            return "Incoming joint doesn't match the controller's joints."
        last = message.points[-1]
        if np.any(np.abs(last.velocities) > np.finfo(np.float32).eps):
            return 'Velocity of last trajectory point is not zero.'
        times = [Duration.from_msg(point.time_from_start).nanoseconds for point in message.points]
        start = seconds(message.header.stamp)
        if start and start + 1e-9 * times[-1] < self.time:
            return 'Received trajectory with non-zero start time that ends in the past.'
        if np.any(np.diff(times) <= 0):
            return 'Time between points is not strictly increasing.'
        for point in message.points:
            sizes = (len(point.velocities), len(point.accelerations), len(point.effort))
            if len(point.positions) != n or any(size not in (0, n) for size in sizes):
                return 'Mismatch between joint_names size and the size of a point.'
        return ''

    def stop(self):
        """
        Hold the measured position: what cancel and abort do.

        The effort is 0 until a goal has succeeded, and that of its last point from then on: the
        controller writes the position into the point that it has held.
        """
        self.control.hold(self.arm.q, self.time, self._left)

    def succeed(self):
        """Hold the last point, effort included: what the controller does after success."""
        last = self._success
        point = Trajectory(last.joint_names, np.zeros(1), last.positions[-1:],
                           efforts=last.efforts[-1:])
        self._left = last.efforts[-1]
        self.control.follow(point, self.time, self.time, self.arm.q, self.arm.qd)

    def settle(self, part=1.0):
        """
        Hold the measured position as after a minute: the integral carries the weight.

        :param part: part of the weight; P carries the rest, and the arm hangs below its reference.
        """
        weight = self.arm.model.gravity_torque(self.arm.q)
        hanging = (1.0 - part) * weight / self.control.pid.gains.p
        self.control.hold(self.arm.q + hanging, self.time - 60.0)
        self.control.pid.integral_effort, self.control.command = part * weight, weight

    def deactivate(self):
        """Command nothing, and show no state."""
        self.active = False

    def activate(self):
        """Hold the measured position with an empty integral, and the effort of a stop."""
        self.active = True
        self.control.activate(self.arm.q, self.time, self._left)

    def advance(self, time):
        """Let the arm move for a time [s]."""
        for _ in range(round(time / STEP)):
            effort = (self.control.effort(self.time, self.arm.q, self.arm.qd, STEP).effort
                      if self.active else np.zeros(len(self.chain)))
            self.arm.advance(effort)
            self.time += STEP

    def joint_state(self):
        """Return the message of joint_state_broadcaster."""
        return joint_state_message(self.time, self.arm.q, self.arm.qd, self.arm.effort,
                                   self.chain.joint_names)

    def state(self, kind):
        """
        Return the message on controller_state; the controller shows no effort of its reference.

        :param kind: type with the fields of control_msgs/JointTrajectoryControllerState.
        """
        desired = self.control.desired(self.time)
        message = kind(joint_names=list(self.chain.joint_names),
                       speed_scaling_factor=self.control.scaling if self.shows_scaling else 1.0)
        message.header.stamp = stamp(self.time)
        message.reference.positions = desired.q.tolist()
        message.reference.velocities = desired.qd.tolist()
        message.reference.accelerations = desired.qdd.tolist()
        message.reference.time_from_start = duration(self.control.elapsed(self.time))
        message.feedback.positions = self.arm.q.tolist()
        message.feedback.velocities = self.arm.qd.tolist()
        message.error.positions = self.error.tolist()
        message.error.velocities = (desired.qd - self.arm.qd).tolist()
        message.output.effort = self.control.command.tolist()
        return message
