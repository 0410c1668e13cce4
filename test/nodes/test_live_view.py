# SPDX-License-Identifier: Apache-2.0
"""The live view: text that people can read, on a terminal and without."""

import io
from dataclasses import replace

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from std_msgs.msg import Float32

from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.nodes.live_view import LiveViewNode, LiveViewText
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message, stamp

pytestmark = pytest.mark.ros

PERIOD = 7.0  # [s]; no other timer has it


class Terminal(io.StringIO):
    encoding = 'utf-8'

    def isatty(self):
        return True


@pytest.fixture
def node(make_node, planar):
    return make_node(LiveViewNode, robot_description=planar, line_period=PERIOD,
                     terminal_period=PERIOD)


def learned(node, residual):
    estimate = node.robot.estimate
    physics = replace(estimate.joint_physics, viscous=[1.25, 2.5])
    return replace(estimate, state=EstimateState.LEARNING, samples=1234, condition_number=56.7,
                   residual_rms=np.array([residual, 0.5]), joint_physics=physics,
                   mlc=estimate.mlc.with_values(1.1 * estimate.mlc.values))


def show(node, *residuals):
    for residual in residuals:
        node.receive(estimate_to_message(learned(node, residual), stamp(1.0)))
    node.receive(Float32(data=0.25))
    node.tick(PERIOD)


def test_a_line_says_how_it_goes(node):
    node.stream = io.StringIO()
    node.tick(PERIOD)
    assert node.stream.getvalue() == '', 'nothing learned yet'
    show(node, 2.0)
    text = node.stream.getvalue()
    assert 'LEARNING: 1234 samples, condition number 57, residual 1.46 N m, motion 25 %' in text
    assert '\x1b' not in text


def test_a_terminal_is_redrawn_in_place(node):
    node.stream = Terminal()
    show(node, 4.0, 2.0, 1.0)
    first = node.stream.getvalue()
    assert 'joint_1' in first
    assert '1.000' in first
    assert '█▄▂' in first, 'the residual falls'
    assert '> 1.25' in first
    lines = first.count('\n')
    show(node, 0.5)
    assert node.stream.getvalue()[len(first):].startswith(f'\x1b[{lines}F\x1b[J')


def test_the_view_fits_an_ordinary_terminal(make_node, description):
    node = make_node(LiveViewNode, robot_description=description)
    lines = LiveViewText(node.robot.estimate).lines(node.robot.estimate, 1.0, 0.5)
    assert len(lines) <= 23
    assert max(len(line) for line in lines) <= 95


def test_only_ascii_where_asked(node):
    text = LiveViewText(node.robot.estimate, plain=True)
    for residual in (3.0, 1.0, np.nan):
        text.take(learned(node, residual))
    assert '\n'.join(text.lines(learned(node, np.nan), 3.0, np.nan)).isascii()


def test_parameters_of_another_robot_are_refused(node):
    message = estimate_to_message(learned(node, 1.0), stamp(1.0))
    message.model_hash = 'x'
    node.receive(message)
    assert node.diagnostics.counted('refused parameters') == 1
    node.stream = io.StringIO()
    node.tick(PERIOD)
    assert node.stream.getvalue() == ''


def test_parameters_of_an_unknown_state_are_refused(node):
    message = estimate_to_message(learned(node, 1.0), stamp(1.0))
    message.state = 77
    node.receive(message)
    assert node.diagnostics.counted('refused parameters') == 1


def test_a_history_that_cannot_be_written_does_not_hide_the_end(make_node, planar, tmp_path):
    node = make_node(LiveViewNode, robot_description=planar,
                     history_file=str(tmp_path / 'nowhere' / 'history.npz'))
    node.receive(estimate_to_message(learned(node, 1.0), stamp(1.0)))
    node.trigger_deactivate()
    assert not node.active
    assert node.diagnostics.counted('unforeseen errors') == 0


def test_a_long_history_is_thinned_out_and_none_is_kept_without_a_file(
        make_node, planar, tmp_path, monkeypatch):
    monkeypatch.setattr('robot_dynamics_ros.nodes.live_view.MOST_ESTIMATES', 10)
    node = make_node(LiveViewNode, robot_description=planar,
                     history_file=str(tmp_path / 'history.npz'))
    forgetful = make_node(LiveViewNode, robot_description=planar)
    for k in range(1, 41):
        message = estimate_to_message(learned(node, 1.0), stamp(float(k)))
        node.receive(message)
        forgetful.receive(message)
        assert len(node._history) <= 10
    times = [time for time, _ in node._history]
    assert times[0] == 1.0 and times[-1] > 35.0 and np.all(np.diff(times) > 0.0)
    assert forgetful._history == []
