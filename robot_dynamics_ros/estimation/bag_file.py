# SPDX-License-Identifier: Apache-2.0
"""Joint states from rosbag2 recordings, without ROS: a folder, or a bare .db3 or .mcap file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.recording import Recording, renamed

JOINT_STATE = 'sensor_msgs/msg/JointState'


def read_bag(path: Path, joint_names: Sequence[str], topic: str | None = None,
             rename: Sequence[tuple[str, str]] = ()) -> Recording:
    """
    Return the joint states of one robot.

    Messages are mapped by name; those of other robots on the same topic are left out. The time is
    that of the header, or of the bag where the header has none.

    :param path: folder with metadata.yaml, or a .db3 or .mcap file.
    :param joint_names: joints that must be in the messages.
    :param topic: topic of the joint states; None = the only one that has these joints.
    :param rename: pairs of a text in the recorded names and what to read instead.
    :raises RecordingError: not readable, no such topic, or no message with these joints.
    """
    try:
        from rosbags.rosbag2 import Reader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise RecordingError(f'{path}: the package rosbags is needed to read bags; install it '
                             'with: pip install rosbags') from error
    types = get_typestore(Stores.ROS2_JAZZY)
    try:
        with Reader(path) as reader:
            known = [each for each in reader.connections if each.msgtype == JOINT_STATE]
            chosen = [each for each in known if topic in (None, each.topic)]
            if not chosen:
                raise RecordingError(_no_topic(path, topic, reader.connections))
            messages: list[tuple[str, int, Any]] = [
                (connection.topic, stamp, types.deserialize_cdr(raw, JOINT_STATE))
                for connection, stamp, raw in reader.messages(chosen)]
            for _, _, message in messages:
                message.name = renamed(message.name, rename)
    except RecordingError:
        raise
    except Exception as error:  # a broken file may break its reader in any way
        raise RecordingError(f'{path}: cannot be read as a bag; is it complete? '
                             f'({error})') from error
    return _recording(path, messages, joint_names)


def _no_topic(path: Path, topic: str | None, connections: Sequence[Any]) -> str:
    found = ', '.join(f'{each.topic} ({each.msgtype})' for each in connections) or 'nothing'
    wanted = f'no topic {topic} of type {JOINT_STATE}' if topic else f'no topic of {JOINT_STATE}'
    return f'{path}: there is {wanted}; the bag holds {found}'


def _recording(path: Path, messages: Sequence[tuple[str, int, Any]],
               joint_names: Sequence[str]) -> Recording:
    """Put the messages that hold all joints together."""
    wanted = set(joint_names)
    fitting = [each for each in messages if wanted <= set(each[2].name)]
    topics = sorted({each[0] for each in fitting})
    if not fitting:
        names = sorted({name for _, _, message in messages for name in message.name})
        missing = sorted(wanted - set(names))
        if messages and not missing:
            raise RecordingError(f'{path}: no message holds all of {", ".join(joint_names)} '
                                 'together')
        raise RecordingError(f'{path}: no joint state of {", ".join(missing or joint_names)}; '
                             f'recorded are {", ".join(names) or "no joints"}. Rename them, or '
                             'choose another base or tip')
    if len(topics) > 1:
        raise RecordingError(f'{path}: several topics hold these joints: {", ".join(topics)}; '
                             'choose one')
    order: dict[tuple[str, ...], list[int]] = {}
    for _, _, message in fitting:
        if message.name not in order:
            order[message.name] = [message.name.index(name) for name in joint_names]
    columns = [(message, order[message.name]) for _, _, message in fitting]
    stamps = [_seconds(message, stamp) for _, stamp, message in fitting]
    first = stamps[0][0]
    t = np.array([seconds - first + nanoseconds * 1e-9 for seconds, nanoseconds in stamps])
    qd = np.array(list(_values(columns, 'velocity')))
    return Recording(t, np.array(list(_values(columns, 'position'))),
                     None if not np.any(np.isfinite(qd)) else qd,
                     np.array(list(_values(columns, 'effort'))), tuple(joint_names), str(path))


def _seconds(message: Any, stamp: int) -> tuple[int, int]:
    """Return seconds and nanoseconds of the header, or of the bag."""
    header = message.header.stamp
    if header.sec or header.nanosec:
        return int(header.sec), int(header.nanosec)
    return divmod(stamp, 1_000_000_000)


def _values(columns: Sequence[tuple[Any, list[int]]], field: str) -> Iterator[Array]:
    """Yield one field of every message in the wanted order; NaN where it is missing."""
    for message, places in columns:
        values = np.asarray(getattr(message, field), dtype=np.float64)
        complete = values.size == len(message.name)
        yield values[places] if complete else np.full(len(places), np.nan)
