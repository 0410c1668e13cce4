# SPDX-License-Identifier: Apache-2.0
"""The rest of a ROS 2 installation: which packages are here, and its programs as processes."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager, suppress

import pytest

#: Longest wait for programs of others to come up or to end [s].
PATIENCE = 240.0


def stack_missing(packages, programs=('ros2',)):
    """Return why tests with these packages cannot run, or '' where they can."""
    from ament_index_python.packages import get_packages_with_prefixes

    try:
        here = get_packages_with_prefixes()
    except LookupError:  # no prefix at all
        here = {}
    missing = [*(name for name in packages if name not in here),
               *(f'the program {name}' for name in programs if shutil.which(name) is None)]
    return f'not installed: {", ".join(missing)}; runs where ROS 2 has them' if missing else ''


def skip_without_stack(packages, programs=('ros2',)):
    """Skip a test where one of the packages or programs is missing, and name it."""
    if reason := stack_missing(packages, programs):
        pytest.skip(reason)


@contextmanager
def running(command, output):
    """
    Run a program while the block runs; end it and its children as Ctrl-C would.

    :param command: words of the command.
    :param output: path of the file for what it prints.
    """
    with open(output, 'wb') as file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   env={**os.environ, 'PYTHONUNBUFFERED': '1'})
    try:
        yield process
    finally:
        if process.poll() is None:  # to all of them: ros2 run waits for its child
            os.killpg(process.pid, signal.SIGINT)
        end = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        with suppress(ProcessLookupError):  # what the program has left behind, too
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
