# SPDX-License-Identifier: Apache-2.0
"""
Services of nodes: their quality of service, and ``~/get_mlc``, the minimal parameters of now.

No request and no response is to be forgotten. The default of ROS 2 keeps the last 10 of each, and
silently drops others while a process is busy. A client has a history of its own, and in Fast DDS
it hears the responses to all clients of the service: a client that is late by ten answers to
others has lost its own, without having done anything wrong. Clients of a service that others use,
too, need this profile. `RobotNode.create_service` and the relay of actions give it to every
service; only those that rcl itself makes (lifecycle, type descriptions) keep the default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rclpy.qos import QoSProfile

from robot_dynamics_interfaces.srv import GetMlc
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.support.robot_node import RobotNode

#: Number of requests that may wait. Bounded: a client that never stops must not fill the memory.
WAITING_REQUESTS = 2000

SERVICE = QoSProfile(depth=WAITING_REQUESTS)


def offer_mlc(node: RobotNode, estimate: Callable[[str], MlcEstimate]) -> None:
    """
    Offer the service.

    :param node: node that answers.
    :param estimate: function that returns the parameters in the set of this name; may raise
        RobotDynamicsError, whose text is then the answer.
    """
    def answer(request: GetMlc.Request, response: GetMlc.Response) -> GetMlc.Response:
        try:
            with node.diagnostics.timed('get_mlc'):
                response.mlc = estimate_to_message(estimate(request.set or 'lin'),
                                                   node.get_clock().now().to_msg())
                response.success = True
        except RobotDynamicsError as error:
            response.message = str(error)
            node.diagnostics.warn('refused requests', f'get_mlc: {error}')
        return response

    node.create_service(GetMlc, '~/get_mlc', answer)
