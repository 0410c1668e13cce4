# SPDX-License-Identifier: Apache-2.0
"""What comes from outside is bounded before it is used."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_dynamics_ros.errors import ParameterError, UrdfError
from robot_dynamics_ros.files.bounds import one_line, read_bounded


@given(st.text())
def test_any_text_is_shown_on_one_printable_line(text):
    line = one_line(text, 50)
    assert line.isprintable()
    assert '\n' not in line
    line.encode()


def test_a_short_text_is_shown_as_it_is_and_a_long_one_is_cut():
    assert one_line("joint 'é' {x}") == "joint 'é' {x}"
    assert one_line('a\nb\x1b') == r'a\nb\x1b'
    assert one_line('x' * 300) == 'x' * 200 + '...'


def test_a_file_is_read_up_to_its_limit(tmp_path):
    path = tmp_path / 'file'
    path.write_bytes(b'12345')
    assert read_bounded(path, 5, UrdfError) == b'12345'
    with pytest.raises(UrdfError, match='5 bytes is more than the limit of 4'):
        read_bounded(path, 4, UrdfError)


def test_a_pipe_without_a_writer_does_not_stop_the_reader(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    with pytest.raises(ParameterError, match='it is not a file'):
        read_bounded(tmp_path / 'pipe', 10, ParameterError)


@pytest.mark.parametrize(('path', 'message'), [
    ('x' * 5000, 'File name too long'), ('a\0b', 'null'), ('/', 'it is not a file'),
    ('/dev/zero', 'it is not a file'), ('no/where', 'No such file')])
def test_what_cannot_be_read_is_told(path, message):
    with pytest.raises(ParameterError, match=message) as caught:
        read_bounded(path, 10, ParameterError)
    assert len(str(caught.value)) < 300


def test_a_file_without_permission_is_told(tmp_path, monkeypatch):
    path = tmp_path / 'file'
    path.write_text('secret')

    def refuse(*_, **__):
        raise PermissionError(13, 'Permission denied')

    monkeypatch.setattr('pathlib.Path.open', refuse)
    with pytest.raises(ParameterError, match='cannot be read: Permission denied'):
        read_bounded(path, 10, ParameterError)
