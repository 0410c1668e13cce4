# SPDX-License-Identifier: Apache-2.0
"""
Attacks on the relay of trajectories: goals, cancel requests, and a controller that misbehaves.

One case is a number. It makes a relaying node with a client and a controller, all in this process
but talking over DDS, and some goals, valid and mutated, that are cancelled, ended, refused or left
alone. What must hold: every goal that was accepted ends once everything is cancelled, what reaches
the controller is finite and within the limits, and no error arises that nobody foresaw.
"""

import time
import traceback
import warnings
from dataclasses import dataclass
from random import Random

import rclpy
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from robot_dynamics_test_interfaces.action import FollowJointTrajectory
from support.controller import Controller
from support.messages import joint_state_message, motion_message

from fuzz.message_mutation import mutated
from fuzz.messages import check_trajectory
from fuzz.nodes import CONTROLLER, NODES, context_of_its_own, settings_of
from robot_dynamics_ros import RobotDynamicsError

#: Goals of one case.
GOALS = 12
#: Longest wait for an answer in this process [s].
PATIENCE = 60.0
#: Name of the mode in NODES, and the action that it offers.
RELAY, ACTION = 'feedforward_relay', '/feedforward/follow_joint_trajectory'


class Cell:
    """A client, the relaying node and a controller in one executor."""

    def __init__(self, random, context):
        self.random, self.errors = random, []
        self.node = NODES[RELAY][0](context=context, enable_rosout=False, parameter_overrides=[
            rclpy.parameter.Parameter(key, value=value)
            for key, value in settings_of(RELAY).items()])
        self.node.get_logger().set_level(rclpy.logging.LoggingSeverity.FATAL)
        self.node.report = self.errors.append
        self.node.trigger_configure()
        self.node.trigger_activate()
        self.peer = rclpy.create_node('peer', context=context, enable_rosout=False)
        self.controller = Controller(self.peer, FollowJointTrajectory, CONTROLLER)
        self.client = ActionClient(self.peer, FollowJointTrajectory, ACTION)
        self._executor = SingleThreadedExecutor(context=context)
        for each in (self.node, self.peer):
            self._executor.add_node(each)
        self.limits = {joint.name: joint.effort_limit for joint in self.node.robot.chain.joints}
        self.sent, self.answers, self.handles, self.results = 0, [], [], []
        self.until(lambda: self.client.server_is_ready() and self.node._relay.ready, 'discovery')

    def close(self):
        self.controller.close()
        self.client.destroy()
        self.node.remove_interfaces()  # rclpy leaves actions alone
        for each in (self.node, self.peer):
            self._executor.remove_node(each)
            each.destroy_node()
        self._executor.shutdown()

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f'{what}: not within {PATIENCE:g} s'
            self._executor.spin_once(timeout_sec=0.01)

    def step(self):
        """Send one goal, and do something to those under way."""
        random = self.random
        if random.random() < 0.5:
            self.node.receive(joint_state_message(self.node.now, (0.0, 0.0)))
        goal = FollowJointTrajectory.Goal(trajectory=motion_message())
        if random.random() < 0.7:
            goal = mutated(random, goal)
        self.controller.accepts = random.random() < 0.9
        count = len(self.answers)
        self.sent += 1
        self.client.send_goal_async(goal).add_done_callback(self._answered)
        if random.random() < 0.7:
            self.until(lambda: len(self.answers) > count, 'the answer to a goal')
        for _ in range(random.randrange(4)):
            self._executor.spin_once(timeout_sec=0.002)
        way = random.random()
        if way < 0.3 and self.handles:
            random.choice(self.handles).cancel_goal_async()
        elif way < 0.6:
            self._end(random.choice(('succeed', 'abort', 'canceled')))
        elif way < 0.65:
            self.node._relay.cancel()
        elif way < 0.7:
            self.node.trigger_deactivate()
            self.node.trigger_activate()
        for each in self.controller.goals:
            check_trajectory(each.trajectory, self.limits)
        self._nothing_unforeseen()

    def finish(self):
        """Cancel everything; every goal must come to an end."""
        self.until(lambda: len(self.answers) == self.sent, 'the answers to all goals')
        for each in self.handles:
            each.cancel_goal_async()
        self.node._relay.cancel()
        self.until(lambda: len(self.results) == len(self.handles), 'the ends of all goals')
        assert not self.node._relay.busy
        self._nothing_unforeseen()

    def _answered(self, future):
        self.answers.append(future.result())
        if self.answers[-1].accepted:
            self.handles.append(self.answers[-1])
            self.answers[-1].get_result_async().add_done_callback(self.results.append)

    def _end(self, how):
        for i, (handle, ending) in enumerate(zip(self.controller.handles,
                                                 self.controller.endings)):
            if not ending.done() and (how != 'canceled' or handle.is_cancel_requested):
                self.controller.end(i, how, error_string=self.random.choice(('', 'x' * 10_000)))
                return

    def _nothing_unforeseen(self):
        assert not self.errors, ''.join(traceback.format_exception(self.errors[0]))


@dataclass
class GoalTarget:
    """
    The relay; the same fields as the targets of files have.

    :param context: context of rclpy; None = one of its own.
    """

    context: object = None
    name: str = 'goals'
    hang: float = 20.0

    def examples(self):
        return [b'0', b'1']

    def mutate(self, random, examples):
        return str(random.randrange(2**32)).encode()

    def read(self, case, goals=GOALS):
        """Send everything that belongs to this number; return the cell."""
        self.context = self.context or context_of_its_own()
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # of numbers beyond the range
            cell = Cell(Random(f'{self.name}/{case.decode()}'), self.context)
            try:
                for _ in range(goals):
                    cell.step()
                cell.finish()
                return cell
            except RobotDynamicsError as error:  # would count as a refusal
                raise AssertionError(f'left the relay: {error}') from error
            finally:
                cell.close()


TARGETS = [GoalTarget()]
