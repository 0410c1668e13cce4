# SPDX-License-Identifier: Apache-2.0
"""
Trajectories on their way to a controller: filled with efforts, braked, held.

``~/joint_trajectory`` out; ``controller_state`` in, where control_msgs is installed. The state
says what the controller's feedback carries, how quickly it plays, and when it has dropped a
trajectory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from rclpy.duration import Duration
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.brake import shortest_brake, shortest_brake_on_the_spot
from robot_dynamics_ros.control.carried_effort import CarriedEffort
from robot_dynamics_ros.control.controller_watch import ControllerWatch
from robot_dynamics_ros.control.feedforward import (
    Feedforward,
    FeedforwardSettings,
    Onset,
    add_feedforward,
)
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.motion.controller_state import controller_state
from robot_dynamics_ros.motion.trajectory import Trajectory, TrajectorySample
from robot_dynamics_ros.nodes.support.conversion import (
    check_point_count,
    seconds,
    stamp,
    trajectory_from_message,
    trajectory_to_message,
)
from robot_dynamics_ros.nodes.support.joint_states import JointStates
from robot_dynamics_ros.nodes.support.robot_node import SENSOR, RobotNode
from robot_dynamics_ros.robot import Robot

#: Part of the effort limits below which a hold changes nothing.
NOTHING = 1e-3
#: Age of a controller state, by its stamp, up to which its clock is ours [s].
SAME_CLOCK = 0.05


class ControllerLink:
    """Sends trajectories to one controller and watches what becomes of them."""

    def __init__(self, node: RobotNode, joints: JointStates,
                 usable: Callable[[], tuple[Robot, FeedforwardSettings]]) -> None:
        """
        Wait for a robot.

        :param node: node that publishes; its settings are those of the feedforward node.
        :param joints: joint states of the node.
        :param usable: function that returns robot and settings, or raises StateError.
        """
        self._node, self._joints, self._usable = node, joints, usable
        self.watch = ControllerWatch()

    def make_interfaces(self, state_type: Any) -> None:
        """Create the topics; `state_type` is that of controller_state, or None."""
        self._output = self._node.create_publisher(JointTrajectory, '~/joint_trajectory', 10)
        p = self._node.settings
        if state_type is not None:
            beside = p.controller_action.rpartition('/')[0]
            topic = p.controller_state or (f'{beside}/controller_state' if beside
                                           else 'controller_state')
            self._node.create_subscription(state_type, topic, self._on_state, SENSOR)
        elif p.controller_state:
            self._node.get_logger().warning('controller_state needs the package control_msgs: '
                                            'not subscribed')

    def restart(self) -> None:
        """Forget the controller: another robot, or the clock was set back."""
        self.watch = ControllerWatch()

    def publish(self, message: JointTrajectory) -> None:
        """Send a trajectory that was filled."""
        self._output.publish(message)

    def wait_until_arrived(self, timeout: float) -> None:
        """Wait until the controller has got what was sent, at most for a time [s]."""
        self._output.wait_for_all_acked(Duration(seconds=timeout))

    @property
    def moving(self) -> bool:
        """True while a trajectory that was sent has not come to rest at its end."""
        running = self.watch.running(self._node.now)
        if running is None:
            return False
        trajectory, elapsed = running
        now = trajectory.sample(max(elapsed, 0.0))
        return elapsed < trajectory.duration and bool(
            np.any(now.q != trajectory.positions[-1]) or np.any(now.qd))

    def fill(self, message: JointTrajectory, *, as_goal: bool = False) -> JointTrajectory:
        """
        Return a trajectory with efforts, which is about to be sent.

        :param as_goal: True = as the goal of an action.
        :raises RobotDynamicsError: it cannot be executed.
        """
        node, now = self._node, self._node.now
        node.naming.commanded(message.joint_names)
        _, settings = self._usable()
        with node.diagnostics.timed('trajectory'):
            check_point_count(len(message.points), settings.maximum_points)
            start = seconds(message.header.stamp)
            filled = self._filled(trajectory_from_message(message), now,
                                  now - start if start else 0.0)
        header, start = message.header, start or now
        if filled.delay:
            header, start = Header(stamp=stamp(now), frame_id=header.frame_id), now
        node.diagnostics.count('trajectories')
        return self._sent(filled, header, start, now, as_goal)

    def stop(self, *, as_goal: bool = False) -> None:
        """
        Brake, along the trajectory that is running where it is known, and hold.

        :param as_goal: True = in place of the goal of an action, which goes on with it.
        :raises StateError: nobody knows what is running, nor where the robot is.
        """
        robot, settings = self._usable()
        node, now = self._node, self._node.now
        running, state = self.watch.running(now), self.watch.fresh(now)
        measured = self._joints.fresh(now, node.settings.joint_state_timeout)
        if running is not None:
            brake = shortest_brake(robot.model, running[0], running[1], settings.limits)
        elif measured is not None or state is not None:
            q, qd = ((measured.q, measured.qd_or_rest) if measured is not None
                     else (state.q, state.qd_or_rest))  # type: ignore[union-attr]
            brake = shortest_brake_on_the_spot(robot.model, q, qd, settings.limits,
                                               robot.chain.position_limits)
        else:
            raise StateError('no stop: nothing was sent, and there is neither a fresh joint state '
                             'nor a state of the controller')
        # a stamp keeps the brake on the way that the controller goes until it arrives; where the
        # clocks differ, the controller might take it for one of the past
        header = (Header(stamp=stamp(now))
                  if state is not None and abs(state.received - state.stamp) < SAME_CLOCK
                  else Header())
        self.publish(self._sent(self._filled(brake, now, 0.0), header, now, now, as_goal))
        node.diagnostics.count('stops')

    def goal_dropped(self) -> None:
        """Take into account that the controller has cancelled or aborted the goal."""
        now = self._node.now
        self.watch.dropped(now)
        measured = self._joints.fresh(now, self._node.settings.joint_state_timeout)
        if self.watch.fresh(now) is None and measured is not None:
            self._hold(measured.q)  # where the controller holds, as far as anybody knows

    def _hold(self, q: Array) -> None:
        """Hold a position (n,) [rad, m] of the controller with the weight, if that is wanted."""
        p, now = self._node.settings, self._node.now
        if not (self._node.active and p.hold) or p.gravity_mode == 'none':
            return
        _, settings = self._usable()
        one = Trajectory(settings.limits.joint_names, np.zeros(1), q[None])
        filled = self._filled(one, now, 0.0)
        guessed = filled.carried is not None and filled.carried.guessed
        if not guessed and np.all(np.abs(filled.trajectory.efforts)
                                  < NOTHING * settings.limits.values):
            self.watch.leave()  # feedback carries it already
            return
        self.publish(self._sent(filled, Header(), now, now))
        self._node.diagnostics.count('holds')

    def _hold_again(self) -> None:
        """Hold with other efforts, where feedback does not carry what was guessed."""
        found = self.watch.surprise()
        if found is None:
            return
        feedback, state = found
        robot, settings = self._usable()
        p, now = self._node.settings, self._node.now
        hold = Trajectory(settings.limits.joint_names, np.zeros(1), state.q[None])
        filled = add_feedforward(robot.model, hold, settings, Onset(
            carried=lambda effort: CarriedEffort.while_falling(feedback, state.error, effort,
                                                               p.blend_time)))
        self.publish(self._sent(filled, Header(), now, now))
        self._node.diagnostics.count('corrections')

    def _leave_to_the_integral(self) -> None:
        """Send what runs again, without what the integral carries after all."""
        found = self.watch.relief()
        if found is None:
            return
        trajectory, elapsed, state, carried = found
        robot, settings = self._usable()
        now = self._node.now
        start = (state.stamp or now) - elapsed  # its points stay where they are
        filled = add_feedforward(robot.model, trajectory, settings, Onset(
            elapsed, carried=lambda effort: carried, scaling=state.scaling))
        self.publish(self._sent(replace(filled, warnings=()), Header(stamp=stamp(start)), start,
                                now, self.watch.as_goal))
        self._node.diagnostics.count('corrections')

    def shown(self) -> tuple[tuple[str, ...], TrajectorySample] | None:
        """Return joint names and what runs now, or None where nothing does."""
        running = self.watch.running(self._node.now)
        if running is None or not running[0].times[0] <= running[1] <= running[0].duration:
            return None
        return running[0].joint_names, running[0].sample(running[1])

    def _filled(self, trajectory: Trajectory, now: float, elapsed: float) -> Feedforward:
        robot, settings = self._usable()
        p = self._node.settings
        return add_feedforward(robot.model, trajectory, settings, Onset(
            elapsed, self._joints.fresh(now, p.joint_state_timeout), self.watch.running(now),
            lambda effort: self.watch.carried(effort, now, p.blend_time),
            self.watch.scaling(now)))

    def _sent(self, filled: Feedforward, header: Header, start: float, now: float,
              as_goal: bool = False) -> JointTrajectory:
        """Remember what is about to be sent, and return it as a message."""
        _, settings = self._usable()
        names = settings.limits.joint_names
        whole = filled.trajectory if filled.whole is None else filled.whole
        self.watch.sent(whole.in_order(names), start, now, filled.now,
                        filled.carried, as_goal=as_goal)
        diagnostics = self._node.diagnostics
        diagnostics.clipped(names, filled.clamped)
        for warning in filled.warnings:
            diagnostics.warn('trajectory warnings', warning)
        return trajectory_to_message(filled.trajectory, header)

    def _on_state(self, message: Any) -> None:
        try:
            _, settings = self._usable()
            reference = message.reference
            self.watch.see(controller_state(
                settings.limits.joint_names, message.joint_names, received=self._node.now,
                elapsed=seconds(reference.time_from_start), scaling=message.speed_scaling_factor,
                q=reference.positions, qd=reference.velocities, error=message.error.positions,
                output=message.output.effort, stamp=seconds(message.header.stamp)))
        except StateError as error:
            if self._node.active and self._node.robot is not None:
                self._node.diagnostics.warn('dropped controller states', str(error))
            return
        self._node.diagnostics.count('controller states')
        self._hold_again()
        self._leave_to_the_integral()
        q = self.watch.to_hold(self._node.now)
        if q is not None:
            self._hold(q)
