# SPDX-License-Identifier: Apache-2.0
"""
The feedforward node in front of a controller that behaves as the real one does.

Every test is a defect that was seen with ros2_control of Jazzy; docs/interoperability.md has the
numbers before and after.
"""

import pytest

from robot_dynamics_ros import chain_from_urdf


@pytest.fixture
def make_cell(make_node, planar):
    """Return a function that puts the node in front of a controller that holds with PID."""
    from support.robot_cell import GAINS, REST, InformedNode, RobotCell, state_type
    from support.stock_controller import StockController

    from robot_dynamics_ros.nodes.feedforward import FeedforwardNode

    def make(*, q=REST, settled=True, informed=True, description=planar, gains=GAINS,
             model_error=None, kind=InformedNode, **parameters):
        controller = StockController(chain_from_urdf(description), q=q, model_error=model_error,
                                     **gains)
        if settled:
            controller.settle()
        if informed:
            state_type()
        node = make_node(kind if informed else FeedforwardNode, now=controller.time,
                         robot_description=description, **parameters)
        return RobotCell(node, controller, shows_state=informed)
    return make


@pytest.fixture
def cell(make_cell):
    return make_cell()
