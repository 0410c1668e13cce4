# SPDX-License-Identifier: Apache-2.0
"""The folder of a calibration: what somebody has changed by hand is named, not stumbled over."""

import os

import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros.calibration.folder import CalibrationFolder, ChainChoice
from robot_dynamics_ros.calibration.journal import journal_path
from robot_dynamics_ros.errors import ParameterError, RecordingError


@pytest.fixture
def folder(tmp_path):
    made = CalibrationFolder(tmp_path / 'calibration')
    made.begin((URDF_FOLDER / 'planar_2r.urdf').read_text(encoding='utf-8'), 'format: 1\n',
               'planar_2r', ChainChoice(gravity=(0.0, -9.81, 0.0)))
    return made


@pytest.mark.parametrize(('key', 'value', 'message'), [
    ('gravity', '5', 'gravity: expected 3 numbers'), ('gravity', '[0, 1]', 'expected 3 numbers'),
    ('base', '[a]', 'base must be a name'), ('tip', '7', 'tip must be a name'),
    ('locked', '[[a], 2]', 'locked: expected a list of names'),
    ('locked', '{x: 1}', 'locked: expected a list of names')])
def test_a_wrong_entry_is_named(folder, key, value, message):
    """`locked: [[a]]` was a TypeError, and so was `gravity: 5`."""
    path = folder.path / 'calibration.yaml'
    lines = [line for line in path.read_text(encoding='utf-8').splitlines()
             if not line.startswith((f'{key}:', '- '))]
    path.write_text('\n'.join([*lines, f'{key}: {value}', '']), encoding='utf-8')
    with pytest.raises(ParameterError, match=message):
        folder.robot()


def test_a_description_that_is_a_pipe_is_not_waited_for(folder):
    folder.description.unlink()
    os.mkfifo(folder.description)
    with pytest.raises(ParameterError, match='it is not a file'):
        folder.robot()


def test_a_journal_that_the_power_has_spoiled_is_set_aside(folder):
    """Every attempt to go on ended at it."""
    chain, _ = folder.robot()
    path = journal_path(folder.path / 'recording', 'slow motion')
    path.parent.mkdir()
    header = 't,q_joint_1,q_joint_2,tau_joint_1,tau_joint_2'
    path.write_bytes(b'\n'.join([header.encode(), bytes(100), b'1,1,1,1,1', b'']))
    with pytest.raises(RecordingError, match=r'set aside as slow_motion\.part\.csv\.damaged'):
        folder.keep_interrupted('slow motion', chain, '')
    assert folder.keep_interrupted('slow motion', chain, '') is None
    assert not path.exists()


def test_a_name_that_no_folder_can_have_is_one_of_our_errors():
    """A name of 5000 characters ended the calibration node with an OSError."""
    folder = CalibrationFolder('x' * 5000)
    assert not folder.exists
    with pytest.raises(ParameterError, match='cannot be made'):
        folder.begin('<robot/>', '', 'a', ChainChoice())
