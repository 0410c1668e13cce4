# SPDX-License-Identifier: Apache-2.0
"""Recordings to files: rosbag2, CSV, npz; `recording_files` reads all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.bag_file import JOINT_STATE
from robot_dynamics_ros.estimation.recording import Recording
from robot_dynamics_ros.files.csv_table import TableError, write_csv_table


def write_recording(path: str | Path, recording: Recording, *,
                    topic: str = '/joint_states') -> None:
    """
    Write a recording; the ending of the name decides: .csv, .npz, or none for a rosbag2 folder.

    :param path: of the file, or of the folder, which must not exist.
    :param recording: what to write.
    :param topic: of the joint states in a bag.
    :raises RecordingError: an unknown ending, or the file cannot be written.
    """
    target = Path(path)
    writers: dict[str, Callable[[Path, Recording, str], None]] = {
        '.csv': _write_csv, '.npz': _write_npz, '': _write_bag}
    if target.suffix not in writers:
        raise RecordingError(f"{target}: unknown kind '{target.suffix}'; write .csv, .npz, or a "
                             'name without ending for a rosbag2 folder')
    writers[target.suffix](target, recording, topic)


def _write_csv(path: Path, recording: Recording, topic: str) -> None:
    columns: dict[str, Array] = {'t': recording.t}
    for prefix, values in (('q', recording.q), ('qd', recording.qd), ('tau', recording.tau)):
        if values is not None:
            columns.update({f'{prefix}_{name}': values[:, j]
                            for j, name in enumerate(recording.joint_names)})
    try:
        write_csv_table(path, columns)
    except TableError as error:
        raise RecordingError(str(error)) from error


def _write_npz(path: Path, recording: Recording, topic: str) -> None:
    arrays: dict[str, Any] = {'t': recording.t, 'q': recording.q, 'tau': recording.tau,
                              'joint_names': np.array(recording.joint_names)}
    if recording.qd is not None:
        arrays['qd'] = recording.qd
    try:
        np.savez_compressed(path, **arrays)
    except OSError as error:
        raise RecordingError(f'{path}: cannot be written: {error.strerror}') from error


def _write_bag(path: Path, recording: Recording, topic: str) -> None:
    """Write joint states in mcap, the storage of ROS 2 Jazzy."""
    try:
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.rosbag2.errors import WriterError
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise RecordingError(f'{path}: the package rosbags is needed to write bags; install it '
                             'with: pip install rosbags') from error
    if not np.all(np.isfinite(recording.t)):
        raise RecordingError(f'{path}: a sample has no time, which a bag cannot hold')
    types = get_typestore(Stores.ROS2_JAZZY)
    state = types.types[JOINT_STATE]
    header, time = (types.types[name] for name in ('std_msgs/msg/Header',
                                                   'builtin_interfaces/msg/Time'))
    # a stamp of zero means "none"; times before the first sample cannot be stamps
    begin = 1.0 - min(float(np.min(recording.t)), 0.0)
    names, nothing = list(recording.joint_names), np.zeros((len(recording), 0))
    q, qd, tau = (np.ascontiguousarray(values) for values in (
        recording.q, nothing if recording.qd is None else recording.qd, recording.tau))
    try:
        with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            connection = writer.add_connection(topic, JOINT_STATE, typestore=types)
            for k, t in enumerate(recording.t):
                stamp = round((float(t) + begin) * 1e9)
                message = state(
                    header=header(stamp=time(sec=stamp // 10**9, nanosec=stamp % 10**9),
                                  frame_id=''),
                    name=names, position=q[k], velocity=qd[k], effort=tau[k])
                writer.write(connection, stamp, types.serialize_cdr(message, JOINT_STATE))
    except (OSError, WriterError) as error:
        raise RecordingError(f'{path}: cannot be written: {error}') from error
