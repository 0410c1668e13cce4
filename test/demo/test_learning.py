# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics demo: nodes over DDS, a table, a picture, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.demo.node_processes import NodeProcesses
from robot_dynamics_ros.errors import NodeError
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters

pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parent.parent.parent

SCRIPT = ('import argparse, sys; from robot_dynamics_ros.demo import learning as demo; '
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


@pytest.mark.slow
def test_a_calibrated_arm_tracks_better_than_the_urdf_and_pid_alone(start, tmp_path):
    folder = tmp_path / 'out'
    process = start('--learning', '5', '--duration', '2', '-o', str(folder))
    output, _ = process.communicate(timeout=900)
    assert process.returncode == 0, output
    alone, urdf, learned = (float(word) for word in re.search(
        r'^all +([\d.]+) +([\d.]+) +([\d.]+)$', output, re.MULTILINE).groups())
    assert learned < alone / 3.0, output
    assert learned < 0.8 * urdf, output
    for stage in ('description', 'static test', 'rehearsal', 'full motion', 'identification'):
        assert f'{stage}: started' in output
    assert 'finished: PASSED' in output
    if find_spec('viser'):
        assert len(re.findall(r'http://127\.0\.0\.1:\d+/[0-9a-f]{32}/', output)) == 1
    assert '\x1b' not in output, 'readable without a terminal'
    page = (folder / 'report.html').read_text(encoding='utf-8')
    assert 'smaller tracking error than PID alone' in page
    assert page.count('<svg') == 7 + 2  # joints, learning curve, changes of parameters
    before, after = (float(word) for word in re.search(
        r'([\d.]+) % with the URDF, ([\d.]+) % at the end', page).groups())
    assert after < before
    assert 'data:image/png;base64' in page and 'name="viewport"' in page
    assert 'calibration/report.html' in page
    assert (folder / 'tracking.png').read_bytes().startswith(b'\x89PNG')
    chain = read_joints_file(ROOT / 'config' / 'demo_arm_joints.yaml').applied_to(
        chain_from_urdf(ROOT / 'urdf' / 'demo_arm.urdf'))
    parameters = folder / 'calibration' / 'parameters.yaml'
    estimate = read_parameters(parameters, chain)
    assert estimate.samples > 100 and np.mean(estimate.identified) > 0.7
    assert not alive(str(tmp_path))


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_demo_and_all_its_nodes(start, tmp_path, number):
    process = start('-o', str(tmp_path / 'out'))
    end = time.monotonic() + 240.0
    while len(alive(str(tmp_path))) < 3:
        assert time.monotonic() < end, 'the nodes did not start'
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    process.send_signal(number)
    process.communicate(timeout=240)
    assert process.returncode != 0
    assert not alive(str(tmp_path))


def test_a_node_that_fails_ends_the_wait_with_its_output(ros, tmp_path):
    with NodeProcesses(tmp_path, '/demo') as nodes:
        nodes.start('dynamics_server', {})
        nodes.start('tracking_experiment', {'output': ''})
        with pytest.raises(NodeError, match='parameter output'):
            nodes.wait('tracking_experiment', 240.0)
    assert nodes.exit_codes()['dynamics_server'] == 0


def test_a_node_may_end_once_it_was_waited_for_and_may_be_stopped_alone(ros, tmp_path):
    with NodeProcesses(tmp_path, '/demo') as nodes:
        nodes.start('dynamics_server', {}, node='first')
        nodes.start('dynamics_server', {}, node='second')
        ros.spin_until(lambda: {'first', 'second'} <= set(ros.node.get_node_names()),
                       'both nodes')
        # there a node whose neighbour gets no processor for a second may stay undiscovered
        maps = Path(f'/proc/{nodes._processes["first"].pid}/maps').read_text(encoding='utf-8')
        assert '/dev/shm/fastrtps' not in maps
        nodes.stop('first')
        assert nodes.exit_codes() == {'first': 0, 'second': None}
        nodes.start('tracking_experiment', {'output': ''})
        with pytest.raises(NodeError, match='parameter output'):
            nodes.wait('tracking_experiment', 240.0)
