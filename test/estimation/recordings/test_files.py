# SPDX-License-Identifier: Apache-2.0
"""Recordings from bags, CSV and npz files; bad files are told in one sentence."""

import builtins
import os
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.errors import RecordingError, RobotDynamicsError
from robot_dynamics_ros.estimation.recordings.files import read_description, read_recording
from robot_dynamics_ros.files.csv_table import write_csv_table

TYPES = get_typestore(Stores.ROS2_JAZZY)
JointState = TYPES.types['sensor_msgs/msg/JointState']
Header = TYPES.types['std_msgs/msg/Header']
Time = TYPES.types['builtin_interfaces/msg/Time']


@pytest.fixture(scope='module')
def chain():
    return chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')


@pytest.fixture
def data(rng):
    t = np.arange(50) * 0.01
    return t, *rng.normal(size=(3, 50, 2))


def message(t, names, q, qd=(), tau=()):
    stamp = Time(sec=1000 + int(t), nanosec=round((t % 1.0) * 1e9))
    return JointState(Header(stamp, 'base'), list(names), np.array(q, dtype=float),
                      np.array(qd, dtype=float), np.array(tau, dtype=float))


def write_bag(path, messages, storage=StoragePlugin.SQLITE3):
    """Write (topic, message) pairs 10 ms apart."""
    with Writer(path, version=9, storage_plugin=storage) as writer:
        connections = {}
        for k, (topic, content) in enumerate(messages):
            if topic not in connections:
                connections[topic] = writer.add_connection(
                    topic, 'sensor_msgs/msg/JointState', typestore=TYPES)
            raw = TYPES.serialize_cdr(content, 'sensor_msgs/msg/JointState')
            writer.write(connections[topic], 10_000_000 * k, raw)
    return path


def joint_states(chain, data):
    names = chain.joint_names[::-1]  # mapped by name, not by place
    return [('/joint_states', message(t, names, q[::-1], qd[::-1], tau[::-1]))
            for t, q, qd, tau in zip(*data)]


@pytest.mark.parametrize('storage, bare', [
    (StoragePlugin.SQLITE3, False), (StoragePlugin.SQLITE3, True),
    (StoragePlugin.MCAP, False), (StoragePlugin.MCAP, True)])
def test_bags_are_read_as_folder_or_bare_file(storage, bare, chain, data, tmp_path):
    path = write_bag(tmp_path / 'bag', joint_states(chain, data), storage)
    if bare:
        (path / 'metadata.yaml').unlink()
        path = next(path.iterdir())
    recording = read_recording(path, chain)
    t, q, qd, tau = data
    np.testing.assert_allclose(recording.t, t, atol=2e-9)
    for read, written in ((recording.q, q), (recording.qd, qd), (recording.tau, tau)):
        np.testing.assert_array_equal(read, written)


def test_missing_speeds_and_efforts_are_not_invented(chain, data, tmp_path):
    t, q, _, tau = data
    messages = [('/joint_states', message(t[k], chain.joint_names, q[k], (),
                                          tau[k] if k % 2 else ())) for k in range(50)]
    recording = read_recording(write_bag(tmp_path / 'bag', messages), chain)
    assert recording.qd is None
    assert np.all(np.isnan(recording.tau[::2])) and np.all(np.isfinite(recording.tau[1::2]))


def test_a_header_without_time_gets_the_time_of_the_bag(chain, data, tmp_path):
    messages = [('/joint_states', JointState(Header(Time(0, 0), ''), list(chain.joint_names),
                                             *(np.array(x[k]) for x in data[1:])))
                for k in range(50)]
    recording = read_recording(write_bag(tmp_path / 'bag', messages), chain)
    np.testing.assert_allclose(np.diff(recording.t), 0.01)


def test_two_robots_in_one_bag(chain, data, tmp_path):
    mine = joint_states(chain, data)
    other = [('/joint_states', message(t, ['a', 'b', 'c'], [0, 0, 0])) for t in data[0]]
    mixed = [each for pair in zip(mine, other) for each in pair]
    assert len(read_recording(write_bag(tmp_path / 'one', mixed), chain)) == 50
    twins = mine + [('/left/joint_states', content) for _, content in mine]
    path = write_bag(tmp_path / 'two', twins)
    with pytest.raises(RecordingError, match='several topics hold these joints: '
                       '/joint_states, /left/joint_states; choose one'):
        read_recording(path, chain)
    assert len(read_recording(path, chain, topic='/left/joint_states')) == 50
    with pytest.raises(RecordingError, match=r'no topic /right of type .*the bag holds /joint'):
        read_recording(path, chain, topic='/right')


def test_joints_can_be_renamed(chain, data, tmp_path):
    messages = [('/joint_states', message(t, [f'left_{name}' for name in chain.joint_names], q))
                for t, q in zip(*data[:2])]
    path = write_bag(tmp_path / 'bag', messages)
    with pytest.raises(RecordingError, match=r'recorded are left_joint_1, left_joint_2\. Rename'):
        read_recording(path, chain)
    assert len(read_recording(path, chain, rename=[('left_', '')])) == 50


def test_parts_of_a_robot_in_different_messages_are_refused(chain, data, tmp_path):
    messages = [('/joint_states', message(t, [chain.joint_names[k % 2]], [0.0]))
                for k, t in enumerate(data[0])]
    with pytest.raises(RecordingError, match='no message holds all of'):
        read_recording(write_bag(tmp_path / 'bag', messages), chain)


@pytest.mark.parametrize('storage', [StoragePlugin.SQLITE3, StoragePlugin.MCAP])
@pytest.mark.parametrize('size', [0, 100, 3000])
def test_a_truncated_bag_is_told(storage, size, chain, data, tmp_path):
    path = write_bag(tmp_path / 'bag', joint_states(chain, data), storage)
    file = next(each for each in path.iterdir() if each.suffix in ('.db3', '.mcap'))
    os.truncate(file, size)
    with pytest.raises(RecordingError, match=r'cannot be read as a bag|no topic of'):
        read_recording(file, chain)


def columns(chain, data):
    result = {'t': data[0]}
    for prefix, values in zip(('q', 'qd', 'tau'), data[1:]):
        result |= {f'{prefix}_{name}': values[:, j] for j, name in enumerate(chain.joint_names)}
    return result


def test_csv_and_npz_hold_the_same(chain, data, tmp_path):
    write_csv_table(tmp_path / 'r.csv', columns(chain, data))
    t, q, qd, tau = data
    np.savez(tmp_path / 'r.npz', t=t, q=q[:, ::-1], v=qd[:, ::-1], tau=tau[:, ::-1],
             joint_names=np.array(chain.joint_names[::-1]))
    np.savez(tmp_path / 'plain.npz', t=t, q=q, qd=qd, tau=tau)
    for name in ('r.csv', 'r.npz', 'plain.npz'):
        recording = read_recording(tmp_path / name, chain)
        for read, written in zip((recording.t, recording.q, recording.qd, recording.tau), data):
            np.testing.assert_array_equal(read, written)


def write_text(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize('name, text, message', [
    ('a.csv', 'time,x\n1,2\n', 'the header is time, x; expected t, q_<joint>'),
    ('a.csv', 't,q_joint_1\n1,2\n', 'tau_joint_1 ... are missing'),
    ('a.csv', 't,q_joint_1,tau_joint_1\n', 'no samples'),
    ('a.csv', 't,q_joint_1,tau_joint_1\n1,x,3\n', 'must be numbers'),
    ('a.csv', 't,q_joint_1,tau_joint_1\n1,2,3\n', 'joint_2 of planar_2r was not recorded'),
    ('a.npz', 'nonsense', 'cannot be read as npz'),
    ('a.txt', 'nonsense', "unknown kind '.txt'; known are a rosbag2 folder, .csv"),
    ('a.db3', 'nonsense', 'cannot be read as a bag'),
    ('a.mcap', 'nonsense', 'cannot be read as a bag'),
])
def test_bad_files_are_told(name, text, message, chain, tmp_path):
    with pytest.raises(RobotDynamicsError, match=message):
        read_recording(write_text(tmp_path / name, text), chain)


def test_missing_files_and_arrays_are_told(chain, tmp_path):
    with pytest.raises(RecordingError, match=r'nowhere.csv: no such file'):
        read_recording(tmp_path / 'nowhere.csv', chain)
    np.savez(tmp_path / 'a.npz', t=[1.0])
    with pytest.raises(RecordingError, match='array q, tau is missing'):
        read_recording(tmp_path / 'a.npz', chain)
    (tmp_path / 'folder').mkdir()
    with pytest.raises(RecordingError, match='cannot be read as a bag'):
        read_recording(tmp_path / 'folder', chain)


def test_a_missing_file_is_not_taken_for_one_without_a_description(tmp_path):
    """The option --urdf was asked for where the path was wrong."""
    for name in ('nowhere.csv', 'nowhere'):
        with pytest.raises(RecordingError, match=f'{name}: no such file'):
            read_description(tmp_path / name)
    with pytest.raises(RecordingError, match='cannot be read as a bag'):
        read_description(tmp_path)


@pytest.mark.parametrize('name', ['x' * 5000 + '.csv', 'a\0b.npz', 'pipe.mcap', 'pipe.csv'])
def test_a_path_that_cannot_be_read_is_a_recording_error(name, chain, tmp_path):
    if name.startswith('pipe'):
        os.mkfifo(tmp_path / name)
    with pytest.raises(RecordingError, match='no such file'):
        read_recording(tmp_path / name, chain)


@pytest.mark.parametrize(('missing', 'message'), [
    ('rosbags', 'install it with: pip install rosbags'),
    ('_zstd', "rosbags cannot be used here: No module named '_zstd'")])
def test_what_bags_need_is_named(missing, message, tmp_path, monkeypatch):
    """A Python without zstd was told to install rosbags, which was there."""
    def fail(name, *arguments):
        if name.startswith('rosbags'):
            raise ModuleNotFoundError(f'No module named {missing!r}', name=missing)
        return real(name, *arguments)

    real = builtins.__import__
    (tmp_path / 'a.mcap').write_bytes(b'x')
    monkeypatch.setattr(builtins, '__import__', fail)
    with pytest.raises(RecordingError, match=message):
        read_recording(tmp_path / 'a.mcap', chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf'))
