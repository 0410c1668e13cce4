# SPDX-License-Identifier: Apache-2.0
"""The set-up: what it asks of the machine, what it repeats and what it skips."""

import importlib.util
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / 'environment' / 'set_up.py'


@pytest.fixture
def set_up(tmp_path, monkeypatch):
    """Return the set-up script as a module, working on an empty folder with three steps."""
    spec = importlib.util.spec_from_file_location('set_up', SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, 'set_up', module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, 'ROOT', tmp_path)
    monkeypatch.setattr(module, 'HERE', tmp_path)
    monkeypatch.setattr(module, 'VENV', tmp_path / '.venv')
    monkeypatch.setattr(module, 'STAMPS', tmp_path / '.venv' / 'stamps')
    monkeypatch.setattr(module, 'LOGS', tmp_path / '.venv' / 'logs')
    monkeypatch.setattr(module, 'PYTHON', tmp_path / '.venv' / 'python')
    (tmp_path / 'requirements.txt').write_text('numpy')
    (tmp_path / 'messages').mkdir()
    (tmp_path / 'messages' / 'a.msg').write_text('float64 a')
    module.done = []

    def create_venv():
        module.STAMPS.mkdir(parents=True)
        module.LOGS.mkdir()
        module.PYTHON.touch()
        module.done.append('venv')

    module.actions = {name: lambda name=name: module.done.append(name)
                      for name in ('requirements', 'messages')}
    monkeypatch.setattr(module, 'steps', lambda: [
        module.Step('venv', '', (), create_venv),
        module.Step('requirements', '', (tmp_path / 'requirements.txt',),
                    lambda: module.actions['requirements']()),
        module.Step('messages', '', (tmp_path / 'messages',),
                    lambda: module.actions['messages']())])
    return module


def run(set_up):
    """Run the set-up and return the steps that it did."""
    set_up.done.clear()
    assert set_up.main() == 0
    return set_up.done


def test_everything_is_done_once(set_up):
    assert run(set_up) == ['venv', 'requirements', 'messages']
    assert run(set_up) == []


def test_a_change_repeats_its_step_and_those_after_it(set_up):
    run(set_up)
    (set_up.ROOT / 'messages' / 'b.msg').write_text('float64 b')
    assert run(set_up) == ['messages']
    (set_up.ROOT / 'requirements.txt').write_text('scipy')
    assert run(set_up) == ['requirements', 'messages']


@pytest.mark.parametrize('change', [
    lambda s, m: m.setattr(s.platform, 'python_version', lambda: '3.99.0'),
    lambda s, m: m.setattr(s, 'BASE_PYTHON', Path('/elsewhere/python3')),
    lambda s, m: m.setattr(s, 'VENV', Path('/elsewhere/.venv')),
], ids=['version', 'interpreter', 'place'])
def test_another_python_or_place_starts_anew(set_up, monkeypatch, change):
    run(set_up)
    assert set_up.outdated() == []
    change(set_up, monkeypatch)
    assert [step.name for step, _ in set_up.outdated()] == ['venv', 'requirements', 'messages']


def test_the_demo_needs_less_and_the_rest_is_added_later(monkeypatch):
    spec = importlib.util.spec_from_file_location('set_up_steps', SCRIPT)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, 'set_up_steps', module)
    spec.loader.exec_module(module)
    names = {}
    for words in ([], ['--demo']):
        monkeypatch.setattr(sys, 'argv', ['set_up.py', *words])
        names[bool(words)] = [step.name for step in module.steps()]
    assert names[True] == ['venv', 'requirements', 'interfaces', 'package']
    assert names[False][:4] == names[True] and names[False][4:] == ['development',
                                                                    'test_interfaces']
    listed = [path.name for path in SCRIPT.parent.glob('*.txt')]
    assert set(listed) == {*module.AT_WORK, *module.IN_DEVELOPMENT, 'pip-only.txt',
                           'ros-constraints.txt', 'docs.txt'}  # the last one is of .venv-docs


def test_a_lost_interpreter_starts_anew(set_up):
    run(set_up)
    set_up.PYTHON.unlink()
    assert run(set_up) == ['venv', 'requirements', 'messages']


@pytest.mark.parametrize(('broken', 'repeated'), [
    ('requirements', ['venv', 'requirements', 'messages']),
    ('messages', ['messages'])])
def test_an_interrupted_step_is_repaired(set_up, broken, repeated):
    def interrupted():
        raise KeyboardInterrupt

    whole, set_up.actions[broken] = set_up.actions[broken], interrupted
    with pytest.raises(KeyboardInterrupt):
        set_up.main()
    set_up.actions[broken] = whole
    assert run(set_up) == repeated
    assert run(set_up) == []


def test_a_failing_command_shows_the_end_of_its_log(set_up):
    set_up.LOGS.mkdir(parents=True)
    program = "print('first'); print('x' * 1000); print('the reason'); raise SystemExit(3)"
    with pytest.raises(SystemExit, match=r'(?s)the reason.*exit code 3.*logs/try\.log') as caught:
        set_up.run('try', sys.executable, '-c', program)
    assert 'x' * 301 not in str(caught.value)


@pytest.mark.parametrize(('spoil', 'message'), [
    (lambda s, m: m.setattr(s.shutil, 'which', lambda name: None),
     r'(?s)a compiler \(cc\).*sudo apt install build-essential'),
    (lambda s, m: m.setattr(s.sysconfig, 'get_path', lambda name: '/nowhere'),
     r'(?s)headers of python3\.\d+.*sudo apt install python3\.\d+-dev'),
    (lambda s, m: m.setitem(sys.modules, 'ensurepip', None),
     r'(?s)venv module.*sudo apt install python3\.\d+-venv'),
    (lambda s, m: m.setattr(s.platform, 'machine', lambda: 'aarch64'),
     r'x86-64 only, this is linux on aarch64.*colcon'),
])
def test_what_the_machine_lacks_is_named_with_the_command_that_installs_it(
        set_up, monkeypatch, spoil, message):
    monkeypatch.delenv('CC', raising=False)
    monkeypatch.delenv('CXX', raising=False)
    spoil(set_up, monkeypatch)
    with pytest.raises(SystemExit, match=message):
        set_up.main()
    assert set_up.done == []


def test_ending_the_set_up_ends_the_running_command(tmp_path):
    program = f"""
import signal, sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
import set_up
from pathlib import Path
set_up.LOGS = Path({str(tmp_path)!r})
set_up.end_with_signals()
set_up.run('sleep', sys.executable, '-c', 'import os, time; print(os.getpid(), flush=True); '
           'time.sleep(600)')
"""
    process = subprocess.Popen([sys.executable, '-c', program])
    log = tmp_path / 'sleep.log'
    end = time.monotonic() + 240
    while not (log.exists() and log.read_text().strip()):
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.02)
    child = int(log.read_text())
    process.send_signal(signal.SIGTERM)
    assert process.wait(240) == 128 + signal.SIGTERM
    assert not Path(f'/proc/{child}').exists()
