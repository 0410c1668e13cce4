# SPDX-License-Identifier: Apache-2.0
"""The feedforward node with the test's action type, where control_msgs is not installed."""

import sys

from robot_dynamics_test_interfaces.action import FollowJointTrajectory

from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support.runner import run


class RelayingNode(FeedforwardNode):
    """Relays the action of the tests."""

    def action_type(self):
        return FollowJointTrajectory


if __name__ == '__main__':
    sys.exit(run(RelayingNode))
