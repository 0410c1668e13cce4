# SPDX-License-Identifier: Apache-2.0
"""The documentation: pages that the code writes are current, commands print what pages show."""

import ast
import importlib.util
import re
import runpy
import shlex
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
                kept = getattr(message, key)
                assert (list(kept) if isinstance(value, list) else kept) == value

    requests = load('node_pages').REQUESTS
    assert requests
    for name, text in requests.items():
        package, folder, kind = name.split('/')
        request = getattr(__import__(f'{package}.{folder}', fromlist=[kind]), kind).Request()
        fields = yaml.safe_load(text) or {}
        assert fields.keys() <= request.get_fields_and_field_types().keys()
        fill(request, fields)


@pytest.mark.ros
def test_every_error_text_has_a_cause_and_a_remedy_of_its_own():
    skip_without_ros()
    page = load('error_page')
    texts = page.error_texts()
    assert len(texts) > 400
    said = {}
    for room, _, text in texts:
        page.entry_of(room, text)  # raises
        said.setdefault(room, []).append(' '.join(text.split()))
    for room, about in page.ROOMS.items():
        for entry in about['texts']:
            assert entry['cause'] and entry['remedy']
            for part in entry['like']:
                assert any(part in text for text in said[room]), f'{part}: not said any more'
    assert len({entry['remedy'] for _, entry in page.first_entries()}) > 10


@pytest.mark.ros
def test_the_check_of_error_texts_sees_a_new_one():
    skip_without_ros()
    page = load('error_page')
    with pytest.raises(LookupError, match='the moon is full: add its cause'):
        page.entry_of('cli', 'the moon is full')


@pytest.mark.ros
def test_logs_and_counts_of_nodes_have_a_remedy():
    skip_without_ros()
    page, pages = load('error_page'), load('node_pages')
    counted = set()
    for name in pages.NODES:
        counted |= set(pages.failures(pages.PACKAGE / 'nodes' / f'{name}.py'))
    assert counted == set(page.COUNTS)
    source = ' '.join(path.read_text() for path in (ROOT / 'robot_dynamics_ros').rglob('*.py'))
    for entry in page.LOGS:
        assert entry['text'] in source


def test_options_that_remedies_name_exist():
    text = (ROOT / 'environment' / 'pages' / 'remedies.yaml').read_text(encoding='utf-8')
    known = (DOCS / 'reference' / 'commands.md').read_text(encoding='utf-8')
    named = set(re.findall(r'(?<![\w-])--[a-z][a-z-]+', text))
    assert len(named) > 10
    assert [each for each in sorted(named) if not re.search(rf'{each}(?![\w-])', known)] == []


RUN = [path for path in PAGES if path.read_text(encoding='utf-8').startswith('<!-- run')]


@pytest.mark.parametrize('path', RUN, ids=lambda path: path.stem)
def test_commands_print_what_the_page_shows(path, request):
    pages = load('run_pages')
    text = path.read_text(encoding='utf-8')
    if '--ros-args' in ''.join(pages.CONSOLE.findall(text)):
        skip_without_ros()
        request.getfixturevalue('ros')  # a domain of its own for the nodes of the page
    assert pages.without_numbers(pages.run_page(text)) == pages.without_numbers(text), 'make pages'


def test_numbers_do_not_count_but_words_do():
    pages = load('run_pages')
    assert pages.without_numbers('error  1.5e-3 %') == pages.without_numbers('error 27 %')
    assert pages.without_numbers('error 1 %') != pages.without_numbers('NOT PASSED 1 %')
    assert (pages.without_numbers('play: 0 %\nplay: 26 %\nplay: 52 %\ndone: 100 %\n')
            == pages.without_numbers('play: 1 %\nplay: 51 %\ndone: 100 %\n'))
    assert pages.without_numbers('play: 0 %\n') != pages.without_numbers('done: 100 %\n')


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


LINK = re.compile(r'\]\(([^)\s]+)\)')


def without_code(text):
    """Return Markdown without its blocks of code."""
    return re.sub(r'^```.*?^```', '', text, flags=re.M | re.S)


def anchors(path):
    """Return what a link may name on a page: its headings, in small letters with dashes."""
    headings = re.findall(r'^#+ (.*)$', without_code(path.read_text(encoding='utf-8')), re.M)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).strip().replace(' ', '-')
            for heading in headings}


@pytest.mark.parametrize('path', [*PAGES, ROOT / 'CONTRIBUTING.md', ROOT / 'examples/README.md'],
                         ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    for target in LINK.findall(without_code(path.read_text(encoding='utf-8'))):
        if '://' in target:
            assert re.fullmatch(r'https://[a-z0-9.-]+\.[a-z]+(/[\w./#~%-]*)?', target), target
            continue
        file, _, anchor = target.partition('#')
        page = path.parent / file if file else path
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), target


def test_every_page_can_be_reached_from_the_index():
    listed, waiting = set(), [DOCS / 'index.md']
    while waiting:
        page = waiting.pop()
        if page not in listed:
            listed.add(page)
            text = page.read_text(encoding='utf-8')
            waiting += [(page.parent / f'{line.strip()}.md').resolve()
                        for block in re.findall(r'^```{toctree}(.*?)^```', text, re.M | re.S)
                        for line in block.splitlines() if line and not line.startswith(':')]
    assert sorted(DOCS.rglob('*.md')) == sorted(listed)


def ros2_lines():
    """Return all commands of pages that begin with ros2, in one line each, with their page."""
    for path in PAGES:
        text = path.read_text(encoding='utf-8').replace('\\\n', ' ')
        for line in re.findall(r'^ *(ros2 .*)$', text, re.MULTILINE):
            yield path.stem, line


def declared_settings(name):
    text = (ROOT / 'config' / f'{name}.yaml').read_text()
    return set(re.findall(r'^    (?:# )?(\w+):', text, re.MULTILINE))


def test_ros2_lines_name_nodes_and_parameters_that_exist():
    executables = re.search(r'NODES = \(([^)]*)\)', (ROOT / 'setup.py').read_text()).group(1)
    seen = 0
    for page, line in ros2_lines():
        if match := re.match(r'ros2 run robot_dynamics_ros (\w+)', line):
            name = match[1]
            assert f"'{name}'" in executables, (page, line)
            for parameter in re.findall(r'-p (\w+):=', line):
                assert parameter in declared_settings(name), (page, line)
            seen += 1
    assert seen > 10


def blocks(kind):
    """Return (page, text) of every block of code of a kind."""
    return [(path.stem, text) for path in PAGES for text in re.findall(
        rf'^```{kind}\n(.*?)^```$', path.read_text(encoding='utf-8'), re.M | re.S)]


def test_commands_in_pages_have_options_that_exist():
    import argparse

    from robot_dynamics_ros.cli.main import COMMANDS

    modules = {each.name: each.module for each in COMMANDS}
    seen = 0
    typed = [*(('', text) for _, text in blocks('bash')), *((r'\$ ', text) for _, text in
                                                           blocks('console'))]
    for prompt, text in typed:
        for line in re.findall(rf'^{prompt}robot-dynamics ((?:.*\\\n)*.*)$', text, re.M):
            words = shlex.split(re.sub(r'[|>&].*', '', line.replace('\\\n', ' ')), comments=True)
            words = [word for word in words if ':=' not in word]
            if words[0].startswith('-'):
                continue
            parser = argparse.ArgumentParser(exit_on_error=False)
            importlib.import_module(f'robot_dynamics_ros.{modules[words[0]]}').add_arguments(
                parser)
            parser.parse_args(words[1:])
            seen += 1
    assert seen > 25


def test_yaml_in_pages_can_be_read():
    import yaml

    found = blocks('yaml')
    assert len(found) > 3
    for page, text in found:
        assert isinstance(yaml.safe_load(text), dict), page


def test_known_arms_have_a_preset():
    from robot_dynamics_ros.chain.effort_presets import PRESETS

    text = (DOCS / 'how_to' / 'known_arms.md').read_text(encoding='utf-8')
    rows = [row.split('|')[2] for row in re.findall(r'^\|.*\|$', text, re.M)[2:]]
    named = [name for row in rows for name in re.findall(r'`(\w+)`', row)]
    assert len(named) > 5 and set(named) <= set(PRESETS)


def test_moveit_is_told_the_action_of_the_node():
    import yaml

    (_, text), = (each for each in blocks('yaml') if each[0] == 'moveit')
    manager = yaml.safe_load(text)['moveit_simple_controller_manager']
    node, = manager['controller_names']
    source = (ROOT / 'robot_dynamics_ros' / 'nodes' / f'{node}.py').read_text(encoding='utf-8')
    assert f"~/{manager[node]['action_ns']}" in source


def test_the_chains_of_the_gallery_exist():
    from support.robots import example_robots

    from robot_dynamics_ros import chain_from_urdf

    lines = re.findall(r'^robot-dynamics inspect \$R/(\S+)(.*)$',
                       (DOCS / 'gallery.md').read_text(encoding='utf-8'), re.MULTILINE)
    assert len(lines) == 12
    for file, words in lines:
        [path] = [each for each in example_robots() if each.as_posix().endswith(f'/{file}')]
        chosen = dict(re.findall(r'--(base|tip) (\S+)', words))
        assert len(chain_from_urdf(path, **chosen)) >= 3
