# SPDX-License-Identifier: Apache-2.0
"""
The ROS 2 nodes.

Each one runs as ``python -m robot_dynamics_ros.nodes.<name> --ros-args ...``. A node converts a
message, calls one function of the core and publishes the result; there is no physics here.
"""
