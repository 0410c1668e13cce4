# SPDX-License-Identifier: Apache-2.0
"""Effort limits of a node: its parameters ``effort_limits.<joint>`` before those of the robot."""

from __future__ import annotations

from rclpy.node import Node

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.nodes.parameters import declare_number


def effort_limits(node: Node, chain: Chain) -> EffortLimits:
    """
    Declare one parameter per joint and return the limits.

    :raises ParameterError: a joint without a positive finite limit.
    """
    given = {name: declare_number(node, f'effort_limits.{name}',
                                  f'largest effort of {name} [N m, N]')
             for name in chain.joint_names}
    return EffortLimits.of_chain(chain, {name: limit for name, limit in given.items()
                                         if limit is not None})
