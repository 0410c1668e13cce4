# SPDX-License-Identifier: Apache-2.0
"""
The simulated demo arm with the nodes of a real robot, learning while it works.

Send it trajectories, or let excite:=true move it. The whole story with figures is
``robot-dynamics demo``.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource

from robot_dynamics_ros.nodes.support.launching import (
    declare_arguments,
    node,
    share,
    switched_on,
    value,
)


def make_nodes(context):
    nodes = [node(context, 'simulated_robot', parameters={
        'engine': value(context, 'engine'),
        'simulation_rate': float(value(context, 'simulation_rate')),
        'parameter_error': float(value(context, 'parameter_error'))})]
    if switched_on(context, 'learn'):
        nodes.append(node(context, 'live_view', remappings=[
            ('mlc', 'identification/mlc'), ('progress', 'excitation/progress'),
            ('start', 'excitation/start'), ('stop', 'excitation/stop'),
            ('reset', 'identification/reset'), ('save', 'identification/save')]))
    if switched_on(context, 'excite'):
        output = f'{value(context, "controller_name")}/joint_trajectory'
        nodes.append(node(context, 'excitation', remappings=[('~/joint_trajectory', output)]))
    return nodes


def generate_launch_description():
    return LaunchDescription([
        *declare_arguments(defaults={
            'description_file': share('urdf', 'demo_arm.urdf'),
            'joints_file': share('config', 'demo_arm_joints.yaml'),
            'controller_name': 'simulated_robot'}),
        DeclareLaunchArgument('engine', default_value='own', choices=['own', 'mujoco'],
                              description='Physics of the arm; mujoco has to be installed.'),
        DeclareLaunchArgument('learn', default_value='true',
                              description='Start the identification node, and use what it '
                                          'learns.'),
        DeclareLaunchArgument('excite', default_value='false',
                              description='Play an exciting motion.'),
        DeclareLaunchArgument('simulation_rate', default_value='1000.0',
                              description='Steps of the simulation per second [1/s].'),
        DeclareLaunchArgument('parameter_error', default_value='0.1',
                              description='Relative difference of the simulated arm from its '
                                          'URDF.'),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(share('launch', 'robot.launch.py'))),
        OpaqueFunction(function=make_nodes),
    ])
