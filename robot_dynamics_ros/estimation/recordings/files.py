# SPDX-License-Identifier: Apache-2.0
"""
Recordings in files: rosbag2, CSV and npz, read and written.

CSV: a header ``t``, ``q_<joint>``, ``qd_<joint>`` (may be left out), ``tau_<joint>`` and numbers;
an empty field is a missing value. npz: arrays t (N,), q, tau (N, n), qd or v (may be left out),
and joint_names; without names the columns are the joints of the chain in its order. A force sensor
at the tip: ``wrench_fx`` ... ``wrench_tz`` in a CSV, wrench (N, 6) in an npz.
A rosbag2 is read without ROS: a folder, or a bare .db3 or .mcap file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import ParameterError, RecordingError, TableError
from robot_dynamics_ros.estimation.recordings.recording import Recording, renamed
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.files.checked_npz import read_npz
from robot_dynamics_ros.files.checked_yaml import read_yaml
from robot_dynamics_ros.files.csv_table import read_csv_table, write_csv_table

SUFFIXES = ('.csv', '.npz', '.db3', '.mcap')

#: Components of a wrench.
WRENCH = ('fx', 'fy', 'fz', 'tx', 'ty', 'tz')

#: A larger .npz file is refused [bytes].
MAXIMUM_SIZE = 2**30


def read_recording(path: str | Path, chain: Chain, *, topic: str | None = None,
                   rename: Sequence[tuple[str, str]] = (),
                   wrench_topic: str | None = None) -> Recording:
    """
    Return the joints of a chain from a file, in the order of the chain.

    :param path: rosbag2 folder or file, .csv or .npz.
    :param chain: the robot.
    :param topic: topic of the joint states in a bag; None = the only one with these joints.
    :param rename: pairs of a text in the recorded joint names and the text of the URDF.
    :param wrench_topic: topic of a force sensor in a bag (geometry_msgs/WrenchStamped): what the
        environment exerts on the tip link, at its origin, in its frame; None = no sensor.
    :raises RecordingError: naming the file and what is wrong with it.
    """
    source = _existing(path)
    if _is_bag(source):
        return read_bag(source, chain.joint_names, topic, rename, wrench_topic)
    if wrench_topic is not None:
        raise RecordingError(f'{source}: a wrench topic is for bags; a file has columns wrench_fx '
                             '... wrench_tz (.csv) or an array wrench (.npz)')
    if source.suffix == '.csv':
        return _read_csv(source).renamed(rename).for_chain(chain)
    if source.suffix == '.npz':
        return _read_npz(source, chain.joint_names).renamed(rename).for_chain(chain)
    raise RecordingError(f"{source}: unknown kind '{source.suffix}'; known are a rosbag2 folder, "
                         f'{", ".join(SUFFIXES)}')


def _existing(path: str | Path) -> Path:
    """Return the path of a file or folder."""
    source = Path(path)
    if not (os.path.isdir(source) or os.path.isfile(source)):  # a pipe may never end
        raise RecordingError(f'{one_line(source)}: no such file')
    return source


def _is_bag(path: Path) -> bool:
    return path.is_dir() or path.suffix in ('.db3', '.mcap')


def _read_csv(path: Path) -> Recording:
    table = read_csv_table(path)
    names = tuple(name[2:] for name in table.columns if name.startswith('q_'))
    if 't' not in table.columns or not names:
        raise RecordingError(f'{path}: the header is {", ".join(table.columns)[:200]}; expected '
                             't, q_<joint>, qd_<joint> (may be left out) and tau_<joint>')
    return Recording(table.columns['t'], table.required_joints('q', names),
                     table.joints('qd', names), table.required_joints('tau', names), names,
                     str(path), table.joints('wrench', WRENCH))


def _read_npz(path: Path, joint_names: Sequence[str]) -> Recording:
    arrays = read_npz(path, MAXIMUM_SIZE, RecordingError, 'cannot be read as npz',
                      ('t', 'q', 'qd', 'v', 'tau', 'wrench', 'joint_names'))
    missing = [key for key in ('t', 'q', 'tau') if key not in arrays]
    if missing:
        raise RecordingError(f'{path}: array {", ".join(missing)} is missing; expected t, q, tau, '
                             'qd or v (may be left out) and joint_names (may be left out)')
    names = tuple(map(str, np.atleast_1d(arrays.get('joint_names', np.array(joint_names)))))
    qd = arrays.get('qd', arrays.get('v'))
    try:
        return Recording(arrays['t'], arrays['q'], qd, arrays['tau'], names, str(path),
                         arrays.get('wrench'))
    except (TypeError, ValueError) as error:
        raise RecordingError(f'{path}: the arrays are not numbers: {one_line(error)}') from error


JOINT_STATE = 'sensor_msgs/msg/JointState'
WRENCH_STAMPED = 'geometry_msgs/msg/WrenchStamped'
STRING = 'std_msgs/msg/String'


def read_bag(path: Path, joint_names: Sequence[str], topic: str | None = None,
             rename: Sequence[tuple[str, str]] = (),
             wrench_topic: str | None = None) -> Recording:
    """
    Return the joint states of one robot from a bag.

    Messages are mapped by name; those of other robots on the same topic are left out. The time is
    that of the header, or that of the bag where the header has none.

    :param path: folder with metadata.yaml, or a .db3 or .mcap file.
    :param joint_names: joints that must be in the messages.
    :param topic: topic of the joint states; None = the only one that has these joints.
    :param rename: pairs of a text in the recorded names and the text to read instead.
    :param wrench_topic: topic of a force sensor at the tip; None = none.
    :raises RecordingError: not readable, no such topic, or no message with these joints.
    """
    messages = _messages(path, JOINT_STATE, topic)
    for _, _, message in messages:
        message.name = renamed(message.name, rename)
    forces = None if wrench_topic is None else _messages(path, WRENCH_STAMPED, wrench_topic)
    return _recording(path, messages, joint_names, forces)


def read_description(path: str | Path) -> str | None:
    """
    Return the robot description that a bag holds.

    :param path: recording of any kind.
    :returns: text of its topic robot_description; None = it is not a bag, or has no such topic.
    :raises RecordingError: there is no such file, the bag cannot be read, or it holds different
        descriptions.
    """
    source = _existing(path)
    if not _is_bag(source):
        return None
    found = {message.data: topic for topic, _, message in _messages(source, STRING, None, False)
             if topic.rpartition('/')[2] == 'robot_description' and '<' in message.data}
    if len(found) > 1:
        raise RecordingError(f'{source}: holds {len(found)} different robot descriptions ('
                             f'{", ".join(sorted(set(found.values())))}); give the URDF')
    return next(iter(found), None)


def _messages(path: Path, kind: str, topic: str | None, required: bool = True
              ) -> list[tuple[str, int, Any]]:
    """Return topic, time in the bag [ns] and message of all messages of one kind."""
    try:
        from rosbags.rosbag2 import Reader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise RecordingError(f'{path}: {_missing(error)}') from error
    types = get_typestore(Stores.ROS2_JAZZY)
    _check_metadata(path)
    try:
        with Reader(path) as reader:
            known = [each for each in reader.connections if each.msgtype == kind]
            chosen = [each for each in known if topic in (None, each.topic)]
            if not chosen and not required:
                return []  # the reader would take an empty choice for all topics
            if not chosen:
                raise RecordingError(_no_topic(path, kind, topic, reader.connections))
            return [(connection.topic, stamp, types.deserialize_cdr(raw, kind))
                    for connection, stamp, raw in reader.messages(chosen)]
    except RecordingError:
        raise
    except Exception as error:  # a broken file may break its reader in any way
        raise RecordingError(f'{path}: cannot be read as a bag; is it complete? '
                             f'({one_line(error)})') from error


def _missing(error: ImportError) -> str:
    """Return what to do where bags cannot be read or written."""
    if (error.name or '').split('.')[0] in ('rosbags', ''):
        return 'the package rosbags is needed for bags; install it with: pip install rosbags'
    return f'the package rosbags cannot be used here: {one_line(error)}'  # a Python without zstd


def _check_metadata(path: Path) -> None:
    """Refuse a description of a bag that would keep its reader busy for ever."""
    metadata = path / 'metadata.yaml'
    if metadata.exists():
        try:
            read_yaml(metadata)
        except ParameterError as error:
            raise RecordingError(f'{path}: cannot be read as a bag; {error}') from error


def _no_topic(path: Path, kind: str, topic: str | None, connections: Sequence[Any]) -> str:
    found = ', '.join(f'{each.topic} ({each.msgtype})' for each in connections) or 'nothing'
    wanted = f'no topic {topic} of type {kind}' if topic else f'no topic of {kind}'
    return f'{path}: there is {wanted}; the bag holds {found}'


def _recording(path: Path, messages: Sequence[tuple[str, int, Any]],
               joint_names: Sequence[str],
               forces: Sequence[tuple[str, int, Any]] | None) -> Recording:
    """Return one recording from the messages that hold all joints."""
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
                     np.array(list(_values(columns, 'effort'))), tuple(joint_names), str(path),
                     None if forces is None else _wrench(path, forces, t, first))


def _wrench(path: Path, forces: Sequence[tuple[str, int, Any]], t: Array, first: int) -> Array:
    """Return the wrenches (N, 6) at the times of the joint states; NaN outside of their time."""
    if not forces:
        raise RecordingError(f'{path}: the wrench topic has no messages')
    stamps = [_seconds(message, stamp) for _, stamp, message in forces]
    times = np.array([seconds - first + nanoseconds * 1e-9 for seconds, nanoseconds in stamps])
    values = np.array([[*(getattr(each.wrench.force, axis) for axis in 'xyz'),
                        *(getattr(each.wrench.torque, axis) for axis in 'xyz')]
                       for _, _, each in forces])
    order = np.argsort(times, kind='stable')
    return np.column_stack([np.interp(t, times[order], column, left=np.nan, right=np.nan)
                            for column in values[order].T])


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


def write_recording(path: str | Path, recording: Recording, *,
                    topic: str = '/joint_states', description: str | None = None) -> None:
    """
    Write a recording; the ending of the name decides: .csv, .npz, or none for a rosbag2 folder.

    :param path: path of the file, or of a folder that does not exist yet.
    :param recording: recording to write.
    :param topic: topic of the joint states in a bag.
    :param description: URDF text, which a bag holds as the topic /robot_description; None = no
        such topic.
    :raises RecordingError: an unknown ending, or the file cannot be written.
    """
    target = Path(path)
    writers: dict[str, Callable[[Path, Recording, str], None]] = {
        '.csv': _write_csv, '.npz': _write_npz}
    if target.suffix not in ('', *writers):
        raise RecordingError(f"{target}: unknown kind '{target.suffix}'; write .csv, .npz, or a "
                             'name without ending for a rosbag2 folder')
    if target.suffix:
        writers[target.suffix](target, recording, topic)
    else:
        _write_bag(target, recording, topic, description)


def _write_csv(path: Path, recording: Recording, topic: str) -> None:
    columns: dict[str, Array] = {'t': recording.t}
    for prefix, values in (('q', recording.q), ('qd', recording.qd), ('tau', recording.tau)):
        if values is not None:
            columns.update({f'{prefix}_{name}': values[:, j]
                            for j, name in enumerate(recording.joint_names)})
    if recording.wrench is not None:
        columns.update({f'wrench_{name}': recording.wrench[:, j]
                        for j, name in enumerate(WRENCH)})
    try:
        write_csv_table(path, columns)
    except TableError as error:
        raise RecordingError(str(error)) from error


def _write_npz(path: Path, recording: Recording, topic: str) -> None:
    arrays: dict[str, Any] = {'t': recording.t, 'q': recording.q, 'tau': recording.tau,
                              'joint_names': np.array(recording.joint_names)}
    if recording.qd is not None:
        arrays['qd'] = recording.qd
    if recording.wrench is not None:
        arrays['wrench'] = recording.wrench
    try:
        np.savez_compressed(path, **arrays)
    except OSError as error:
        raise RecordingError(f'{path}: cannot be written: {error.strerror}') from error


def _write_bag(path: Path, recording: Recording, topic: str, description: str | None) -> None:
    """Write joint states as mcap, the default storage of ROS 2 Jazzy."""
    try:
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.rosbag2.errors import WriterError
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise RecordingError(f'{path}: {_missing(error)}') from error
    if recording.wrench is not None:
        raise RecordingError(f'{path}: joint states cannot hold the wrench of the recording; '
                             'write .csv or .npz')
    if not np.all(np.isfinite(recording.t)):
        raise RecordingError(f'{path}: a sample has no time, which a bag cannot hold')
    types = get_typestore(Stores.ROS2_JAZZY)
    state = types.types[JOINT_STATE]
    header, time = (types.types[name] for name in ('std_msgs/msg/Header',
                                                   'builtin_interfaces/msg/Time'))
    # stamps cannot be negative, and a stamp of zero means "none"
    begin = 1.0 - min(float(np.min(recording.t)), 0.0)
    names, nothing = list(recording.joint_names), np.zeros((len(recording), 0))
    q, qd, tau = (np.ascontiguousarray(values) for values in (
        recording.q, nothing if recording.qd is None else recording.qd, recording.tau))
    try:
        with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            connection = writer.add_connection(topic, JOINT_STATE, typestore=types)
            if description is not None:
                text = writer.add_connection('/robot_description', STRING, typestore=types)
                first = round((float(recording.t[0]) + begin) * 1e9)
                writer.write(text, first, types.serialize_cdr(
                    types.types[STRING](data=description), STRING))
            for k, t in enumerate(recording.t):
                stamp = round((float(t) + begin) * 1e9)
                message = state(
                    header=header(stamp=time(sec=stamp // 10**9, nanosec=stamp % 10**9),
                                  frame_id=''),
                    name=names, position=q[k], velocity=qd[k], effort=tau[k])
                writer.write(connection, stamp, types.serialize_cdr(message, JOINT_STATE))
    except (OSError, WriterError) as error:
        raise RecordingError(f'{path}: cannot be written: {error}') from error
