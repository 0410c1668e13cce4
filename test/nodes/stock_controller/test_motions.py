# SPDX-License-Identifier: Apache-2.0
"""Motions: how they are stopped, when they begin, and which way they go."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from support.messages import trajectory_message
from support.robot_cell import REST, STOP, moves, state_type

from robot_dynamics_ros import compile_model

pytestmark = pytest.mark.ros


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
