# SPDX-License-Identifier: Apache-2.0
"""Compiled code on disk."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.codegen.llvm.machine import Machine
from robot_dynamics_ros.codegen.llvm.object_store import FOLDER_VARIABLE, ObjectStore

CODE = bytes(range(256)) * 20


@pytest.fixture
def store(tmp_path):
    return ObjectStore(tmp_path / 'some' / 'folder')


def test_what_was_written_is_read(store):
    assert store.read('key') is None
    store.write('key', CODE)
    assert store.read('key') == CODE
    assert store.read('other key') is None


def test_nobody_else_may_enter(store):
    store.write('key', CODE)
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert (store.folder / 'key').stat().st_mode & 0o077 == 0


@pytest.mark.parametrize('damage', [
    lambda content: content[:-1], lambda content: content + b'x', lambda content: b'',
    lambda content: content.replace(b'\x07', b'\x08', 1), lambda content: content[:40]])
def test_a_damaged_file_is_not_used_and_replaced(store, damage):
    store.write('key', CODE)
    path = store.folder / 'key'
    path.write_bytes(damage(path.read_bytes()))
    assert store.read('key') is None
    store.write('key', CODE)
    assert store.read('key') == CODE


def test_a_file_under_another_name_is_not_used(store):
    store.write('key', CODE)
    (store.folder / 'key').rename(store.folder / 'other')
    assert store.read('other') is None


@pytest.mark.parametrize('mode', [0o777, 0o770, 0o722])
def test_a_folder_that_others_can_write_is_not_used(store, mode):
    store.write('key', CODE)
    store.folder.chmod(mode)
    assert store.read('key') is None
    store.write('new', CODE)
    assert not (store.folder / 'new').exists()


def test_a_file_that_others_can_write_is_not_used(store):
    store.write('key', CODE)
    (store.folder / 'key').chmod(0o666)
    assert store.read('key') is None


def test_links_are_not_followed(store, tmp_path):
    store.write('key', CODE)
    (store.folder / 'key').rename(tmp_path / 'elsewhere')
    (store.folder / 'key').symlink_to(tmp_path / 'elsewhere')
    assert store.read('key') is None
    (tmp_path / 'link').symlink_to(store.folder)
    store.write('second', CODE)
    assert ObjectStore(tmp_path / 'link').read('second') is None


def test_the_folder_of_another_user_is_not_used(store, monkeypatch):
    store.write('key', CODE)
    monkeypatch.setattr(os, 'geteuid', lambda: store.folder.stat().st_uid + 1)
    assert store.read('key') is None


def test_without_a_folder_nothing_is_kept(tmp_path):
    for folder in (None, tmp_path / 'file' / 'below'):
        (tmp_path / 'file').write_text('not a folder')
        store = ObjectStore(folder)
        store.write('key', CODE)
        assert store.read('key') is None


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert ObjectStore.of_user().folder == tmp_path
    monkeypatch.setenv(FOLDER_VARIABLE, '')
    assert ObjectStore.of_user().folder is None
    monkeypatch.delenv(FOLDER_VARIABLE)
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert ObjectStore.of_user().folder == tmp_path / 'robot_dynamics_ros'
    monkeypatch.setenv('XDG_CACHE_HOME', 'relative')  # the standard says: to be ignored
    assert ObjectStore.of_user().folder is None


def test_writers_at_the_same_time_do_not_disturb_readers(store):
    stop, seen = threading.Event(), set()

    def read():
        while not stop.is_set():
            seen.add(store.read('key'))

    reader = threading.Thread(target=read)
    reader.start()
    writers = [threading.Thread(target=lambda: [store.write('key', CODE) for _ in range(50)])
               for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    stop.set()
    reader.join()
    assert seen <= {None, CODE}
    assert [path.name for path in store.folder.iterdir()] == ['key']


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / 'objects'))
    return tmp_path / 'objects'


def gravity(chain):
    return compile_model(chain, 'numba').gravity_torque(np.full(len(chain), 0.5))


def test_a_robot_is_compiled_once(demo_arm, folder, monkeypatch):
    expected = gravity(demo_arm)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(Machine, 'compile', lambda *_: pytest.fail('compiled again'))
    np.testing.assert_array_equal(gravity(demo_arm), expected)


def test_damaged_machine_code_is_compiled_again(demo_arm, folder):
    expected = gravity(demo_arm)
    path, = folder.iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:500] + bytes(len(content) - 500))
    np.testing.assert_array_equal(gravity(demo_arm), expected)
    assert path.read_bytes() == content


def test_other_versions_have_other_keys(monkeypatch):
    machine = Machine()
    key = machine.key('source')
    assert machine.key('other source') != key
    monkeypatch.setattr('llvmlite.__version__', '0.0')
    assert Machine().key('source') != key


def test_two_processes_may_start_at_once(demo_arm, folder):
    program = ('import numpy as np; from robot_dynamics_ros import *; import sys\n'
               'chain = chain_from_urdf(sys.argv[1])\n'
               'print(compile_model(chain, "numba").gravity_torque(np.full(7, 0.5)).tolist())')
    from support.robots import URDF_FOLDER

    command = [sys.executable, '-c', program, str(URDF_FOLDER / 'demo_arm.urdf')]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    results = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert results[0] == results[1] == f'{gravity(demo_arm).tolist()}\n'
