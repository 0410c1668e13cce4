# SPDX-License-Identifier: Apache-2.0
"""
A node that nothing from outside ends, and that no flood of messages fills.

Every callback goes through `GuardedNode.guarded`: an error that its handler does not foresee is
logged with its place and counted, what the node commands comes to a safe end, and the node stays
up.

The events executor queues an event for every message, even for one that a newer message has
replaced in the history of DDS, and hands out one message per event. Where messages are handled
more slowly than they come, that queue would grow for ever. So a message that is handed out only
moves into the inbox of its topic, which is as deep as the history, and the events are gone;
`work` handles what is in the inboxes. Requests of services wait in the same way. Without a runner
that calls it, messages and requests are handled at once.
"""

from __future__ import annotations

import functools
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient, ActionServer
from rclpy.lifecycle import LifecycleNode

from robot_dynamics_ros.nodes.support.diagnostics import Diagnostics, described, place
from robot_dynamics_ros.nodes.support.services import SERVICE, RequestInbox, refusal


class Inbox:
    """Messages of one topic that wait for a node; the oldest ones give way to newer ones."""

    def __init__(self, node: GuardedNode, handler: Callable[[Any], None], depth: int) -> None:
        """
        Wait for messages.

        :param node: node that handles them.
        :param handler: function that handles one.
        :param depth: largest number of messages that wait.
        """
        self._node, self._handler = node, handler
        self._waiting: deque[Any] = deque(maxlen=depth)

    def __call__(self, message: Any) -> None:
        """Take a message: handle it at once, or keep it for `handle`."""
        if not self._node.deferring:
            self._handler(message)
            return
        if not self._waiting:
            self._node.ready.append(self)
        elif len(self._waiting) == self._waiting.maxlen:
            self._node.diagnostics.count('skipped messages')
        self._waiting.append(message)

    def handle(self) -> None:
        """Handle the oldest message, if there is one."""
        if self._waiting:
            message = self._waiting.popleft()
            if self._waiting:
                self._node.ready.append(self)
            self._handler(message)

    def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()


class GuardedNode(LifecycleNode):
    """A lifecycle node with a guard around every callback, and with inboxes."""

    active = False
    #: True = messages wait until `work` is called.
    deferring = False
    #: True from the first action on, offered or used, even when it is gone.
    has_actions = False
    #: True from the first topic or action on that it had and has no more.
    has_removed = False

    def __init__(self, name: str, **options: Any) -> None:
        """
        Guard what rclpy itself has created.

        :param name: name of the node.
        :param options: keyword arguments of rclpy's Node.
        """
        self.ready: deque[Inbox | RequestInbox] = deque()  # those with something, as it came
        super().__init__(name, **options)
        for service in self.services:
            if not isinstance(service.callback, RequestInbox):
                self._guard_service(service)
        self.diagnostics = Diagnostics(self)

    def stop_commanding(self) -> None:
        """Bring what the node commands to a safe end after an error; it stays active."""

    # Unforeseen errors

    def guarded(self, callback: Callable[..., Any],
                otherwise: Callable[..., Any] = lambda error, *arguments: None
                ) -> Callable[..., Any]:
        """
        Return a callback that never raises.

        :param callback: function that may fail in a way that nobody foresaw.
        :param otherwise: function that gets the error and the arguments and returns the result
            after a failure.
        """
        @functools.wraps(callback)
        def safe(*arguments: Any) -> Any:
            try:
                return callback(*arguments)
            except Exception as error:
                self.unforeseen(error)
                return otherwise(error, *arguments)
        return safe

    def unforeseen(self, error: Exception) -> None:
        """Report an error that nobody foresaw, and bring what the node commands to a safe end."""
        self.report(error)
        try:
            if self.active:
                self.stop_commanding()
        except Exception as another:
            self.report(another)

    def report(self, error: Exception) -> None:
        """Log and count an error that nobody foresaw."""
        text = f'unforeseen error: {described(error)}'
        if hasattr(self, 'diagnostics'):
            self.diagnostics.error('unforeseen errors', text, place(error))
        else:
            self.get_logger().error(text)

    def _guard_service(self, service: Any) -> None:
        """Let a service answer after an unforeseen error, too, and let its requests wait."""
        kind, callback = service.srv_type, service.callback

        def answer(error: Exception, request: Any, response: Any) -> Any:
            return refusal(kind, f'unforeseen error: {described(error)}')

        @functools.wraps(callback)
        def refuse(request: Any, response: Any) -> Any:
            # parameters and lifecycle: what they call here is guarded, so rclpy itself has
            # found that the request makes no sense
            try:
                return callback(request, response)
            except Exception as error:
                self.diagnostics.warn('refused requests', f'{kind.__name__}: {described(error)}')
                return answer(error, request, response)
        of_rclpy = callback.__module__.startswith('rclpy.')
        RequestInbox(self, service, refuse if of_rclpy else self.guarded(callback, answer))

    def create_subscription(self, msg_type: Any, topic: str, callback: Callable[..., Any],
                            *arguments: Any, newest: bool = False, **options: Any) -> Any:
        """
        Subscribe as rclpy does, with a guarded callback and an inbox.

        :param newest: True = where several messages wait, only the last one is handled.
        """
        subscription = super().create_subscription(msg_type, topic, self.guarded(callback),
                                                   *arguments, **options)
        depth = 1 if newest else max(1, subscription.qos_profile.depth)
        subscription.callback = Inbox(self, subscription.callback, depth)
        return subscription

    def destroy_subscription(self, subscription: Any) -> bool:
        """Unsubscribe as rclpy does; what waits is forgotten."""
        subscription.callback.clear()
        self.has_removed = True
        return bool(super().destroy_subscription(subscription))

    def destroy_publisher(self, publisher: Any) -> bool:
        """End a publisher as rclpy does."""
        self.has_removed = True
        return bool(super().destroy_publisher(publisher))

    def create_service(self, srv_type: Any, srv_name: str, callback: Callable[..., Any],
                       **options: Any) -> Any:
        """Offer a service as rclpy does, with a guarded callback, a deep queue and an inbox."""
        options['qos_profile'] = SERVICE
        service = super().create_service(srv_type, srv_name, callback, **options)
        self._guard_service(service)
        return service

    def destroy_service(self, service: Any) -> bool:
        """End a service as rclpy does; requests that wait are refused."""
        service.callback.clear()
        return bool(super().destroy_service(service))

    def destroy_node(self) -> None:
        """End the node as rclpy does, and its lifecycle, which would stay in the graph."""
        super().destroy_node()
        self._state_machine.destroy_when_not_in_use()

    def create_timer(self, timer_period_sec: float, callback: Callable[..., Any],
                     *arguments: Any, **options: Any) -> Any:
        """Create a timer as rclpy does, with a guarded callback."""
        return super().create_timer(timer_period_sec, self.guarded(callback), *arguments,
                                    **options)

    def add_waitable(self, waitable: Any) -> None:
        """Add as rclpy does, and take note of an action."""
        self.has_actions |= isinstance(waitable, (ActionClient, ActionServer))
        super().add_waitable(waitable)

    def remove_waitable(self, waitable: Any) -> None:
        """Remove as rclpy does."""
        self.has_removed = True
        super().remove_waitable(waitable)

    # What a runner calls

    def work(self, budget: float) -> None:
        """
        Handle what waits, one message or request of each topic and service in turn.

        :param budget: time after which no further one is begun [s].
        """
        end = time.monotonic() + budget
        while self.ready:
            inbox = self.ready.popleft()
            try:
                inbox.handle()
            except Exception as error:  # an answer that cannot be sent
                self.unforeseen(error)
            if time.monotonic() >= end:
                break

    def call_due_timers(self) -> None:
        """
        Call the timers that are due, which then are not due for the executor any more.

        In the events executor they would wait behind the events of all messages that have come.
        """
        for timer in self.timers:
            if timer.is_ready():
                timer.handle.call_timer()
                timer.callback()

    # What DDS and the executor would do: for tests, and for a node inside another program

    def receive(self, message: Any, topic: str | None = None) -> None:
        """
        Handle a message as if it had come over DDS.

        :param message: message of the type of a subscription.
        :param topic: name of the topic; None = the only one with messages of this type.
        :raises LookupError: no such subscription, or several.
        """
        found = {each.topic_name: each for each in self.subscriptions
                 if each.msg_type is type(message)}
        name = None if topic is None else self.resolve_topic_name(topic)
        self._only(found, name, f'subscription to {type(message).__name__}').callback(message)

    def call(self, request: Any, service: str | None = None) -> Any:
        """
        Return the response to a request as if it had come over DDS.

        :param request: request of the type of a service.
        :param service: name of the service; None = the only one with requests of this type.
        :raises LookupError: no such service, or several.
        """
        found = {each.service_name: each for each in self.services
                 if each.srv_type.Request is type(request)}
        name = None if service is None else self.resolve_service_name(service)
        server = self._only(found, name, f'service for {type(request).__name__}')
        return server.callback.answer(request, server.srv_type.Response())

    def tick(self, period: float | None = None) -> int:
        """
        Let timers fire once, whatever their clocks say, and return how many did.

        :param period: period of these timers [s]; None = all timers. Cancelled ones do not fire.
        :raises LookupError: no timer has this period.
        """
        timers = [each for each in self.timers if period is None
                  or math.isclose(each.timer_period_ns * 1e-9, period, rel_tol=1e-6)]
        if not timers:
            raise LookupError(f'{self.get_name()}: no timer with a period of {period} s')
        running = [each for each in timers if not each.is_canceled()]
        for each in running:
            each.callback()
        return len(running)

    def _only(self, found: dict[str, Any], name: str | None, what: str) -> Any:
        chosen = list(found.values()) if name is None else [found[name]] if name in found else []
        if len(chosen) != 1:
            raise LookupError(f'{self.get_name()}: expected one {what}'
                              f'{"" if name is None else f" named {name}"}, '
                              f'found {", ".join(found) or "none"}')
        return chosen[0]
