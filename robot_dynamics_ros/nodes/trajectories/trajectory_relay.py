# SPDX-License-Identifier: Apache-2.0
"""
FollowJointTrajectory in, FollowJointTrajectory out, with efforts filled in between.

MoveIt sends action goals. The relay is their server and a client of the controller; feedback,
results and cancel requests pass through. It keeps no trajectory state of its own: the controller
decides which goal replaces which.

Goals wait in an inbox as messages and requests do, and take turns with them; one that finds no
place among the open goals is refused at once.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.action.client import ClientGoalHandle
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError
from robot_dynamics_ros.nodes.support.diagnostics import described
from robot_dynamics_ros.nodes.support.guarded_node import GuardedNode, Inbox
from robot_dynamics_ros.nodes.support.services import SERVICE

#: Time between two checks that the controller is there [s].
PERIOD = 0.5
#: Number of goals that may be open, here or at the controller; each keeps its trajectory.
OPEN_GOALS = 100
#: An action is made of three services.
_QUEUES = {f'{service}_service_qos_profile': SERVICE for service in ('goal', 'result', 'cancel')}


def follow_joint_trajectory_type() -> Any:
    """
    Return the action type of joint_trajectory_controller.

    :raises ParameterError: control_msgs is not installed.
    """
    try:
        from control_msgs.action import FollowJointTrajectory
    except ImportError as error:
        raise ParameterError('controller_action needs the package control_msgs: install '
                             'ros-$ROS_DISTRO-control-msgs, or leave controller_action empty and '
                             'use the topic joint_trajectory') from error
    return FollowJointTrajectory


class GoalEnd(Enum):
    """How a goal has ended at the controller."""

    REFUSED = 'never taken'
    SUCCEEDED = 'succeeded'
    DROPPED = 'cancelled or aborted'
    REPLACED = 'stopped by another trajectory'


class _Goal:
    """A goal under way: its handle at the controller, and whether it is to be cancelled."""

    def __init__(self) -> None:
        self.finished = Future()  # of the controller's answer; None = there will be none
        self.forwarded: ClientGoalHandle | None = None
        self.cancelled = False
        self.stopped = ''  # why nobody waits for the controller any more
        self.braked = False  # the controller brakes, and holds

    def finish(self, response: Any) -> None:
        """Keep the first answer and ignore later ones."""
        if not self.finished.done():
            self.finished.set_result(response)


class TrajectoryRelay:
    """Relays goals to one controller."""

    def __init__(self, node: GuardedNode, action_type: Any, *, name: str, controller: str,
                 fill: Callable[[JointTrajectory], JointTrajectory],
                 brake: Callable[[], bool], ended: Callable[[GoalEnd], None],
                 refuse: Callable[[str], None],
                 unforeseen: Callable[[Exception], None]) -> None:
        """
        Offer the action.

        :param node: node whose executor runs the relay.
        :param action_type: action type with the fields of control_msgs/FollowJointTrajectory.
        :param name: name of the action that is offered.
        :param controller: name of the controller's action.
        :param fill: function that returns a trajectory with efforts; may raise
            RobotDynamicsError.
        :param brake: function that replaces what the controller follows by a brake, and returns
            whether it could; a controller that is asked to cancel stops at once, without efforts.
        :param ended: function that gets how the goal that was filled last has ended.
        :param refuse: function that gets the reason why a goal was not executed.
        :param unforeseen: function that gets an error that nobody foresaw.
        """
        self._type, self._fill, self._refuse = action_type, fill, refuse
        self._brake = brake
        self._unforeseen, self._ended = unforeseen, ended
        self._latest: _Goal | None = None
        self._node, self._controller = node, controller
        self._goals: dict[bytes, _Goal] = {}
        self._client = ActionClient(node, action_type, controller, **_QUEUES)
        self._inbox = Inbox(node, self._guarded(ServerGoalHandle.execute), OPEN_GOALS)
        self._server = ActionServer(
            node, action_type, name, self._execute,
            goal_callback=node.guarded(self._on_goal, lambda *_: GoalResponse.REJECT),
            handle_accepted_callback=self._on_accepted,
            cancel_callback=node.guarded(self._on_cancel, lambda *_: CancelResponse.REJECT),
            **_QUEUES)
        # real time: a controller may go away while a simulation is paused
        self._timer = node.create_timer(PERIOD, self._on_tick,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))

    @property
    def ready(self) -> bool:
        """True while the action of the controller is there."""
        return bool(self._client.server_is_ready())

    @property
    def busy(self) -> bool:
        """True while there are goals, here or at the controller."""
        return bool(self._goals)

    @property
    def executing(self) -> int:
        """Number of goals that the controller has accepted and not finished."""
        return sum(goal.forwarded is not None and goal.forwarded.accepted
                   for goal in self._goals.values())

    def cancel(self) -> None:
        """Cancel all goals at the controller."""
        for goal in self._goals.values():
            _cancel(goal)

    def stop(self, reason: str) -> None:
        """Abort all goals here: another trajectory has been sent to the controller."""
        for goal in self._goals.values():
            goal.stopped = reason
            goal.finish(None)

    def destroy(self) -> None:
        """Remove the action."""
        self._node.destroy_timer(self._timer)
        self._inbox.clear()
        self._server.destroy()
        self._client.destroy()

    def _on_goal(self, request: Any) -> GoalResponse:
        if not self.ready:
            self._refuse(f'goal refused: no action server {self._controller}')
        elif len(self._goals) >= OPEN_GOALS:
            self._refuse(f'goal refused: {OPEN_GOALS} goals are open, send it again later')
        else:
            return GoalResponse.ACCEPT
        return GoalResponse.REJECT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        self._goals[bytes(handle.goal_id.uuid)] = _Goal()
        self._inbox(handle)

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        goal = self._goals.get(bytes(handle.goal_id.uuid))
        if goal is None:
            return CancelResponse.ACCEPT
        if (goal is self._latest and goal.forwarded is not None and goal.forwarded.accepted
                and not goal.finished.done() and self._brake()):
            goal.braked = True
            goal.finish(None)
        else:
            _cancel(goal)
        return CancelResponse.ACCEPT

    def _on_tick(self) -> None:
        if self._goals and not self.ready:
            for goal in self._goals.values():
                goal.finish(None)

    async def _execute(self, handle: ServerGoalHandle) -> Any:
        key = bytes(handle.goal_id.uuid)
        goal = self._goals[key]
        goal.cancelled |= handle.is_cancel_requested
        try:
            if goal.stopped:  # while it waited
                return self._failed(handle, self._type.Result.INVALID_GOAL, goal.stopped)
            return await self._relay(handle, goal)
        except RobotDynamicsError as error:
            return self._failed(handle, self._type.Result.INVALID_GOAL, str(error))
        except Exception as error:
            self._unforeseen(error)
            _cancel(goal)
            return self._failed(handle, self._type.Result.INVALID_GOAL,
                                f'unforeseen error: {described(error)}')
        finally:
            del self._goals[key]

    async def _relay(self, handle: ServerGoalHandle, goal: _Goal) -> Any:
        request = handle.request
        request.trajectory = self._fill(request.trajectory)
        self._latest = goal

        def pass_on(message: Any) -> None:
            if handle.is_active:
                handle.publish_feedback(message.feedback)

        def taken(future: Future) -> None:
            goal.forwarded = future.result()
            if not goal.forwarded.accepted:
                goal.finish(None)
            elif goal.finished.done():  # too late: nobody waits for it any more
                _cancel(goal)
            else:
                if goal.cancelled:
                    _cancel(goal)
                goal.forwarded.get_result_async().add_done_callback(
                    self._guarded(lambda result: goal.finish(result.result())))

        self._client.send_goal_async(request, feedback_callback=self._guarded(pass_on)
                                     ).add_done_callback(self._guarded(taken))
        response = await goal.finished  # not of the client's future, which may never be done
        forwarded = goal.forwarded
        self._tell(goal, response)
        if goal.braked:
            handle.canceled()
            return self._type.Result(error_string='cancelled: braked along the trajectory')
        if goal.stopped:
            return self._failed(handle, self._type.Result.INVALID_GOAL, goal.stopped)
        if forwarded is None:
            return self._failed(handle, self._type.Result.INVALID_GOAL,
                                f'{self._controller} has gone away before it took the goal')
        if not forwarded.accepted:
            return self._failed(handle, self._type.Result.INVALID_GOAL,
                                f'{self._controller} has refused the goal; a controller without '
                                'an effort interface refuses efforts')
        if response is None:
            return self._failed(handle, self._type.Result.PATH_TOLERANCE_VIOLATED,
                                f'{self._controller} has gone away while it executed the goal')
        end = {GoalStatus.STATUS_SUCCEEDED: handle.succeed,
               GoalStatus.STATUS_CANCELED: handle.canceled}.get(response.status, handle.abort)
        if end == handle.canceled and not handle.is_cancel_requested:
            end = handle.abort  # the controller stopped by itself: nobody asked us to cancel
        end()
        return response.result

    def _tell(self, goal: _Goal, response: Any) -> None:
        """Say how a goal has ended, unless a later one has replaced it."""
        if goal is not self._latest:
            return
        if goal.stopped or goal.braked:
            ending = GoalEnd.REPLACED
        elif goal.forwarded is None or not goal.forwarded.accepted:
            ending = GoalEnd.REFUSED
        elif response is not None and response.status == GoalStatus.STATUS_SUCCEEDED:
            ending = GoalEnd.SUCCEEDED
        else:
            ending = GoalEnd.DROPPED
        self._ended(ending)

    def _guarded(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        def safe(argument: Any) -> None:
            try:
                callback(argument)
            except Exception as error:
                self._unforeseen(error)
        return safe

    def _failed(self, handle: ServerGoalHandle, code: int, message: str) -> Any:
        handle.abort()
        self._refuse(f'goal not executed: {message}')
        return self._type.Result(error_code=code, error_string=message)


def _cancel(goal: _Goal) -> None:
    """Cancel a goal at the controller, now or as soon as it has it."""
    goal.cancelled = True
    if goal.forwarded is not None and goal.forwarded.accepted:
        goal.forwarded.cancel_goal_async()
