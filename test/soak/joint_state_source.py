# SPDX-License-Identifier: Apache-2.0
"""
A robot driver: joint states of a moving two-joint arm at a rate, in any number of namespaces.

``python -m soak.joint_state_source <rate> <namespace>...``; prints at the end how many it has sent
per namespace, and in how many seconds.
"""

import signal
import sys
import time
from array import array

import numpy as np
import rclpy
from sensor_msgs.msg import JointState

PHASES = np.array([0.0, 1.0])


def main():
    """Publish until SIGINT."""
    rate, namespaces = float(sys.argv[1]), sys.argv[2:]
    stopped = []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    rclpy.init(signal_handler_options=rclpy.SignalHandlerOptions.NO)
    node = rclpy.create_node('joint_state_source')
    topics = [node.create_publisher(JointState, f'{namespace}/joint_states', 10)
              for namespace in namespaces]
    message = JointState(name=['joint_1', 'joint_2'])
    start, sent = time.monotonic(), 0
    while not stopped:
        time.sleep(max(0.0, start + sent / rate - time.monotonic()))
        angle = 3.0 * (time.monotonic() - start) * np.array([1.0, 1.7]) + PHASES
        message.position = array('d', 0.5 * np.sin(angle))
        message.velocity = array('d', 0.5 * np.array([3.0, 5.1]) * np.cos(angle))
        message.effort = array('d', 9.0 * np.cos(angle) + 4.0)
        message.header.stamp = node.get_clock().now().to_msg()
        for topic in topics:
            topic.publish(message)
        sent += 1
    print('sent', sent, 'in', round(time.monotonic() - start, 3))
    rclpy.shutdown()


if __name__ == '__main__':
    main()
