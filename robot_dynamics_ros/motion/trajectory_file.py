# SPDX-License-Identifier: Apache-2.0
"""A joint trajectory in a YAML file, in the form of trajectory_msgs/JointTrajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robot_dynamics_ros.errors import RobotDynamicsError, TrajectoryError
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.files.checked_yaml import mapping, number, read_yaml
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.motion.waypoints import trajectory_from_waypoints

_FIELDS = ('positions', 'velocities', 'accelerations')


def read_trajectory(path: str | Path) -> Trajectory:
    """
    Read a trajectory, as ``robot-dynamics excite`` writes it or ``ros2 topic echo`` shows it.

    :raises TrajectoryError: naming file and point: not readable, or not a trajectory.
    """
    try:
        content = mapping(read_yaml(path), str(path))
        names, points = content.get('joint_names'), content.get('points')
        if not isinstance(names, list) or not isinstance(points, list):
            raise TrajectoryError(f'{path}: needs lists joint_names and points')
        times: list[float] = []
        rows: dict[str, list[list[float]]] = {field: [] for field in _FIELDS}
        for i, point in enumerate(points):
            where = f'{path}: point {i}'
            entry = mapping(point, where)
            time = mapping(entry.get('time_from_start'), f'{where}: time_from_start')
            times.append(number(time.get('sec', 0), f'{where}: sec')
                         + 1e-9 * number(time.get('nanosec', 0), f'{where}: nanosec'))
            for field in _FIELDS:
                rows[field].append(_numbers(entry.get(field), f'{where}: {field}'))
        return trajectory_from_waypoints([str(name) for name in names], times, **rows)
    except RobotDynamicsError as error:
        text = str(error)
        place = one_line(path)
        raise TrajectoryError(text if place in text else f'{place}: {text}') from error


def _numbers(content: Any, where: str) -> list[float]:
    """Return a list of finite numbers; nothing counts as none."""
    if content is not None and not isinstance(content, list):
        raise TrajectoryError(f'{where}: expected a list of numbers, got '
                              f'{one_line(repr(content))}')
    return [number(value, where) for value in content or []]
