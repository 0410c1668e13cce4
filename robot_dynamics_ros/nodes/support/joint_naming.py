# SPDX-License-Identifier: Apache-2.0
"""Joints that joint states and trajectories never name, in a node: frozen, and said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.motion.unnamed_joints import UnnamedJoints

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.support.robot_node import RobotNode


class JointNaming:
    """Loads the robot of a node anew where other joints are named than it has."""

    def __init__(self, node: RobotNode) -> None:
        """
        Wait for a robot.

        :param node: node with the robot.
        """
        self._node = node
        self._unnamed = UnnamedJoints(())

    def use_robot(self, chain: Chain, frozen: Mapping[str, float] | None) -> None:
        """
        Look at the joints of another chain from now on.

        :param frozen: joints that do not move, with their positions [rad, m].
        """
        self._unnamed = UnnamedJoints(chain.joint_names, frozen, self._unnamed.commanded)

    def seen(self, names: Sequence[str], last: Array | None = None) -> None:
        """
        Freeze joints of a tree that nobody names; thaw those that are named.

        :param names: names of a joint state.
        :param last: (n,) positions where the joints were seen last [rad, m], or None.
        """
        robot = self._node.robot
        if (robot is not None and self._node.may_freeze
                and (self._unnamed.frozen or not robot.chain.serial)):
            self._freeze(self._unnamed.look(self._node.now, names, last))

    def commanded(self, names: Sequence[str]) -> None:
        """Take into account that a trajectory names joints: they are not to be frozen."""
        self._freeze(self._unnamed.command(names))

    def _freeze(self, frozen: dict[str, float]) -> None:
        """Freeze these joints and no others."""
        node, before = self._node, self._unnamed.frozen
        if frozen == before:
            return
        new, thawed = ([name for name in one if name not in other]
                       for one, other in ((frozen, before), (before, frozen)))
        if new:
            node.get_logger().warning(
                'frozen, because joint states and trajectories never name them: '
                + ', '.join(f'{name} at {frozen[name]:.6g}' for name in new)
                + '. Start what publishes them, or name them in the parameter locked')
        if thawed:
            node.get_logger().info(f'named now, and no longer frozen: {", ".join(thawed)}')
        try:
            node.load(node.description, frozen)
        except RobotDynamicsError as error:
            self._unnamed.frozen = frozen  # not again
            node.diagnostics.warn('refused descriptions', f'joints cannot be frozen: {error}')
