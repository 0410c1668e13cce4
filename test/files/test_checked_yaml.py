# SPDX-License-Identifier: Apache-2.0
"""YAML that is damaged or made to do harm gives one of our errors, in one line."""

import pytest

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files import checked_yaml
from robot_dynamics_ros.files.checked_yaml import mapping, matrix, number, read_yaml, row

LAUGHS = 'a0: &a0 [ha, ha]\n' + ''.join(
    f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 10)}]\n' for i in range(1, 10))

BAD = {
    'billion laughs': (LAUGHS, 'an alias .* is refused'),
    'a list that holds itself': ('&a [*a]', 'an alias .* is refused'),
    'a merge of an alias': ('a: &a {b: 1}\nc: {<<: *a}', 'an alias .* is refused'),
    'a key that occurs twice': ('mass: 1\nmass: 2', 'a key occurs twice in line 1'),
    'an inner key that occurs twice': ('a:\n  {b: 1, b: 2}', 'a key occurs twice in line 2'),
    'deep nesting': ('[' * 100000, 'nested deeper than 50 in line 1'),
    'deep mappings': ('{a: ' * 5000, 'nested deeper than 50'),
    'deep lists': ('- ' * 5000, 'nested deeper than 50'),
    'a date that does not exist': ('a: 2001-13-45', 'is not YAML: month must be in'),
    'a timestamp that is none': ('!!timestamp x', 'is not YAML'),
    'a number that is none': ('!!int x', 'is not YAML'),
    'a Python object': ('!!python/object/apply:os.system [echo owned]', 'could not determine'),
    'a list as key': ('? [a]\n: b', 'unhashable key'),
    'a NUL': ('a: \0', 'is not YAML'),
    'two documents': ('a\n---\nb', 'expected a single document.* in line 2'),
    'no YAML': ('a: [', 'is not YAML'),
    'a tab': ('a:\n\t- b', 'cannot start any token'),
}


@pytest.mark.parametrize('name', BAD)
def test_hostile_yaml_is_refused_in_one_line(name, tmp_path):
    text, message = BAD[name]
    path = tmp_path / 'file.yaml'
    path.write_text(text)
    with pytest.raises(ParameterError, match=message) as caught:
        read_yaml(path)
    assert '\n' not in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize('content', [b'\xff\xfe', b'a: \xe9', 'a: é'.encode('utf-16'), b'\xc3'])
def test_another_encoding_than_utf_8_is_refused(content, tmp_path):
    path = tmp_path / 'file.yaml'
    path.write_bytes(content)
    with pytest.raises(ParameterError, match='is not YAML'):
        read_yaml(path)


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / 'file.yaml'
    path.write_bytes('a: é'.encode('utf-8-sig'))
    assert read_yaml(path) == {'a': 'é'}


def test_an_anchor_without_alias_is_harmless(tmp_path):
    path = tmp_path / 'file.yaml'
    path.write_text('a: &a 1')
    assert read_yaml(path) == {'a': 1}


def test_a_file_over_the_limit_is_not_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(checked_yaml, 'MAXIMUM_SIZE', 10)
    path = tmp_path / 'file.yaml'
    path.write_text('a: ' + '1' * 100)
    with pytest.raises(ParameterError, match='more than the limit of 10'):
        read_yaml(path)


@pytest.mark.parametrize('content', [True, None, '1.0', [1.0], {}, float('nan'), float('inf'),
                                     10**400, -10**400, 1e16, 1e308, object()])
def test_what_is_not_a_finite_number_is_refused(content):
    with pytest.raises(ParameterError, match='mass must be a finite number'):
        number(content, 'mass')


@pytest.mark.parametrize('content', [0, -1, 1e15, -1e15, 1e-320, -0.0])
def test_a_finite_number_is_taken(content):
    assert number(content, 'mass') == content


@pytest.mark.parametrize('check', [
    lambda content: mapping(content, 'here'), lambda content: number(content, 'here'),
    lambda content: row(content, 'here', 3), lambda content: matrix(content, 'here'),
    lambda content: mapping({'x' * 10**6: 1}, 'here', ('a',))])
def test_a_message_about_a_million_numbers_stays_short(check):
    with pytest.raises(ParameterError) as caught:
        check([0.5] * 10**6)
    assert len(str(caught.value)) < 500
