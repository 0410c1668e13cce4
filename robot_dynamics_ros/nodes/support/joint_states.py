# SPDX-License-Identifier: Apache-2.0
"""The topic ``joint_states`` of a node: checked messages in, joint samples out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.motion.joint_state import JointSample, JointStateReader
from robot_dynamics_ros.nodes.support.conversion import sample_from_message
from robot_dynamics_ros.nodes.support.robot_node import SENSOR, RobotNode


class EffortFiller(Protocol):
    """Whatever fills joint states with the efforts that belong to them."""

    def fill(self, message: JointState) -> None:
        """Put the efforts into a joint state."""


class JointStates:
    """
    Reads the joint states of one robot, counts them and those it drops.

    `latest` is the newest sample (None before the first one), `stamp` that of its message.
    """

    def __init__(self, node: RobotNode, use: Callable[[JointSample], None] | None = None, *,
                 wanted: Callable[[], bool] = lambda: True) -> None:
        """
        Wait for a robot.

        :param node: node that subscribes, and whose diagnostics count.
        :param use: function that gets every sample; may raise RobotDynamicsError.
        :param wanted: function that returns False while joint states are to be ignored.
        """
        self._node, self._use, self._wanted = node, use, wanted
        self._reader: JointStateReader | None = None
        self._efforts: EffortFiller | None = None
        self.latest: JointSample | None = None
        self.stamp = Time()
        self._names: Sequence[str] = ()  # of the last message that was complete

    def subscribe(self, efforts: EffortFiller | None = None, *, newest: bool = True) -> None:
        """
        Subscribe to joint_states.

        :param efforts: fills them where they have others.
        :param newest: True = where several wait, only the last one is used.
        """
        self._efforts = efforts
        self._node.create_subscription(JointState, 'joint_states', self._on_joint_state, SENSOR,
                                       newest=newest)

    def use_robot(self, chain: Chain) -> None:
        """Read the joints of another chain from now on."""
        self._reader, self.latest, self._names = JointStateReader(chain.joint_names), None, ()

    def restart(self) -> None:
        """Accept earlier stamps: the clock was set back. Where the robot was stays known."""
        if self._reader is not None:
            self._reader.restart()
        if self.latest is not None:  # fresh on no clock
            self.latest = replace(self.latest, received=-np.inf)

    def fresh(self, now: float, timeout: float) -> JointSample | None:
        """
        Return the newest sample, or None where there is none or it is too old.

        :param now: present time [s].
        :param timeout: largest age [s].
        """
        latest = self.latest
        return latest if latest is not None and abs(now - latest.received) <= timeout else None

    def _on_joint_state(self, message: JointState) -> None:
        # a simulated clock that has not come yet is 0: what comes then has no age
        if self._reader is None or self._node.now == 0.0 or not self._wanted():
            return
        if self._efforts is not None:
            self._efforts.fill(message)
        if self._names != message.name:
            if self.latest is not None and not self._reader.names_any(message.name):
                return  # of another arm, which somebody else publishes
            self._node.naming.seen(message.name,
                                   None if self.latest is None else self.latest.q)
        try:
            self.latest = sample_from_message(self._reader, message, self._node.now)
            self.stamp = message.header.stamp
            self._names = message.name  # complete, as most of those to come
            if self._use is not None:
                self._use(self.latest)
            self._node.diagnostics.count('joint states')
        except RobotDynamicsError as error:
            self._node.diagnostics.warn('dropped joint states', str(error))
