# SPDX-License-Identifier: Apache-2.0
"""Files written at once and set aside: only files, and nothing is lost."""

import os
import stat

import pytest

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.atomic_file import set_aside, write_atomically


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / 'pipe'
    os.mkfifo(path)
    return path


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / 'state'
    for content in (b'first', b'second'):
        write_atomically(path, content)
        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ['state']


def test_a_file_set_aside_keeps_its_content(tmp_path):
    path = tmp_path / 'state'
    path.write_bytes(b'content')
    aside = set_aside(path)
    assert not path.exists()
    assert aside == tmp_path / 'state.damaged'
    assert aside.read_bytes() == b'content'


@pytest.mark.parametrize('use', [lambda path: write_atomically(path, b''), set_aside])
def test_a_special_file_stays_what_it_is(pipe, use):
    with pytest.raises(ParameterError, match='it is not a file'):
        use(pipe)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


@pytest.mark.parametrize('use', [lambda path: write_atomically(path, b''), set_aside])
@pytest.mark.parametrize('path', ['/nowhere/at/all', 'a\0b', 'x' * 5000, '/'])
def test_a_path_that_cannot_be_is_refused_in_one_line(use, path):
    with pytest.raises(ParameterError, match='cannot be') as caught:
        use(path)
    assert '\n' not in str(caught.value) and len(str(caught.value)) < 400
