# SPDX-License-Identifier: Apache-2.0
"""A trajectory controller for tests: its goals end when and how the test says. Needs ROS 2."""

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future


class Controller:
    """An action server with one future per goal."""

    def __init__(self, node, action_type, name, robot=None):
        """
        Offer the action.

        :param robot: StockController that follows what is accepted and stops with every goal that
            does not succeed; None = nothing moves.
        """
        self._type, self._robot = action_type, robot
        self.accepts = True
        self.goals = []    # requests
        self.handles = []
        self.endings = []  # futures of (way to end, result)
        self._server = ActionServer(node, action_type, name, self._execute,
                                    goal_callback=self._on_goal,
                                    cancel_callback=self._on_cancel)

    def close(self):
        """Go away."""
        if self._server is not None:
            self._server.destroy()
            self._server = None

    def _on_goal(self, request):
        accepted = self.accepts and (self._robot is None
                                     or self._robot.receive(request.trajectory))
        return GoalResponse.ACCEPT if accepted else GoalResponse.REJECT

    def _on_cancel(self, handle):
        index = self.handles.index(next(each for each in self.handles
                                        if each.goal_id == handle.goal_id))
        self.end(index, 'canceled', error_string='stopped')
        return CancelResponse.ACCEPT

    def feedback(self, index, **fields):
        self.handles[index].publish_feedback(self._type.Feedback(**fields))

    def end(self, index, how, **fields):
        """End a goal by 'succeed', 'abort' or 'canceled', with the fields of its result."""
        self.endings[index].set_result((how, self._type.Result(**fields)))

    async def _execute(self, handle):
        self.goals.append(handle.request)
        self.handles.append(handle)
        self.endings.append(Future())
        how, result = await self.endings[-1]
        if self._robot is not None:
            self._robot.succeed() if how == 'succeed' else self._robot.stop()
        getattr(handle, how)()
        return result
