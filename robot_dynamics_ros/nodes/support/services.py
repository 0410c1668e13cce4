# SPDX-License-Identifier: Apache-2.0
"""
Services of nodes: their quality, requests that wait, and ``~/get_mlc``, the parameters of now.

No request and no response is to be forgotten. The default of ROS 2 keeps the last 10 of each, and
silently drops others while a process is busy. A client has a history of its own, and in Fast DDS
it hears the responses to all clients of the service: a client that is late by ten answers to
others has lost its own, without having done anything wrong. Clients of a service that others use,
too, need this profile. `RobotNode.create_service` and the relay of actions give it to every
service; only those that rcl itself makes (lifecycle, type descriptions) keep the default.

Where requests come faster than they are answered, the history of DDS would drop the oldest ones
without a word. So a request that is handed out only moves into the `RequestInbox` of its service,
which is quick, and one that finds no place there is refused at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rclpy.qos import QoSProfile

from robot_dynamics_interfaces.srv import GetMlc
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message

if TYPE_CHECKING:
    from rclpy.service import Service

    from robot_dynamics_ros.nodes.support.guarded_node import GuardedNode
    from robot_dynamics_ros.nodes.support.robot_node import RobotNode

#: Number of requests that may wait. Bounded: a client that never stops must not fill the memory.
WAITING_REQUESTS = 2000

SERVICE = QoSProfile(depth=WAITING_REQUESTS)


class RequestInbox:
    """
    Requests of one service that wait for a node; each is answered, or refused.

    Executors call `service.callback` and hand what it returns to `service.send_response`, with the
    header that says whom to answer. Both are taken over here: a request that has to wait passes
    through them as `_Waiting`.
    """

    def __init__(self, node: GuardedNode, service: Service,
                 answer: Callable[[Any, Any], Any]) -> None:
        """
        Take over the callback and the answers of a service.

        :param node: node that answers.
        :param service: service of this node.
        :param answer: function that gets request and response, and never raises.
        """
        self.answer = answer
        self._node, self._service, self._send = node, service, service.send_response
        self._waiting: deque[tuple[Any, Any]] = deque()
        service.callback, service.send_response = self, self._sent

    def __call__(self, request: Any, response: Any) -> Any:
        """Return the response, or say that the request waits."""
        return _Waiting(request) if self._node.deferring else self.answer(request, response)

    def handle(self) -> None:
        """Answer the oldest request, if there is one."""
        if self._waiting:
            request, header = self._waiting.popleft()
            if self._waiting:
                self._node.ready.append(self)
            self._send(self.answer(request, self._service.srv_type.Response()), header)

    def clear(self) -> None:
        """Refuse what waits: the service ends."""
        while self._waiting:
            self._refuse(self._waiting.popleft()[1], 'the service ends')

    def _sent(self, response: Any, header: Any) -> None:
        if not isinstance(response, _Waiting):
            self._send(response, header)
        elif len(self._waiting) == WAITING_REQUESTS:
            self._refuse(header, f'busy: {WAITING_REQUESTS} requests wait, call again later')
        else:
            if not self._waiting:
                self._node.ready.append(self)
            self._waiting.append((response.request, header))

    def _refuse(self, header: Any, reason: str) -> None:
        self._node.diagnostics.warn('refused requests', f'{self._service.srv_name}: {reason}')
        self._send(refusal(self._service.srv_type, reason), header)


class _Waiting:
    """A request on its way from the callback of a service to its inbox."""

    def __init__(self, request: Any) -> None:
        self.request = request


def refusal(kind: Any, reason: str) -> Any:
    """
    Return a response without success.

    :param kind: type of the service.
    :param reason: text for the field `message`, where the response has one.
    """
    response = kind.Response()
    if hasattr(response, 'message'):
        response.message = reason
    return response


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
