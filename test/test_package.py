# SPDX-License-Identifier: Apache-2.0
"""What holds for the package as a whole: layers, imports, versions, licence lines."""

import ast
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

import robot_dynamics_ros

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / 'robot_dynamics_ros'

#: Rooms from the data's source to the user. A module belongs to the longest name that fits, and
#: imports only from its own room and from those before it.
ROOMS = (
    'errors', 'arrays', 'files',
    'chain', 'chain.urdf', 'picture',
    'dynamics', 'dynamics.scalars', 'dynamics.recursions', 'dynamics.joints', 'dynamics.minimal',
    'dynamics.formulations',
    'codegen', 'codegen.printers', 'codegen.llvm', 'codegen.runtime',
    'motion', 'motion.playing', 'collision',
    'estimation.settings', 'estimation.recordings', 'estimation.smoothing',
    'estimation.regression', 'estimation.recursion', 'estimation.consistency',
    'estimation.parameters', 'estimation.hints', 'estimation.identification',
    'estimation.payload',
    'estimation.excitation', 'estimation',
    'control', 'control.learned', 'control.adaptive',
    'robot', 'calibration.efforts', 'calibration', 'simulation', 'view', 'nodes.support',
    'nodes.trajectories', 'nodes',
    'cli.support', 'cli.recordings', 'cli', 'demo',
)

#: Distributions of ROS 2 that only nodes/ may import.
ROS = re.compile(r'rclpy|launch|launch_ros|ament_index_python|rcl_interfaces|builtin_interfaces'
                 r'|robot_dynamics_interfaces|\w+_msgs|std_srvs')

#: Slow to import or optional: imported inside the function that needs it.
LAZY = {'coal', 'collada', 'cvxpy', 'matplotlib', 'mujoco', 'numba', 'pandas', 'rosbags', 'urchin',
        'viser', 'xacro'}

MODULES = sorted(PACKAGE.rglob('*.py'))


def imported_modules(tree):
    """Yield the full name of everything that a module imports, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, 'relative imports hide the layer'
            yield from (f'{node.module}.{alias.name}' for alias in node.names)


def room_of(module):
    """Return the number of the room of a module below the package, or None where it has none."""
    fits = [room for room in ROOMS if f'{module}.'.startswith(f'{room}.')]
    return ROOMS.index(max(fits, key=len)) if fits else None


def violations(source, room):
    """Return what a module of `room` must not import, among all imports of `source`."""
    forbidden = []
    for name in imported_modules(ast.parse(source)):
        top, _, rest = name.partition('.')
        target = room_of(rest) if top == PACKAGE.name else None
        later = target is not None and target > ROOMS.index(room)
        ros = ROS.fullmatch(top) is not None and not room.startswith('nodes')
        if later or ros or top == 'pinocchio':
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


@pytest.mark.parametrize('path', [path for path in MODULES if path.name != '__init__.py'],
                         ids=relative)
def test_a_room_imports_only_from_those_before_it(path):
    room = room_of('.'.join(path.relative_to(PACKAGE).with_suffix('').parts))
    assert room is not None, 'a module outside all rooms'
    assert violations(path.read_text(), ROOMS[room]) == []


@pytest.mark.parametrize(('source', 'found'), [
    ('from robot_dynamics_ros.control.pid import Pid', 'robot_dynamics_ros.control.pid.Pid'),
    ('def f():\n    import robot_dynamics_ros.cli.main', 'robot_dynamics_ros.cli.main'),
    ('from robot_dynamics_ros import nodes', 'robot_dynamics_ros.nodes'),
    ('from robot_dynamics_ros import robot', 'robot_dynamics_ros.robot'),
    ('from robot_dynamics_ros.estimation.payload.stream import PayloadStream',
     'robot_dynamics_ros.estimation.payload.stream.PayloadStream'),
    ('from robot_dynamics_ros.estimation import online', 'robot_dynamics_ros.estimation.online'),
    ('import rclpy.node', 'rclpy.node'),
    ('from sensor_msgs.msg import JointState', 'sensor_msgs.msg.JointState'),
    ('import pinocchio', 'pinocchio'),
])
def test_the_rule_of_rooms_sees_a_forbidden_import(source, found):
    assert violations(source, 'estimation.regression') == [found]


def test_the_rule_of_rooms_knows_the_inner_order():
    source = 'from robot_dynamics_ros.dynamics.formulations.kane import kane'
    assert violations(source, 'dynamics.recursions') != []
    assert violations(source, 'dynamics.formulations') == violations(source, 'codegen') == []
    source = 'from robot_dynamics_ros.dynamics.recursions.body import bodies'
    assert violations(source, 'dynamics.scalars') != []
    assert violations(source, 'dynamics.joints') == []


def test_the_rule_of_rooms_allows_what_is_before():
    source = 'import numpy\nfrom robot_dynamics_ros.chain.pose import Pose'
    assert violations(source, 'estimation.regression') == []
    assert violations('import rclpy', 'nodes.support') == violations('import rclpy', 'nodes') == []


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
                          cwd=ROOT, timeout=500)
    assert done.returncode == 0, done.stderr


def test_all_versions_are_equal():
    def of_package_xml(path):
        return ElementTree.parse(path).findtext('version')

    setup = re.search(r"version='([^']+)'", (ROOT / 'setup.py').read_text()).group(1)
    assert of_package_xml(ROOT / 'package.xml') == setup
    assert of_package_xml(ROOT / 'robot_dynamics_interfaces' / 'package.xml') == setup
    assert robot_dynamics_ros.__version__ == setup
    assert yaml.safe_load((ROOT / 'CITATION.cff').read_text())['version'] == setup


def dependencies(kind='exec_depend'):
    """Return the dependencies of package.xml, each with its condition."""
    return {each.text: each.get('condition')
            for each in ElementTree.parse(ROOT / 'package.xml').findall(kind)}


def test_every_ros_package_that_is_imported_is_a_dependency():
    files = [*MODULES, *(ROOT / 'launch').glob('*.py')]
    imported = {name.partition('.')[0] for path in files
                for name in imported_modules(ast.parse(path.read_text()))}
    assert {'action_msgs', 'control_msgs'} <= set(filter(ROS.fullmatch, imported))
    assert {name for name in imported if ROS.fullmatch(name)} - set(dependencies()) == set()


def test_every_requirement_that_rosdep_knows_is_a_dependency():
    known = dependencies()
    keys = {'coal': 'coal', 'mujoco': 'python3-mujoco-pip', 'numba': 'python3-numba',
            'pycollada': 'python3-collada', 'PyYAML': 'python3-yaml',
            'rosbags': 'python3-rosbags-pip', 'urchin': 'python3-urchin-pip',
            'xacro': 'xacro'}
    unknown = {'viser'}  # on PyPI only
    setup = (ROOT / 'setup.py').read_text()
    required = set(re.findall(r"'([\w-]+)(?:<\d+)?'", ' '.join(re.findall(r': (\[.*?\]),', setup))
                              + re.search(r'install_requires=(\[.*?\])', setup).group(1)))
    assert {'numpy', 'numba'} <= required
    assert {keys.get(name, f'python3-{name}') for name in required - unknown} <= set(known)
    assert 'rich' in required
    # not in Ubuntu 24.04: rosdep would ask apt for what does not exist
    assert known['python3-numba'] == '$ROS_DISTRO > kilted'


def test_the_installation_leaves_to_pip_what_only_pip_has():
    pip = {name for name in dependencies() if name.endswith('-pip')}
    assert pip
    for path in (ROOT / 'README.md', ROOT / '.github' / 'workflows' / 'ci.yml'):
        [skipped] = re.findall(r"--skip-keys '([^']*)'", path.read_text())
        assert set(skipped.split()) == pip, path.name
    pinned = (ROOT / 'environment' / 'pip-only.txt').read_text()
    for name in pip:
        assert re.search(rf'^{name.split("-")[1]}==', pinned, re.MULTILINE), name


def test_the_workflow_tests_every_python_of_the_set_up_with_targets_of_the_makefile():
    job = yaml.safe_load((ROOT / '.github/workflows/ci.yml').read_text())['jobs']['test']
    first, end = re.search(r'\(3, (\d+)\) <= sys.version_info < \(3, (\d+)\)',
                           (ROOT / 'environment' / 'set_up.py').read_text()).groups()
    assert job['strategy']['matrix']['python'] == [f'3.{k}' for k in range(int(first), int(end))]
    commands = [step.get('run', '') for step in job['steps']]
    called = {command.removeprefix('make ') for command in commands if command.startswith('make')}
    targets = set(re.findall(r'^([a-z]+):', (ROOT / 'Makefile').read_text(), re.MULTILINE))
    assert {'lint', 'test'} <= called <= targets


def test_the_package_says_that_it_is_typed_and_is_in_the_ament_index():
    assert (PACKAGE / 'py.typed').exists()
    assert (ROOT / 'resource' / PACKAGE.name).exists()


def test_every_python_folder_is_a_package():
    folders = {path.parent for path in MODULES}
    assert [relative(folder) for folder in folders if not (folder / '__init__.py').exists()] == []


def test_every_source_file_names_its_licence():
    folders = ('.ci', '.github', 'benchmark', 'config', 'environment', 'launch',
               'robot_dynamics_interfaces', 'robot_dynamics_ros', 'security', 'test', 'urdf')
    suffixes = {'.cmake', '.msg', '.py', '.srv', '.urdf', '.xml', '.yaml', '.yml'}
    files = [ROOT / name for name in ('.ci/run', '.pre-commit-config.yaml', 'CITATION.cff',
                                      'Makefile', 'package.xml', 'setup.py')]
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
