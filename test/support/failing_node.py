# SPDX-License-Identifier: Apache-2.0
"""A node with a mistake that nobody foresaw, for the test of the runner."""

import sys

from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.runner import run


class FailingNode(RobotNode):
    """Fails in its first timer callback."""

    def __init__(self):
        super().__init__('failing')

    def make_interfaces(self):
        self.create_timer(0.01, self._fail)

    def _fail(self):
        raise RuntimeError('nobody foresaw this')

    def come_to_rest(self):
        print('came to rest')


if __name__ == '__main__':
    sys.exit(run(FailingNode))
