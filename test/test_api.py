# SPDX-License-Identifier: Apache-2.0
"""What other people's code may use: the names of the package root, and what is written of them."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import robot_dynamics_ros
from robot_dynamics_ros import errors

ROOT = Path(__file__).resolve().parent.parent
#: Pages whose blocks are run, one after the other, are judged by test_docs.
DOCUMENTS = [path for path in [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
             if not path.read_text(encoding='utf-8').startswith('<!-- run')]


def python_blocks(text):
    """Return the fenced blocks of Python of a Markdown text."""
    return re.findall(r'^```python\n(.*?)^```', text, re.DOTALL | re.MULTILINE)


def imported_names(block):
    """Return the names that a block imports from the package root, and its sub-modules."""
    names, modules = [], []
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom) and node.module == 'robot_dynamics_ros':
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules.append(node.module)
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    return names, [name for name in modules if name.startswith('robot_dynamics_ros.')]


def run(script):
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          cwd=ROOT, timeout=500)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize('name', robot_dynamics_ros.__all__)
def test_every_public_name_can_be_imported_and_has_a_docstring(name):
    value = getattr(robot_dynamics_ros, name)
    assert value.__name__ == name
    assert inspect.getdoc(value)


def test_public_names_are_listed_once_and_by_dir():
    names = robot_dynamics_ros.__all__
    assert len(set(names)) == len(names)
    assert set(names) <= set(dir(robot_dynamics_ros))


def test_every_error_is_public():
    defined = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert defined and defined <= set(robot_dynamics_ros.__all__)
    derived = re.compile(rf'^class (\w+)\((?:{"|".join(defined)})\)', re.MULTILINE)
    elsewhere = {name for path in Path(robot_dynamics_ros.__file__).parent.rglob('*.py')
                 for name in derived.findall(path.read_text())}
    assert elsewhere <= defined


def test_type_checkers_see_the_same_names_in_the_same_modules():
    tree = ast.parse(Path(robot_dynamics_ros.__file__).read_text())
    block, = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert set(seen) == set(robot_dynamics_ros.__all__)
    assert seen == {name: getattr(robot_dynamics_ros, name).__module__ for name in seen}


def test_an_unknown_name_is_refused_with_those_like_it():
    with pytest.raises(AttributeError, match=r"no attribute 'chain_from_udrf'; names like it are "
                                             r'chain_from_urdf, chain_from_dh, '):
        robot_dynamics_ros.chain_from_udrf  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'xyzzy'$"):
        robot_dynamics_ros.xyzzy  # noqa: B018


def test_importing_the_package_imports_nothing_else():
    script = ("import sys\nbefore = set(sys.modules)\nimport robot_dynamics_ros\n"
              "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))")
    third_parties = set(run(script).split()) - set(sys.stdlib_module_names)
    assert third_parties == {'robot_dynamics_ros'}


def test_a_chain_needs_neither_compiler_nor_scipy_nor_ros():
    script = ('import sys\nfrom robot_dynamics_ros import chain_from_dh, minimal_parameters\n'
              "minimal_parameters(chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0]))\n"
              "print(*{'scipy', 'numba', 'llvmlite', 'rclpy', 'matplotlib', 'urchin'}"
              '.intersection(sys.modules))')
    assert run(script).split() == []


def test_star_import_gives_exactly_the_public_names():
    assert run("names = {}\nexec('from robot_dynamics_ros import *', names)\n"
               "print(*sorted(set(names) - {'__builtins__'}))").split() == sorted(
                   robot_dynamics_ros.__all__)


@pytest.mark.parametrize('path', DOCUMENTS, ids=lambda path: path.name)
def test_examples_import_public_names_only(path):
    for block in python_blocks(path.read_text()):
        names, modules = imported_names(block)
        assert set(names) <= set(robot_dynamics_ros.__all__)
        assert modules == []


def test_examples_are_found_and_judged():
    blocks = [block for path in DOCUMENTS for block in python_blocks(path.read_text())]
    assert len(blocks) >= 3 and all(imported_names(block)[0] for block in blocks)
    text = '```python\nfrom robot_dynamics_ros.chain.dh import x\nimport robot_dynamics_ros.y\n```'
    block, = python_blocks(text)
    assert imported_names(block) == ([], ['robot_dynamics_ros.chain.dh', 'robot_dynamics_ros.y'])


@pytest.mark.parametrize('path', DOCUMENTS, ids=lambda path: path.name)
def test_no_document_sends_a_reader_to_a_module_that_does_not_run(path):
    """Sub-modules move; only the nodes are run by their module name."""
    modules = re.findall(r'\brobot_dynamics_ros\.(\w+)', path.read_text())
    assert set(modules) <= {'nodes'}


def test_the_table_of_names_is_complete_and_in_order():
    text = (ROOT / 'docs' / 'api.md').read_text()
    rows = re.findall(r'^\| `(\w+)` \| (.+) \|$', text, re.MULTILINE)
    assert [name for name, _ in rows] == robot_dynamics_ros.__all__
    assert [name for name, sentence in rows if not sentence.endswith('.')] == []


def test_the_table_names_every_formulation():
    from robot_dynamics_ros.dynamics.formulations import equations_of_motion, inverse_dynamics

    rows = dict(re.findall(r'^\| `(\w+)` \| (.+) \|$', (ROOT / 'docs' / 'api.md').read_text(),
                           re.MULTILINE))
    for name, formulations in (('inverse_dynamics', inverse_dynamics.FORMULATIONS),
                               ('forward_dynamics', equations_of_motion.FORWARD_DYNAMICS),
                               ('mass_matrix', equations_of_motion.MASS_MATRICES),
                               ('gravity_torque', equations_of_motion.GRAVITY_TORQUES)):
        assert re.findall(r"'(\w+)'", rows[name]) == list(formulations)


def test_the_example_of_the_formulations_runs():
    block, = python_blocks((ROOT / 'docs' / 'api.md').read_text())
    assert run(block).splitlines() == ['[27.0092  7.461 ]'] * 4 + ['True']
