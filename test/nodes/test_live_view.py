# SPDX-License-Identifier: Apache-2.0
"""The live view: text that people can read, on a terminal and without."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from sensor_msgs.msg import JointState
from std_msgs.msg import Float32
from std_srvs.srv import Trigger

from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.nodes.live_view import LiveViewNode
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message, stamp
from robot_dynamics_ros.view.live_page import RATE
from robot_dynamics_ros.view.live_text import LiveText

pytestmark = pytest.mark.ros

PERIOD = 7.0  # [s]; no other timer has it


class Terminal(io.StringIO):
    encoding = 'utf-8'

    def isatty(self):
        return True


@pytest.fixture
def node(make_node, planar):
    return make_node(LiveViewNode, robot_description=planar, line_period=PERIOD,
                     terminal_period=PERIOD, page=False)


@pytest.fixture
def page_node(make_node, planar, capsys):
    pytest.importorskip('viser', reason='viser is not installed')
    node = make_node(LiveViewNode, robot_description=planar, page_port=0)
    node.printed = capsys.readouterr().out
    return node


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
    node = make_node(LiveViewNode, robot_description=description, page=False)
    lines = LiveText(node.robot.estimate).lines(node.robot.estimate, 1.0, 0.5)
    assert len(lines) <= 23
    assert max(len(line) for line in lines) <= 80


def test_only_ascii_where_asked(node):
    text = LiveText(node.robot.estimate, plain=True)
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
    node = make_node(LiveViewNode, robot_description=planar, page=False,
                     history_file=str(tmp_path / 'nowhere' / 'history.npz'))
    node.receive(estimate_to_message(learned(node, 1.0), stamp(1.0)))
    node.trigger_deactivate()
    assert not node.active
    assert node.diagnostics.counted('unforeseen errors') == 0


def test_a_long_history_is_thinned_out_and_none_is_kept_without_a_file(
        make_node, planar, tmp_path, monkeypatch):
    monkeypatch.setattr('robot_dynamics_ros.nodes.live_view.MOST_ESTIMATES', 10)
    node = make_node(LiveViewNode, robot_description=planar, page=False,
                     history_file=str(tmp_path / 'history.npz'))
    forgetful = make_node(LiveViewNode, robot_description=planar, page=False)
    for k in range(1, 41):
        message = estimate_to_message(learned(node, 1.0), stamp(float(k)))
        node.receive(message)
        forgetful.receive(message)
        assert len(node.history) <= 10
    times = [time for time, _ in node.history]
    assert times[0] == 1.0 and times[-1] > 35.0 and np.all(np.diff(times) > 0.0)
    assert forgetful.history == []


def test_the_address_of_the_page_is_printed_once_and_is_local(page_node):
    address, = re.findall(r'http\S+', page_node.printed)
    assert re.fullmatch(r'http://127\.0\.0\.1:\d+/[0-9a-f]{32}/', address)


def test_the_page_shows_what_comes(page_node):
    node, page = page_node, page_node.page
    node.receive(JointState(name=['joint_1', 'joint_2'], position=[0.5, 0.25],
                            velocity=[0.0, 0.0], effort=[1.0, 1.0]))
    node.receive(estimate_to_message(learned(node, 1.0), stamp(1.0)))
    for name in ('identification', 'live_view'):
        node.receive(DiagnosticArray(status=[DiagnosticStatus(
            name=name, message='running', values=[KeyValue(key='k', value='v')])]))
    node.receive(Float32(data=0.5))
    state = node._state
    assert state.positions == {'joint_1': 0.5, 'joint_2': 0.25}
    assert state.estimate.samples == 1234 and state.motion == 0.5
    assert state.messages == {'identification': {'': 'running', 'k': 'v'}}
    page.show_tables()
    assert 'LEARNING' in page.headline.content and 'running' in page.nodes.content


def test_a_button_of_the_page_calls_its_service(page_node, ros):
    node, called = page_node, []

    def save(request, response):
        called.append(request)
        response.success, response.message = True, 'written.yaml'
        return response
    ros.node.create_service(Trigger, 'save', save)
    ros.spin_until(node._called['save'].service_is_ready, 'the service is found')
    node.page.press('save')
    node.page.press('reset')
    node.tick(1.0 / RATE)
    assert 'no node offers' in node.page.reply.content
    ros.spin_until(lambda: called, 'the service is called')
    from rclpy.executors import SingleThreadedExecutor
    executor = SingleThreadedExecutor(context=ros.node.context)
    executor.add_node(node)
    for _ in range(200):
        executor.spin_once(0.05)
        if 'written.yaml' in node.page.reply.content:
            break
    executor.remove_node(node)
    assert 'written.yaml' in node.page.reply.content
    assert len(called) == 1


def test_the_page_ends_with_the_node_and_comes_back(page_node):
    node = page_node
    first, node.stream = node.server, io.StringIO()
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert node.server is None and node.page is None and node._called == {}
    assert first.viser._websock_server._stop_event.is_set()
    node.trigger_configure()
    assert node.server.token != first.token and node.page is not None


def test_without_a_page_there_is_the_terminal(make_node, planar, capfd):
    node = make_node(LiveViewNode, robot_description=planar, page_address='203.0.113.7',
                     line_period=PERIOD)
    assert 'no page in the browser: 203.0.113.7: cannot serve a page' in capfd.readouterr().err
    node.stream = io.StringIO()
    show(node, 1.0)
    assert 'LEARNING' in node.stream.getvalue()


def test_a_page_for_other_machines_is_warned_of(make_node, planar, capfd):
    pytest.importorskip('viser', reason='viser is not installed')
    make_node(LiveViewNode, robot_description=planar, page_address='0.0.0.0', page_port=0)
    assert 'who knows the token can press its buttons' in capfd.readouterr().err
