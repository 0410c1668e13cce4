# SPDX-License-Identifier: Apache-2.0
"""The weight of the arm: carried once, by the controller or by efforts, and never dropped."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.action import ActionClient
from support.controller import Controller
from support.robot_cell import GAINS, REST, InformedNode, RobotCell, moves, stays

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

pytestmark = pytest.mark.ros


# Gravity counted twice


@pytest.mark.parametrize(('error', 'seed'), [(0.0, 0), (0.3, 0), (0.3, 1), (0.3, 2), (0.3, 3)])
def test_told_to_stand_still_the_arm_does_not_jump(make_cell, error, seed):
    cell = make_cell(model_error=lambda chain: with_parameter_error(chain, error, seed))
    cell.run(0.2)
    cell.send(stays(cell.controller.q))
    _, _, error = cell.run(3.0)
    assert np.abs(error).max() < 0.005


def test_the_first_motion_is_as_good_as_the_second(make_cell):
    cell = make_cell()
    worst = []
    for start, goal in ((REST, (0.5, -0.4)), ((0.5, -0.4), REST), (REST, (0.5, -0.4))):
        cell.run(0.2)
        cell.send(moves(start, goal))
        worst.append(np.abs(cell.run(1.5)[2]).max())
    assert worst[0] < 1.2 * worst[2]


def test_an_arm_that_has_just_been_activated_does_not_sag(make_cell):
    # it falls by 0.3 mrad in a millisecond: the first state must be enough
    cell = make_cell(settled=False)
    _, _, error = cell.run(2.0)
    assert np.abs(error).max() < 0.004
    assert len(cell.messages) == 1
    cell.controller.stop()  # the integral is empty: all of the weight is gone
    _, _, error = cell.run(2.0)
    assert np.abs(error).max() < 0.004
    assert len(cell.messages) == 2


@pytest.mark.parametrize('moving', [False, True], ids=['at rest', 'moving'])
@pytest.mark.parametrize('part', [0.0, 0.3, 0.6, 0.9])
def test_a_weight_that_p_and_the_integral_share_does_not_count_twice(make_cell, part, moving):
    # small I gains, as recommended: the integral has not come to its end yet
    cell = make_cell(settled=False, gains={**GAINS, 'i': [80.0, 30.0]})
    cell.controller.settle(part)
    hanging = np.abs(cell.controller.error).max()
    if moving:
        cell.run(0.05)
        cell.send(moves(cell.controller.control.desired(cell.controller.time).q, (0.5, -0.4)))
    _, _, error = cell.run(4.0)
    assert error.max() < hanging + 0.001
    assert error.min() > -0.01, 'what D does against coming up is over at the top'


def test_what_p_carries_is_taken_over_without_a_jump(make_cell):
    # no integral: the arm hangs below its reference by weight / P and comes up to it
    cell = make_cell(settled=False, gains={**GAINS, 'i': [0.0, 0.0]}, hold=False)
    cell.run(2.0)
    cell.send(stays(REST))
    q, _, error = cell.run(3.0)
    steps = np.abs(np.diff(q, axis=0)).max()
    assert steps < 0.001
    assert np.abs(error[-1]).max() < 0.001


def test_without_a_state_of_the_controller_efforts_are_blended_in(make_cell):
    cell = make_cell(informed=False, settled=False, gains={**GAINS, 'i': [0.0, 0.0]})
    cell.run(2.0)
    cell.send(stays(REST))
    np.testing.assert_allclose(cell.last.efforts[0], REST, atol=1e-9)
    assert cell.last.duration == pytest.approx(1.5)
    q, _, error = cell.run(3.0)
    assert np.abs(np.diff(q, axis=0)).max() < 0.001
    assert np.abs(error[-1]).max() < 0.001


# Gravity vanishes


@pytest.mark.parametrize('moving', [False, True], ids=['at rest', 'on the way'])
def test_after_a_cancel_the_weight_is_held(make_cell, moving):
    cell = make_cell()
    cell.run(0.2)
    cell.messages.clear()
    cell.send(moves(REST, (0.5, -0.4)))
    cell.run(0.7 if moving else 2.0)
    cell.controller.stop()
    held = cell.controller.q
    _, _, error = cell.run(3.0)
    assert len(cell.messages) == 2
    np.testing.assert_array_equal(cell.last.positions[0], held)
    assert np.abs(error[-1]).max() < 0.002
    # on the way the momentum is left, which the controller stops with its feedback alone
    assert np.abs(error).max() < (0.015 if moving else 0.004)


class RelayingNode(InformedNode):
    """Relays the action of the tests, too."""

    def action_type(self):
        return pytest.importorskip('robot_dynamics_test_interfaces.action',
                                   reason='make setup').FollowJointTrajectory


@pytest.mark.parametrize(('how', 'time'), [('cancel', 2.0), ('cancel', 0.7), ('abort', 2.0),
                                           ('succeed', 2.0)])
def test_after_a_goal_the_weight_is_held(ros, make_cell, how, time):
    cell = make_cell(kind=RelayingNode, controller_action='jtc/follow_joint_trajectory')
    kind = cell.node.action_type()
    server = Controller(ros.node, kind, 'jtc/follow_joint_trajectory', cell.controller)
    client = ActionClient(ros.node, kind, 'feedforward/follow_joint_trajectory')

    def accepted():
        sent = client.send_goal_async(kind.Goal(trajectory=moves(REST, (0.5, -0.4))))
        ros.spin_until(sent.done, 'the answer to the goal')
        return sent.result() if sent.result().accepted else None

    cell.run(0.2)
    cell.messages.clear()
    with ros.spinning(cell.node):
        ros.spin_until(client.server_is_ready, 'the action of the relay')
        goal = ros.spin_until(accepted, 'a relay that has found the controller')
        ros.spin_until(lambda: cell.node.executing_goals, 'the goal at the controller')
        cell.run(time)
        before = cell.controller.q
        ended = goal.get_result_async()
        if how == 'cancel':
            goal.cancel_goal_async()
        else:
            server.end(0, how)
        ros.spin_until(ended.done, 'the end of the goal')
    cell.deliver()
    q, _, error = cell.run(2.0)
    assert len(cell.messages) == (how != 'succeed')
    assert np.abs(error).max() < 0.005
    assert np.abs(q[-1] - before).max() < (0.005 if time > 1.5 else 0.1)
    assert cell.node.diagnostics.counted('unforeseen errors') == 0
    client.destroy()
    server.close()


@pytest.mark.parametrize('message', [moves(REST, (0.5, -0.4)), stays(REST)],
                         ids=['moves', 'stays'])
def test_a_node_that_takes_over_finds_out_who_carries_the_weight(make_cell, make_node, planar,
                                                                message):
    # the controller holds with the effort of the node before, and its integral is empty
    first = make_cell(settled=False)
    first.run(0.3)
    first.send(stays(REST))
    first.run(3.0)
    node = make_node(InformedNode, now=first.controller.time, robot_description=planar)
    cell = RobotCell(node, first.controller)
    _, _, error = cell.run(1.0)
    assert np.abs(error).max() < 0.005, 'the weight is missing until the next state'
    assert len(cell.messages) == 2
    assert node.diagnostics.counted('corrections') == 1
    cell.send(message)
    _, _, error = cell.run(3.0)
    assert np.abs(error).max() < 0.002
    weight = compile_model(cell.controller.chain).gravity_torque(cell.last.positions[-1])
    np.testing.assert_allclose(cell.last.efforts[-1], weight, rtol=0.1, atol=0.5)


def test_an_activation_after_a_success_holds_with_an_effort_of_then(make_cell):
    cell = make_cell()
    cell.run(0.2)
    cell.send(moves(REST, (0.5, -0.4)))
    cell.run(2.0)
    cell.controller.succeed()
    cell.run(0.5)
    cell.controller.deactivate()
    cell.run(0.01)
    cell.controller.advance(0.0)
    cell.node.now = cell.controller.time = cell.controller.time + 1.0
    cell.controller.activate()
    _, _, error = cell.run(1.0)
    assert np.abs(error).max() < 0.02
    cell.send(stays(cell.controller.q))
    _, _, error = cell.run(2.0)
    assert np.abs(error).max() < 0.01


def test_the_hold_is_off_where_it_is_not_wanted(make_cell):
    for parameters in ({'hold': False}, {'gravity_mode': 'none'}):
        cell = make_cell(settled=False, **parameters)
        cell.run(1.0)
        assert not cell.messages


def test_somebody_elses_motion_is_left_alone(make_cell):
    cell = make_cell()
    cell.run(0.2)
    cell.send(stays(REST))
    cell.run(1.0)
    sent = len(cell.messages)
    cell.controller.receive(moves(REST, (0.5, -0.4)))
    cell.run(3.0)
    assert len(cell.messages) == sent
    np.testing.assert_allclose(cell.controller.q, (0.5, -0.4), atol=0.02)
