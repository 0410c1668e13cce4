# SPDX-License-Identifier: Apache-2.0
"""The base of nodes that learn from joint states: collects them and hands them on in batches."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from robot_dynamics_ros.motion.joint_state import JointSamples, JointStateReader
from robot_dynamics_ros.nodes.conversion import samples_from_messages
from robot_dynamics_ros.nodes.effort_source import EFFORT_SOURCES, EffortSource
from robot_dynamics_ros.nodes.parameters import RobotParameters, parameter
from robot_dynamics_ros.nodes.robot_node import RobotNode

#: Joint states that are handled together, and how long they may wait for it [s].
BATCH = 100
LONGEST_WAIT = 0.1


@dataclass(frozen=True)
class LearningParameters(RobotParameters):
    """Parameters of every node that learns from joint states."""

    effort_source: str = parameter(
        'joint_states', 'where measured efforts come from; where joint_states have the torque '
        'after friction (Gazebo), take what the controller commands', choices=EFFORT_SOURCES)
    reliable: bool = parameter(True, 'false where the joint states are sent as best effort')
    queue: int = parameter(1000, 'joint states that may wait', minimum=1, maximum=100_000)
    cutoff: float = parameter(10.0, 'of the smoother [Hz]', minimum=0.1, maximum=1000.0)


class LearningNode(RobotNode):
    """Collects joint states: learning from several at once is much cheaper."""

    def __init__(self, name: str, **settings: Any) -> None:
        """
        Start without a robot.

        :param name: of the node.
        :param settings: of rclpy's Node.
        """
        super().__init__(name, **settings)
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
        p = self.parameters
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

    def _on_joint_state(self, message: JointState) -> None:
        self._received += 1
        if self._efforts is not None:
            self._efforts.fill(message)
        self._waiting.append(message)
        if len(self._waiting) >= BATCH:
            self.catch_up()
