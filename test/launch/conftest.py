# SPDX-License-Identifier: Apache-2.0
"""A prefix with this package, as colcon would install it."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """Make a prefix like that of colcon, whatever is installed here."""
    prefix = tmp_path / 'prefix'
    index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'robot_dynamics_ros').touch()
    share = prefix / 'share' / 'robot_dynamics_ros'
    share.mkdir()
    for folder in ('launch', 'config', 'urdf'):
        shutil.copytree(ROOT / folder, share / folder)  # ros2 launch does not look behind links
    programs = prefix / 'lib' / 'robot_dynamics_ros'
    programs.mkdir(parents=True)
    for name in entry_points():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m robot_dynamics_ros.nodes.{name} '
                           '"$@"\n')
        program.chmod(0o755)
    paths = [str(prefix), *filter(None, [os.environ.get('AMENT_PREFIX_PATH')])]
    monkeypatch.setenv('AMENT_PREFIX_PATH', os.pathsep.join(paths))


def entry_points():
    """Return the executables of the nodes in setup.py."""
    names = re.search(r'NODES = \(([^)]*)\)', (ROOT / 'setup.py').read_text()).group(1)
    return re.findall(r"'(\w+)'", names)


@pytest.fixture(name='entry_points')
def entry_points_fixture():
    return entry_points()
