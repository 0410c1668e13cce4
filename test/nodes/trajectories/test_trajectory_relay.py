# SPDX-License-Identifier: Apache-2.0
"""The relay of FollowJointTrajectory between a client such as MoveIt and a controller."""

import sys
import time

import pytest

pytest.importorskip('robot_dynamics_test_interfaces.action', reason='needs ROS 2; make setup')

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from rclpy.task import Future
from robot_dynamics_test_interfaces.action import FollowJointTrajectory
from support.controller import Controller
from support.messages import motion_message
from support.ros import PATIENCE

from robot_dynamics_ros.errors import ParameterError, TrajectoryError
from robot_dynamics_ros.nodes.support.guarded_node import GuardedNode
from robot_dynamics_ros.nodes.support.services import SERVICE
from robot_dynamics_ros.nodes.trajectories.trajectory_relay import (
    OPEN_GOALS,
    GoalEnd,
    TrajectoryRelay,
    follow_joint_trajectory_type,
)

pytestmark = pytest.mark.ros


class Cell:
    """A client, the relay and a controller, all in one executor."""

    def __init__(self, context, executor):
        self._executor = executor
        self.refusals, self.errors, self.ends = [], [], []
        self.can_brake, self.brakes = False, 0
        self.nodes = {name: rclpy.create_node(name, context=context)
                      for name in ('client', 'controller')}
        self.nodes['relay'] = GuardedNode('relay', context=context)
        for node in self.nodes.values():
            executor.add_node(node)
        self.client = ActionClient(self.nodes['client'], FollowJointTrajectory, 'relay/follow')
        self.relay = TrajectoryRelay(
            self.nodes['relay'], FollowJointTrajectory, name='relay/follow',
            controller='controller/follow', fill=self._fill, brake=self._brake,
            ended=self.ends.append, refuse=self.refusals.append, unforeseen=self.errors.append)
        self.controller = Controller(self.nodes['controller'], FollowJointTrajectory,
                                     'controller/follow')
        self.feedback = []
        self.until(self.client.server_is_ready, 'the relay')
        self.until(lambda: self.relay.ready, 'the controller')

    def _brake(self):
        self.brakes += self.can_brake
        return self.can_brake

    @staticmethod
    def _fill(message):
        if len(message.points) > 2:
            raise KeyError('nobody foresaw this')
        if len(message.points) != 2:
            raise TrajectoryError('expected two points')
        for point in message.points:
            point.effort = [5.0, 6.0]
        return message

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not (result := condition()):
            assert time.monotonic() < end, f'{what}: not within {PATIENCE} s'
            self._executor.spin_once(timeout_sec=0.02)
        return result

    def finished(self, future, what):
        self.until(future.done, what)
        return future.result()

    def send(self, trajectory=None):
        """Return the client's handle of a goal."""
        goal = FollowJointTrajectory.Goal(trajectory=trajectory or motion_message())
        goal.goal_time_tolerance.sec = 7
        return self.finished(self.client.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)),
            'the answer to the goal')

    @staticmethod
    def controller_goal():
        return FollowJointTrajectory.Goal(trajectory=motion_message())

    def started(self, count=1):
        self.until(lambda: len(self.controller.handles) >= count, 'the goal at the controller')

    def result(self, handle):
        return self.finished(handle.get_result_async(), 'the result')

    def close(self):
        for _ in range(20):  # what waits in an events executor would keep its node for ever
            self._executor.spin_once(timeout_sec=0.01)
        self.relay.destroy()
        self.client.destroy()
        self.controller.close()
        for node in self.nodes.values():
            self._executor.remove_node(node)
            node.destroy_node()
        self._executor.shutdown()


@pytest.fixture(params=[EventsExecutor, SingleThreadedExecutor])
def cell(ros, request):
    context = ros.node.context
    cell = Cell(context, request.param(context=context))
    yield cell
    cell.close()


def test_a_goal_reaches_the_controller_with_efforts_and_its_other_fields(cell):
    handle = cell.send()
    assert handle.accepted
    cell.started()
    goal = cell.controller.goals[0]
    assert [list(point.effort) for point in goal.trajectory.points] == [[5.0, 6.0]] * 2
    assert goal.goal_time_tolerance.sec == 7
    cell.controller.feedback(0, joint_names=['joint_1'])
    cell.until(lambda: cell.feedback, 'feedback')
    assert cell.feedback[0].joint_names == ['joint_1']
    cell.controller.end(0, 'succeed', error_code=0, error_string='there')
    response = cell.result(handle)
    assert response.status == GoalStatus.STATUS_SUCCEEDED
    assert response.result.error_string == 'there'
    assert cell.refusals == []
    assert cell.ends == [GoalEnd.SUCCEEDED]


def test_no_goal_of_many_that_wait_is_forgotten(cell):
    """With ROS's default of 10, the others got neither an answer nor a result."""
    client = ActionClient(cell.nodes['client'], FollowJointTrajectory, 'relay/follow',
                          goal_service_qos_profile=SERVICE, result_service_qos_profile=SERVICE)
    cell.until(client.server_is_ready, 'the relay')
    goal = FollowJointTrajectory.Goal()  # without points: it goes no further than the relay
    answers = [client.send_goal_async(goal) for _ in range(40)]  # while nobody spins
    cell.until(lambda: all(each.done() for each in answers), 'all answers')
    results = [each.result().get_result_async() for each in answers]
    cell.until(lambda: all(each.done() for each in results), 'all results')
    client.destroy()
    assert {each.result().status for each in results} == {GoalStatus.STATUS_ABORTED}
    assert len(cell.refusals) == 40


def test_every_goal_of_a_flood_is_taken_or_refused(cell):
    """Goals had no bound: a controller that never ends them let them all be kept."""
    client = ActionClient(cell.nodes['client'], FollowJointTrajectory, 'relay/follow',
                          goal_service_qos_profile=SERVICE, result_service_qos_profile=SERVICE)
    cell.until(client.server_is_ready, 'the relay')
    answers = [client.send_goal_async(cell.controller_goal()) for _ in range(OPEN_GOALS + 20)]
    cell.until(lambda: all(each.done() for each in answers), 'all answers')
    accepted = [each.result().accepted for each in answers]
    assert accepted == [True] * OPEN_GOALS + [False] * 20
    assert cell.refusals == [
        f'goal refused: {OPEN_GOALS} goals are open, send it again later'] * 20
    cell.started()
    cell.controller.end(0, 'succeed', error_code=0)
    results = [each.result().get_result_async() for each in answers if each.result().accepted]
    cell.until(lambda: any(each.done() for each in results), 'the end of one')
    assert cell.send().accepted, 'where one has ended there is a place'
    client.destroy()


def test_goals_that_wait_take_turns_with_messages_and_end_with_a_stop(cell):
    node = cell.nodes['relay']
    node.deferring = True
    handles = [cell.send(), cell.send()]
    assert all(handle.accepted for handle in handles) and cell.relay.busy
    for _ in range(3):
        cell.until(lambda: True, 'nothing')
    assert not cell.controller.handles, 'they wait until the node has time'
    node.work(0.0)
    cell.started()
    assert node.ready, 'the second one still waits'
    cell.relay.stop('stopped by the test')
    node.work(1.0)
    results = [cell.result(handle) for handle in handles]
    assert {each.status for each in results} == {GoalStatus.STATUS_ABORTED}
    assert {each.result.error_string for each in results} == {'stopped by the test'}
    assert len(cell.controller.handles) == 1, 'what waited never reached the controller'


def test_an_error_in_the_answer_to_a_goal_is_a_refusal(cell, monkeypatch):
    def fail(reason):
        raise KeyError('nobody foresaw this')
    cell.relay._refuse = fail
    monkeypatch.setattr(type(cell.relay), 'ready', False)
    assert not cell.send().accepted
    assert cell.nodes['relay'].diagnostics.counted('unforeseen errors') == 1


def test_an_abort_of_the_controller_passes_through_with_its_reason(cell):
    handle = cell.send()
    cell.started()
    cell.controller.end(0, 'abort', error_code=-4, error_string='joint_2 is late')
    response = cell.result(handle)
    assert response.status == GoalStatus.STATUS_ABORTED
    assert (response.result.error_code, response.result.error_string) == (-4, 'joint_2 is late')
    assert cell.ends == [GoalEnd.DROPPED]


def test_a_goal_that_was_replaced_says_nothing_about_the_new_one(cell):
    first, second = cell.send(), cell.send()
    cell.started(2)
    cell.controller.end(0, 'abort', error_code=0, error_string='replaced')
    assert cell.result(first).result.error_string == 'replaced'
    assert cell.ends == []
    cell.controller.end(1, 'succeed')
    cell.result(second)
    assert cell.ends == [GoalEnd.SUCCEEDED]


def test_a_stop_aborts_goals_here_and_leaves_the_controller_alone(cell):
    handle = cell.send()
    cell.started()
    cell.until(lambda: cell.relay.executing, 'the handle')
    cell.relay.stop('enough')
    response = cell.result(handle)
    assert response.status == GoalStatus.STATUS_ABORTED
    assert response.result.error_string == 'enough'
    assert cell.ends == [GoalEnd.REPLACED]
    assert not cell.controller.handles[0].is_cancel_requested
    assert not cell.relay.busy
    cell.controller.end(0, 'succeed')


def test_a_cancel_request_reaches_the_controller_and_comes_back(cell):
    handle = cell.send()
    cell.started()
    cell.until(lambda: cell.relay.executing, 'the handle')
    cell.finished(handle.cancel_goal_async(), 'the answer to the cancel request')
    response = cell.result(handle)
    assert response.status == GoalStatus.STATUS_CANCELED
    assert response.result.error_string == 'stopped'


def test_a_cancelled_goal_is_braked_where_that_is_possible(cell):
    cell.can_brake = True
    handle = cell.send()
    cell.started()
    cell.until(lambda: cell.relay.executing, 'the handle')
    cell.finished(handle.cancel_goal_async(), 'the answer to the cancel request')
    response = cell.result(handle)
    assert response.status == GoalStatus.STATUS_CANCELED
    assert response.result.error_string == 'cancelled: braked along the trajectory'
    assert not cell.controller.handles[0].is_cancel_requested, 'it follows the brake'
    assert (cell.brakes, cell.ends) == (1, [GoalEnd.REPLACED])
    assert not cell.relay.busy
    cell.controller.end(0, 'succeed')
    second = cell.send()
    cell.started(2)
    cell.controller.end(1, 'succeed')
    assert cell.result(second).status == GoalStatus.STATUS_SUCCEEDED


def test_all_goals_are_cancelled_at_the_controller_when_the_node_comes_to_rest(cell):
    handle = cell.send()
    cell.started()
    cell.until(lambda: cell.relay.executing, 'the handle')
    cell.relay.cancel()
    response = cell.result(handle)
    assert response.status == GoalStatus.STATUS_ABORTED, 'the client did not ask for it'
    assert response.result.error_string == 'stopped'


def test_a_new_goal_runs_beside_the_old_one_until_the_controller_says_otherwise(cell):
    first = cell.send()
    cell.started()
    second = cell.send()
    cell.started(2)
    cell.controller.end(0, 'abort', error_string='replaced')
    assert cell.result(first).result.error_string == 'replaced'
    cell.controller.end(1, 'succeed')
    assert cell.result(second).status == GoalStatus.STATUS_SUCCEEDED


def test_a_trajectory_that_cannot_be_filled_is_aborted_with_the_reason(cell):
    bad = motion_message()
    bad.points = bad.points[:1]
    response = cell.result(cell.send(bad))
    assert response.status == GoalStatus.STATUS_ABORTED
    assert response.result.error_code == FollowJointTrajectory.Result.INVALID_GOAL
    assert response.result.error_string == 'expected two points'
    assert cell.controller.goals == []
    assert 'expected two points' in cell.refusals[0]


def test_a_goal_that_the_controller_refuses_is_aborted(cell):
    cell.controller.accepts = False
    response = cell.result(cell.send())
    assert response.status == GoalStatus.STATUS_ABORTED
    assert 'controller/follow has refused the goal' in response.result.error_string


def test_a_controller_that_goes_away_ends_the_goal(cell):
    handle = cell.send()
    cell.started()
    cell.until(lambda: cell.relay.executing, 'the handle')
    cell.controller.close()
    response = cell.result(handle)
    assert response.status == GoalStatus.STATUS_ABORTED
    assert 'has gone' in response.result.error_string
    assert not cell.send().accepted
    assert 'no action server controller/follow' in cell.refusals[-1]


def test_a_controller_that_goes_away_before_it_answers_ends_the_goal(cell, monkeypatch):
    # a request that is lost with its controller
    monkeypatch.setattr(cell.relay._client, 'send_goal_async', lambda *_, **__: Future())
    handle = cell.send()
    cell.controller.close()
    response = cell.result(handle)
    assert response.status == GoalStatus.STATUS_ABORTED
    assert 'has gone away before it took the goal' in response.result.error_string


def test_a_goal_that_the_controller_takes_too_late_is_cancelled_there(cell, monkeypatch):
    answer, send = Future(), cell.relay._client.send_goal_async
    monkeypatch.setattr(cell.relay._client, 'send_goal_async', lambda *_, **__: answer)
    handle = cell.send()
    monkeypatch.setattr(cell.relay._client, 'server_is_ready', lambda: False)
    assert 'has gone away' in cell.result(handle).result.error_string
    sent = send(cell.controller_goal())
    answer.set_result(cell.finished(sent, 'the answer of the controller'))
    cell.until(lambda: cell.controller.endings[0].done(), 'the cancel request')


def test_an_unforeseen_error_aborts_the_goal_and_is_reported(cell):
    bad = motion_message()
    bad.points = [*bad.points, bad.points[-1]]
    response = cell.result(cell.send(bad))
    assert response.status == GoalStatus.STATUS_ABORTED
    assert "KeyError: 'nobody foresaw this'" in response.result.error_string
    assert isinstance(cell.errors[0], KeyError)


def test_a_missing_control_msgs_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'control_msgs', None)
    with pytest.raises(ParameterError, match='needs the package control_msgs'):
        follow_joint_trajectory_type()
