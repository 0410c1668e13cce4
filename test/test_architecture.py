# SPDX-License-Identifier: Apache-2.0
"""docs/architecture.md tells where things are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'robot_dynamics_ros'
TEXT = (ROOT / 'docs' / 'architecture.md').read_text(encoding='utf-8')


def section(title):
    return re.search(rf'^## {title}\n(.*?)(?=^## |\Z)', TEXT, re.DOTALL | re.MULTILINE).group(1)


def test_every_room_has_a_line():
    rows = re.findall(r'^\| (`.*?) \|', section('Rooms'), re.MULTILINE)
    named = {name.rstrip('/') for row in rows for name in re.findall(r'`([^`]+)`', row)}
    modules = [path.relative_to(PACKAGE) for path in PACKAGE.rglob('*.py')
               if path.name != '__init__.py']
    assert [module for module in modules
            if not {module.as_posix(), module.parent.as_posix()} & named] == []
    assert [name for name in named if not (PACKAGE / name).exists()] == []


@pytest.mark.parametrize('name', sorted(set(re.findall(
    r'`([a-z]+(?:/[a-z_]+)+)`', section('Three walks')))))
def test_every_step_of_a_walk_exists(name):
    assert (PACKAGE / f'{name}.py').is_file()
