# SPDX-License-Identifier: Apache-2.0
"""
Diagnostics of a node: throttled log lines, counters, latencies, /diagnostics.

`described` tells of an error that nobody foresaw, in one line: what it is and where it arose.
"""

from __future__ import annotations

import time
import traceback
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

import robot_dynamics_ros

#: Shortest time between two log lines of one kind [s].
LOG_PERIOD = 2.0
#: Time between two messages on /diagnostics [s].
PERIOD = 1.0
#: Number of latencies that the percentiles are of.
LATENCIES = 1000


class Diagnostics:
    """Counts, logs and publishes; one per node."""

    def __init__(self, node: Node) -> None:
        """
        Publish the diagnostics of a node once per second of real time.

        :param node: node that gives its name to the diagnostic status.
        """
        self._node = node
        self._level, self._message = DiagnosticStatus.OK, 'waiting for the robot description'
        self._values: dict[str, Any] = {}
        self._counts: Counter[str] = Counter()
        self._recent: Counter[str] = Counter()
        self._failed = False  # an error since the last message
        self._published: tuple[float, Counter[str]] = (time.monotonic(), Counter())
        self._latencies: dict[str, deque[float]] = {}
        self._logged: dict[str, float] = {}
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        # a paused simulation must not silence the diagnostics
        self._timer = node.create_timer(PERIOD, self.publish,
                                        clock=Clock(clock_type=ClockType.STEADY_TIME))

    def state(self, message: str, *, error: bool = False) -> None:
        """Set the state of the node, in one sentence."""
        self._level = DiagnosticStatus.ERROR if error else DiagnosticStatus.OK
        self._message = message

    def value(self, key: str, value: Any) -> None:
        """Show a value from now on."""
        self._values[key] = value

    def count(self, key: str, number: int = 1) -> None:
        """Count something that is expected, such as messages."""
        self._counts[key] += number

    def counted(self, key: str) -> int:
        """Return the value of a counter."""
        return self._counts[key]

    def warn(self, kind: str, message: str, number: int = 1) -> None:
        """
        Count something that should not be, and log it with throttle.

        :param kind: short key of the counter, e.g. ``dropped trajectories``.
        :param message: one sentence for people.
        :param number: number of occurrences.
        """
        if self._due(kind, number, kind):
            self._node.get_logger().warning(message)

    def error(self, kind: str, message: str, place: str) -> None:
        """
        Count as `warn` does, and log as an error, with a throttle for each place.

        :param kind: short key of the counter.
        :param message: one sentence for people.
        :param place: file and line, or what else tells one error from another.
        """
        self._failed = True
        if self._due(kind, 1, f'{kind} {place}'):
            self._node.get_logger().error(message)

    def _due(self, kind: str, number: int, line: str) -> bool:
        """Count something that should not be, and return whether it is time to log this line."""
        self._counts[kind] += number
        self._recent[kind] += number
        now = time.monotonic()
        due = now - self._logged.get(line, -LOG_PERIOD) >= LOG_PERIOD
        if due:
            self._logged[line] = now
        return due

    def clipped(self, joint_names: Sequence[str], numbers: Iterable[int],
                consequence: str = '') -> None:
        """
        Count and log torques that were clipped at the effort limits.

        :param joint_names: names of n joints.
        :param numbers: number of clipped torques of each joint.
        :param consequence: end of the sentence in the log.
        """
        for name, number in zip(joint_names, numbers):
            if number:
                self.warn(f'clipped torques of {name}', f'joint {name}: {number} torques clipped '
                          f'at the effort limit{consequence}', int(number))

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Measure how long a block takes."""
        start = time.perf_counter()
        yield
        self._latencies.setdefault(name, deque(maxlen=LATENCIES)).append(
            time.perf_counter() - start)

    def status(self) -> DiagnosticStatus:
        """Return the present status; warnings and errors count until one is published."""
        level, message = self._level, self._message
        if level == DiagnosticStatus.OK and self._recent:
            level = DiagnosticStatus.ERROR if self._failed else DiagnosticStatus.WARN
            message = ', '.join(f'{kind}: {number}' for kind, number in self._recent.items())
        values = {**self._values, **self._counts}
        since, before = self._published
        elapsed = max(time.monotonic() - since, 1e-3)
        for key, number in self._counts.items():
            values[f'{key} [1/s]'] = f'{(number - before[key]) / elapsed:.1f}'
        for name, latencies in self._latencies.items():
            p50, p99 = np.percentile(latencies, [50, 99]) * 1e3
            values[f'{name} p50 [ms]'], values[f'{name} p99 [ms]'] = f'{p50:.2f}', f'{p99:.2f}'
        return DiagnosticStatus(
            level=level, name=self._node.get_fully_qualified_name().lstrip('/'), message=message,
            hardware_id='', values=[KeyValue(key=key, value=str(value))
                                    for key, value in values.items()])

    def publish(self) -> None:
        """Publish the status and clear the recent warnings."""
        message = DiagnosticArray(status=[self.status()])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
        self._published = (time.monotonic(), self._counts.copy())
        self._recent.clear()
        self._failed = False


_PACKAGE = Path(robot_dynamics_ros.__file__).parent


def place(error: BaseException) -> str:
    """Return file and line of the innermost frame in this package, or else anywhere."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return 'nowhere'
    inner = frames[1:] or frames  # the first one is where the error was caught
    own = [frame for frame in inner if _PACKAGE in Path(frame.filename).parents]
    if own:
        return f'{Path(own[-1].filename).relative_to(_PACKAGE.parent)}:{own[-1].lineno}'
    return f'{Path(inner[-1].filename).name}:{inner[-1].lineno}'


def described(error: BaseException) -> str:
    """Return type, text and place."""
    text = ' '.join(str(error).split())  # some errors have several lines
    return f'{type(error).__name__}: {text or "no text"} ({place(error)})'
