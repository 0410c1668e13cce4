# SPDX-License-Identifier: Apache-2.0
"""
A robot in Gazebo (gz sim Harmonic) with gz_ros2_control, an effort controller and our nodes.

Needs ros_gz_sim, ros_gz_bridge, gz_ros2_control, controller_manager, joint_state_broadcaster,
joint_trajectory_controller (4.27 or later) and robot_state_publisher. With learn:=true the efforts
are those that the controller commands: in the joint states of Gazebo they are missing, or hold the
torque after friction.
"""

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
from robot_dynamics_ros.nodes.support.launching import (
    declare_arguments,
    read_description,
    share,
    texts_kept,
    value,
)
from robot_dynamics_ros.nodes.support.learning_node import EFFORT_SOURCES
from robot_dynamics_ros.simulation.gazebo_description import (
    massless_moving_links,
    with_gazebo_control,
)

CONTROLLERS = ('joint_state_broadcaster', 'joint_trajectory_controller')


def make_nodes(context):
    namespace = value(context, 'namespace')
    text = read_description(value(context, 'description_file'))
    chain = chain_from_urdf(text, base=value(context, 'base') or None,
                            tip=value(context, 'tip') or None)
    description = with_gazebo_control(text, chain.joint_names,
                                      value(context, 'controllers_file'), namespace)
    warnings = [LogInfo(msg=f'WARNING: link {name} moves, but has no mass: Gazebo leaves it out '
                            'with all that hangs on it; give it an <inertial>')
                for name in massless_moving_links(text)]
    clock = {'use_sim_time': True}
    gui = '' if value(context, 'gui').lower() == 'true' else '-s '
    return [
        *warnings,
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(PathJoinSubstitution(
                [FindPackageShare('ros_gz_sim'), 'launch', 'gz_sim.launch.py'])),
            launch_arguments={'gz_args': f'-r {gui}{value(context, "world")}'}.items()),
        Node(package='robot_state_publisher', executable='robot_state_publisher',
             namespace=namespace,
             parameters=[texts_kept({'robot_description': description}), clock]),
        Node(package='ros_gz_sim', executable='create', namespace=namespace,
             arguments=['-name', chain.robot, '-topic', 'robot_description'],
             parameters=[clock]),
        Node(package='ros_gz_bridge', executable='parameter_bridge',
             arguments=['/clock@rosgraph_msgs/msg/Clock[gz.msgs.Clock'], parameters=[clock]),
        Node(package='controller_manager', executable='spawner', namespace=namespace,
             arguments=[*CONTROLLERS], parameters=[clock]),
    ]


def generate_launch_description():
    return LaunchDescription([
        *declare_arguments(defaults={'description_file': share('urdf', 'demo_arm.urdf'),
                                     'use_sim_time': 'true'}),
        DeclareLaunchArgument('effort_source', default_value='controller_state',
                              choices=list(EFFORT_SOURCES),
                              description='Where the identification node finds the efforts; not '
                                          'in the joint states of Gazebo.'),
        DeclareLaunchArgument('world', default_value='empty.sdf', description='World of gz sim.'),
        DeclareLaunchArgument('gui', default_value='true', description='Show the window.'),
        DeclareLaunchArgument('controllers_file',
                              default_value=share('config', 'demo_arm_controllers.yaml'),
                              description='YAML of the controller manager: an effort controller '
                                          'for every joint.'),
        OpaqueFunction(function=make_nodes),
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(share('launch', 'robot.launch.py'))),
    ])
