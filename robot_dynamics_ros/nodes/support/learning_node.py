# SPDX-License-Identifier: Apache-2.0
"""
The base of nodes that learn from joint states: collects them and hands them on in batches.

Efforts mostly come with ``joint_states``. Where these hold something else (Gazebo: the torque
after friction), the commands of a controller are used instead: ``commands`` of a
forward_command_controller or ``controller_state`` of a joint_trajectory_controller.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError
from robot_dynamics_ros.estimation.recordings.cleaning import CutOut
from robot_dynamics_ros.motion.joint_state import JointSamples, JointStateReader
from robot_dynamics_ros.nodes.support.conversion import (
    controller_state_type,
    samples_from_messages,
    seconds,
)
from robot_dynamics_ros.nodes.support.robot_node import SENSOR, RobotNode
from robot_dynamics_ros.nodes.support.settings import RobotNodeSettings, setting

EFFORT_SOURCES = ('joint_states', 'commands', 'controller_state')
#: Largest age of the commands, or of the wrench, that belong to a joint state [s].
FRESH = 0.1
#: Number of wrenches that are kept.
WRENCHES = 2000


class EffortSource:
    """Fills joint states with the efforts that belong to them."""

    def __init__(self, node: RobotNode, source: str) -> None:
        """
        Subscribe to the topic of the efforts.

        :param node: node with the robot.
        :param source: name of the source, one of EFFORT_SOURCES.
        :raises ParameterError: `controller_state` without control_msgs.
        """
        self._node, self._source = node, source
        self._efforts: dict[str, float] = {}
        self._received = -math.inf
        if source == 'commands':
            node.create_subscription(Float64MultiArray, 'commands', self._on_commands, SENSOR)
        elif source == 'controller_state':
            node.create_subscription(_controller_state_type(), 'controller_state',
                                     self._on_controller_state, SENSOR)

    def fill(self, message: JointState) -> None:
        """Put the efforts of the source into a joint state; NaN where they are not fresh."""
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
            self._node.diagnostics.warn('dropped efforts', f'{len(efforts)} efforts on '
                                   f'{self._source}, expected those of {", ".join(joints)}')
            return
        self._efforts, self._received = known, self._node.now


class WrenchSource:
    """What a force sensor at the tip measures, at the times of the joint states."""

    def __init__(self, node: RobotNode) -> None:
        """
        Subscribe to ``wrench``.

        :param node: node with the robot.
        """
        self._node = node
        self._wrenches: deque[tuple[float, Array]] = deque(maxlen=WRENCHES)
        node.create_subscription(WrenchStamped, 'wrench', self._on_wrench, SENSOR)

    def at(self, times: Array) -> Array:
        """Return (N, 6) wrenches [N, N m]; NaN where none is as fresh as efforts have to be."""
        if not self._wrenches:
            return np.full((len(times), 6), np.nan)
        stamps = np.array([time for time, _ in self._wrenches])
        values = np.array([wrench for _, wrench in self._wrenches])
        result = np.column_stack([np.interp(times, stamps, column) for column in values.T])
        after = np.minimum(np.searchsorted(stamps, times), len(stamps) - 1)
        near = np.minimum(np.abs(stamps[after] - times),
                          np.abs(stamps[np.maximum(after - 1, 0)] - times))
        result[near > FRESH] = np.nan
        return result

    def restart(self) -> None:
        """Forget the past: the clock was set back."""
        self._wrenches.clear()

    def _on_wrench(self, message: WrenchStamped) -> None:
        robot, frame = self._node.robot, message.header.frame_id
        force, torque = message.wrench.force, message.wrench.torque
        wrench = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        time = seconds(message.header.stamp)
        if robot is not None and frame not in ('', robot.chain.tip):
            objection = f"wrench in frame '{frame}', expected that of the tip, {robot.chain.tip}"
        elif not np.isfinite(wrench).all():
            objection = 'wrench with an entry that is not finite'
        elif self._wrenches and time <= self._wrenches[-1][0]:
            objection = 'wrench that is not newer than the last one'
        else:
            self._wrenches.append((time, wrench))
            return
        self._node.diagnostics.warn('dropped wrenches', objection)


def _controller_state_type() -> Any:
    """
    Return the type of a joint_trajectory_controller's state.

    :raises ParameterError: control_msgs is not installed.
    """
    kind = controller_state_type()
    if kind is None:
        raise ParameterError("effort_source 'controller_state' needs the package control_msgs: "
                             'install ros-$ROS_DISTRO-control-msgs, or use another effort_source')
    return kind


def effort_source_setting() -> Any:
    """Return the field of the setting that says where the efforts come from."""
    return setting(
        'joint_states', 'source of the efforts; if joint_states contain the torque after friction '
        '(Gazebo), take what the controller commands', choices=EFFORT_SOURCES)


#: Number of joint states that are handled together, and longest time that they wait for it [s].
BATCH = 100
LONGEST_WAIT = 0.1


@dataclass(frozen=True)
class LearningNodeSettings(RobotNodeSettings):
    """Settings of every node that learns from joint states."""

    effort_source: str = effort_source_setting()
    reliable: bool = setting(
        True, 'request every joint state; false if they are sent as best effort')
    queue: int = setting(1000, 'number of joint states that may wait', minimum=1, maximum=100_000)
    cutoff: float = setting(10.0, 'cut-off frequency of the smoother [Hz]', minimum=0.1,
                            maximum=1000.0)


class LearningNode(RobotNode):
    """Collects joint states: learning from several at once is much cheaper."""

    def __init__(self, name: str, **options: Any) -> None:
        """
        Declare the parameters.

        :param name: name of the node.
        :param options: keyword arguments of rclpy's Node.
        """
        super().__init__(name, **options)
        self.reader: JointStateReader | None = None
        self._taught_by: JointStateReader | None = None  # whose joint states were learned from
        self._efforts: EffortSource | None = None
        self._waiting: list[JointState] = []
        self._received, self._looked = 0, time.monotonic()

    # For a node to override

    def learn(self, samples: JointSamples) -> None:
        """
        Learn from joint states, at least one; efforts in the unit of the robot.

        :raises RobotDynamicsError: they are of no use.
        """

    def forget_robot(self) -> None:
        """Take no joint states without a description."""
        self.reader = None

    @property
    def learning(self) -> bool:
        """True while joint states are wanted."""
        return self.active and self.reader is not None

    @property
    def may_freeze(self) -> bool:
        """True until something was learned: with other joints it would be lost."""
        return self._taught_by is None or self._taught_by is not self.reader

    # For a node to call

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
        """Learn from all joint states that have come so far."""
        messages, self._waiting = self._waiting, []
        if not messages or not self.learning or self.reader is None:
            return
        for names in {tuple(message.name) for message in messages}:
            self.naming.seen(names)
        samples = samples_from_messages(self.reader, messages, self.now)
        for objection in samples.objections:
            self.diagnostics.warn('dropped joint states', objection)
        if len(samples.times):
            self._taught_by = self.reader
            try:
                self.learn(samples)
            except RobotDynamicsError as error:
                self.diagnostics.warn('dropped joint states', str(error), len(samples.times))

    def clock_set_back(self) -> None:
        """Accept earlier stamps; what was learned is kept."""
        self.catch_up()
        if self.reader is not None:
            self.reader.restart()

    def measure_rate(self) -> None:
        """Show the rate of joint states in the diagnostics."""
        now = time.monotonic()
        self.diagnostics.value('input rate [1/s]', round(self._received / (now - self._looked), 1))
        self._received, self._looked = 0, now

    def show_cut_out(self, cut_out: CutOut) -> None:
        """Report how many samples were not used, and why."""
        for reason, number in asdict(cut_out).items():
            self.diagnostics.value(f'not used: {reason.replace("_", " ")}', number)

    def _on_joint_state(self, message: JointState) -> None:
        self._received += 1
        if self._efforts is not None:
            self._efforts.fill(message)
        self._waiting.append(message)
        if len(self._waiting) >= BATCH:
            self.catch_up()
