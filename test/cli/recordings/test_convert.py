# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics convert, as a user calls it."""

from pathlib import Path

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.estimation.recordings.files import (
    read_description,
    read_recording,
    write_recording,
)
from robot_dynamics_ros.estimation.recordings.recording import Recording

ARM = str(URDF_FOLDER / 'planar_2r.urdf')


def test_from_csv_to_a_bag_to_npz(rng, tmp_path, capsys):
    pytest.importorskip('rosbags')
    chain = chain_from_urdf(ARM)
    before = Recording(np.arange(40) * 0.01, *rng.normal(size=(3, 40, 2)), chain.joint_names)
    write_recording(tmp_path / 'a.csv', before)
    for source, target in (('a.csv', 'bag'), ('bag', 'b.npz')):
        assert main(['convert', str(tmp_path / source), str(tmp_path / target), '--urdf',
                     ARM]) == 0
    assert '40 samples of 2 joints over 0.4 s' in capsys.readouterr().out
    after = read_recording(tmp_path / 'b.npz', chain)
    for name in ('q', 'qd', 'tau'):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))


def test_joints_are_renamed_and_chosen_by_the_robot(rng, tmp_path):
    names = ('my_joint_1', 'my_joint_2', 'gripper')
    write_recording(tmp_path / 'a.csv',
                    Recording(np.arange(30) * 0.01, *rng.normal(size=(3, 30, 3)), names))
    assert main(['convert', str(tmp_path / 'a.csv'), str(tmp_path / 'b.csv'), '--urdf', ARM,
                 '--rename', 'my_=']) == 0
    assert read_recording(tmp_path / 'b.csv', chain_from_urdf(ARM)).q.shape == (30, 2)


@pytest.mark.parametrize('source, target, message', [
    ('nothing.csv', 'b.npz', 'no such file'),
    ('a.csv', 'b.doc', "unknown kind '.doc'"),
])
def test_wrong_input_is_one_line_and_exit_code_2(source, target, message, rng, tmp_path, capsys):
    chain = chain_from_urdf(ARM)
    write_recording(tmp_path / 'a.csv', Recording(
        np.arange(30) * 0.01, *rng.normal(size=(3, 30, 2)), chain.joint_names))
    assert main(['convert', str(tmp_path / source), str(tmp_path / target), '--urdf', ARM]) == 2
    assert message in capsys.readouterr().err


def recorded_bag(rng, path, description):
    chain = chain_from_urdf(ARM)
    recording = Recording(np.arange(40) * 0.01, *rng.normal(size=(3, 40, 2)), chain.joint_names)
    write_recording(path, recording, description=description)


def test_a_bag_brings_its_robot_along(rng, tmp_path, capsys):
    pytest.importorskip('rosbags')
    recorded_bag(rng, tmp_path / 'bag', Path(ARM).read_text())
    assert main(['convert', str(tmp_path / 'bag'), str(tmp_path / 'a.csv')]) == 0
    assert main(['convert', str(tmp_path / 'bag'), str(tmp_path / 'copy')]) == 0
    assert read_description(tmp_path / 'copy') == Path(ARM).read_text()
    assert read_recording(tmp_path / 'a.csv', chain_from_urdf(ARM)).q.shape == (40, 2)
    capsys.readouterr()
    assert main(['identify', str(tmp_path / 'bag'), '-o', str(tmp_path)]) == 2
    # noise is refused, but by what the robot in the bag may do
    assert 'joint_1 moves at' in capsys.readouterr().err


def test_a_recording_without_a_robot_needs_one(rng, tmp_path, capsys):
    pytest.importorskip('rosbags')
    recorded_bag(rng, tmp_path / 'bag', None)
    recorded_bag(rng, tmp_path / 'odd', 'no robot')
    for name in ('bag', 'odd'):
        assert main(['convert', str(tmp_path / name), str(tmp_path / 'a.csv')]) == 2
        assert '--urdf is needed: no recording holds' in capsys.readouterr().err
