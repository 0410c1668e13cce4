# SPDX-License-Identifier: Apache-2.0
"""Checkpoints survive, and what is none is refused."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.parameters.history import load_checkpoint, save_checkpoint

STATE = {'x': np.arange(3.0), 'triangle': np.eye(2), 'samples': np.array(12)}


def test_a_state_comes_back(tmp_path):
    path = tmp_path / 'state.npz'
    save_checkpoint(path, STATE, 'abc')
    back = load_checkpoint(path, 'abc')
    assert set(back) == set(STATE)
    for name, values in STATE.items():
        np.testing.assert_array_equal(back[name], values)
    assert [file.name for file in tmp_path.iterdir()] == ['state.npz'], 'nothing left over'


def test_a_state_of_another_robot_is_refused(tmp_path):
    path = tmp_path / 'state.npz'
    save_checkpoint(path, STATE, 'abc')
    with pytest.raises(ParameterError, match='belongs to another robot'):
        load_checkpoint(path, 'abd')


@pytest.mark.parametrize('cut', [0, 10, 200])
def test_half_a_file_is_refused(tmp_path, cut):
    path = tmp_path / 'state.npz'
    save_checkpoint(path, STATE, 'abc')
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ParameterError, match=r'state\.npz: is not a checkpoint'):
        load_checkpoint(path, 'abc')


def test_other_files_are_refused(tmp_path):
    path = tmp_path / 'other.npz'
    np.savez(path, x=np.arange(3.0))
    with pytest.raises(ParameterError, match='of format 1'):
        load_checkpoint(path, 'abc')
    with pytest.raises(ParameterError, match='cannot be read'):
        load_checkpoint(tmp_path / 'nowhere.npz', 'abc')


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ParameterError, match='cannot be written'):
        save_checkpoint(tmp_path / 'nowhere' / 'state.npz', STATE, 'abc')
