# SPDX-License-Identifier: Apache-2.0
"""Play a motion on the simulated robot, record it, and identify from nothing but the recording."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from std_srvs.srv import Trigger
from support.messages import published, publisher

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.estimation.recordings.files import read_description, read_recording
from robot_dynamics_ros.nodes.excitation import PERIOD, ExcitationNode
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode

pytestmark = pytest.mark.ros

STATES = 5  # between two looks of the excitation node


class Cell:
    """A simulated robot and the node that moves it, with one clock that the test turns."""

    def __init__(self, make_node, planar, monkeypatch, **parameters):
        self.robot = make_node(SimulatedRobotNode, now=100.0, robot_description=planar,
                               parameter_error=0.25)
        self.node = make_node(ExcitationNode, now=100.0, robot_description=planar, duration=5.0,
                              approach_duration=0.5, unchecked=True, **parameters)
        self.states = published(self.robot, '/joint_states')
        self.sent = published(self.node, '/joint_trajectory')
        monkeypatch.setattr(publisher(self.node, '/joint_trajectory'), 'get_subscription_count',
                            lambda: 1)

    def run(self, until):
        """Let time pass until a condition holds."""
        for _ in range(400):
            for _ in range(STATES):
                self.robot.now += PERIOD / STATES
                self.node.now = self.robot.now
                self.robot.tick(1.0 / self.robot.settings.publish_rate)
                self.node.receive(self.states[-1])
            before = len(self.sent)
            self.node.tick(PERIOD)
            for message in self.sent[before:]:
                self.robot.receive(message)
            if until():
                return
        raise AssertionError('the motion does not end')


@pytest.fixture
def cell(make_node, planar, monkeypatch, tmp_path):
    return lambda **parameters: Cell(make_node, planar, monkeypatch,
                                     recording=str(tmp_path / 'recording'), **parameters)


def test_what_was_played_is_identified_from_the_description_in_the_bag(cell, planar, tmp_path,
                                                                       capsys):
    nodes = cell(exit_at_end=True)
    nodes.run(lambda: nodes.node.finished)
    assert nodes.node.failure == ''
    bag = tmp_path / 'recording'
    assert read_description(bag) == planar
    recording = read_recording(bag, chain_from_urdf(planar))
    assert recording.t[-1] - recording.t[0] == pytest.approx(5.0, abs=0.5), 'not the approach'
    assert main(['identify', str(bag), '-o', str(tmp_path / 'identified')]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith('PASSED') and 'URDF' in printed.splitlines()[0]
    assert (tmp_path / 'identified' / 'parameters.yaml').is_file()


def test_a_motion_that_is_stopped_is_recorded_and_not_overwritten_by_the_next(cell, tmp_path,
                                                                               capfd):
    nodes = cell()
    nodes.run(lambda: len(nodes.sent) == 2)
    for _ in range(10):
        nodes.run(lambda: True)
    assert nodes.node.call(Trigger.Request(), '~/stop').success
    assert read_description(tmp_path / 'recording') is not None
    assert nodes.node.call(Trigger.Request(), '~/start').success
    nodes.run(lambda: True)
    assert 'exists already' in capfd.readouterr().err
    assert len(nodes.sent) == 3, 'approach, motion, brake'


def test_a_recording_that_cannot_be_written_ends_the_node_with_an_error(cell, tmp_path):
    nodes = cell(exit_at_end=True)
    nodes.run(lambda: len(nodes.sent) == 2)
    for _ in range(10):
        nodes.run(lambda: True)
    (tmp_path / 'recording').write_text('somebody else was faster')
    nodes.node.call(Trigger.Request(), '~/stop')
    assert nodes.node.finished and 'recording' in nodes.node.failure
