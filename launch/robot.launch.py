# SPDX-License-Identifier: Apache-2.0
"""All nodes for a robot that runs: feedforward and the dynamics server."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource

from robot_dynamics_ros.nodes.launch_support import declare_arguments, node, share, value


def make_nodes(context):
    shares = value(context, 'publish_shares').lower() == 'true'
    return [node(context, 'dynamics_server', parameters={'publish_shares': shares})]


def generate_launch_description():
    return LaunchDescription([
        *declare_arguments(),
        DeclareLaunchArgument('publish_shares', default_value='false',
                              description='Publish gravity, Coriolis, friction and residual '
                                          'torque of the measured motion.'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(share('launch', 'feedforward.launch.py'))),
        OpaqueFunction(function=make_nodes),
    ])
