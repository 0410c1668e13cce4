# SPDX-License-Identifier: Apache-2.0
"""
A small stand-in for launch and launch_ros: enough to construct our launch files and look at them.

The real ones come with a ROS 2 installation only. The stand-in starts nothing; where the real ones
are importable, test/launch/test_launch_files.py compares the two.
"""

import runpy
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

LAUNCHING = 'robot_dynamics_ros.nodes.support.launching'


@dataclass
class LaunchContext:
    launch_configurations: dict = field(default_factory=dict)


@dataclass
class LaunchConfiguration:
    name: str

    def perform(self, context):
        return context.launch_configurations[self.name]


@dataclass
class DeclareLaunchArgument:
    name: str
    default_value: str
    description: str
    choices: list = None

    def visit(self, context):
        chosen = context.launch_configurations.setdefault(self.name, self.default_value)
        assert isinstance(chosen, str), f'{self.name}: launch arguments are text'
        assert self.choices is None or chosen in self.choices, f'{self.name}: {chosen}'
        return []


@dataclass
class LaunchDescription:
    entities: list


@dataclass
class OpaqueFunction:
    function: Any

    def visit(self, context):
        return self.function(context)


@dataclass
class LogInfo:
    msg: str


@dataclass
class FindPackageShare:
    package: str


@dataclass
class PathJoinSubstitution:
    parts: list


@dataclass
class PythonLaunchDescriptionSource:
    location: Any


@dataclass
class IncludeLaunchDescription:
    source: PythonLaunchDescriptionSource
    launch_arguments: Any = ()

    def visit(self, context):
        context.launch_configurations.update(self.launch_arguments)
        return load(self.source.location).entities


@dataclass(frozen=True)
class ParameterValue:
    value: Any
    value_type: type


@dataclass
class Node:
    package: str
    executable: str
    name: str = None
    namespace: str = ''
    output: str = 'log'
    parameters: list = ()
    remappings: list = ()
    arguments: list = ()
    ros_arguments: list = ()

    @property
    def values(self):
        """Parameters that do not come from a file."""
        plain = {}
        for each in self.parameters:
            plain |= each if isinstance(each, dict) else {}
        return {key: value.value if isinstance(value, ParameterValue) else value
                for key, value in plain.items()}

    @property
    def files(self):
        """Parameter files."""
        return [each for each in self.parameters if not isinstance(each, dict)]


_MODULES = {
    'launch': (LaunchContext, LaunchDescription),
    'launch.actions': (DeclareLaunchArgument, IncludeLaunchDescription, LogInfo, OpaqueFunction),
    'launch.launch_description_sources': (PythonLaunchDescriptionSource,),
    'launch.substitutions': (LaunchConfiguration, PathJoinSubstitution),
    'launch_ros': (),
    'launch_ros.actions': (Node,),
    'launch_ros.substitutions': (FindPackageShare,),
    'launch_ros.parameter_descriptions': (ParameterValue,),
}


@contextmanager
def stand_in():
    """Put the stand-in where launch and launch_ros are imported from; take it away again."""
    kept = {name: sys.modules.pop(name, None) for name in (*_MODULES, LAUNCHING)}
    for name, contents in _MODULES.items():
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update({each.__name__: each for each in contents})
    try:
        yield
    finally:
        for name, module in kept.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


def load(path):
    """Return the launch description of a file."""
    return runpy.run_path(str(path))['generate_launch_description']()


@dataclass
class Launched:
    """
    What a launch file would do.

    :param arguments: declarations by name; the first one of a name counts, as in launch.
    :param foreign: launch files of other packages that it includes.
    """

    nodes: list = field(default_factory=list)
    arguments: dict = field(default_factory=dict)
    messages: list = field(default_factory=list)
    foreign: list = field(default_factory=list)

    def node(self, executable):
        """Return the only node with an executable."""
        [found] = [node for node in self.nodes if node.executable == executable]
        return found


def launched(path, **arguments):
    """Return what a launch file would do with these arguments."""
    result = Launched()
    with stand_in():
        context = LaunchContext(dict(arguments))
        waiting = list(load(Path(path)).entities)
        while waiting:
            entity = waiting.pop(0)
            if isinstance(entity, Node):
                result.nodes.append(entity)
            elif isinstance(entity, LogInfo):
                result.messages.append(entity.msg)
            elif (isinstance(entity, IncludeLaunchDescription)
                  and isinstance(entity.source.location, PathJoinSubstitution)):
                result.foreign.append(entity)
            else:
                if isinstance(entity, DeclareLaunchArgument):
                    result.arguments.setdefault(entity.name, entity)
                waiting = [*entity.visit(context), *waiting]
    unknown = set(arguments) - set(result.arguments)
    assert not unknown, f'{path} has no argument {unknown}'
    return result
