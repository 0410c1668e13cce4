# SPDX-License-Identifier: Apache-2.0
"""A node that is slower than what comes in: messages, ~/wait; ~/ticks of a timer go on."""

import sys
import time

from std_msgs.msg import Float32
from std_srvs.srv import Trigger

from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.runner import run


class SlowNode(RobotNode):
    """Needs 20 ms for a message, 1 ms for a request, and counts the ticks of a timer of 10 Hz."""

    def __init__(self, **options):
        super().__init__('slow', **options)
        self.ticks = 0

    def make_interfaces(self):
        self._topic = self.create_publisher(Float32, '~/ticks', 10)
        self.create_subscription(Float32, 'input', lambda message: time.sleep(0.02), 10)
        self.create_service(Trigger, '~/wait', self._on_wait)
        self.create_timer(0.1, self._on_tick)

    def _on_wait(self, request, response):
        time.sleep(0.001)
        response.success = True
        return response

    def _on_tick(self):
        self.ticks += 1
        self._topic.publish(Float32(data=float(self.ticks)))


if __name__ == '__main__':
    sys.exit(run(SlowNode))
