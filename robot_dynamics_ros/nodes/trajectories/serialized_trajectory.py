# SPDX-License-Identifier: Apache-2.0
"""
Joint trajectories read straight from the bytes that DDS has delivered.

A long trajectory as Python objects costs about 20 microseconds per point before anybody looks at
it, and a node that streams torques is silent meanwhile. Here the points that fill the same fields,
which lie at equal distances in the bytes, are read together.

The bytes are CDR, little-endian, as all RMW implementations of ROS 2 write them on the usual
machines; other encodings go through the message.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.motion.waypoints import check_filled, check_row_length
from robot_dynamics_ros.nodes.support.conversion import (
    check_point_count,
    seconds,
    trajectory_from_message,
)

#: First bytes of little-endian plain CDR; two option bytes follow.
_LITTLE_ENDIAN = b'\x00\x01'
#: Length of this header; alignment counts from its end.
_HEADER = 4
_FIELDS = ('positions', 'velocities', 'accelerations', 'effort')
#: Largest number of joints, and of stretches of points that fill the same fields: what costs
#: Python time per piece.
_MOST_JOINTS = _MOST_STRETCHES = 1000
#: Largest message in another encoding, some thousand points [bytes].
_MOST_FOREIGN_BYTES = 2**20


@dataclass(frozen=True, eq=False)
class ReceivedTrajectory:
    """
    A trajectory as it came in.

    :param start: stamp of the message [s]; 0 = at once.
    :param trajectory: the waypoints without efforts, or None where there are no points.
    """

    start: float
    trajectory: Trajectory | None


def received_trajectory(message: bytes | JointTrajectory,
                        maximum_points: int) -> ReceivedTrajectory:
    """
    Return the trajectory in a message.

    :param message: a message, or its bytes from a subscription with raw=True.
    :param maximum_points: number of points above which it is refused, before they are read.
    :raises TrajectoryError: too many points, or a trajectory that cannot be executed.
    """
    if isinstance(message, bytes):
        if message[:2] == _LITTLE_ENDIAN:
            try:
                return _Reader(message).trajectory(maximum_points)
            except (struct.error, UnicodeDecodeError) as error:
                raise TrajectoryError('the bytes are not a joint trajectory') from error
        message = _foreign_message(message)
    assert isinstance(message, JointTrajectory)
    check_point_count(len(message.points), maximum_points)
    return ReceivedTrajectory(
        seconds(message.header.stamp),
        trajectory_from_message(message) if message.points else None)


def _foreign_message(data: bytes) -> JointTrajectory:
    """Return the message in bytes of another encoding; it becomes objects, so it must be short."""
    if len(data) > _MOST_FOREIGN_BYTES:
        raise TrajectoryError(f'{len(data)} bytes that are not little-endian CDR, more than the '
                              f'{_MOST_FOREIGN_BYTES} allowed')
    try:
        return deserialize_message(data, JointTrajectory)
    except RuntimeError as error:
        raise TrajectoryError('the bytes are not a joint trajectory') from error


class _Reader:
    """A place in the bytes of a message."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = _HEADER

    def trajectory(self, maximum_points: int) -> ReceivedTrajectory:
        sec, nanosec = self._numbers('<iI')
        self._text()  # frame_id
        count = self._count()
        if count > _MOST_JOINTS:
            raise TrajectoryError(f'{count} joints, more than the {_MOST_JOINTS} allowed')
        names = tuple(self._text() for _ in range(count))
        points = self._count()
        check_point_count(points, maximum_points)
        start = sec + nanosec * 1e-9
        trajectory = self._waypoints(names, points) if points else None
        return ReceivedTrajectory(start, trajectory)

    def _waypoints(self, names: tuple[str, ...], points: int) -> Trajectory:
        if not names:
            raise TrajectoryError('the trajectory names no joints')
        if points * (4 * len(_FIELDS) + 8) > len(self._data):  # each has four counts and a time
            raise struct.error('fewer bytes than points')
        times = np.empty(points)
        tables = {field: np.full((points, len(names)), np.nan) for field in _FIELDS[:-1]}
        done = stretches = 0
        while done < points:
            stretches += 1
            if stretches > _MOST_STRETCHES:
                raise TrajectoryError(f'the points fill other fields than those before them more '
                                      f'than {_MOST_STRETCHES} times; fill the same in all')
            done += self._stretch(names, times[done:], tables, done)
        return Trajectory(names, times, *tables.values())

    def _stretch(self, names: tuple[str, ...], times: Array, tables: dict[str, Array],
                 done: int) -> int:
        """Read the next points that fill the same fields, and return how many they are."""
        first, counts, starts = self._place, {}, {}
        for field in _FIELDS:
            place = self._place
            counts[place - first] = count = self._count()
            if field in tables:
                check_row_length(field, count, done, len(names))
            if count:
                self._align(8)
                starts[field] = self._place
                self._place += 8 * count
        time = self._place
        self._place += 8
        if self._place > len(self._data):
            raise struct.error('the bytes end inside a point')
        size = self._place - first
        length = self._equal_points(first, size, counts, times.size)
        for field in starts.keys() & tables.keys():
            rows = tables[field][done:done + length]
            rows[:] = np.ndarray(rows.shape, '<f8', self._data, starts[field], (size, 8))
            check_filled(field, rows, names, first=done)
        times[:length] = np.ndarray(length, '<i4', self._data, time, size)
        times[:length] += np.ndarray(length, '<u4', self._data, time + 4, size) / 1e9
        self._place = first + length * size
        return length

    def _equal_points(self, first: int, size: int, counts: dict[int, int], most: int) -> int:
        """Return how many points from `first` on have these counts at these places."""
        if size % 8:  # the next point is aligned otherwise
            return 1
        most = min(most, (len(self._data) - first) // size)
        length, step = 1, 64
        while length < most:
            step = min(2 * step, most - length)
            place = first + length * size
            other = np.zeros(step, dtype=np.bool_)
            for offset, count in counts.items():
                other |= np.ndarray(step, '<u4', self._data, place + offset, size) != count
            if np.any(other):
                return length + int(np.argmax(other))
            length += step
        return length

    def _align(self, size: int) -> None:
        self._place += -(self._place - _HEADER) % size

    def _numbers(self, form: str) -> tuple[int, ...]:
        self._align(4)
        numbers = struct.unpack_from(form, self._data, self._place)
        self._place += struct.calcsize(form)
        return numbers

    def _count(self) -> int:
        return self._numbers('<I')[0]

    def _text(self) -> str:
        length = self._count()
        text = self._data[self._place:self._place + length]
        if len(text) != length:
            raise struct.error('the bytes end inside a name')
        self._place += length
        return text.rstrip(b'\0').decode()
