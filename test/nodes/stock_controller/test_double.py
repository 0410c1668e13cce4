# SPDX-License-Identifier: Apache-2.0
"""The double itself refuses what the real controller refuses."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from support.messages import trajectory_message
from support.robot_cell import GAINS, REST, STOP, moves
from support.stock_controller import StockController

from robot_dynamics_ros import chain_from_urdf

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('message', [
    STOP,
    trajectory_message([{'time': 1.0, 'positions': REST}, {'time': 1.0, 'positions': REST}]),
    trajectory_message([{'time': 1.0, 'positions': [0.0]}]),
    trajectory_message([{'time': 1.0, 'positions': REST, 'effort': [1.0]}]),
    trajectory_message([{'time': 1.0, 'positions': REST, 'velocities': [0.1, 0.0]}]),
    trajectory_message([{'time': 1.0, 'positions': REST}], names=('joint_1', 'elbow')),
    trajectory_message([{'time': 1.0, 'positions': REST}], start=50.0),
], ids=['empty', 'equal times', 'short positions', 'short efforts', 'ends in motion',
        'other joints', 'in the past'])
def test_the_controller_refuses_what_the_real_one_refuses_and_goes_on(planar, message):
    controller = StockController(chain_from_urdf(planar), q=REST, **GAINS)
    controller.receive(moves(REST, (0.5, -0.4)))
    controller.advance(0.5)
    assert not controller.receive(message)
    assert len(controller.refusals) == 1
    np.testing.assert_array_equal(controller.control.desired(controller.time + 1.1).q,
                                  [0.5, -0.4])
