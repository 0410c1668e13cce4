# SPDX-License-Identifier: Apache-2.0
"""A robot at work: what it carries and calculates with, and what it refuses."""

import numpy as np
import pytest
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.robot import load_robot


@pytest.fixture
def robot():
    return load_robot((URDF_FOLDER / 'planar_2r.urdf').read_text())


@pytest.mark.parametrize('name', ['gravity', 'paylaod', 'paramters'])
def test_an_attribute_that_nothing_would_use_is_refused(robot, name):
    with pytest.raises(AttributeError, match=name):
        setattr(robot, name, 1.0)


def test_a_payload_is_carried_until_the_next_one(robot):
    q, payload = [0.3, -0.4], payload_inertia(2.0, [0.1, 0.0, 0.0], np.zeros((3, 3)))
    empty = robot.model.gravity_torque(q)
    for carried in (payload, payload_inertia(0.0, np.zeros(3), np.zeros((3, 3)))):
        robot.carry(carried)
        expected = compile_model(robot.chain.with_payload(carried)).gravity_torque(q)
        assert_close(robot.model.gravity_torque(q), expected, OTHER_FORMULATION)
    assert_close(robot.model.gravity_torque(q), empty, OTHER_FORMULATION)
