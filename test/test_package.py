# SPDX-License-Identifier: Apache-2.0
"""What holds for the package as a whole: layers, imports, versions, licence lines."""

import ast
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'robot_dynamics_ros'

#: From the data's source to the user; a folder imports only from itself and from those before it.
LAYERS = ('files', 'chain', 'dynamics', 'codegen', 'motion', 'estimation', 'control', 'robot',
          'simulation', 'nodes', 'cli', 'demo')

#: Distributions of ROS 2 that only nodes/ may import.
ROS = re.compile(r'rclpy|launch|launch_ros|ament_index_python|rcl_interfaces|builtin_interfaces'
                 r'|robot_dynamics_interfaces|\w+_msgs|std_srvs')

#: Slow to import or optional: imported inside the function that needs it.
LAZY = {'clarabel', 'cvxpy', 'matplotlib', 'mujoco', 'numba', 'rosbags', 'urchin', 'xacro'}

MODULES = sorted(PACKAGE.rglob('*.py'))


def imported_modules(tree):
    """Yield the full name of everything that a module imports, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, 'relative imports hide the layer'
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


def violations(source, layer):
    """Return what the layer `layer` must not import, among all imports of `source`."""
    forbidden = []
    for name in imported_modules(ast.parse(source)):
        top, _, rest = name.partition('.')
        target = rest.partition('.')[0]
        below = top == PACKAGE.name and target in LAYERS[LAYERS.index(layer) + 1:]
        ros = ROS.fullmatch(top) is not None and layer != 'nodes'
        if below or ros or top == 'pinocchio':
            forbidden.append(name)
    return forbidden


def eager_imports(source):
    """Return what is imported while the module itself is imported."""
    outside_functions = [node for node in ast.parse(source).body
                         if not isinstance(node, (ast.FunctionDef, ast.ClassDef))
                         and 'TYPE_CHECKING' not in ast.dump(node)]
    return {name.partition('.')[0]
            for name in imported_modules(ast.Module(outside_functions, []))}


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize('path', [path for path in MODULES if path.parent != PACKAGE],
                         ids=relative)
def test_a_folder_imports_only_from_those_above_it(path):
    layer = path.relative_to(PACKAGE).parts[0]
    assert layer in LAYERS
    assert violations(path.read_text(), layer) == []


@pytest.mark.parametrize(('source', 'found'), [
    ('from robot_dynamics_ros.control.pid import Pid', 'robot_dynamics_ros.control.pid.Pid'),
    ('def f():\n    import robot_dynamics_ros.cli.main', 'robot_dynamics_ros.cli.main'),
    ('from robot_dynamics_ros import nodes', 'robot_dynamics_ros.nodes'),
    ('import rclpy.node', 'rclpy.node'),
    ('from sensor_msgs.msg import JointState', 'sensor_msgs.msg.JointState'),
    ('import pinocchio', 'pinocchio'),
])
def test_the_layer_rule_sees_a_forbidden_import(source, found):
    assert violations(source, 'estimation') == [found]


def test_the_layer_rule_allows_what_is_above():
    source = 'import numpy\nfrom robot_dynamics_ros.chain.pose import Pose'
    assert violations(source, 'estimation') == []
    assert violations('import rclpy', 'nodes') == []


@pytest.mark.parametrize('path', MODULES, ids=relative)
def test_slow_and_optional_packages_are_imported_late(path):
    assert eager_imports(path.read_text()) & LAZY == set()


def test_the_rule_of_late_imports_sees_an_early_one():
    assert eager_imports('try:\n    import numba\nexcept ImportError:\n    pass') == {'numba'}
    assert eager_imports('def f():\n    import numba') == set()


def test_the_core_can_be_imported_without_ros_and_optional_packages():
    core = [path for path in MODULES if 'nodes' not in path.parts]
    names = ['.'.join(path.relative_to(ROOT).with_suffix('').parts) for path in core]
    missing = [*LAZY, 'rclpy', 'robot_dynamics_interfaces', 'sensor_msgs', 'std_msgs', 'launch']
    script = ('import sys, importlib\n'
              f'for name in {missing}: sys.modules[name] = None\n'
              f'for name in {names}: importlib.import_module(name.removesuffix(".__init__"))\n')
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr


def test_all_versions_are_equal():
    def of_package_xml(path):
        return ElementTree.parse(path).findtext('version')

    setup = re.search(r"version='([^']+)'", (ROOT / 'setup.py').read_text()).group(1)
    assert of_package_xml(ROOT / 'package.xml') == setup
    assert of_package_xml(ROOT / 'robot_dynamics_interfaces' / 'package.xml') == setup


def test_the_package_says_that_it_is_typed_and_is_in_the_ament_index():
    assert (PACKAGE / 'py.typed').exists()
    assert (ROOT / 'resource' / PACKAGE.name).exists()


def test_every_python_folder_is_a_package():
    folders = {path.parent for path in MODULES}
    assert [relative(folder) for folder in folders if not (folder / '__init__.py').exists()] == []


def test_every_source_file_names_its_licence():
    folders = ('.ci', 'benchmark', 'config', 'environment', 'launch', 'robot_dynamics_interfaces',
               'robot_dynamics_ros', 'test', 'urdf')
    suffixes = {'.cmake', '.msg', '.py', '.srv', '.urdf', '.xml', '.yaml'}
    files = [ROOT / 'Makefile', ROOT / 'package.xml', ROOT / 'setup.py', ROOT / '.ci' / 'run']
    files += [path for folder in folders for path in (ROOT / folder).rglob('*')
              if path.suffix in suffixes and 'data' not in path.parts]
    without = [relative(path) for path in files
               if 'SPDX-License-Identifier: Apache-2.0' not in ''.join(
                   path.read_text().splitlines(keepends=True)[:4])]
    assert without == []


@pytest.mark.parametrize('path', sorted((ROOT / 'robot_dynamics_interfaces').glob('*/*.???')),
                         ids=relative)
def test_every_field_of_a_message_is_explained(path):
    lines = path.read_text().splitlines()
    fields = [line for line in lines if line and not line.startswith(('#', '---'))]
    assert fields
    assert [field for field in fields if '#' not in field] == []
