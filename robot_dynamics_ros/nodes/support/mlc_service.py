# SPDX-License-Identifier: Apache-2.0
"""The service ``~/get_mlc``: the minimal parameters that a node has now."""

from __future__ import annotations

from collections.abc import Callable

from robot_dynamics_interfaces.srv import GetMlc
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message
from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.service_quality import SERVICE


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

    node.create_service(GetMlc, '~/get_mlc', answer, qos_profile=SERVICE)
