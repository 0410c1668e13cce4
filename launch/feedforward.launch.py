# SPDX-License-Identifier: Apache-2.0
"""The feedforward node in front of a joint_trajectory_controller with effort interface."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from robot_dynamics_ros.nodes.support.launching import (
    declare_arguments,
    declare_parameters_file,
    effort_limits,
    identified_parameters,
    node,
    switched_on,
    value,
)


def make_nodes(context):
    output = f'{value(context, "controller_name")}/joint_trajectory'
    return [node(context, 'feedforward', parameters={
        'mode': value(context, 'mode'), 'gravity_mode': value(context, 'gravity_mode'),
        'follow_mlc': switched_on(context, 'learn'),
        'controller_action': value(context, 'controller_action'), **effort_limits(context),
        **identified_parameters(context)},
        remappings=[('~/joint_trajectory', output), ('mlc', 'identification/mlc'),
                    ('controller_state', f'{value(context, "controller_name")}/controller_state'),
                    ('~/commands', f'{value(context, "controller_name")}/commands')])]


def generate_launch_description():
    return LaunchDescription([
        *declare_arguments(),
        declare_parameters_file(),
        DeclareLaunchArgument('mode', default_value='trajectory',
                              choices=['trajectory', 'stream', 'float'],
                              description='Trajectories with efforts, a stream of torques along '
                                          'them, or torques that let the arm be led by hand; '
                                          'the last two need a forward_command_controller as '
                                          'controller_name.'),
        DeclareLaunchArgument('gravity_mode', default_value='full',
                              choices=['full', 'none', 'only'],
                              description='none where the robot compensates gravity itself.'),
        DeclareLaunchArgument('controller_action', default_value='',
                              description='Action of the controller, such as '
                                          'joint_trajectory_controller/follow_joint_trajectory, '
                                          'for goals of MoveIt; empty = trajectories by topic.'),
        DeclareLaunchArgument('learn', default_value='false',
                              description='Use what the identification node learns.'),
        OpaqueFunction(function=make_nodes),
    ])
