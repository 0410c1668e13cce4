# SPDX-License-Identifier: Apache-2.0
"""
The base of nodes that learn from joint states: collects them and hands them on in batches.

Efforts mostly come with ``joint_states``. Where these hold something else (Gazebo: the torque
after friction), what a controller commands is taken instead: ``commands`` of a
forward_command_controller or ``controller_state`` of a joint_trajectory_controller.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recordings.cleaning import CutOut
from robot_dynamics_ros.motion.joint_state import JointSamples, JointStateReader
from robot_dynamics_ros.nodes.support.conversion import samples_from_messages
from robot_dynamics_ros.nodes.support.robot_node import SENSOR, RobotNode
from robot_dynamics_ros.nodes.support.settings import RobotNodeSettings, setting

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


#: Joint states that are handled together, and how long they may wait for it [s].
BATCH = 100
LONGEST_WAIT = 0.1


@dataclass(frozen=True)
class LearningNodeSettings(RobotNodeSettings):
    """Settings of every node that learns from joint states."""

    effort_source: str = setting(
        'joint_states', 'where measured efforts come from; where joint_states have the torque '
        'after friction (Gazebo), take what the controller commands', choices=EFFORT_SOURCES)
    reliable: bool = setting(True, 'false where the joint states are sent as best effort')
    queue: int = setting(1000, 'joint states that may wait', minimum=1, maximum=100_000)
    cutoff: float = setting(10.0, 'of the smoother [Hz]', minimum=0.1, maximum=1000.0)


class LearningNode(RobotNode):
    """Collects joint states: learning from several at once is much cheaper."""

    def __init__(self, name: str, **options: Any) -> None:
        """
        Start without a robot.

        :param name: of the node.
        :param options: keyword arguments of rclpy's Node.
        """
        super().__init__(name, **options)
        self.reader: JointStateReader | None = None
        self._efforts: EffortSource | None = None
        self._waiting: list[JointState] = []
        self._received, self._looked = 0, time.monotonic()

    # What a node adds

    def learn(self, samples: JointSamples) -> None:
        """Learn from joint states, at least one; efforts in the unit of the robot."""

    @property
    def learning(self) -> bool:
        """True where joint states are wanted."""
        return self.active and self.reader is not None

    # What it gets

    def listen(self) -> None:
        """Subscribe to joint states."""
        p = self.settings
        quality = QoSProfile(depth=p.queue, reliability=(
            ReliabilityPolicy.RELIABLE if p.reliable else ReliabilityPolicy.BEST_EFFORT))
        self._efforts = EffortSource(self, p.effort_source)
        self.create_subscription(JointState, 'joint_states', self._on_joint_state, quality)
        self.create_timer(LONGEST_WAIT, self.catch_up,
                          clock=Clock(clock_type=ClockType.STEADY_TIME))

    def catch_up(self) -> None:
        """Learn from everything that has come so far."""
        messages, self._waiting = self._waiting, []
        if not messages or not self.learning or self.reader is None:
            return
        samples = samples_from_messages(self.reader, messages, self.now)
        for objection in samples.objections:
            self.report.warn('dropped joint states', objection)
        if len(samples.times):
            self.learn(samples)

    def clock_set_back(self) -> None:
        """Accept earlier stamps; what was learned stays."""
        self.catch_up()
        if self.reader is not None:
            self.reader.restart()

    def measure_rate(self) -> None:
        """Report how many joint states come in."""
        now = time.monotonic()
        self.report.value('input rate [1/s]', round(self._received / (now - self._looked), 1))
        self._received, self._looked = 0, now

    def show_cut_out(self, cut_out: CutOut) -> None:
        """Report how many samples were not used, and why."""
        for reason, number in asdict(cut_out).items():
            self.report.value(f'not used: {reason.replace("_", " ")}', number)

    def _on_joint_state(self, message: JointState) -> None:
        self._received += 1
        if self._efforts is not None:
            self._efforts.fill(message)
        self._waiting.append(message)
        if len(self._waiting) >= BATCH:
            self.catch_up()
