# SPDX-License-Identifier: Apache-2.0
"""
ROS parameters of a node as one frozen dataclass: declared, described, checked, read.

Here ROS parameters are called settings; parameters are those of the robot's dynamics. The ROS
parameters ``effort_limits.<joint>`` override the effort limits of the robot.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.motion.effort_limits import EffortLimits

_TYPES = {
    'bool': Parameter.Type.BOOL, 'int': Parameter.Type.INTEGER, 'float': Parameter.Type.DOUBLE,
    'str': Parameter.Type.STRING, 'tuple[float, ...]': Parameter.Type.DOUBLE_ARRAY,
    'tuple[str, ...]': Parameter.Type.STRING_ARRAY,
}
_LARGEST = {int: 2**62, float: 1e300}
#: DDS allows 255 characters, and ROS adds some.
_LONGEST_NAME = 200
_ROS_NAME = re.compile(rf'(?!.{{{_LONGEST_NAME + 1}}})(~?/)?[a-z_]\w*(/[a-z_]\w*)*',
                       re.ASCII | re.IGNORECASE)
Settings = TypeVar('Settings')


def setting(default: Any, description: str, *, minimum: float | None = None,
            maximum: float | None = None, choices: tuple[str, ...] = (),
            ros_name: bool = False, changeable: bool = False, at_start: bool = False,
            example: str = '') -> Any:
    """
    Return a dataclass field that is a ROS parameter.

    :param default: value of the parameter where none is given.
    :param description: one sentence for people, with the unit in brackets.
    :param minimum: smallest number allowed.
    :param maximum: largest number allowed.
    :param choices: words allowed; empty = all.
    :param ros_name: True = the text names a topic or an action.
    :param changeable: True = may be changed while the node is configured, too.
    :param at_start: True = given when the node is started, and never changed.
    :param example: value in YAML, for a setting whose default says nothing.
    """
    return field(default=default, metadata={
        'description': description, 'minimum': minimum, 'maximum': maximum, 'choices': choices,
        'ros_name': ros_name, 'changeable': changeable, 'at_start': at_start,
        'example': example})


def maximum_points_setting() -> Any:
    """Return the setting that bounds the work which one trajectory can make."""
    return setting(100_000, 'number of points above which a trajectory is refused', minimum=2,
                   maximum=10_000_000)


@dataclass(frozen=True)
class JointSetting:
    """
    ROS parameters ``<name>.<joint>``, one per joint and without default.

    :param name: first part of the name.
    :param description: one sentence for people, with the unit in brackets.
    :param example: value of all joints in YAML.
    """

    name: str
    description: str
    example: str


EFFORT_LIMITS = JointSetting(
    'effort_limits', 'largest effort of a joint [N m, N]; none = that of the URDF',
    '{joint_1: 80.0}')


@dataclass(frozen=True)
class RobotNodeSettings:
    """Settings of every node that has a robot."""

    of_joints: ClassVar[tuple[JointSetting, ...]] = ()

    robot_description: str = setting(
        '', 'URDF text; empty = of description_file, or from the latched topic robot_description',
        example="'<robot...'")
    description_file: str = setting(
        '', 'path of a URDF file, used if robot_description is empty; can only be given when '
            'the node is started', at_start=True)
    joints_file: str = setting(
        '', 'joints.yaml with what the URDF cannot express: joint physics, what efforts mean '
            '(sign, gain, side of the gear), limits, payload; empty = none')
    base: str = setting('', 'base link of the chain; empty = root of the URDF')
    tip: str = setting('', 'tip link: only joints on the way to it move; empty = all joints move')
    tips: tuple[str, ...] = setting(
        (), 'several tip links: only joints on the way to one of them move; none = all joints',
        example='[left_hand, right_hand]')
    gravity: tuple[float, ...] = setting(
        (), 'gravity in the frame of the base link [m/s^2]; none = 9.81 along -z of the root',
        example='[0.0, 0.0, -9.81]')
    locked: tuple[str, ...] = setting(
        (), 'joints to freeze at zero, names or patterns', example="['*finger*']")
    autostart: bool = setting(
        True, 'configure and activate at start; false = wait for a lifecycle manager')


def declare(node: Node, kind: type[Settings]) -> Settings:
    """
    Declare every field of a dataclass as a parameter of the node and return the values.

    :raises ParameterError: a value of the wrong type or outside its range, naming the parameter.
    """
    for each in fields(kind):  # type: ignore[arg-type]
        descriptor = _descriptor(each.name, each.type, each.metadata)
        # an empty list has no type of its own, so arrays are declared by type alone
        default = _TYPES[str(each.type)] if each.default == () else each.default
        try:
            node.declare_parameter(each.name, default, descriptor)
        except ParameterException as error:
            raise ParameterError(f'parameter {each.name}: {error}') from error
    values = read(node, kind)
    for each in fields(kind):  # type: ignore[arg-type]
        value = getattr(values, each.name)
        reason = _objection(each.metadata, value)
        if reason and value != each.default:
            raise ParameterError(f'parameter {each.name} {reason}')
    return values


def read(node: Node, kind: type[Settings]) -> Settings:
    """Return the present values of declared parameters."""
    values = {}
    for each in fields(kind):  # type: ignore[arg-type]
        value = node.get_parameter_or(each.name).value
        if isinstance(each.default, tuple):
            value = () if value is None else tuple(value)
        values[each.name] = value
    return kind(**values)


def judge(kind: type[Any], changes: list[Parameter]) -> SetParametersResult:
    """Return whether parameters may be changed like this; ROS checks types and ranges itself."""
    known = {each.name: each for each in fields(kind)}
    for change in changes:
        if change.name in known:
            reason = _objection(known[change.name].metadata, change.value)
            if reason:
                return SetParametersResult(successful=False,
                                           reason=f'parameter {change.name} {reason}')
    return SetParametersResult(successful=True)


def changeable(kind: type[Any], name: str) -> bool:
    """
    Return whether a parameter may be changed while the node is configured.

    :param kind: settings of the node; parameters of others may be changed, as far as it knows.
    :param name: name of the parameter.
    """
    for each in fields(kind):
        if each.name == name:
            return bool(each.metadata['changeable'])
    return not any(name.startswith(f'{each.name}.') for each in kind.of_joints)


def declare_number(node: Node, name: str, description: str) -> float | None:
    """
    Declare a number that belongs to one joint; return it, or None where none is given.

    :param name: name such as ``effort_limits.elbow``; may be declared already.
    :raises ParameterError: a value that is not a number.
    """
    try:
        if not node.has_parameter(name):
            node.declare_parameter(name, Parameter.Type.DOUBLE,
                                   ParameterDescriptor(description=description))
    except ParameterException as error:
        raise ParameterError(f'parameter {name}: {error}') from error
    value: float | None = node.get_parameter_or(name).value
    if value is not None and math.isnan(value):
        raise ParameterError(f'parameter {name} must be a number, got nan')
    return value


def _descriptor(name: str, kind: Any, metadata: Any) -> ParameterDescriptor:
    text = metadata['description']
    if metadata['choices']:
        text += f' ({" | ".join(metadata["choices"])})'
    descriptor = ParameterDescriptor(name=name, description=text, read_only=metadata['at_start'])
    low, high = metadata['minimum'], metadata['maximum']
    if (low, high) != (None, None):
        number = {'int': int, 'float': float}[str(kind)]
        bounds = {'from_value': number(-_LARGEST[number] if low is None else low),
                  'to_value': number(_LARGEST[number] if high is None else high)}
        if number is int:
            descriptor.integer_range = [IntegerRange(step=0, **bounds)]
        else:
            descriptor.floating_point_range = [FloatingPointRange(step=0.0, **bounds)]
    return descriptor


def _objection(metadata: Any, value: Any) -> str:
    choices = metadata['choices']
    words = value if isinstance(value, (tuple, list)) else (value,)
    wrong = [word for word in words if choices and word not in choices]
    if wrong:
        return f"must be one of {', '.join(choices)}, got '{one_line(wrong[0])}'"
    if metadata['ros_name']:
        wrong = [word for word in words if not _ROS_NAME.fullmatch(word)]
        if wrong:
            return ("must be a name of ROS (letters, digits and _ between single /, at most "
                    f"{_LONGEST_NAME} characters), got '{one_line(wrong[0], 50)}'")
    # NaN is inside every range of ROS
    unusable = [word for word in words if isinstance(word, float) and (
        math.isnan(word) or (math.isinf(word) and metadata['maximum'] != math.inf))]
    return f'must be finite, got {unusable[0]}' if unusable else ''


def effort_limits(node: Node, chain: Chain) -> EffortLimits:
    """
    Declare one parameter per joint and return the limits.

    A limit for a joint that the robot does not have is reported: its name may be misspelled.

    :raises ParameterError: a joint without a positive finite limit.
    """
    prefix = f'{EFFORT_LIMITS.name}.'
    # rclpy has no public way to see what was given and not declared
    for name in getattr(node, '_parameter_overrides', {}):
        if name.startswith(prefix) and name.removeprefix(prefix) not in chain.joint_names:
            node.get_logger().warning(f'parameter {name} is ignored: the joints of the chain are '
                                      f'{", ".join(chain.joint_names)}')
    given = {name: declare_number(node, f'{EFFORT_LIMITS.name}.{name}', EFFORT_LIMITS.description)
             for name in chain.joint_names}
    return EffortLimits.of_chain(chain, {name: limit for name, limit in given.items()
                                         if limit is not None})
