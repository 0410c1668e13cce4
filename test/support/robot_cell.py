# SPDX-License-Identifier: Apache-2.0
"""A feedforward node and a stock controller in lockstep, without DDS. Needs ROS 2."""

import numpy as np
import pytest
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support.conversion import trajectory_from_message
from support.messages import JOINTS, published, trajectory_message

PERIOD = 0.01  # of joint states and controller states [s]
GAINS = {'p': [400.0, 150.0], 'i': [400.0, 150.0], 'd': [60.0, 15.0]}
REST = [0.0, 0.0]
STOP = JointTrajectory(joint_names=list(JOINTS))


def moves(start, goal, *, time=1.5, at=0.0, stamp=0.0):
    """Return a trajectory from rest to rest."""
    rest = [0.0] * len(start)
    return trajectory_message([
        {'time': at, 'positions': list(start), 'velocities': rest, 'accelerations': rest},
        {'time': at + time, 'positions': list(goal), 'velocities': rest, 'accelerations': rest}],
        start=stamp)


def stays(q):
    """Return a trajectory of a single point."""
    return trajectory_message([{'time': 0.0, 'positions': list(q)}])


def state_type():
    """Return the message type of controller_state, or skip the test."""
    messages = pytest.importorskip('robot_dynamics_test_interfaces.msg', reason='make setup')
    if not hasattr(messages, 'JointTrajectoryControllerState'):
        pytest.skip('the test interfaces are of an older version: make setup')
    return messages.JointTrajectoryControllerState


class InformedNode(FeedforwardNode):
    """A feedforward node that knows the controller's state where control_msgs is missing."""

    def state_type(self):
        return state_type()


class RobotCell:
    """What the node publishes reaches the controller before the next period."""

    def __init__(self, node, controller, *, shows_state=True):
        self.node, self.controller, self.shows_state = node, controller, shows_state
        self.messages = []   # all that the node has sent
        self._output = published(node, '/joint_trajectory')
        node.now = controller.time

    def run(self, time):
        """Let time pass [s]; return positions, references and errors (N, n) of every period."""
        rows = []
        for _ in range(round(time / PERIOD)):
            self.controller.advance(PERIOD)
            self.node.now = self.controller.time
            if self.controller.active:
                self.node.receive(self.controller.joint_state())
                if self.shows_state:
                    self.node.receive(self.controller.state(state_type()))
            self.deliver()
            rows.append((self.controller.q, self.controller.control.desired(
                self.controller.time).q, self.controller.error))
        return tuple(np.array(column) for column in zip(*rows))

    def send(self, message):
        """Give a trajectory to the node."""
        self.node.receive(message)
        self.deliver()

    def deliver(self):
        for message in self._output:
            self.controller.receive(message)
            self.messages.append(message)
        self._output.clear()

    @property
    def last(self):
        """The last trajectory that was sent."""
        return trajectory_from_message(self.messages[-1], with_efforts=True)
