# SPDX-License-Identifier: Apache-2.0
"""The ``robot-dynamics`` command itself."""

import argparse
from importlib import import_module

import pytest

from robot_dynamics_ros import __version__
from robot_dynamics_ros.cli.main import COMMANDS, main


def test_the_bare_command_prints_its_help(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert all(f'\n    {command.name}' in text for command in COMMANDS)


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
