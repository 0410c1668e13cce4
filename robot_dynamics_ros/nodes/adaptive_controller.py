# SPDX-License-Identifier: Apache-2.0
"""
The adaptive controller: trajectory and joint states in, torque out, learning while it moves.

It answers every joint state with efforts on ``~/commands``, for a forward_command_controller. The
learned parameters are on the latched topic ``~/mlc`` and in ``~/get_mlc``; ``~/reset`` discards
them. ``~/enable`` takes over the arm or releases it. Without fresh joint states, a watchdog
commands the safe torque.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.msg import MlcSet as MlcSetMessage
from robot_dynamics_ros.control.adaptive.choice import (
    LAW_NAMES,
    AdaptiveSettings,
    make_adaptive_controller,
)
from robot_dynamics_ros.control.adaptive.stream import AdaptiveStream, AdaptiveStreamSettings
from robot_dynamics_ros.control.adaptive.unknown_parameters import GROUPS
from robot_dynamics_ros.control.safe_stream import SAFE_ENDS
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import RobotDynamicsError, StateError
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.nodes.support.conversion import doubles, estimate_to_message
from robot_dynamics_ros.nodes.support.joint_states import JointStates
from robot_dynamics_ros.nodes.support.robot_node import LATCHED, RobotNode
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.services import offer_mlc
from robot_dynamics_ros.nodes.support.settings import (
    EFFORT_LIMITS,
    JointSetting,
    RobotNodeSettings,
    effort_limits,
    maximum_points_setting,
    setting,
)
from robot_dynamics_ros.nodes.trajectories.serialized_trajectory import received_trajectory
from robot_dynamics_ros.robot import Robot

#: Logged when the controller has taken over the arm.
UNDER_CONTROL = 'the arm is under control'
#: Velocity of smoothing out a jump where a joint has no velocity limit [rad/s, m/s].
_FREE_VELOCITY = 1.0
#: Part of the velocity limits that smoothing out may use.
_VELOCITY_PART = 0.5


@dataclass(frozen=True)
class AdaptiveControllerNodeSettings(RobotNodeSettings):
    """Settings of the adaptive controller; also ``effort_limits.<joint>`` [N m, N]."""

    of_joints: ClassVar[tuple[JointSetting, ...]] = (EFFORT_LIMITS,)

    law: str = setting('slotine_li', 'adaptive law; slotine_li_modified is that of Lu & Meng, '
                       'slotine_li_composite also learns from the commanded torque',
                       choices=LAW_NAMES)
    bandwidth: tuple[float, ...] = setting(
        (), 'lambda, one number or one per joint [1/s]; none = 20', example='[20.0]')
    damping: tuple[float, ...] = setting(
        (), 'K per joint [N m s/rad, N s/m], or one number times the inertia of each joint [1/s]; '
            'none = bandwidth times mass matrix', example='[40.0, 40.0, 2.0]')
    learn: tuple[str, ...] = setting(
        (), f'groups ({", ".join(GROUPS)}) or names of the parameters to learn; none = weight, '
            'Fv, Fc, offset', example='[weight, Fv, Fc]')
    learning_time: float = setting(
        0.1, 'time constant of learning links and payload [s]; a shorter one allows less delay '
             'between a joint state and the effect of the command that answers it (0.1: 20 ms); '
             '0 = 0.02, craig 0.5 (5 ms); .inf = never', minimum=0.0, maximum=float('inf'))
    friction_time: float = setting(
        0.0, 'time constant of learning joint terms [s]; 0 = 1, craig 20; .inf = never',
        minimum=0.0, maximum=float('inf'))
    dead_zone: float = setting(
        0.01, 'tracking errors qd~ + bandwidth q~ below this are not learned from [rad/s, m/s]; '
              'take about three times the noise of the measured velocity',
        minimum=0.0, maximum=10.0)
    leakage: float = setting(0.0, 'rate of the return to the initial values [1/s]', minimum=0.0,
                             maximum=100.0)
    heaviest_load: float = setting(10.0, 'largest mass of a payload that is learned [kg]',
                                   minimum=0.001, maximum=1e4)
    load_size: float = setting(0.5, 'largest extent of that payload from the tip frame [m]',
                               minimum=0.001, maximum=100.0)
    enabled: bool = setting(
        True, 'take over the arm as soon as joint states arrive; false = wait for ~/enable')
    joint_state_timeout: float = setting(0.1, 'age of the joint states that ends control [s]',
                                         minimum=0.001, maximum=10.0)
    safe_end: str = setting('gravity', 'torque after the end of control', choices=SAFE_ENDS)
    largest_error: float = setting(
        0.3, 'distance of a joint from its reference that ends control [rad, m]; .inf = never',
        minimum=0.001, maximum=float('inf'))
    fade: float = setting(
        0.5, 'shortest time in which a jump of the reference is smoothed out [s]',
        minimum=0.01, maximum=60.0)
    maximum_points: int = maximum_points_setting()
    mlc_rate: float = setting(2.0, 'rate of ~/mlc while learning [1/s]', minimum=0.01,
                              maximum=100.0)


class AdaptiveControllerNode(RobotNode):
    """Controls the arm and learns its parameters."""

    settings_type = AdaptiveControllerNodeSettings

    def __init__(self, **options: object) -> None:
        super().__init__('adaptive_controller', **options)
        self._joints = JointStates(self, self._on_sample)
        self._stream: AdaptiveStream | None = None
        self._published = -1

    @property
    def under_control(self) -> bool:
        """True while the controller moves or holds the arm."""
        return self._stream is not None and self._stream.running

    @property
    def may_freeze(self) -> bool:
        """False: torque commands have no names."""
        return False

    def make_interfaces(self) -> None:
        """Create topics, services and timers."""
        p = self.settings
        self._commands = self.create_publisher(Float64MultiArray, '~/commands', 10)
        self._mlc = self.create_publisher(MlcSetMessage, '~/mlc', LATCHED)
        offer_mlc(self, self._estimate)
        self.create_service(Trigger, '~/reset', self._on_reset)
        self.create_service(SetBool, '~/enable', self._on_enable)
        # as bytes: torques must not wait for a long message to become objects
        self.create_subscription(JointTrajectory, 'joint_trajectory', self._on_trajectory, 10,
                                 raw=True)
        self._joints.subscribe()
        self.create_timer(0.5 * p.joint_state_timeout, self._on_watchdog)
        self.create_timer(1.0 / p.mlc_rate, self._on_mlc_tick)

    def use_robot(self, robot: Robot) -> None:
        """Make a controller for this robot; what was learned about another one is forgotten."""
        p = self.settings
        given = {field.name: getattr(p, field.name) for field in fields(AdaptiveSettings)}
        chosen = AdaptiveSettings(**{key: value for key, value in given.items() if value != ()})
        controller = make_adaptive_controller(robot.model, effort_limits(self, robot.chain),
                                              chosen)
        velocities = _VELOCITY_PART * np.nan_to_num(robot.chain.velocity_limits,
                                                    nan=_FREE_VELOCITY)
        if self.active:
            self.come_to_rest()
        self._joints.use_robot(robot.chain)
        self._stream = AdaptiveStream(controller, AdaptiveStreamSettings(
            p.joint_state_timeout, p.safe_end, p.fade, velocities, p.largest_error))
        self._published = -1
        self._tell_of_presliding(robot)
        if p.enabled and self.active:
            self._stream.enable_when_ready()

    def forget_robot(self) -> None:
        """Forget its controller, which commands torques."""
        self._stream = None

    def _tell_of_presliding(self, robot: Robot) -> None:
        """Name the joints whose friction turns over a distance, which the laws do not know."""
        distance = robot.model.joint_physics.presliding
        joints = ([] if distance is None else
                  [name for name, each in zip(robot.chain.joint_names, distance) if each > 0.0])
        self.diagnostics.value('presliding left out', ', '.join(joints) or 'none')
        if joints:
            self.get_logger().warning(
                f'presliding of {", ".join(joints)} is left out: with adaptive laws friction '
                'turns at once at a reversal; feedforward of trajectories has it')

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Take over the arm, unless that is left to ~/enable."""
        if self.settings.enabled and self._stream is not None:
            self._stream.enable_when_ready()
        return super().on_activate(state)

    def come_to_rest(self) -> None:
        """Command a safe torque: a controller applies the last one for ever."""
        if self._stream is not None:
            self._stream.disable('the node comes to rest')
            self._command()

    def stop_commanding(self) -> None:
        """Command a safe torque until the next trajectory or ~/enable."""
        self._end('an unforeseen error')

    def pause(self) -> None:
        """Command a safe torque, which is that of the present robot."""
        self._end('a new robot description')

    def _end(self, reason: str) -> None:
        if self._stream is not None:
            self._stream.end(reason)
            self._command()

    def clock_set_back(self) -> None:
        """Accept earlier stamps; control ends with a safe torque."""
        self._joints.restart()
        self._command()

    def _on_sample(self, sample: JointSample) -> None:
        if self.active:
            with self.diagnostics.timed('command'):
                self._command()

    def _on_watchdog(self) -> None:
        """Command the safe torque when joint states stay away."""
        if self.active and self._joints.fresh(self.now, self.settings.joint_state_timeout) is None:
            self._command()

    def _command(self) -> None:
        """Publish the torque to command now, if there is one."""
        stream = self._stream
        if stream is None:
            return
        was_running = stream.running
        command = stream.command(self.now, self._joints.latest)
        if stream.running and not was_running:
            self.get_logger().info(UNDER_CONTROL)
        if was_running and not stream.running:
            self.diagnostics.warn('ends of control', f'control has ended: {stream.ending}; the '
                                  'safe torque is commanded now')
        if command is None:
            return
        self._commands.publish(Float64MultiArray(data=doubles(command.effort)))
        self.diagnostics.count('commands')
        self.diagnostics.clipped(stream.controller.limits.joint_names, command.clamped,
                                 consequence='; not learning')

    def _on_trajectory(self, message: bytes | JointTrajectory) -> None:
        stream, now = self._stream, self.now  # of receipt, however long reading takes
        if not self.active or stream is None or self.robot is None:
            self.diagnostics.warn('dropped trajectories',
                                  'trajectory dropped: no robot or not active')
            return
        try:
            received = received_trajectory(message, self.settings.maximum_points)
            if received.trajectory is None:
                stream.stop(now)
            else:
                stream.follow(received.trajectory.in_order(self.robot.chain.joint_names),
                              received.start or now, now, self._joints.latest)
            self.diagnostics.count('trajectories')
        except RobotDynamicsError as error:
            self.diagnostics.warn('dropped trajectories', f'trajectory dropped: {error}')

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        try:
            stream = self._usable_stream()
            if request.data:
                stream.enable(self.now, self._joints.latest)
                response.message = UNDER_CONTROL
            else:
                stream.disable()
                self._command()
                response.message = 'the arm is given back with a safe torque'
            response.success = True
        except RobotDynamicsError as error:
            response.message = str(error)
            self.diagnostics.warn('refused requests', f'enable: {error}')
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            self._usable_stream().controller.reset()
            response.success, response.message = True, 'what was learned is forgotten'
        except RobotDynamicsError as error:
            response.message = str(error)
        return response

    def _on_mlc_tick(self) -> None:
        if self._stream is None or not self.active:
            return
        samples = self._stream.controller.samples
        if samples != self._published:
            self._mlc.publish(estimate_to_message(self._estimate('lin'),
                                                  self.get_clock().now().to_msg()))
            self._published = samples

    def _estimate(self, wanted: str) -> MlcEstimate:
        return self._usable_stream().controller.estimate(wanted)

    def _usable_stream(self) -> AdaptiveStream:
        if self._stream is None or not self.active:
            raise StateError('no robot description yet, or the node is not active')
        return self._stream


def main() -> int:
    """Run the node."""
    return run(AdaptiveControllerNode)


if __name__ == '__main__':
    sys.exit(main())
