# SPDX-License-Identifier: Apache-2.0
"""The ``robot-dynamics`` command itself."""

import argparse
import os
import subprocess
import sys
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path

import pytest

from robot_dynamics_ros import __version__
from robot_dynamics_ros.cli.main import COMMANDS, main


def test_the_bare_command_prints_its_help(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert all(f'\n    {command.name}' in text for command in COMMANDS)


@pytest.mark.parametrize(('words', 'said_by'), [
    (['inspect', 'arm.urdf', '--joints', 'a'], 'robot-dynamics inspect'),
    (['--joints'], 'robot-dynamics'),
])
def test_an_option_that_does_not_exist_leads_to_the_help_that_lists_them(words, said_by, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f'{said_by}: unrecognized arguments: --joints')
    assert printed.endswith(f'see {said_by} --help\n')


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as ended:
        main(['--version'])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f'robot-dynamics {__version__}\n'


@pytest.mark.parametrize('command', COMMANDS, ids=lambda command: command.name)
def test_the_help_shows_an_example_that_the_command_takes(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command.name, '--help'])
    assert ended.value.code == 0
    line = f'  robot-dynamics {command.name} {command.example}'.rstrip()
    assert line in capsys.readouterr().out.splitlines()
    parser = argparse.ArgumentParser(exit_on_error=False)
    import_module(f'robot_dynamics_ros.{command.module}').add_arguments(parser)
    parser.parse_args(command.example.split())


@contextmanager
def nobody_reads():
    """Print into a pipe that nobody reads any more; within the test, as pytest has its own."""
    read, write = os.pipe()
    os.close(read)
    with open(write, 'w', buffering=1, encoding='utf-8') as stream, redirect_stdout(stream):
        yield


def test_files_are_written_although_nobody_reads_what_is_printed(tmp_path):
    robot = Path(__file__).resolve().parents[2] / 'urdf' / 'planar_2r.urdf'
    name = tmp_path / 'motion'
    with nobody_reads():
        assert main(['excite', str(robot), '--unchecked', '--candidates', '2', '--iterations',
                     '1', '-o', str(name)]) == 0
    assert sorted(each.suffix for each in tmp_path.iterdir()) == ['.csv', '.png', '.yaml']


@pytest.mark.parametrize(('words', 'code'), [(['presets'], 0), ([], 0),
                                             (['inspect', 'no_such_file'], 2)])
def test_a_reader_that_has_left_does_not_change_the_exit_code(words, code):
    with nobody_reads():
        assert main(words) == code


def test_a_process_whose_reader_has_left_says_nothing():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, '-m', 'robot_dynamics_ros.cli.main', '--help'],
                          stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, '')
