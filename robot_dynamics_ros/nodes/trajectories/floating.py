# SPDX-License-Identifier: Apache-2.0
"""
Mode ``float`` of the feedforward node: joint states in, torques to lead the arm by hand out.

``~/commands`` is for a forward_command_controller with effort interfaces. ``~/joint_commands``
has the same torques for drives that take position, velocity and torque at once (MIT mode): the
measured position, velocity zero, and the effort. A driver sets kp = 0, so that the position does
not matter, and a kd of its own: that damping stays in the drive, whatever happens to this node.
It is a JointState because that has names and a stamp, which a driver needs to check order and
age, and because every driver knows it; JointTrajectoryPoint has neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.control.floating import (
    LARGEST_FRICTION_SHARE,
    FloatController,
    FloatSettings,
)
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.nodes.support.conversion import doubles, joint_state
from robot_dynamics_ros.nodes.support.joint_states import JointStates
from robot_dynamics_ros.nodes.support.parameter_source import SourceSettings
from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.settings import setting

#: Longest wait for a controller to acknowledge the last torque [s].
_LAST_WORD = 0.5


@dataclass(frozen=True)
class FloatNodeSettings(SourceSettings):
    """Settings of a node that lets an arm float."""

    float_friction_share: float = setting(
        0.0, 'part of the friction that is compensated in float mode', minimum=0.0,
        maximum=LARGEST_FRICTION_SHARE, changeable=True)
    float_damping_time: float = setting(
        0.5, 'time in which the velocity of what is let go falls to 37 % in float mode [s]',
        minimum=0.01, maximum=100.0, changeable=True)
    float_holding: float = setting(
        0.03, 'effort up to which a joint stays where it is in float mode, as part of its effort '
              'limit', minimum=0.0, maximum=0.5, changeable=True)
    float_largest_velocity: float = setting(
        1.0, 'velocity beyond which a joint is braked in float mode [rad/s, m/s]', minimum=0.01,
        maximum=100.0, changeable=True)
    float_margin: float = setting(
        0.1, 'distance from a position limit at which the soft stop of float mode begins '
             '[rad, m]', minimum=0.0, maximum=1.0, changeable=True)
    float_hold_time: float = setting(
        1.0, 'time for which the weight is held in float mode when joint states stay away [s]',
        minimum=0.0, maximum=60.0)
    float_release_time: float = setting(
        5.0, 'time in which the weight is then taken away [s]', minimum=0.1, maximum=60.0)


class FloatMode:
    """Lets the robot of one node float."""

    def __init__(self, node: RobotNode, joints: JointStates) -> None:
        """
        Wait for a robot.

        :param node: node whose settings are FloatNodeSettings, with stream_rate, gravity_mode,
            joint_state_timeout and safe_end.
        :param joints: its joint states.
        """
        self._node, self._joints = node, joints
        self._robot: tuple[Chain, EffortLimits] | None = None
        self._controller: FloatController | None = None
        self._objection: str | None = None
        self._q = np.zeros(0)

    def make_interfaces(self) -> None:
        """Create topics and timer."""
        self._commands = self._node.create_publisher(Float64MultiArray, '~/commands', 10)
        self._joint_commands = self._node.create_publisher(JointState, '~/joint_commands', 10)
        self._node.create_timer(1.0 / self._node.settings.stream_rate, self.command)

    def use_robot(self, chain: Chain, limits: EffortLimits) -> None:
        """Let another robot float from now on, once its first joint state has come."""
        self._robot = (chain, limits)
        self._begin()

    def forget_robot(self) -> None:
        """Let no robot float."""
        self._robot = self._controller = None

    def settings_changed(self) -> None:
        """Use the present settings."""
        if self._controller is not None and self._robot is not None:
            self._controller.settings = self._settings(*self._robot)

    def _begin(self) -> None:
        self._objection = self._controller = None
        if self._node.settings.mode == 'float' and self._robot is not None:
            self._controller = FloatController(self._settings(*self._robot))

    def _settings(self, chain: Chain, limits: EffortLimits) -> FloatSettings:
        p: Any = self._node.settings
        return FloatSettings.of_chain(
            chain, limits, friction_share=p.float_friction_share,
            damping_time=p.float_damping_time, holding=p.float_holding,
            largest_velocity=p.float_largest_velocity, margin=p.float_margin,
            hold_time=p.float_hold_time, release_time=p.float_release_time,
            gravity=p.gravity_mode != 'none', period=1.0 / p.stream_rate,
            joint_state_timeout=p.joint_state_timeout, safe_end=p.safe_end)

    def stop(self, reason: str) -> None:
        """
        Let the arm down until the node comes to rest and acts again.

        :param reason: reason for people.
        """
        if self._controller is not None:
            self._controller.stop(reason)

    def pause(self) -> None:
        """Command the weight of the arm where it was seen last: nothing follows for a while."""
        held = None if self._controller is None else self._controller.held()
        if held is not None and self._node.robot is not None:
            self._publish(self._node.robot.chain.joint_names, held)

    def rest(self) -> None:
        """Command a last torque that is safe to keep, and be ready to begin again."""
        if self._controller is None:
            return
        self.stop('the node comes to rest')
        self.command()
        # the process may end next: let it arrive
        self._commands.wait_for_all_acked(Duration(seconds=_LAST_WORD))
        self._begin()

    def command(self) -> None:
        """Publish what to command now."""
        node, state, robot = self._node, self._joints.latest, self._node.robot
        if self._controller is None or robot is None or not node.active:
            return
        command = self._controller.command(
            robot.model, node.now, *((-np.inf, (), ()) if state is None else
                                     (state.received, state.q, state.qd)))
        if command is None:
            return
        if command.objection != self._objection:
            self._tell(command.objection)
        if state is not None:
            self._q = state.q
        names = robot.chain.joint_names
        self._publish(names, command.effort)
        node.diagnostics.clipped(names, command.clamped)

    def _publish(self, names: Sequence[str], effort: Array) -> None:
        self._commands.publish(Float64MultiArray(data=doubles(effort)))
        self._joint_commands.publish(joint_state(
            self._node.get_clock().now().to_msg(), names, effort, q=self._q,
            qd=np.zeros(len(names))))

    def _tell(self, objection: str) -> None:
        """Tell that the arm begins or ceases to float."""
        self._objection = objection
        self._node.diagnostics.value('float', objection or 'floating')
        if objection:
            self._node.diagnostics.warn('ends of control', f'the arm does not float: {objection}; '
                                        'it is let down')
        else:
            self._node.get_logger().info('the arm floats')
