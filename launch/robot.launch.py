# SPDX-License-Identifier: Apache-2.0
"""All nodes for a robot that runs: feedforward, the dynamics server, and learning if wanted."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource

from robot_dynamics_ros.nodes.support.launching import (
    declare_arguments,
    declare_parameters_file,
    identified_parameters,
    node,
    share,
    switched_on,
    value,
)
from robot_dynamics_ros.nodes.support.learning_node import EFFORT_SOURCES


def make_nodes(context):
    learn = switched_on(context, 'learn')
    source = {'effort_source': value(context, 'effort_source')}
    topics = [(topic, f'{value(context, "controller_name")}/{topic}')
              for topic in ('commands', 'controller_state')]
    nodes = [node(context, 'dynamics_server', parameters={
        'publish_shares': switched_on(context, 'publish_shares'), 'follow_mlc': learn, **source,
        **identified_parameters(context)},
        remappings=[('mlc', 'identification/mlc'), *topics])]
    if learn:
        nodes.append(node(context, 'identification', parameters={
            'checkpoint_file': value(context, 'checkpoint_file'), **source}, remappings=topics))
    return nodes


def generate_launch_description():
    return LaunchDescription([
        *declare_arguments(),
        declare_parameters_file(),
        DeclareLaunchArgument('publish_shares', default_value='false',
                              description='Publish gravity, Coriolis, friction and residual '
                                          'torque of the measured motion.'),
        DeclareLaunchArgument('learn', default_value='false',
                              description='Start the identification node, and use what it '
                                          'learns.'),
        DeclareLaunchArgument('effort_source', default_value='joint_states',
                              choices=list(EFFORT_SOURCES),
                              description='Where the nodes find the efforts: measured, or what '
                                          'the controller commands.'),
        DeclareLaunchArgument('checkpoint_file', default_value='',
                              description='Keeps what is learned over a restart.'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(share('launch', 'feedforward.launch.py'))),
        OpaqueFunction(function=make_nodes),
    ])
