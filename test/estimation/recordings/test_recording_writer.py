# SPDX-License-Identifier: Apache-2.0
"""Recordings to files and back."""

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.recordings.files import read_recording, write_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording


@pytest.fixture
def chain():
    return chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')


def recording(chain, rng, *, speeds=True):
    tau = np.asfortranarray(rng.normal(size=(50, 2)))  # as a choice of columns gives it
    tau[7, 1] = np.nan
    t = np.cumsum(rng.uniform(0.005, 0.015, 50))
    q, qd = rng.normal(size=(2, 50, 2))
    return Recording(t, q, qd if speeds else None, tau, chain.joint_names)


@pytest.mark.parametrize('speeds', [True, False])
@pytest.mark.parametrize('name', ['motion.csv', 'motion.npz', 'motion'])
def test_what_is_written_is_read_back(name, speeds, chain, rng, tmp_path):
    if name == 'motion':
        pytest.importorskip('rosbags')
    before = recording(chain, rng, speeds=speeds)
    write_recording(tmp_path / name, before)
    after = read_recording(tmp_path / name, chain)
    np.testing.assert_array_equal(after.q, before.q)
    np.testing.assert_array_equal(after.tau, before.tau)
    np.testing.assert_allclose(np.diff(after.t), np.diff(before.t), atol=2e-9)
    if speeds:
        np.testing.assert_array_equal(after.qd, before.qd)
    else:
        assert after.qd is None


def test_a_bag_holds_joint_states_as_ros_records_them(chain, rng, tmp_path):
    rosbag2 = pytest.importorskip('rosbags.rosbag2')
    write_recording(tmp_path / 'bag', recording(chain, rng))
    with rosbag2.Reader(tmp_path / 'bag') as reader:
        [connection] = reader.connections
        assert connection.topic == '/joint_states'
        assert connection.msgtype == 'sensor_msgs/msg/JointState'
        stamps = [stamp for _, stamp, _ in reader.messages()]
    assert len(stamps) == 50 and stamps == sorted(stamps)
    assert list((tmp_path / 'bag').glob('*.mcap')) and (tmp_path / 'bag/metadata.yaml').exists()


def test_negative_times_can_be_stamps(chain, rng, tmp_path):
    pytest.importorskip('rosbags')
    before = recording(chain, rng)
    early = Recording(before.t - 5.0, before.q, before.qd, before.tau, before.joint_names)
    write_recording(tmp_path / 'bag', early)
    after = read_recording(tmp_path / 'bag', chain)
    np.testing.assert_allclose(np.diff(after.t), np.diff(early.t), atol=2e-9)


@pytest.mark.parametrize('name, message', [
    ('motion.txt', "unknown kind '.txt'"),
    ('nowhere/motion.csv', 'cannot be written'),
    ('nowhere/motion.npz', 'cannot be written'),
])
def test_a_place_that_cannot_be_written_is_named(name, message, chain, rng, tmp_path):
    with pytest.raises(RecordingError, match=message):
        write_recording(tmp_path / name, recording(chain, rng))


def test_an_existing_bag_is_not_overwritten(chain, rng, tmp_path):
    pytest.importorskip('rosbags')
    write_recording(tmp_path / 'bag', recording(chain, rng))
    with pytest.raises(RecordingError, match='cannot be written'):
        write_recording(tmp_path / 'bag', recording(chain, rng))


def test_a_sample_without_time_is_no_message(chain, rng, tmp_path):
    pytest.importorskip('rosbags')
    before = recording(chain, rng)
    t = before.t.copy()
    t[3] = np.nan
    with pytest.raises(RecordingError, match='a sample has no time'):
        write_recording(tmp_path / 'bag', Recording(t, before.q, None, before.tau,
                                                    before.joint_names))
