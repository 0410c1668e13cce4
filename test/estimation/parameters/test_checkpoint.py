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
    with pytest.raises(ParameterError, match='of format 2 or 1'):
        load_checkpoint(path, 'abc')
    with pytest.raises(ParameterError, match='cannot be read'):
        load_checkpoint(tmp_path / 'nowhere.npz', 'abc')


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ParameterError, match='cannot be written'):
        save_checkpoint(tmp_path / 'nowhere' / 'state.npz', STATE, 'abc')


def saved(path, **changes):
    """Save a checkpoint with other arrays; None = left out."""
    content = {**STATE, 'checkpoint_format': np.array(1), 'model_hash': np.array('abc'), **changes}
    np.savez(path, **{name: values for name, values in content.items() if values is not None})


def flipped(path):
    content = bytearray(path.read_bytes())
    content[content.index(STATE['x'].tobytes()) + 9] ^= 0xff
    path.write_bytes(content)


def as_array(path):
    np.save(path.with_suffix('.npy'), np.arange(3.0))
    path.with_suffix('.npy').replace(path)


@pytest.mark.parametrize('damage', [
    lambda path: path.write_bytes(b''), lambda path: path.write_bytes(b'\0' * 1000),
    lambda path: path.write_text('no zip'), flipped, as_array,
    lambda path: saved(path, x=np.array([{}], dtype=object)),
    lambda path: saved(path, x=np.array(['text'])), lambda path: saved(path, x=np.array([np.nan])),
    lambda path: saved(path, x=np.array([np.inf])),
    lambda path: saved(path, x=np.array([1j])), lambda path: saved(path, model_hash=None),
    lambda path: saved(path, model_hash=np.array(['abc', 'abc'])),
    lambda path: saved(path, checkpoint_format=None),
    lambda path: saved(path, checkpoint_format=np.array([1, 1])),
    lambda path: saved(path, checkpoint_format=np.array('one')),
    lambda path: (path.unlink(), path.mkdir()),
])
def test_a_damaged_checkpoint_gives_one_clear_line(tmp_path, damage):
    path = tmp_path / 'state.npz'
    saved(path)
    load_checkpoint(path, 'abc')
    damage(path)
    with pytest.raises(ParameterError, match=r'^\S*state\.npz: ') as caught:
        load_checkpoint(path, 'abc')
    assert '\n' not in str(caught.value)
    assert len(str(caught.value)) < 500
