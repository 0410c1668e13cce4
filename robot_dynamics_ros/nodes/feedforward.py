# SPDX-License-Identifier: Apache-2.0
"""
The feedforward node: joint trajectory in, torque out.

In mode ``trajectory``, ``~/joint_trajectory`` is the same curve with an effort at every point, for
the stock joint_trajectory_controller; an empty trajectory brakes. In mode ``stream``,
``~/commands`` drives a forward_command_controller while the trajectory runs, followed by a safe
torque. ``~/torques`` shows the efforts over time. In mode ``float``, torques let the arm be led by
hand, without a trajectory (`trajectories/floating`). With `controller_action`, the node also
offers the action ``~/follow_joint_trajectory`` in front of a controller.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, ClassVar

from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.computed_torque import ComputedTorqueGains
from robot_dynamics_ros.control.feedforward import GRAVITY_MODES, FeedforwardSettings
from robot_dynamics_ros.control.safe_stream import SAFE_ENDS
from robot_dynamics_ros.control.torque_stream import (
    TRAJECTORY_ENDED,
    StreamSettings,
    TorqueStream,
)
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.motion_limits import MotionLimits
from robot_dynamics_ros.nodes.support.conversion import (
    controller_state_type,
    doubles,
    joint_state,
)
from robot_dynamics_ros.nodes.support.joint_states import JointStates
from robot_dynamics_ros.nodes.support.parameter_source import ParameterSource
from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.settings import (
    EFFORT_LIMITS,
    JointSetting,
    effort_limits,
    maximum_points_setting,
    setting,
)
from robot_dynamics_ros.nodes.trajectories.controller_link import ControllerLink
from robot_dynamics_ros.nodes.trajectories.floating import FloatMode, FloatNodeSettings
from robot_dynamics_ros.nodes.trajectories.serialized_trajectory import received_trajectory
from robot_dynamics_ros.nodes.trajectories.trajectory_relay import (
    GoalEnd,
    TrajectoryRelay,
    follow_joint_trajectory_type,
)
from robot_dynamics_ros.robot import Robot

#: Longest wait for a controller to acknowledge the last torque [s].
LAST_WORD = 0.5


@dataclass(frozen=True)
class FeedforwardNodeSettings(FloatNodeSettings):
    """Settings of the feedforward node; also ``effort_limits.<joint>`` [N m, N]."""

    of_joints: ClassVar[tuple[JointSetting, ...]] = (EFFORT_LIMITS,)

    mode: str = setting(
        'trajectory', 'what is published: trajectories with efforts, torques along trajectories, '
        'or torques that let the arm be led by hand', choices=('trajectory', 'stream', 'float'))
    resample_rate: float = setting(100.0, 'points per second of the published trajectory [1/s]',
                                   minimum=1.0, maximum=10_000.0, changeable=True)
    maximum_points: int = maximum_points_setting()
    gravity_mode: str = setting(
        'full', 'gravity in the torques; none if the robot compensates gravity itself',
        choices=GRAVITY_MODES, changeable=True)
    hold: bool = setting(
        True, 'command the weight if the controller has dropped a trajectory (cancel, abort, '
              'activation) and holds without effort; needs controller_state',
        changeable=True)
    blend_time: float = setting(
        1.5, 'time in which efforts take over the weight from the feedback of the controller [s], '
             'so that it does not count twice after start, cancel and abort; a part in the '
             'integral stays there if controller_state shows it, so keep I gains small',
        minimum=0.0, maximum=60.0, changeable=True)
    joint_state_timeout: float = setting(
        0.1, 'age above which joint states are not used [s]', minimum=0.001, maximum=10.0)
    largest_error: float = setting(
        0.3, 'distance of a joint from its reference beyond which a motion does not start, or '
             'ends, in stream mode [rad, m]; .inf = never', minimum=0.001, maximum=float('inf'))
    stream_rate: float = setting(
        200.0, 'torque commands per second in stream and float mode [1/s]', minimum=1.0,
        maximum=2000.0)
    torques_rate: float = setting(50.0, 'rate of ~/torques in trajectory mode [1/s]',
                                  minimum=1.0, maximum=1000.0)
    safe_end: str = setting('gravity', 'torque after the motion in stream mode, and without joint '
                            'states in float mode', choices=SAFE_ENDS)
    controller_action: str = setting(
        '', 'action of a controller, such as joint_trajectory_controller/follow_joint_trajectory, '
            'to which ~/follow_joint_trajectory is relayed with efforts (for MoveIt), in '
            'trajectory mode; needs control_msgs; empty = no relay', ros_name=True)
    controller_state: str = setting(
        '', "topic of the controller's state; needs control_msgs; empty = controller_state, in "
            'the namespace of controller_action if that is given', ros_name=True)
    feedback_frequency: float = setting(
        0.0, 'bandwidth of computed torque in stream mode [rad/s]; 0 = feedforward alone',
        minimum=0.0, maximum=1000.0)


class FeedforwardNode(RobotNode):
    """Fills efforts into trajectories, or streams torques."""

    settings_type = FeedforwardNodeSettings

    def __init__(self, **options: object) -> None:
        super().__init__('feedforward', **options)
        self._limits: EffortLimits | None = None
        self._settings: FeedforwardSettings | None = None
        self._stream: TorqueStream | None = None
        self._relay: TrajectoryRelay | None = None
        self._source = ParameterSource(self)
        self._joints = JointStates(self, self._source.observe)
        self._link = ControllerLink(self, self._joints, lambda: self._usable()[:2])
        self._float = FloatMode(self, self._joints)

    @property
    def executing_goals(self) -> int:
        """Number of relayed goals that the controller has accepted and not finished."""
        return 0 if self._relay is None else self._relay.executing

    @property
    def may_freeze(self) -> bool:
        """True while trajectories are published: torque commands have no names."""
        return bool(self.settings.mode == 'trajectory')

    def make_interfaces(self) -> None:
        """Create the topics."""
        p = self.settings
        streaming = p.mode == 'stream'
        if p.controller_action:
            self._relay = self._make_relay(p.controller_action, p.mode)
        self._source.make_interfaces()
        self._joints.subscribe()
        if p.mode == 'float':
            self._float.make_interfaces()
            return
        self._torques = self.create_publisher(JointState, '~/torques', 10)
        if streaming:
            self._commands = self.create_publisher(Float64MultiArray, '~/commands', 10)
            self.create_timer(1.0 / p.stream_rate, self._on_stream_tick)
        else:
            self._link.make_interfaces(self.state_type())
            self.create_timer(1.0 / p.torques_rate, self._on_torques_tick)
        # as bytes in stream mode: torques must not wait for a long message to become objects
        self.create_subscription(
            JointTrajectory, 'joint_trajectory',
            self._on_stream_trajectory if streaming else self._on_trajectory, 10, raw=streaming)

    def action_type(self) -> Any:
        """Return the type of the relayed action."""
        return follow_joint_trajectory_type()

    def state_type(self) -> Any:
        """Return the type of the controller's state, or None."""
        return controller_state_type()

    def _make_relay(self, controller: str, mode: str) -> TrajectoryRelay:
        if mode != 'trajectory':
            raise ParameterError(f"controller_action needs mode 'trajectory', got '{mode}'")
        return TrajectoryRelay(
            self, self.action_type(), name='~/follow_joint_trajectory', controller=controller,
            fill=lambda message: self._link.fill(message, as_goal=True), brake=self._brake,
            ended=self._on_goal_end,
            refuse=lambda text: self.diagnostics.warn('failed goals', text),
            unforeseen=self.unforeseen)

    def _brake(self) -> bool:
        """Brake the goal that the controller follows, and return whether that was possible."""
        try:
            self._link.stop(as_goal=True)
        except RobotDynamicsError:
            return False
        return True

    def _on_goal_end(self, ending: GoalEnd) -> None:
        """Take into account how the goal has ended that was sent last."""
        if ending is GoalEnd.REFUSED:
            self._link.watch.refused()
        elif ending is GoalEnd.DROPPED:
            self._link.goal_dropped()

    def remove_interfaces(self) -> None:
        """Remove the action, and forget what was sent by a topic that is about to go."""
        if self._relay is not None:
            self._relay.destroy()
            self._relay = None
        self._link.restart()

    def use_robot(self, robot: Robot) -> None:
        """Find the effort limits; a robot with a joint without one is refused."""
        limits = effort_limits(self, robot.chain)
        self._source.use_robot(robot)
        if self.active:
            self.come_to_rest()
        self._limits = limits
        self._motion_limits = MotionLimits(robot.chain.joint_names, robot.chain.position_limits,
                                           robot.chain.velocity_limits)
        self._continuous = robot.chain.continuous
        self._joints.use_robot(robot.chain)
        self._float.use_robot(robot.chain, limits)
        self._link.restart()
        self.settings_changed()

    def forget_robot(self) -> None:
        """Forget its limits, and what streams torques."""
        self._limits = self._settings = self._stream = None
        self._float.forget_robot()

    def check_settings(self, settings: Any) -> None:
        """Refuse a gravity mode that has no feedback."""
        if self._limits is not None:
            self._stream_settings(settings, self._limits)

    def settings_changed(self) -> None:
        """Use the present rate and gravity mode."""
        if self._limits is None:
            return
        p = self.settings
        self._settings = FeedforwardSettings(self._limits, p.resample_rate, p.gravity_mode,
                                             p.maximum_points, self._motion_limits.positions,
                                             self._continuous)
        settings = self._stream_settings(p, self._limits)
        if self._stream is None or self._stream.settings.limits is not self._limits:
            self._stream = TorqueStream(settings)
        self._stream.settings = settings
        self._float.settings_changed()

    def _stream_settings(self, p: Any, limits: EffortLimits) -> StreamSettings:
        feedback = (ComputedTorqueGains.critically_damped(p.feedback_frequency,
                                                          len(limits.joint_names))
                    if p.feedback_frequency > 0.0 else None)
        return StreamSettings(limits, p.gravity_mode, p.safe_end, p.joint_state_timeout, feedback,
                              p.largest_error, self._motion_limits)

    def come_to_rest(self) -> None:
        """Brake, or command a safe torque: a controller goes on with the last thing it got."""
        moving = self._link.moving
        self._end('the node comes to rest')
        self._float.rest()
        # the process may end next: let it arrive
        if self._stream is not None and self.settings.mode == 'stream':
            self._commands.wait_for_all_acked(Duration(seconds=LAST_WORD))
        elif moving:
            self._link.wait_until_arrived(LAST_WORD)

    def stop_commanding(self) -> None:
        """Command a safe torque until the next trajectory."""
        self._end('an unforeseen error')

    def pause(self) -> None:
        """Command a safe torque, if torques are streamed; a floating arm floats on afterwards."""
        if self.settings.mode == 'float':
            self._float.pause()
        elif self.settings.mode == 'stream':
            self._end('a new robot description')

    def _end(self, reason: str) -> None:
        self._float.stop(reason)
        relay = self._relay if self._relay is not None and self._relay.busy else None
        if relay is not None or self._link.moving:
            try:
                # a cancelled goal is held without effort
                self._link.stop(as_goal=relay is not None)
                if relay is not None:
                    relay.stop(f'stopped: {reason}')
            except RobotDynamicsError:
                if relay is not None:
                    relay.cancel()
        if self._stream is not None:
            self._stream.stop(reason)
            self._on_stream_tick()

    def clock_set_back(self) -> None:
        """Accept earlier stamps; a running motion ends."""
        self._link.restart()
        self._source.restart()
        self._joints.restart()
        if self._stream is not None:
            self._stream.stop('the clock was set back')
            self._on_stream_tick()  # the next tick may be far away

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            if message.points:
                self._link.publish(self._link.fill(message))
            else:  # a controller refuses an empty trajectory and goes on
                self._link.stop(as_goal=self._relay is not None and self._relay.busy)
                if self._relay is not None:
                    self._relay.stop('stopped by an empty trajectory')
        except RobotDynamicsError as error:
            self._drop(error)

    def _on_stream_trajectory(self, message: bytes | JointTrajectory) -> None:
        now = self.now  # of receipt, however long reading takes
        try:
            robot, _, stream = self._usable()
            with self.diagnostics.timed('trajectory'):
                received = received_trajectory(message, self.settings.maximum_points)
                if received.trajectory is None:
                    stream.stop('stopped by an empty trajectory')
                    self.diagnostics.count('stops')
                    return
                stream.start(received.trajectory.in_order(robot.chain.joint_names),
                             received.start or now, now, self._joints.latest)
            self.diagnostics.count('trajectories')
        except RobotDynamicsError as error:
            self._drop(error)
            if self._stream is not None:
                self._stream.stop('a new trajectory was refused')

    def _drop(self, error: RobotDynamicsError) -> None:
        self.diagnostics.warn('dropped trajectories', f'trajectory dropped: {error}')

    def _usable(self) -> tuple[Robot, FeedforwardSettings, TorqueStream]:
        if not self.active:
            raise StateError('the node is not active')
        if self.robot is None or self._settings is None or self._stream is None:
            raise StateError('no robot description')
        return self.robot, self._settings, self._stream

    def _on_stream_tick(self) -> None:
        if (self.settings.mode != 'stream' or self._stream is None or self.robot is None
                or not self.active):
            return
        was_running = self._stream.running
        command = self._stream.command(self.robot.model, self.now, self._joints.latest)
        if was_running and not self._stream.running:
            self._tell_end(self._stream.ending)
        if command is None:
            return
        self._commands.publish(Float64MultiArray(data=doubles(command.effort)))
        self.diagnostics.clipped(self.robot.chain.joint_names, command.clamped)
        self._torques.publish(joint_state(self.get_clock().now().to_msg(),
                                          self.robot.chain.joint_names, command.effort))

    def _tell_end(self, reason: str) -> None:
        if reason == TRAJECTORY_ENDED:
            self.get_logger().info(f'torque stream ended: {reason}')
        else:
            self.diagnostics.warn('ends of control', f'torque stream ended: {reason}; the safe '
                                  'torque is commanded now')

    def _on_torques_tick(self) -> None:
        shown = self._link.shown()
        if shown is not None:
            names, now = shown
            self._torques.publish(joint_state(self.get_clock().now().to_msg(), names, now.effort,
                                              q=now.q, qd=now.qd))


def main() -> int:
    """Run the node."""
    return run(FeedforwardNode)


if __name__ == '__main__':
    sys.exit(main())
