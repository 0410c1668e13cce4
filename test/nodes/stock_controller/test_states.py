# SPDX-License-Identifier: Apache-2.0
"""What the state of a controller says: its speed scaling, whose it is, and no nonsense."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.messages import JOINTS
from support.robot_cell import GAINS, REST, STOP, InformedNode, RobotCell, moves, state_type
from support.stock_controller import StockController

from robot_dynamics_ros import chain_from_urdf, compile_model

pytestmark = pytest.mark.ros


# Speed scaling


def scaled_motion(make_cell, *, shown):
    """Return the cell and its largest error [rad] in a motion that is played at half the speed."""
    # soft damping: the controller itself compares with the velocity of the unscaled motion
    cell = make_cell(gains={**GAINS, 'd': [1.0, 0.3]})
    cell.controller.control.scaling, cell.controller.shows_scaling = 0.5, shown
    cell.run(0.2)
    cell.send(moves(REST, (1.5, -1.2), time=1.0))
    return cell, np.abs(cell.run(2.5)[2]).max()


def test_efforts_are_those_of_the_scaled_motion(make_cell):
    cell, error = scaled_motion(make_cell, shown=True)
    sent, model = cell.last, compile_model(cell.controller.chain)
    torque = model.torque(sent.positions, 0.5 * sent.velocities, 0.25 * sent.accelerations)
    np.testing.assert_allclose(sent.efforts, torque - model.gravity_torque(REST), atol=1e-6)
    _, without = scaled_motion(make_cell, shown=False)
    assert error < 0.2 * without


# Several controllers


@pytest.fixture
def two_arms(planar):
    """Return the description of two arms on one base."""
    body = planar[planar.index('<joint name="joint_1"'):planar.index('</robot>')]
    arms = ''
    for side in ('left', 'right'):
        arm = body.replace('base_link', 'torso')
        for name in ('joint_1', 'joint_2', 'load_fixed', 'link_1', 'link_2', 'load"'):
            arm = arm.replace(f'"{name}' if name.endswith('"') else f'"{name}"',
                              f'"{side}_{name}' if name.endswith('"') else f'"{side}_{name}"')
        arms += arm
    return f'<robot name="two_arms"><link name="torso"/>{arms}</robot>'


def test_two_arms_have_a_node_and_a_controller_each(make_node, two_arms):
    kind = state_type()
    cells = {}
    for side in ('left', 'right'):
        chain = chain_from_urdf(two_arms, base='torso', tip=f'{side}_load')
        controller = StockController(chain, q=REST, **GAINS)
        controller.settle()
        node = make_node(
            InformedNode, now=controller.time, robot_description=two_arms, base='torso',
            tip=f'{side}_load', controller_state=f'{side}_controller/controller_state',
            cli_args=['--ros-args', '-r', f'__node:={side}_feedforward', '-r',
                      f'joint_trajectory:={side}_arm/joint_trajectory'])
        cells[side] = RobotCell(node, controller)
    left, right = cells['left'], cells['right']
    topics = [{each.topic_name for each in (*cell.node.publishers, *cell.node.subscriptions)
               if each.topic_name.endswith(('/joint_trajectory', '/controller_state'))}
              for cell in (left, right)]
    assert [len(each) for each in topics] == [3, 3]
    assert topics[0] & topics[1] == set()
    goals = {'left': (0.5, -0.4), 'right': (-0.3, 0.6)}
    for side, cell in cells.items():
        message = moves(REST, goals[side])
        message.joint_names = list(cell.controller.chain.joint_names)
        cell.run(0.2)
        cell.send(message)
    for side, cell in cells.items():
        q, _, error = cell.run(1.6)
        assert np.abs(error).max() < 0.005
        np.testing.assert_allclose(q[-1], goals[side], atol=0.005)
    # a trajectory and a state of the other arm change nothing
    wrong = moves(REST, goals['right'])
    wrong.joint_names = list(right.controller.chain.joint_names)
    sent = len(left.messages)
    left.send(wrong)
    left.node.receive(right.controller.state(kind))
    assert len(left.messages) == sent
    assert left.node.diagnostics.counted('dropped trajectories') == 1
    assert left.node.diagnostics.counted('dropped controller states') == 1


# Hostile states


numbers = st.floats() | st.sampled_from([0.0, 0.1, 1e-320, 1e200, -1e308])
rows = st.lists(numbers, max_size=3)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(rows, rows, rows, rows, numbers), min_size=1, max_size=4))
def test_no_state_whatever_makes_the_node_send_nonsense(cell, states):
    sent = len(cell.messages)
    for reference, error, output, velocity, scaling in states:
        message = state_type()(joint_names=list(JOINTS), speed_scaling_factor=scaling)
        message.reference.positions, message.error.positions = reference, error
        message.output.effort, message.reference.velocities = output, velocity
        with np.errstate(all='ignore'):
            for _ in range(3):
                cell.node.now += 0.02
                cell.node.receive(message)
            cell.node.receive(moves(REST, (0.5, -0.4)))
            cell.node.receive(STOP)
    cell.deliver()
    assert len(cell.messages) > sent
    for point in (point for each in cell.messages[sent:] for point in each.points):
        assert np.all(np.abs(point.effort) <= [60.0, 30.0])
        assert np.all(np.isfinite(point.positions))
    assert cell.node.diagnostics.counted('unforeseen errors') == 0
