# SPDX-License-Identifier: Apache-2.0
"""The YAML file of a node: every ROS parameter with its default, from its declaration."""

from __future__ import annotations

import math
import textwrap
from dataclasses import fields
from itertools import zip_longest
from typing import Any

import yaml

from robot_dynamics_ros.nodes.support.settings import RobotNodeSettings

#: Columns where comments begin and end.
_BEGIN, _END = 38, 99
_HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Parameters of the {name} node: defaults, and examples where there are none.
# Written by environment/write_config.py from the declarations in robot_dynamics_ros/nodes.
/**:
  ros__parameters:
"""


def config_text(name: str, kind: type[RobotNodeSettings]) -> str:
    """
    Return the text of a parameter file.

    :param name: name of the node.
    :param kind: its settings.
    """
    settings = [_entry(each.name, each.default, each.metadata['example'],
                       each.metadata['description'] + _allowed(each.metadata))
                for each in fields(kind)]
    of_joints = [_entry(each.name, None, each.example, each.description)
                 for each in kind.of_joints]
    return _HEADER.format(name=name) + ''.join(settings + of_joints)


def _entry(name: str, default: Any, example: str, description: str) -> str:
    """Return the lines of a value, or of an example, with its description to the right."""
    value = f'# {name}: {example}' if example else yaml.safe_dump({name: default}).rstrip()
    comment = textwrap.wrap(description, _END - _BEGIN - 2, break_on_hyphens=False)
    left = [f'    {value}']
    if len(left[0]) > _BEGIN - 2:  # no room to the right
        comment.insert(0, '')
    return ''.join((f'{begin:{_BEGIN}}# {line}' if line else begin) + '\n'
                   for begin, line in zip_longest(left, comment, fillvalue=''))


def _allowed(metadata: Any) -> str:
    """Return the values that are allowed, in brackets."""
    low, high = metadata['minimum'], metadata['maximum']
    if metadata['choices']:
        return f' ({" | ".join(metadata["choices"])})'
    if low is None:
        return ''
    bounded = high is not None and math.isfinite(high)
    return f' ({low:.12g} to {high:.12g})' if bounded else f' ({low:.12g} or more)'
