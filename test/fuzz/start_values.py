# SPDX-License-Identifier: Apache-2.0
"""
Nodes started with parameters that nobody should set.

A start works, or it ends with one line of our own error, in the constructor or in *configure*.
"""

import io
import math
import traceback
import warnings
from dataclasses import dataclass, fields

from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.logging import LoggingSeverity
from rclpy.parameter import Parameter

from fuzz.nodes import NODES, context_of_its_own, settings_of
from fuzz.target import HANG
from robot_dynamics_ros import RobotDynamicsError
from robot_dynamics_ros.errors import ParameterError

_NUMBERS = (math.nan, math.inf, -math.inf, 1e308, -1.0, 0.0, 5e-324)
_TEXTS = ('', ' ', '\0', 'a\0b', 'x' * 5000, 'a\nb', 'a b', '/', '//', '~', '{', '{node}x', '1',
          'a//b', '../..', '/dev/null', '/proc/self/mem', '\xe9\U0001f916', '<robot', '-')
_KINDS = {
    'bool': Parameter.Type.BOOL, 'int': Parameter.Type.INTEGER, 'float': Parameter.Type.DOUBLE,
    'str': Parameter.Type.STRING, 'tuple[float, ...]': Parameter.Type.DOUBLE_ARRAY,
    'tuple[str, ...]': Parameter.Type.STRING_ARRAY}
#: Hostile values by the type of a setting.
VALUES = {
    'bool': (True, False),
    'int': (0, -1, 1, 2**31, 2**63 - 1, -2**63),
    'float': _NUMBERS,
    'str': _TEXTS,
    'tuple[float, ...]': ([], *([value] * count for count in (1, 2, 3) for value in _NUMBERS),
                          [0.0, 0.0, 1e308], [1.0] * 5000),
    'tuple[str, ...]': ([], *([text] * count for count in (1, 2) for text in _TEXTS),
                        ['joint_1', 'joint_1'], ['x'] * 5000),
}


#: Those of them that need the most care.
WORST = {
    'bool': (), 'int': (0, 2**63 - 1), 'float': (math.nan, 5e-324), 'str': ('a\0b', 'a\nb'),
    'tuple[float, ...]': ([1e308] * 3, [math.nan], [5e-324, 5e-324]),
    'tuple[str, ...]': (['a\nb'], ['', '\0']),
}


def cases(name, values=VALUES):
    """Return setting, type and value of every start of a node."""
    return [(each.name, str(each.type), value) for each in fields(NODES[name][0].settings_type)
            for value in values[str(each.type)]]


def own_cases(name, values=VALUES):
    """Return the cases of the settings that no node before this one in NODES has as well."""
    names = list(NODES)
    others = {each.name for other in names[:names.index(name)]
              for each in fields(NODES[other][0].settings_type)}
    return [case for case in cases(name, values) if case[0] not in others]


def start(name, setting, kind, value, context):
    """
    Start a node with one hostile parameter; return its error, or '' where it works.

    :param kind: type of the setting.
    :param context: context of rclpy.
    :raises AssertionError: it fails in a way that nobody foresaw.
    """
    unforeseen = []
    given = [Parameter(key, value=each) for key, each in settings_of(name).items()
             if key != setting]
    made = type(NODES[name][0].__name__, (NODES[name][0],), {
        'report': lambda self, error: unforeseen.append(error)})
    text = ''
    try:
        node = made(context=context, enable_rosout=False, parameter_overrides=[
            *given, Parameter(setting, _KINDS[kind], value)])
    except RobotDynamicsError as error:
        text = str(error)
    else:
        try:
            node.get_logger().set_level(LoggingSeverity.FATAL)
            node.stream = io.StringIO()  # live_view prints the address of its page
            if node.trigger_configure() == TransitionCallbackReturn.SUCCESS:
                assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
                node.tick()
                node.trigger_deactivate()
            else:
                text = node.diagnostics.status().message
        finally:
            node.remove_interfaces()  # rclpy leaves actions alone
            node.destroy_node()
    assert not unforeseen, ''.join(traceback.format_exception(unforeseen[0]))
    assert '\n' not in text and len(text) < 6000, f'not one clear line: {text[:200]!r}'
    return text


@dataclass
class StartTarget:
    """
    Starts of a node; the same fields as the targets of files have.

    :param name: name of the mode in NODES, after ``start_``.
    :param context: context of rclpy; None = one of its own.
    :param hang: processor time after which a try is a failure [s].
    """

    name: str
    context: object = None
    hang: float = HANG

    def examples(self):
        return [b'0']

    def mutate(self, random, examples):
        return str(random.randrange(2**32)).encode()

    def read(self, case):
        """Start the node with the parameter that belongs to this number, 0 = a good one."""
        self.context = self.context or context_of_its_own()
        node = self.name.removeprefix('start_')
        every = cases(node)
        number = int(case)
        chosen = ('autostart', 'bool', True) if number == 0 else every[number % len(every)]
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # of numbers beyond the range
            text = start(node, *chosen, self.context)
        if text:
            raise ParameterError(text)


#: One mode of each node is enough: parameters are checked before the mode counts.
TARGETS = [StartTarget(f'start_{name}') for name in NODES
           if next(each for each in NODES if NODES[each][0].settings_type
                   is NODES[name][0].settings_type) == name]
