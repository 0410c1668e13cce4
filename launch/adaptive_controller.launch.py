# SPDX-License-Identifier: Apache-2.0
"""The adaptive controller in front of a forward_command_controller with effort interface."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from robot_dynamics_ros.control.adaptive.choice import LAW_NAMES
from robot_dynamics_ros.nodes.support.launching import (
    declare_arguments,
    effort_limits,
    node,
    value,
)


def make_nodes(context):
    output = f'{value(context, "controller_name")}/commands'
    return [node(context, 'adaptive_controller',
                 parameters={'law': value(context, 'law'), **effort_limits(context)},
                 remappings=[('~/commands', output)])]


def generate_launch_description():
    return LaunchDescription([
        *declare_arguments(defaults={'controller_name': 'forward_effort_controller'}),
        DeclareLaunchArgument('law', default_value='slotine_li', choices=list(LAW_NAMES),
                              description='Control law; slotine_li_modified is that of Lu & '
                                          'Meng, slotine_li_composite learns from the commanded '
                                          'torque, too.'),
        OpaqueFunction(function=make_nodes),
    ])
