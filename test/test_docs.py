# SPDX-License-Identifier: Apache-2.0
"""The documentation: pages that the code writes are current, commands print what pages show."""

import ast
import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest
from support.availability import skip_without_ros

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / 'docs'
PAGES = [ROOT / 'README.md', *sorted(DOCS.rglob('*.md'))]
EXAMPLES = sorted((ROOT / 'examples').glob('*.py'))


@pytest.fixture(autouse=True)
def generators(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / 'environment'))
    monkeypatch.syspath_prepend(str(ROOT / 'environment' / 'pages'))


def load(name):
    """Return a module of environment/pages."""
    path = ROOT / 'environment' / 'pages' / f'{name}.py'
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_current(pages):
    for name, text in pages.items():
        assert (DOCS / name).read_text(encoding='utf-8') == text, f'{name}: make pages'


@pytest.mark.ros
@pytest.mark.parametrize('name', ['message_page', 'error_page'])
def test_messages_and_errors_are_those_of_the_code(name):
    skip_without_ros()
    assert_current(load(name).pages())


@pytest.mark.skipif(sys.version_info >= (3, 13), reason='argparse prints help in another form')
def test_the_help_of_every_command_is_shown():
    from robot_dynamics_ros.cli.main import COMMANDS

    text = (DOCS / 'reference' / 'commands.md').read_text(encoding='utf-8')
    assert re.findall(r'^## (.*)$', text, re.MULTILINE) == [each.name for each in COMMANDS]
    page = load('command_page')
    for each in COMMANDS[::4]:  # each takes half a second
        assert page.help_text(each.name).rstrip() in text, f'{each.name}: make pages'


@pytest.mark.ros
def test_the_page_of_every_node_says_what_the_node_has(ros):
    pages = load('node_pages')
    found = {f'reference/nodes/{name}.md': pages.page(name, ros.node.context)
             for name in pages.NODES}
    assert_current(found | {'reference/nodes/index.md': pages.index()})


def test_every_request_in_a_page_can_be_made():
    skip_without_ros()
    import yaml

    def fill(message, values):
        for key, value in values.items():
            if isinstance(value, dict):
                fill(getattr(message, key), value)
            else:
                setattr(message, key, value)

    for name, text in load('node_pages').REQUESTS.items():
        package, folder, kind = name.split('/')
        request = getattr(__import__(f'{package}.{folder}', fromlist=[kind]), kind).Request()
        fill(request, yaml.safe_load(text) or {})


@pytest.mark.ros
def test_errors_that_people_meet_first_are_in_the_code():
    skip_without_ros()
    page = load('error_page')
    said = ' '.join(text for _, _, text in page.error_texts())
    source = ' '.join(path.read_text() for path in (ROOT / 'robot_dynamics_ros').rglob('*.py'))
    for each in page.FIRST:
        assert each['text'] in said or each['text'] in source, each['text']


RUN = [path for path in PAGES if path.read_text(encoding='utf-8').startswith('<!-- run')]


@pytest.mark.parametrize('path', RUN, ids=lambda path: path.stem)
def test_commands_print_what_the_page_shows(path):
    pages = load('run_pages')
    text = path.read_text(encoding='utf-8')
    assert pages.without_numbers(pages.run_page(text)) == pages.without_numbers(text), 'make pages'


def test_numbers_do_not_count_but_words_do():
    pages = load('run_pages')
    assert pages.without_numbers('error  1.5e-3 %') == pages.without_numbers('error 27 %')
    assert pages.without_numbers('error 1 %') != pages.without_numbers('NOT PASSED 1 %')


@pytest.mark.parametrize('path', EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints(path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(path), run_name='__main__')
    printed = capsys.readouterr().out
    assert printed and 'nan' not in printed
    assert ast.get_docstring(ast.parse(path.read_text())).endswith(('?', '.'))


def test_there_are_ten_examples_and_all_are_listed():
    text = (ROOT / 'examples' / 'README.md').read_text()
    assert re.findall(r'^\| `(\w+\.py)`', text, re.MULTILINE)
    assert len(EXAMPLES) == 10
    assert {path.name for path in EXAMPLES} == set(re.findall(r'^\| `(\w+\.py)`', text,
                                                               re.MULTILINE))


@pytest.mark.parametrize('path', PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_somewhere(path):
    text = re.sub(r'^```.*?^```', '', path.read_text(encoding='utf-8'), flags=re.M | re.S)
    for target in re.findall(r'\]\(([^)#\s]+)(?:#[^)]*)?\)', text):
        if '://' not in target:
            assert (path.parent / target).exists(), target


def ros2_lines():
    """Return all lines of pages that begin with ros2, with their page."""
    for path in PAGES:
        for line in re.findall(r'^ros2 .*$', path.read_text(encoding='utf-8'), re.MULTILINE):
            yield path.stem, line


def declared_settings(name):
    text = (ROOT / 'config' / f'{name}.yaml').read_text()
    return set(re.findall(r'^    (?:# )?(\w+):', text, re.MULTILINE))


def test_ros2_lines_name_nodes_parameters_and_arguments_that_exist():
    executables = re.search(r'NODES = \(([^)]*)\)', (ROOT / 'setup.py').read_text()).group(1)
    arguments = set()
    for path in [*(ROOT / 'launch').glob('*.py'),
                 ROOT / 'robot_dynamics_ros' / 'nodes' / 'support' / 'launching.py']:
        arguments |= set(re.findall(r"DeclareLaunchArgument\(\s*'(\w+)'", path.read_text()))
        arguments |= set(re.findall(r"\('(\w+)', ", path.read_text()))
        arguments |= set(re.findall(r"'(\w+)':", path.read_text()))
    seen = 0
    for page, line in ros2_lines():
        if match := re.match(r'ros2 run robot_dynamics_ros (\w+)', line):
            name = match[1]
            assert f"'{name}'" in executables, (page, line)
            for parameter in re.findall(r'-p (\w+):=', line):
                assert parameter in declared_settings(name), (page, line)
            seen += 1
        elif match := re.match(r'ros2 launch robot_dynamics_ros (\S+)', line):
            assert (ROOT / 'launch' / match[1]).is_file(), (page, line)
            for argument in re.findall(r'(?<=\s)(\w+):=', line):
                assert argument in arguments, (page, line, argument)
            seen += 1
    assert seen > 10


def test_the_chains_of_the_gallery_exist():
    from support.robots import example_robots

    from robot_dynamics_ros import chain_from_urdf

    lines = re.findall(r'`robot-dynamics inspect \$R/(\S+)(.*?)`',
                       (DOCS / 'gallery.md').read_text(encoding='utf-8'))
    assert len(lines) == 12
    for file, words in lines:
        [path] = [each for each in example_robots() if each.as_posix().endswith(f'/{file}')]
        chosen = dict(re.findall(r'--(base|tip) (\S+)', words))
        assert len(chain_from_urdf(path, **chosen)) >= 3
