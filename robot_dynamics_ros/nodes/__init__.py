# SPDX-License-Identifier: Apache-2.0
"""
ROS in, ROS out.

Each node runs as ``python -m robot_dynamics_ros.nodes.<name> --ros-args ...``. A node converts a
message, calls one function of the core, and publishes.
"""
