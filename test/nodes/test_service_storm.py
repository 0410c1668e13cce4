# SPDX-License-Identifier: Apache-2.0
"""Many clients at once: every request is answered, none is forgotten."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from robot_dynamics_ros.nodes.support.services import WAITING_REQUESTS

pytestmark = pytest.mark.ros

CALLS = 100


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
    assert [client.wait(90.0) for client in clients] == [0] * number
    assert [client.output.split() for client in clients] == [
        ['answered', str(CALLS), 'of', str(CALLS)]] * number


def test_what_may_wait_is_more_than_the_default_and_bounded(make_node, planar):
    from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode

    node = make_node(DynamicsServerNode, robot_description=planar)
    for name in ('get_dynamics', 'get_mlc', 'set_payload'):
        service = next(each for each in node.services if each.service_name.endswith(name))
        assert 10 < service.qos_profile.depth == WAITING_REQUESTS
