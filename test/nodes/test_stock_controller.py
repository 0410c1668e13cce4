# SPDX-License-Identifier: Apache-2.0
"""
The feedforward node in front of a controller that behaves as the real one does.

Every test is a defect that was seen with ros2_control of Jazzy; docs/interoperability.md has the
numbers before and after.
"""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rclpy.action import ActionClient
from support.controller import Controller
from support.messages import JOINTS, trajectory_message
from support.robot_cell import InformedNode, RobotCell, state_type
from support.stock_controller import StockController
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

pytestmark = pytest.mark.ros

GAINS = {'p': [400.0, 150.0], 'i': [400.0, 150.0], 'd': [60.0, 15.0]}
REST = [0.0, 0.0]
STOP = JointTrajectory(joint_names=list(JOINTS))


@pytest.fixture
def make_cell(make_node, planar):
    """Return a function that puts the node in front of a controller that holds with PID."""
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


def moves(start, goal, *, time=1.5, at=0.0, stamp=0.0):
    rest = [0.0] * len(start)
    return trajectory_message([
        {'time': at, 'positions': list(start), 'velocities': rest, 'accelerations': rest},
        {'time': at + time, 'positions': list(goal), 'velocities': rest, 'accelerations': rest}],
        start=stamp)


def stays(q):
    return trajectory_message([{'time': 0.0, 'positions': list(q)}])


# The double itself


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


# Stop does not stop


def test_an_empty_trajectory_brakes_and_holds(make_cell):
    cell = make_cell()
    cell.run(0.2)
    cell.send(moves(REST, (1.0, -0.8)))
    cell.run(0.7)
    before = cell.controller.control.desired(cell.controller.time)
    cell.send(STOP)
    after = cell.controller.control.desired(cell.controller.time)
    np.testing.assert_allclose(after.q, before.q, atol=1e-6)
    np.testing.assert_allclose(after.qd, before.qd, atol=1e-6)
    q, _, _ = cell.run(3.0)
    assert not cell.controller.refusals
    assert np.abs(q[-1] - before.q).max() < 0.15
    np.testing.assert_allclose(q[-50:], np.broadcast_to(q[-1], (50, 2)), atol=1e-4)
    weight = compile_model(cell.controller.chain).gravity_torque(cell.last.positions[-1])
    np.testing.assert_allclose(cell.controller.control.command, weight, rtol=0.01)


@pytest.mark.parametrize(('skew', 'jump'), [(0.0, 0.003), (30.0, 0.06), (-30.0, 0.06)])
def test_a_brake_that_arrives_late_does_not_set_the_reference_back(make_cell, skew, jump):
    cell = make_cell()
    cell.run(0.2)
    cell.send(moves(REST, (1.0, -0.8)))
    cell.run(0.69)
    cell.controller.advance(0.01)
    cell.node.now = cell.controller.time
    state = cell.controller.state(state_type())
    state.header.stamp.sec += int(skew)  # another clock: then the controller begins at receipt
    cell.node.receive(state)
    cell.node.receive(STOP)
    cell.controller.advance(0.04)
    before = cell.controller.control.desired(cell.controller.time).q
    cell.deliver()
    assert not cell.controller.refusals
    after = cell.controller.control.desired(cell.controller.time).q
    assert np.abs(after - before).max() < jump
    cell.run(2.0)
    np.testing.assert_allclose(cell.controller.q, cell.last.positions[-1], atol=0.005)


@pytest.mark.parametrize(('limit', 'longest'), [(60.0, 0.2), (31.0, 0.7)])
def test_a_motion_of_others_is_stopped_within_the_effort_limits(make_cell, limit, longest):
    cell = make_cell(hold=False, effort_limits__joint_1=limit)
    cell.controller.receive(moves(REST, (-1.0, 0.8), time=0.8))
    cell.run(0.4)
    before = cell.controller.q
    cell.send(STOP)
    sent, model = cell.last, compile_model(cell.controller.chain)
    torque = model.torque(*sent.sample(np.linspace(0.0, sent.duration, 200))[:3])
    assert np.all(np.abs(torque) < [limit, 30.0])
    braking = sent.times[np.any(sent.velocities != 0.0, axis=1)].max()
    assert 0.5 * longest < braking < longest
    q, _, _ = cell.run(3.0)
    assert np.abs(sent.positions[-1] - before).max() < 0.5 * longest * 2.5
    np.testing.assert_allclose(q[-1], sent.positions[-1], atol=0.01)


def test_a_motion_ends_with_the_node(make_cell):
    cell = make_cell()
    cell.run(0.2)
    cell.messages.clear()
    cell.send(moves(REST, (1.0, -0.8)))
    cell.run(0.7)
    before = cell.controller.control.desired(cell.controller.time)
    cell.node.trigger_deactivate()
    cell.deliver()
    assert len(cell.messages) == 2
    q, _, error = cell.run(2.0)
    assert np.abs(q[-1] - before.q).max() < 0.15
    assert np.abs(error).max() < 0.005


def test_nothing_is_sent_by_a_node_that_ends_at_rest(make_cell):
    cell = make_cell()
    cell.run(0.2)
    cell.messages.clear()
    cell.send(moves(REST, (0.5, -0.4)))
    cell.run(2.0)
    cell.node.trigger_deactivate()
    cell.deliver()
    assert len(cell.messages) == 1


def test_a_stop_without_any_knowledge_is_told(make_cell):
    cell = make_cell(informed=False)
    cell.send(STOP)
    assert not cell.messages
    assert cell.node.diagnostics.counted('dropped trajectories') == 1
    assert cell.node.diagnostics.counted('stops') == 0


# Stamps


def jump(cell, message):
    """Return how far the reference jumps when a trajectory is sent [rad]."""
    control = cell.controller.control
    before = control.desired(cell.controller.time).q
    cell.send(message)
    return np.abs(control.desired(cell.controller.time).q - before).max()


@pytest.mark.parametrize('late', [0.0, 0.3, 1.0])
def test_a_late_trajectory_begins_where_the_robot_is(make_cell, late):
    cell = make_cell()
    cell.run(0.2)
    goal = trajectory_message([{'time': 2.0, 'positions': [1.02, 0.0], 'velocities': REST}],
                              start=cell.controller.time - late)
    distance = jump(cell, goal)
    assert distance < 1e-3
    q, _, error = cell.run(2.5 - late)
    assert np.abs(error).max() < 0.005
    np.testing.assert_allclose(q[-1], [1.02, 0.0], atol=0.005)


def test_a_trajectory_that_has_ended_is_dropped(make_cell):
    cell = make_cell()
    cell.run(0.2)
    cell.messages.clear()
    cell.send(moves(REST, (0.5, -0.4), stamp=cell.controller.time - 5.0))
    assert not cell.messages
    assert cell.node.diagnostics.counted('dropped trajectories') == 1


def test_what_runs_goes_on_until_a_trajectory_of_the_future_begins(make_cell):
    cell = make_cell()
    cell.run(0.2)
    cell.send(moves(REST, (0.5, -0.4)))
    begun = cell.controller.time
    cell.run(0.5)
    assert jump(cell, moves((0.5, -0.4), REST, stamp=begun + 2.0)) < 1e-6
    q, reference, error = cell.run(3.5)
    assert np.abs(error).max() < 0.005
    np.testing.assert_allclose(reference[100], (0.5, -0.4), atol=1e-6)
    np.testing.assert_allclose(q[-1], REST, atol=0.005)
    assert np.abs(np.diff(reference, axis=0)).max() < 0.01


# Continuous joints


@pytest.mark.parametrize(('start', 'goal', 'way'), [(3.0, -3.0, 2.0 * np.pi - 6.0),
                                                    (-3.0, 3.0, 6.0 - 2.0 * np.pi),
                                                    (0.2, 0.5, 0.3)])
def test_a_continuous_joint_goes_the_short_way(make_cell, planar, start, goal, way):
    endless = planar.replace('name="joint_1" type="revolute"', 'name="joint_1" type="continuous"')
    cell = make_cell(q=[start, 0.0], description=endless)
    cell.run(0.2)
    cell.send(trajectory_message([{'time': 1.0, 'positions': [goal, 0.0], 'velocities': REST}]))
    positions = cell.last.positions[:, 0]
    assert positions[-1] - positions[0] == pytest.approx(way, abs=1e-4)
    assert np.abs(np.diff(positions)).max() < 0.02
    q, _, error = cell.run(1.5)
    assert np.abs(error).max() < 0.005
    assert q[-1, 0] - start == pytest.approx(way, abs=0.01)


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
