# SPDX-License-Identifier: Apache-2.0
"""
Where the efforts of a robot come from.

``joint_states`` mostly have them. Where they hold something else (Gazebo: the torque after
friction), what a controller commands is taken instead: ``commands`` of a
forward_command_controller or ``controller_state`` of a joint_trajectory_controller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.nodes.robot_node import SENSOR, RobotNode

EFFORT_SOURCES = ('joint_states', 'commands', 'controller_state')
#: Older commands are not those of a joint state [s].
FRESH = 0.1


class EffortSource:
    """Gives joint states the efforts that belong to them."""

    def __init__(self, node: RobotNode, source: str) -> None:
        """
        Subscribe to what is needed.

        :param node: whose robot it is.
        :param source: one of EFFORT_SOURCES.
        :raises ParameterError: `controller_state` without control_msgs.
        """
        self._node, self._source = node, source
        self._efforts: dict[str, float] = {}
        self._received = -math.inf
        if source == 'commands':
            node.create_subscription(Float64MultiArray, 'commands', self._on_commands, SENSOR)
        elif source == 'controller_state':
            node.create_subscription(controller_state_type(), 'controller_state',
                                     self._on_controller_state, SENSOR)

    def fill(self, message: JointState) -> None:
        """Put the efforts of the source into a joint state; NaN where none is fresh."""
        if self._source != 'joint_states':
            fresh = abs(self._node.now - self._received) <= FRESH
            message.effort = [self._efforts.get(name, math.nan) if fresh else math.nan
                              for name in message.name]

    def _on_commands(self, message: Float64MultiArray) -> None:
        if self._node.robot is not None:
            self._take(self._node.robot.chain.joint_names, message.data)

    def _on_controller_state(self, message: Any) -> None:
        self._take(message.joint_names, message.output.effort)

    def _take(self, names: Sequence[str], efforts: Sequence[float]) -> None:
        robot = self._node.robot
        if robot is None:
            return
        known = dict(zip(names, efforts))
        joints = robot.chain.joint_names
        if len(names) != len(efforts) or any(name not in known for name in joints):
            self._node.report.warn('dropped efforts', f'{len(efforts)} efforts on '
                                   f'{self._source}, expected those of {", ".join(joints)}')
            return
        self._efforts, self._received = known, self._node.now


def controller_state_type() -> Any:
    """
    Return the type of a joint_trajectory_controller's state.

    :raises ParameterError: control_msgs is not installed.
    """
    try:
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError as error:
        raise ParameterError("effort_source 'controller_state' needs the package control_msgs: "
                             'install ros-$ROS_DISTRO-control-msgs, or use another effort_source'
                             ) from error
    return JointTrajectoryControllerState
