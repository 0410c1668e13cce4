# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics calibrate`` in a terminal, with a calibration node and a robot over DDS."""

import os
import subprocess
import sys

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros


class Terminal:
    """The command with a keyboard, and what it prints in a file."""

    def __init__(self, folder, *arguments):
        self._path = folder / 'terminal.txt'
        with self._path.open('wb') as output:
            self.process = subprocess.Popen(
                [sys.executable, '-m', 'robot_dynamics_ros.cli.main', 'calibrate', *arguments],
                stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, text=True,
                env={**os.environ, 'PYTHONUNBUFFERED': '1'})

    @property
    def text(self):
        return self._path.read_text()

    def type(self, line):
        self.process.stdin.write(f'{line}\n')
        self.process.stdin.flush()


@pytest.fixture
def terminal(tmp_path):
    started = []

    def start(*arguments):
        started.append(Terminal(tmp_path, *arguments))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()


def test_a_person_confirms_and_stops_in_a_terminal(ros, tmp_path, terminal, parameter_file,
                                                   planar):
    ros.start('robot_dynamics_ros.nodes.simulated_robot',
              *parameter_file(robot_description=planar))
    ros.receive(JointState, '/joint_states')
    ros.start('robot_dynamics_ros.nodes.calibration', *parameter_file(
        robot_description=planar, folder=str(tmp_path / 'arm'), unchecked=True, duration=4.0,
        harmonics=3), '-r', '~/joint_trajectory:=simulated_robot/joint_trajectory')
    person = terminal('--patience', '100')

    def reads(*words):
        def seen():
            assert person.process.poll() is None, person.text
            return all(word in person.text for word in words)
        ros.spin_until(seen, f'{words} in the terminal')

    reads('Enter = next stage', 'WAITING', 'nothing moves')
    assert not (tmp_path / 'arm').exists()
    while 'WORKING' not in person.text:  # it is refused until the node has found the controller
        answers = person.text.count('\nnext')
        person.type('')
        ros.spin_until(lambda before=answers: person.text.count('\nnext') > before, 'an answer')
        if 'nobody listens' not in person.text.splitlines()[-1]:
            break
    reads('static test', 'move slowly')
    person.type('s')
    reads('stop refused')
    person.type('')
    reads('MOVING')
    person.type('s')
    reads('STOPPED', 'asked to stop')
    person.type('q')
    assert person.process.wait(60) == 1
    assert 'Traceback' not in person.text
    assert 'static test: stopped' in (tmp_path / 'arm' / 'log.txt').read_text()


def test_a_node_that_is_not_there_is_one_line(ros, terminal):
    person = terminal('--node', '/other', '--patience', '0.5')
    assert person.process.wait(100) == 2
    line, = person.text.strip().splitlines()
    assert 'no calibration node /other answers' in line and 'calibrate.launch.py' in line
