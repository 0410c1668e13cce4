# SPDX-License-Identifier: Apache-2.0
"""Many clients at once: every request is answered, none is forgotten."""

import runpy
import time
from pathlib import Path

import pytest
from support.availability import skip_without_ros

skip_without_ros()

import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import qos_profile_services_default
from std_srvs.srv import Trigger

from robot_dynamics_interfaces.srv import GetDynamics
from robot_dynamics_ros.nodes.support.services import SERVICE, WAITING_REQUESTS

pytestmark = pytest.mark.ros

CALLS = 100
ROOT = Path(__file__).resolve().parents[2]
POLICIES = runpy.run_path(str(ROOT / 'environment' / 'write_policies.py'))
#: Packages of services that rcl makes in C, with its own quality of service.
MADE_BY_RCL = ('lifecycle_msgs', 'type_description_interfaces')


@pytest.mark.parametrize(('number', 'in_flight', 'quality'),
                         [(2, 10, 'default'), (4, CALLS, 'ours')],
                         ids=['one client per service', 'bursts'])
def test_every_call_of_a_storm_is_answered(ros, parameter_file, planar, number, in_flight,
                                           quality):
    """Of 2000 calls of four clients, 695 stayed without an answer."""
    ros.start('robot_dynamics_ros.nodes.dynamics_server',
              *parameter_file(robot_description=planar))
    services = ('get_dynamics', 'get_mlc')
    clients = [ros.start('support.storm_client', services[i % 2], str(CALLS), str(in_flight),
                         quality) for i in range(number)]
    assert [client.wait(500.0) for client in clients] == [0] * number
    assert [client.output.split() for client in clients] == [
        ['answered', str(CALLS), 'of', str(CALLS)]] * number


def test_a_client_with_the_same_queue_may_be_late(ros, parameter_file, planar):
    """With ROS's default, ten answers to another client push its own answer out."""
    ros.start('robot_dynamics_ros.nodes.dynamics_server',
              *parameter_file(robot_description=planar))
    late = rclpy.create_node('late', context=ros.node.context)
    own, other = (node.create_client(GetDynamics, 'dynamics_server/get_dynamics',
                                     qos_profile=SERVICE) for node in (late, ros.node))
    request, calls = GetDynamics.Request(position=[0.1, 0.2]), []
    with ros.spinning(late):
        for client in (own, other):  # both directions must have met: an answer shows it
            ros.spin_until(client.service_is_ready, 'the service')
            ros.send_until(lambda client=client: calls.append(client.call_async(request)),
                           lambda: calls[-1].done(), 'the first answer')
    waiting = own.call_async(request)
    for _ in range(20):
        ros.spin_until(other.call_async(request).done, 'an answer to the other client')
    with ros.spinning(late):
        ros.spin_until(waiting.done, 'the answer to the late client')
    assert waiting.result().success
    late.destroy_node()


def test_more_requests_than_can_wait_are_served_or_refused(ros):
    """Of 3000 requests at once, a slow node forgot 907."""
    ros.start('support.slow_node')
    node = rclpy.create_node('hasty', context=ros.node.context)
    client = node.create_client(Trigger, 'slow/wait', qos_profile=SERVICE)
    calls = []
    ros.spin_until(client.service_is_ready, 'the service')
    with ros.spinning(node):
        ros.send_until(lambda: calls.append(client.call_async(Trigger.Request())),
                       lambda: calls[-1].done(), 'the first answer')
    executor = EventsExecutor(context=ros.node.context)
    executor.add_node(node)
    calls = []
    for _ in range(WAITING_REQUESTS + 1000):
        calls.append(client.call_async(Trigger.Request()))
        executor.spin_once(timeout_sec=0)  # an answer that waits here must not be lost, either
    end = time.monotonic() + 240.0
    while not all(call.done() for call in calls) and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.1)
    answers = [call.result() for call in calls if call.done()]
    assert len(answers) == len(calls)
    assert sum(answer.success for answer in answers) >= WAITING_REQUESTS
    assert {answer.message for answer in answers if not answer.success} <= {
        f'busy: {WAITING_REQUESTS} requests wait, call again later'}
    executor.remove_node(node)
    node.destroy_node()


@pytest.mark.parametrize('name', POLICIES['NODES'])
def test_every_service_of_every_node_lets_many_requests_wait(ros, name):
    pytest.importorskip('robot_dynamics_test_interfaces.action', reason='make setup')
    for node in POLICIES['started_nodes'](name, ros.node.context):
        depths = {each.service_name: each.handle.qos['depth'] for each in node.services
                  if each.srv_type.__module__.split('.')[0] not in MADE_BY_RCL}
        assert set(depths.values()) == {WAITING_REQUESTS}, depths


def test_what_may_wait_is_more_than_the_default_and_bounded():
    assert qos_profile_services_default.depth < WAITING_REQUESTS < 10_000
