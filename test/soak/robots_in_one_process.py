# SPDX-License-Identifier: Apache-2.0
"""
Dynamics servers of several robots in one process, one per namespace.

``python -m soak.robots_in_one_process <namespace>... --ros-args --params-file ...``
"""

import sys
from functools import partial

from rclpy.utilities import remove_ros_args

from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode
from robot_dynamics_ros.nodes.support.runner import run

if __name__ == '__main__':
    sys.exit(run(*(partial(DynamicsServerNode, namespace=namespace)
                   for namespace in remove_ros_args(sys.argv)[1:])))
