# SPDX-License-Identifier: Apache-2.0
"""
Obstacles around a robot, from a YAML file.

::

    format: 1
    obstacles:
      table: {box: [1.2, 0.8, 0.05], xyz: [0.6, 0, -0.03]}            # edges [m]
      lamp: {sphere: 0.1, xyz: [0.3, 0.4, 1.2]}                       # radius [m]
      post: {capsule: [0.05, 1.0], xyz: [-0.5, 0, 0.5], rpy: [0, 0, 0]}  # radius, length along z

Positions [m] and fixed-axis angles [rad] are in the frame of the base link.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.shapes import Shape, rotation_from_rpy
from robot_dynamics_ros.errors import CollisionError, ParameterError
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.files.checked_yaml import mapping, number, read_yaml, row

#: How many numbers describe the size of each kind.
_SIZES = {'box': 3, 'sphere': 1, 'capsule': 2}


@dataclass(frozen=True, eq=False)
class Obstacle:
    """
    Something that stands beside the robot.

    :param name: name for messages.
    :param shape: box, sphere or capsule; its pose is in the frame of the base link.
    """

    name: str
    shape: Shape


def read_obstacles(path: str | Path) -> tuple[Obstacle, ...]:
    """
    Return the obstacles of a YAML file.

    :raises CollisionError: naming the file, the obstacle and the mistake.
    """
    try:
        content = mapping(read_yaml(path), str(path), ('format', 'obstacles'))
        if content.get('format') != 1:
            raise CollisionError(f'{path}: format must be 1, got '
                                 f'{one_line(repr(content.get("format")))}')
        entries = mapping(content.get('obstacles'), f'{path}: obstacles')
        return tuple(_obstacle(str(name), entry, f'{path}: {one_line(name)}')
                     for name, entry in entries.items())
    except ParameterError as error:
        raise CollisionError(str(error)) from error


def _obstacle(name: str, entry: Any, where: str) -> Obstacle:
    fields = mapping(entry, where, (*_SIZES, 'xyz', 'rpy'))
    kinds = [kind for kind in _SIZES if kind in fields]
    if len(kinds) != 1:
        raise CollisionError(f'{where}: give one of {", ".join(_SIZES)} with its size')
    kind, count = kinds[0], _SIZES[kinds[0]]
    given = fields[kind]
    size = ([number(given, f'{where}: {kind}')] if count == 1
            else row(given, f'{where}: {kind}', count))
    if min(size) <= 0.0 and not (kind == 'capsule' and size[0] > 0.0 and size[1] == 0.0):
        raise CollisionError(f'{where}: sizes of a {kind} must be positive, got '
                             f'{one_line(given)}')
    xyz, rpy = (row(fields.get(key, [0.0, 0.0, 0.0]), f'{where}: {key}', 3)
                for key in ('xyz', 'rpy'))
    return Obstacle(name, Shape(kind, tuple(size),
                                Pose(rotation_from_rpy(*rpy), np.array(xyz))))
