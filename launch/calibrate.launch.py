# SPDX-License-Identifier: Apache-2.0
"""
Calibrate a robot in stages, each confirmed by a person.

``robot-dynamics calibrate`` shows where it is, confirms and stops from a terminal; so do the
services calibration/next and calibration/stop. The controller must hold the robot by position, or
by effort with feedback.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from robot_dynamics_ros.nodes.support.launching import (
    declare_arguments,
    node,
    switched_on,
    value,
)
from robot_dynamics_ros.nodes.support.learning_node import EFFORT_SOURCES


def make_nodes(context):
    controller = value(context, 'controller_name')
    return [node(context, 'calibration', parameters={
        **{key: value(context, key) for key in ('folder', 'effort_source', 'floor',
                                                'obstacles_file', 'srdf_file',
                                                'payload_tip')},
        **{key: switched_on(context, key) for key in ('auto', 'payload', 'resume', 'unchecked')}},
        remappings=[('~/joint_trajectory', f'{controller}/joint_trajectory'),
                    *((topic, f'{controller}/{topic}')
                      for topic in ('commands', 'controller_state'))])]


def generate_launch_description():
    return LaunchDescription([
        *declare_arguments(),
        DeclareLaunchArgument('folder', default_value='calibration',
                              description='Folder for everything that the calibration writes.'),
        DeclareLaunchArgument('resume', default_value='false',
                              description='Continue the run in the folder.'),
        DeclareLaunchArgument('payload', default_value='false',
                              description='Find out what a robot carries whose calibration is in '
                                          'the folder.'),
        DeclareLaunchArgument('payload_tip', default_value='',
                              description='Tip link whose payload is found out; empty = the '
                                          'only one.'),
        DeclareLaunchArgument('auto', default_value='false',
                              description='Go on without confirmation, for simulations.'),
        DeclareLaunchArgument('unchecked', default_value='false',
                              description='Calibrate without a check for collisions.'),
        DeclareLaunchArgument('floor', default_value='base',
                              description='Height of the floor above the base, against gravity '
                                          '[m]; base = 0, none = no floor.'),
        DeclareLaunchArgument('obstacles_file', default_value='',
                              description='YAML file with what stands around the robot.'),
        DeclareLaunchArgument('srdf_file', default_value='',
                              description='SRDF whose disabled pairs are left out.'),
        DeclareLaunchArgument('effort_source', default_value='joint_states',
                              choices=list(EFFORT_SOURCES),
                              description='Where the efforts are: measured, or what the '
                                          'controller commands.'),
        OpaqueFunction(function=make_nodes),
    ])
