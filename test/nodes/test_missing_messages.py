# SPDX-License-Identifier: Apache-2.0
"""A workspace that was built without the nested message package: one line says what to do."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.availability import skip_without_ros

skip_without_ros()

pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parents[2]
BUILD = 'colcon build --base-paths src/* src/*/robot_dynamics_interfaces'
NODES = re.findall(r"'(\w+)'", re.search(r'NODES = \(([^)]*)\)',
                                         (ROOT / 'setup.py').read_text()).group(1))
#: Python in which a package cannot be found, but for folders without Python that have its name.
HIDE = """
import sys
from importlib.machinery import PathFinder
class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        spec = super().find_spec(name, path, target)
        hidden = name == '{package}' and spec is not None and spec.origin is not None
        if hidden and {as_folder}:
            return PathFinder.find_spec(name, [{root!r}], target)
        return None if hidden else spec
sys.meta_path = [Hiding if each is PathFinder else each for each in sys.meta_path]
"""


@pytest.fixture
def run_without(tmp_path):
    """Return a function that runs Python where a package is missing."""
    def run(package, *words, as_folder=False):
        (tmp_path / 'sitecustomize.py').write_text(
            HIDE.format(package=package, as_folder=as_folder, root=str(ROOT)))
        paths = os.pathsep.join([str(tmp_path), str(ROOT)])
        return subprocess.run([sys.executable, *words], capture_output=True, text=True,
                              cwd=tmp_path, env={**os.environ, 'PYTHONPATH': paths}, timeout=500)
    return run


@pytest.mark.parametrize('as_folder', [False, True])
@pytest.mark.parametrize('name', NODES)
def test_every_node_says_how_to_build_the_messages(run_without, name, as_folder):
    done = run_without('robot_dynamics_interfaces', '-m', f'robot_dynamics_ros.nodes.{name}',
                       as_folder=as_folder)
    assert done.returncode == 1
    assert done.stderr.count('\n') == 1 and BUILD in done.stderr, done.stderr


@pytest.mark.parametrize('command', ['demo', 'adaptive_demo'])
def test_the_commands_that_start_nodes_say_so_too(run_without, command):
    done = run_without('robot_dynamics_interfaces', '-m', 'robot_dynamics_ros.cli.main', command)
    assert done.returncode == 2
    assert done.stderr.count('\n') == 1 and BUILD in done.stderr, done.stderr


def test_other_commands_need_no_messages(run_without):
    done = run_without('robot_dynamics_interfaces', '-m', 'robot_dynamics_ros.cli.main', 'inspect',
                       str(ROOT / 'urdf' / 'planar_2r.urdf'))
    assert done.returncode == 0, done.stderr


def test_an_import_says_it_as_an_import_error(run_without):
    done = run_without('robot_dynamics_interfaces', '-c',
                       'import robot_dynamics_ros.nodes.support.launching')
    assert done.stderr.splitlines()[-1].startswith('ImportError: the messages of this package')
    assert BUILD in done.stderr


def test_without_ros_a_node_says_so(run_without):
    done = run_without('rclpy', '-m', 'robot_dynamics_ros.nodes.feedforward')
    assert done.returncode == 1
    assert re.fullmatch(r'robot_dynamics_ros: ROS 2 is not here .*\n', done.stderr), done.stderr


def test_the_command_is_the_one_of_the_readme():
    assert BUILD in (ROOT / 'README.md').read_text()
