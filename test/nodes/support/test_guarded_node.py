# SPDX-License-Identifier: Apache-2.0
"""Inboxes: what waits for a node is bounded, is handled before its timers look, or refused."""

from collections import deque

import pytest
from support.availability import skip_without_ros

skip_without_ros()

import rclpy
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from std_msgs.msg import Float32
from std_srvs.srv import Trigger
from support.ros import participants

from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.runner import EventQueue, uses_fast_dds
from robot_dynamics_ros.nodes.support.services import WAITING_REQUESTS

pytestmark = pytest.mark.ros

DEPTH = 5


class Diary(RobotNode):
    """Writes down what happens; `flood` stands for messages that come while one is handled."""

    def __init__(self, **options):
        super().__init__('diary', **options)
        self.entries = []
        self.flood = lambda: None

    def make_interfaces(self):
        self.every = self.create_subscription(Float32, 'every', self._on('every'), DEPTH)
        self.last = self.create_subscription(Float32, 'last', self._on('last'), DEPTH,
                                             newest=True)
        self.asked = self.create_service(Trigger, '~/ask', self._on_ask)
        self.create_timer(1e-6, lambda: self.entries.append('tick'))

    def _on_ask(self, request, response):
        self.entries.append('asked')
        self.flood()
        response.success = True
        return response

    def _on(self, topic):
        def write(message):
            self.entries.append((topic, int(message.data)))
            self.flood()
        return write


class Events:
    """The events executor, as far as it is used: a queue of functions."""

    def __init__(self):
        self.queue = deque()

    def add_node(self, node):
        pass

    def remove_node(self, node):
        pass

    def shutdown(self):
        self.queue.clear()

    def message(self, subscription, number):
        """Announce a message as DDS does."""
        self.queue.append(lambda: subscription.callback(Float32(data=float(number))))

    def request(self, service, header):
        """Announce a request as DDS does, and send what the callback returns, as executors do."""
        kind = service.srv_type
        self.queue.append(lambda: service.send_response(
            service.callback(kind.Request(), kind.Response()), header))

    def spin_once(self, timeout_sec):
        if self.queue:
            self.queue.popleft()()

    def create_task(self, callback):
        task = Future()
        self.queue.append(lambda: task.set_result(None))
        return task

    def spin_until_future_complete(self, future, timeout_sec):
        while self.queue and not future.done():
            self.queue.popleft()()


@pytest.fixture
def node(make_node, planar):
    return make_node(Diary, robot_description=planar)


def test_without_a_runner_a_message_is_handled_at_once(node):
    node.receive(Float32(data=1.0), 'every')
    assert node.entries == [('every', 1)]


def test_timers_look_after_all_messages_that_have_come(node):
    """A timer that watches over joint states took those that waited for missing ones."""
    events = Events()
    queue = EventQueue([node], lambda nodes: events)
    events.message(node.every, 1)
    events.message(node.last, 2)
    queue.turn()
    assert node.entries[:3] == [('every', 1), ('last', 2), 'tick']


def test_where_several_messages_wait_topics_take_turns_and_the_newest_joint_state_counts(node):
    events = Events()
    queue = EventQueue([node], lambda nodes: events)
    for number in range(2 * DEPTH):
        events.message(node.every, number)
        events.message(node.last, number)
    queue.turn()
    handled = [entry for entry in node.entries if entry != 'tick']
    assert handled[:2] == [('every', DEPTH), ('last', 2 * DEPTH - 1)]
    assert handled[2:] == [('every', number) for number in range(DEPTH + 1, 2 * DEPTH)]
    assert node.diagnostics.counted('skipped messages') == DEPTH + 2 * DEPTH - 1


def test_the_queue_stays_short_where_messages_come_faster_than_they_are_handled(node,
                                                                                monkeypatch):
    from robot_dynamics_ros.nodes.support import runner
    monkeypatch.setattr(runner, 'BUDGET', 0.0)  # one message per turn
    events, lengths = Events(), []
    queue = EventQueue([node], lambda nodes: events)

    def flood():
        for number in range(10):
            events.message(node.every, number)

    node.flood = flood
    flood()
    for _ in range(200):
        queue.turn()
        lengths.append(len(events.queue))
    assert len([entry for entry in node.entries if entry != 'tick']) == 200
    assert max(lengths) <= 10
    assert node.entries.count('tick') == 200


def test_what_waits_is_forgotten_with_its_topic(node):
    events = Events()
    queue = EventQueue([node], lambda nodes: events)
    node.every.callback(Float32(data=1.0))
    node.trigger_deactivate()
    node.trigger_cleanup()
    queue.turn()
    assert ('every', 1) not in node.entries


def test_after_the_first_removal_comes_another_executor(node):
    """What waits in an events executor for something that is gone ended the process."""
    made = []

    def executor_of(nodes):
        made.append(Events())
        return made[-1]

    def made_after(*steps):
        for step in (*steps, queue.turn, queue.turn):
            step()
        return len(made)

    queue = EventQueue([node], executor_of)
    assert made_after() == 1
    assert made_after(node.trigger_deactivate, node.trigger_cleanup) == 2
    assert made_after(node.trigger_configure, node.trigger_cleanup) == 2


@pytest.fixture
def answers(node):
    """Return what clients of the service got, by the header of their request."""
    got = {}
    inbox = node.asked.callback
    inbox._send = lambda response, header: got.update({header: response})
    return got


def test_without_a_runner_a_request_is_answered_at_once(node, answers):
    node.asked.send_response(node.asked.callback(Trigger.Request(), Trigger.Response()), 'me')
    assert answers['me'].success
    assert node.call(Trigger.Request(), '~/ask').success


def test_requests_take_turns_with_messages(node, answers):
    events = Events()
    queue = EventQueue([node], lambda nodes: events)
    for number in range(2):
        events.request(node.asked, number)
        events.message(node.every, number)
    queue.turn()
    assert [entry for entry in node.entries if entry != 'tick'] == [
        'asked', ('every', 0), 'asked', ('every', 1)]
    assert all(answers[number].success for number in range(2))


def test_every_request_is_answered_or_refused_where_too_many_wait(node, answers, monkeypatch):
    """Requests beyond the history of DDS were forgotten: 907 of 3000."""
    from robot_dynamics_ros.nodes.support import runner
    monkeypatch.setattr(runner, 'BUDGET', 0.0)  # one request per turn
    events = Events()
    queue = EventQueue([node], lambda nodes: events)
    for number in range(WAITING_REQUESTS + 10):
        events.request(node.asked, number)
    while len(answers) < WAITING_REQUESTS + 10:
        queue.turn()
    refused = {number: answer.message for number, answer in answers.items() if not answer.success}
    assert 8 <= len(refused) <= 10
    assert set(refused.values()) == {'busy: 2000 requests wait, call again later'}
    assert node.diagnostics.counted('refused requests') == len(refused)


def test_requests_that_wait_are_refused_when_their_service_ends(node, answers):
    events = Events()
    EventQueue([node], lambda nodes: events)
    events.request(node.asked, 'me')
    while events.queue:
        events.spin_once(0.0)
    assert not answers
    node.destroy_service(node.asked)
    assert answers['me'].message == 'the service ends'


def test_a_node_goes_on_after_an_answer_that_cannot_be_sent(node):
    def fail(response, header):
        raise RuntimeError('gone')
    events = Events()
    queue = EventQueue([node], lambda nodes: events)
    node.asked.callback._send = fail
    events.request(node.asked, 'me')
    queue.turn()
    assert 'asked' in node.entries
    assert node.diagnostics.counted('unforeseen errors') == 1


def test_a_node_that_has_ended_leaves_nothing_in_the_graph(ros):
    """Its lifecycle, and with it a participant of DDS, stayed until garbage was collected."""
    if not uses_fast_dds():
        pytest.skip('counts threads of Fast DDS')
    context, before = rclpy.Context(), participants()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    node = Diary(context=context)
    assert participants() == before + 1
    node.destroy_node()
    assert participants() == before
    rclpy.shutdown(context=context)
