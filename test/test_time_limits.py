# SPDX-License-Identifier: Apache-2.0
"""A test that hangs is ended and named, wherever it hangs; the others go on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST_FOLDER = Path(__file__).resolve().parent

HANGS = {
    'in C, with the lock of Python': """
def test_hangs():
    library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(64)
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)
""",
    'after it has failed': """
@pytest.fixture
def cell():
    yield
    threading.Event().wait()


def test_hangs(cell):
    assert False, 'failed before'
""",
    'in C, after it has failed': """
@pytest.fixture
def cell():
    yield
    library, mutex = ctypes.PyDLL(None), ctypes.create_string_buffer(64)
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)


def test_hangs(cell):
    assert False, 'failed before'
""",
}


@pytest.mark.parametrize('hang', HANGS)
def test_a_test_that_hangs_is_ended_and_named(tmp_path, hang):
    path = tmp_path / 'test_hanging.py'
    path.write_text(f'import ctypes\nimport threading\n\nimport pytest\n\n{HANGS[hang]}\n\n'
                    "@pytest.mark.parametrize('number', range(6))\n"
                    'def test_works(number):\n    pass\n')
    ended = subprocess.run(
        [sys.executable, '-m', 'pytest', str(path), '-c', TEST_FOLDER.parent / 'pyproject.toml',
         '--rootdir', str(tmp_path), '-p', 'conftest', '-p', 'no:cacheprovider',
         '--numprocesses=2', '--dist=worksteal', '-o', 'timeout=2', '-o',
         'faulthandler_timeout=4'],
        cwd=tmp_path, env={**os.environ, 'PYTHONPATH': os.pathsep.join(
            filter(None, [str(TEST_FOLDER), os.environ.get('PYTHONPATH')]))},
        capture_output=True, text=True, timeout=240.0)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert '6 passed' in ended.stdout
    assert 'test_hanging.py::test_hangs' in ended.stdout
    assert 'Timeout' in ended.stdout + ended.stderr
