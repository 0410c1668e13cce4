# SPDX-License-Identifier: Apache-2.0
"""
Start nodes, spin them, end them: the main function of every node.

SIGINT and SIGTERM end the loop; the nodes come to rest while they can still publish, and the
process exits with 0. An error at start is printed and gives exit code 1.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import FrameType

import rclpy
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.logging import get_logger
from rclpy.signals import SignalHandlerOptions

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.support.diagnostics import described
from robot_dynamics_ros.nodes.support.guarded_node import GuardedNode
from robot_dynamics_ros.nodes.support.robot_node import RobotNode

#: Longest time that a signal waits for the executor [s].
RESPONSE = 0.1
#: Time in turn for events, and for the messages of a node [s].
BUDGET = 0.01


def survives_events(nodes: Iterable[GuardedNode]) -> bool:
    """
    Return whether rclpy's events executor can run nodes without ending their process (SIGSEGV).

    Where an action is removed while something comes for it, the last reference to it goes with a
    waiting event, which calls Python without its lock (docs/reliability.md). So it is with what
    rclpy hears about the quality of service of a topic that is removed. And where a task raises,
    as goals are, it asks its only node for a logger in a way that cannot be.

    :param nodes: nodes of one process.
    """
    return not any(node.has_actions or node.has_removed for node in nodes)


def make_executor(nodes: Iterable[GuardedNode]) -> Executor:
    """
    Return the executor of nodes: rclpy's events executor where they survive it.

    Measured (benchmark/bench_nodes.py): with joint states at 1 kHz it takes half the processor
    time of the single-threaded one, but most of a core while a goal is under way: it calls a task
    that waits again and again. Its own spin() ignores signals, so `run` calls spin_once.

    :param nodes: nodes that it will run.
    """
    if not survives_events(nodes):
        return SingleThreadedExecutor()
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def uses_fast_dds() -> bool:
    """Return whether Fast DDS is the middleware of this process."""
    return 'fastrtps' in rclpy.get_rmw_implementation_identifier()


def run(*make_nodes: Callable[[], RobotNode], arguments: Sequence[str] | None = None,
        executor_of: Callable[[Iterable[GuardedNode]], Executor] = make_executor) -> int:
    """
    Run nodes in one executor until a signal, or one of them, ends all.

    :param make_nodes: functions that construct a node each; several robots differ in `namespace`.
    :param arguments: command line with ROS arguments; None = that of the process.
    :param executor_of: function that constructs the executor of nodes; called once more where
        they no longer survive the events executor.
    :returns: exit code.
    """
    stop = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    try:
        # with ROS's own handlers the context dies with the signal, and no last message gets out
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
        nodes = [make_node() for make_node in make_nodes]
    except Exception as error:
        get_logger('robot_dynamics_ros').fatal(
            str(error) if isinstance(error, RobotDynamicsError) else described(error))
        rclpy.try_shutdown()
        return 1
    started = all(_start(node) for node in nodes)
    queue = EventQueue(nodes, executor_of)
    try:
        while started and rclpy.ok() and not (
                stop.is_set() or any(node.finished for node in nodes)):
            try:
                queue.turn()
            except ExternalShutdownException:
                break
            except Exception as error:  # outside every callback
                for node in nodes:
                    node.unforeseen(error)
    finally:
        for node in nodes:
            node.rest()
        queue.close()
        for node in nodes:
            node.destroy_node()
        rclpy.shutdown()
    return 0 if started and not any(node.failure for node in nodes) else 1


class EventQueue:
    """
    The events of an executor, which are taken out before anything is done about them.

    A mark at the end of the queue tells when all is out that was in it. Messages are in the
    inboxes of the nodes then: the queue stays short however slowly they are handled, and no timer
    takes a message that has come for one that stays away.
    """

    def __init__(self, nodes: Sequence[GuardedNode],
                 executor_of: Callable[[Iterable[GuardedNode]], Executor]) -> None:
        """
        Put nodes into an executor.

        :param nodes: nodes whose messages wait in their inboxes from now on.
        :param executor_of: function that constructs the executor of nodes.
        """
        self._nodes, self._executor_of = nodes, executor_of
        self._emptied = 0.0
        for node in nodes:
            node.deferring = True
        self._open()

    def _open(self) -> None:
        """Make the executor for what the nodes are now, and put the first mark into its queue."""
        self._survives_events = survives_events(self._nodes)
        self._executor = self._executor_of(self._nodes)
        for node in self._nodes:
            self._executor.add_node(node)
        self._mark = self._executor.create_task(_nothing)

    def close(self) -> None:
        """Take the nodes out of the executor; what has come for them stays in DDS."""
        for node in self._nodes:
            self._executor.remove_node(node)
        self._executor.shutdown()

    def turn(self) -> None:
        """Wait for an event, and do what there is to do, for a moment."""
        if self._survives_events and not survives_events(self._nodes):
            self.close()
            self._open()
        waiting = any(node.ready for node in self._nodes)
        self._executor.spin_once(timeout_sec=0.0 if waiting else RESPONSE)
        if time.monotonic() - self._emptied >= BUDGET:
            if self._mark.done():
                self._mark = self._executor.create_task(_nothing)
            self._executor.spin_until_future_complete(self._mark, timeout_sec=BUDGET)
            self._emptied = time.monotonic()
        for node in self._nodes:
            node.work(BUDGET)
            node.call_due_timers()


def _nothing() -> None:
    pass


def _start(node: RobotNode) -> bool:
    if not node.settings.autostart:
        return True
    success = TransitionCallbackReturn.SUCCESS
    return node.trigger_configure() == success and node.trigger_activate() == success
