# SPDX-License-Identifier: Apache-2.0
"""
A node with mistakes that nobody foresaw: every callback raises at random.

``python -m support.failing_node [namespace...]``: one per namespace, all in one process.
"""

import random
import sys
from functools import partial

from rclpy.utilities import remove_ros_args
from std_msgs.msg import Float32
from std_srvs.srv import Trigger

from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.runner import run

ERRORS = (RuntimeError, ValueError, KeyError, ZeroDivisionError, IndexError, OverflowError,
          MemoryError, AttributeError, StopIteration, UnicodeError, OSError, AssertionError)


class FailingNode(RobotNode):
    """Fails in every second callback; those that succeed are counted on ~/successes."""

    def __init__(self, **options):
        self.random = random.Random(1995)
        self.fails = False
        super().__init__('failing', **options)
        self.successes = self.failures = self.stops = 0
        self.fails = True

    def make_interfaces(self):
        self._topic = self.create_publisher(Float32, '~/successes', 10)
        self.create_subscription(Float32, 'input', lambda message: self.fail_or_not(), 10)
        self.create_service(Trigger, '~/request', self._on_request)
        self.create_timer(0.01, self._on_tick)

    def fail_or_not(self):
        if self.fails and self.random.random() < 0.5:
            self.failures += 1
            raise self.random.choice(ERRORS)('nobody foresaw this')
        self.successes += 1

    def _on_request(self, request, response):
        self.fail_or_not()
        response.success = True
        return response

    def _on_tick(self):
        self.fail_or_not()
        self._topic.publish(Float32(data=float(self.successes)))

    def settings_changed(self):
        self.fail_or_not()

    def check_settings(self, settings):
        self.fail_or_not()

    def clock_set_back(self):
        self.fail_or_not()

    def payload_changed(self, robot):
        self.fail_or_not()

    def stop_commanding(self):
        self.stops += 1
        self.fail_or_not()

    def come_to_rest(self):
        print('came to rest')
        raise RuntimeError('nobody foresaw this either')


if __name__ == '__main__':
    sys.exit(run(*(partial(FailingNode, namespace=namespace)
                   for namespace in remove_ros_args(sys.argv)[1:] or [''])))
