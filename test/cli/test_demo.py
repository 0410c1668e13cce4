# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics demo: nodes over DDS, a table, a picture, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from robot_dynamics_ros.cli.node_processes import NodeError, NodeProcesses

pytestmark = pytest.mark.ros

SCRIPT = ('import argparse, sys; from robot_dynamics_ros.cli import demo; '
          'p = argparse.ArgumentParser(); demo.add_arguments(p); '
          'sys.exit(demo.run(p.parse_args()))')


@pytest.fixture
def start(ros, tmp_path):
    def start(*arguments):
        return subprocess.Popen([sys.executable, '-c', SCRIPT, *arguments], text=True,
                                env={**os.environ, 'TMPDIR': str(tmp_path)},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return start


def alive(marker):
    """Return the processes whose command line contains the marker."""
    found = []
    for folder in os.listdir('/proc'):
        if folder.isdigit():
            try:
                with open(f'/proc/{folder}/cmdline', encoding='utf-8') as file:
                    if marker in file.read():
                        found.append(int(folder))
            except OSError:
                continue
    return found


def test_feedforward_tracks_at_least_three_times_better(start, tmp_path):
    picture = tmp_path / 'out' / 'demo.png'
    process = start('--duration', '3', '--plot', str(picture))
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    ratio = float(re.search(r'^all .* ([\d.]+)$', output, re.MULTILINE).group(1))
    assert ratio > 3.0, output
    assert picture.read_bytes().startswith(b'\x89PNG')
    assert not alive(str(tmp_path))


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_demo_and_all_its_nodes(start, tmp_path, number):
    process = start()
    end = time.monotonic() + 60.0
    while len(alive(str(tmp_path))) < 4:
        assert time.monotonic() < end, 'the nodes did not start'
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert not alive(str(tmp_path))


def test_a_node_that_fails_ends_the_wait_with_its_output(ros, tmp_path):
    with NodeProcesses(tmp_path, '/demo') as nodes:
        nodes.start('dynamics_server', {})
        nodes.start('tracking_experiment', {'output': ''})
        with pytest.raises(NodeError, match='parameter output'):
            nodes.wait('tracking_experiment', 30.0)
    assert nodes.exit_codes()['dynamics_server'] == 0
