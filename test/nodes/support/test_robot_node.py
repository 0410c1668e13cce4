# SPDX-License-Identifier: Apache-2.0
"""The seam of every node: messages, requests and ticks without DDS and without an executor."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from std_msgs.msg import Float32, String
from std_srvs.srv import SetBool, Trigger

from robot_dynamics_ros.nodes.support.robot_node import RobotNode

pytestmark = pytest.mark.ros


class Ears(RobotNode):
    """Remembers what it hears."""

    def __init__(self, **options):
        super().__init__('ears', **options)
        self.heard = []

    def make_interfaces(self):
        def listen(kind, topic):
            self.create_subscription(
                kind, topic, lambda message: self.heard.append((topic, message.data)), 10)

        def serve(name):
            def answer(request, response):
                response.message = name
                return response
            self.create_service(Trigger, name, answer)

        listen(Float32, 'only')
        listen(String, '~/left')
        listen(String, 'right')
        serve('~/start')
        serve('~/stop')
        self.create_timer(3.0, lambda: self.heard.append('slow'))
        self.resting = self.create_timer(4.0, lambda: self.heard.append('resting'))
        self.resting.cancel()


@pytest.fixture
def node(make_node, planar):
    return make_node(Ears, robot_description=planar)


def test_a_message_reaches_the_subscription_of_its_type_and_topic(node):
    node.receive(Float32(data=1.0))
    node.receive(String(data='a'), '~/left')
    node.receive(String(data='b'), '/right')
    assert node.heard == [('only', 1.0), ('~/left', 'a'), ('right', 'b')]


def test_a_message_without_a_clear_receiver_is_an_error(node):
    with pytest.raises(LookupError, match='subscription to String, found /ears/left, /right'):
        node.receive(String())
    with pytest.raises(LookupError, match='named /middle, found /ears/left, /right'):
        node.receive(String(), 'middle')
    with pytest.raises(LookupError, match='subscription to Trigger_Request, found none'):
        node.receive(Trigger.Request())
    assert node.heard == []


def test_a_request_is_answered_by_the_service_of_its_type_and_name(node):
    assert node.call(Trigger.Request(), '~/stop').message == '~/stop'
    with pytest.raises(LookupError, match='found /ears/start, /ears/stop'):
        node.call(Trigger.Request())
    with pytest.raises(LookupError, match='service for SetBool_Request, found none'):
        node.call(SetBool.Request())


def test_timers_fire_by_their_period_unless_they_are_cancelled(node):
    assert node.tick(3.0) == 1
    assert node.tick(4.0) == 0
    assert node.heard == ['slow']
    node.resting.reset()
    assert node.tick() == 3, 'these two and that of the diagnostics'
    assert node.heard == ['slow', 'slow', 'resting']
    with pytest.raises(LookupError, match='no timer with a period of 5'):
        node.tick(5.0)
