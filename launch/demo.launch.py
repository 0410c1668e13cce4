# SPDX-License-Identifier: Apache-2.0
"""The simulated demo arm with the nodes of a real robot; send it trajectories."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource

from robot_dynamics_ros.nodes.launch_support import declare_arguments, node, share, value


def make_nodes(context):
    return [node(context, 'simulated_robot', parameters={
        'simulation_rate': float(value(context, 'simulation_rate')),
        'parameter_error': float(value(context, 'parameter_error'))})]


def generate_launch_description():
    return LaunchDescription([
        *declare_arguments(defaults={
            'description_file': share('urdf', 'demo_arm.urdf'),
            'joints_file': share('config', 'demo_arm_joints.yaml'),
            'controller_name': 'simulated_robot'}),
        DeclareLaunchArgument('simulation_rate', default_value='1000.0',
                              description='Steps of the simulation per second [1/s].'),
        DeclareLaunchArgument('parameter_error', default_value='0.1',
                              description='Relative difference of the simulated arm from its '
                                          'URDF.'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(share('launch', 'robot.launch.py'))),
        OpaqueFunction(function=make_nodes),
    ])
