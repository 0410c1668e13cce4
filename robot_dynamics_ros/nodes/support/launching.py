# SPDX-License-Identifier: Apache-2.0
"""What the launch files of this package share: arguments, and nodes made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import get_package_share_directory
from launch import LaunchContext
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from robot_dynamics_ros.calibration.folder import CalibrationFolder
from robot_dynamics_ros.chain.urdf.document import read_text
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.files.checked_yaml import mapping, number

PACKAGE = 'robot_dynamics_ros'

_ARGUMENTS = {
    'namespace': ('', 'Namespace of all nodes and relative topics.'),
    'description_file': ('', 'URDF or xacro file; empty = from the latched topic '
                             'robot_description.'),
    'joints_file': ('', 'joints.yaml with what the URDF cannot hold.'),
    'calibration': ('', 'Folder of a calibration: its description, joints.yaml, chain and '
                        'parameters are used where nothing else is given.'),
    'base': ('', 'Base link of the chain; empty = root of the URDF.'),
    'tip': ('', 'Tip link: only joints on the way to it move; empty = all joints move.'),
    'joint_states': ('joint_states', 'Topic of the measured joint states.'),
    'controller_name': ('joint_trajectory_controller', 'Controller that gets the trajectories '
                                                       'with efforts.'),
    'effort_limits': ('{}', 'Largest effort of joints [N m, N], as {joint_1: 80.0}; they replace '
                            'those of the URDF.'),
    'params_file': ('', 'YAML file with further parameters; overrides the other arguments.'),
    'use_sim_time': ('false', 'Use the clock of a simulation.'),
    'autostart': ('true', 'Configure and activate the nodes; false = leave it to a lifecycle '
                          'manager.'),
    'log_level': ('info', 'debug | info | warn | error.'),
}


def share(*parts: str) -> str:
    """Return the path of a file installed with this package."""
    return str(Path(get_package_share_directory(PACKAGE), *parts))


def declare_arguments(names: Sequence[str] = tuple(_ARGUMENTS),
                      defaults: Mapping[str, str] | None = None) -> list[DeclareLaunchArgument]:
    """
    Return declarations of common launch arguments.

    :param names: names of the arguments; all by default.
    :param defaults: default values that replace the common ones.
    """
    chosen = {name: _ARGUMENTS[name] for name in names}
    return [DeclareLaunchArgument(name, default_value=(defaults or {}).get(name, default),
                                  description=text) for name, (default, text) in chosen.items()]


def value(context: LaunchContext, name: str) -> str:
    """Return the value of a launch argument."""
    return str(LaunchConfiguration(name).perform(context))


def switched_on(context: LaunchContext, name: str) -> bool:
    """Return whether a launch argument is true."""
    return value(context, name).lower() == 'true'


def effort_limits(context: LaunchContext) -> dict[str, float]:
    """
    Return the launch argument effort_limits as parameters ``effort_limits.<joint>`` [N m, N].

    :raises ParameterError: not YAML of the form {joint_1: 80.0}.
    """
    text = value(context, 'effort_limits')
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ParameterError(f'effort_limits: {one_line(text)} is not YAML such as '
                             '{joint_1: 80.0}') from error
    return {f'effort_limits.{name}': number(limit, f'effort_limits: {name}')
            for name, limit in mapping(content, 'effort_limits').items()}


def read_description(path: str) -> str:
    """
    Return the text of a URDF file; a .xacro file is expanded.

    :raises UrdfError: the file cannot be read or expanded.
    """
    return read_text(Path(path))[0].decode('utf-8', errors='replace')


def texts_kept(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters whose strings stay strings; launch would read them as YAML."""
    return {key: ParameterValue(each, value_type=str) if isinstance(each, str) else each
            for key, each in parameters.items()}


def _calibrated(context: LaunchContext) -> dict[str, Any]:
    """
    Return description, joints file and chain of the calibration that is named, as parameters.

    :raises ParameterError: the folder holds no calibration.
    """
    if not value(context, 'calibration'):
        return {}
    folder = CalibrationFolder(value(context, 'calibration'))
    content = folder.read()
    chosen = {key: content.get(key) for key in ('base', 'tip', 'tips', 'gravity', 'locked')}
    if chosen['gravity']:
        chosen['gravity'] = [float(each) for each in chosen['gravity']]
    return {'robot_description': read_description(str(folder.description)),
            'joints_file': str(folder.joints),
            **{key: each for key, each in chosen.items() if each}}


def declare_parameters_file() -> DeclareLaunchArgument:
    """Return the declaration of the launch argument that identified_parameters reads."""
    return DeclareLaunchArgument(
        'parameters_file', default_value='',
        description='parameters.yaml written by robot-dynamics identify; empty = those of the '
                    'calibration, or of the URDF.')


def identified_parameters(context: LaunchContext) -> dict[str, str]:
    """Return the parameters file that is named, or that of the calibration, as a parameter."""
    file, folder = value(context, 'parameters_file'), value(context, 'calibration')
    if folder and not file:
        file = str(CalibrationFolder(folder).parameters)
    return {'parameters_file': file} if file else {}


def node(context: LaunchContext, name: str, *, parameters: Mapping[str, Any] | None = None,
         remappings: Sequence[tuple[str, str]] = ()) -> Node:
    """
    Return a node of this package with the values of the common launch arguments.

    :param name: name of the executable and of the node.
    :param parameters: further parameters; they override the arguments.
    :param remappings: pairs of names, from and to.
    """
    settings: dict[str, Any] = {key: value(context, key) for key in ('joints_file', 'base', 'tip')}
    calibrated = _calibrated(context)
    settings |= {key: each for key, each in calibrated.items() if not settings.get(key)}
    settings |= dict(parameters or {})
    for key in ('use_sim_time', 'autostart'):
        settings[key] = switched_on(context, key)
    path = value(context, 'description_file')
    if path:
        settings['robot_description'] = read_description(path)
    files = [share('config', f'{name}.yaml')]
    further = [value(context, 'params_file')] if value(context, 'params_file') else []
    states = ('joint_states', value(context, 'joint_states'))
    return Node(package=PACKAGE, executable=name, name=name, output='screen',
                namespace=value(context, 'namespace'), remappings=[*remappings, states],
                parameters=[*files, texts_kept(settings), *further],
                ros_arguments=['--log-level', value(context, 'log_level')])
