# SPDX-License-Identifier: Apache-2.0
"""Tracked motions and their file: the trajectory asked for and the measured motion."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.files.atomic_file import write_atomically
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.files.checked_npz import read_npz
from robot_dynamics_ros.motion.playing.tracking import Tracking
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Largest file that is read [bytes].
MAXIMUM_SIZE = 256 * 2**20

_ARRAYS = ('times', 'positions', 'efforts')
_WAYPOINTS = ('times', 'positions', 'velocities', 'accelerations')


@dataclass(frozen=True, eq=False)
class TrackedMotion:
    """
    One motion.

    :param name: name of the way it was made.
    :param trajectory: trajectory asked for.
    :param times: (N,) times from the start of the trajectory [s].
    :param positions: (N, n) measured positions [rad, m].
    :param efforts: (N, n) measured efforts, in the unit of the robot; NaN = not measured.
    """

    name: str
    trajectory: Trajectory
    times: Array
    positions: Array
    efforts: Array

    def __post_init__(self) -> None:
        """Copy the arrays and make them read-only."""
        freeze(self, *_ARRAYS)

    @property
    def tracking(self) -> Tracking:
        """The errors of the motion."""
        return Tracking.of(self.trajectory, self.times, self.positions)


def save_tracked_motions(path: str | Path, motions: Sequence[TrackedMotion]) -> None:
    """
    Write tracked motions to an .npz file.

    :raises ParameterError: the file cannot be written.
    """
    content = {}
    for i, motion in enumerate(motions):
        content[f'{i}/name'] = np.array(motion.name)
        content[f'{i}/joint_names'] = np.array(motion.trajectory.joint_names)
        for field in _ARRAYS:
            content[f'{i}/{field}'] = getattr(motion, field)
        for field in _WAYPOINTS:
            content[f'{i}/waypoint_{field}'] = getattr(motion.trajectory, field)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **content)  # type: ignore[arg-type]
    write_atomically(path, buffer.getvalue())


def load_tracked_motions(path: str | Path) -> list[TrackedMotion]:
    """
    Read tracked motions from an .npz file.

    :raises TrajectoryError: the file does not hold tracked motions.
    """
    verdict = 'does not hold tracked motions'
    content = read_npz(path, MAXIMUM_SIZE, TrajectoryError, verdict)
    motions: list[TrackedMotion] = []
    try:
        while f'{len(motions)}/name' in content:
            i = len(motions)
            waypoints = {field: content[f'{i}/waypoint_{field}'] for field in _WAYPOINTS}
            names = tuple(str(name) for name in content[f'{i}/joint_names'])
            motions.append(TrackedMotion(
                str(content[f'{i}/name']), Trajectory(names, **waypoints),
                *(content[f'{i}/{field}'] for field in _ARRAYS)))
    except (KeyError, ValueError, TypeError) as error:
        raise TrajectoryError(f'{path}: {verdict}: {one_line(error)}') from error
    return motions
