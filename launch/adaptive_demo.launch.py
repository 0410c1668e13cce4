# SPDX-License-Identifier: Apache-2.0
"""The simulated demo arm under the adaptive controller; send it trajectories and payloads."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource

from robot_dynamics_ros.nodes.support.launching import declare_arguments, node, share, value


def make_nodes(context):
    return [node(context, 'simulated_robot', parameters={
        'simulation_rate': 500.0, 'publish_rate': 250.0,
        'parameter_error': float(value(context, 'parameter_error'))})]


def generate_launch_description():
    return LaunchDescription([
        *declare_arguments(defaults={
            'description_file': share('urdf', 'demo_arm.urdf'),
            'joints_file': share('config', 'demo_arm_joints.yaml'),
            'controller_name': 'simulated_robot'}),
        DeclareLaunchArgument('parameter_error', default_value='0.1',
                              description='Relative difference of the simulated arm from its '
                                          'URDF.'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(share('launch', 'adaptive_controller.launch.py'))),
        OpaqueFunction(function=make_nodes),
    ])
