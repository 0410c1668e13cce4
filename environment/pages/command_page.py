# SPDX-License-Identifier: Apache-2.0
"""The page of commands: their help, as the terminal shows it."""

import os
import subprocess
import sys

from robot_dynamics_ros.cli.main import COMMANDS

HEAD = '<!-- Written by environment/pages from the code: make pages -->\n'


def help_text(name):
    """Return the help of a command at 80 columns."""
    done = subprocess.run([sys.executable, '-m', 'robot_dynamics_ros.cli.main', name, '--help'],
                          capture_output=True, text=True, check=True,
                          env=os.environ | {'COLUMNS': '80'})
    return done.stdout.replace('main.py', 'robot-dynamics')


def pages():
    """Return the page by its path below docs/."""
    parts = [HEAD, '# Commands\n',
             'Run `robot-dynamics COMMAND ...`. Wrong input gives one line and exit code 2. '
             '`identify` ends with exit code 1 if its result cannot be trusted. '
             '[Command examples](command_examples.md) shows runs with their output.\n']
    for command in COMMANDS:
        parts.append(f'## {command.name}\n\n{command.text[0].upper()}{command.text[1:]}.\n\n'
                     f'```text\n{help_text(command.name).rstrip()}\n```\n')
    return {'reference/commands.md': '\n'.join(parts)}
