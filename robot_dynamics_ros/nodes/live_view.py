# SPDX-License-Identifier: Apache-2.0
"""
The live view: what the identification learns, on a terminal, while it learns.

``mlc`` and ``progress`` in, text out: redrawn in place on a terminal, a line from time to time
elsewhere.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass

from rclpy.clock import Clock, ClockType
from std_msgs.msg import Float32

from robot_dynamics_interfaces.msg import MlcSet as MlcSetMessage
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.estimation.parameters.history import save_history
from robot_dynamics_ros.nodes.conversion import estimate_from_message, seconds
from robot_dynamics_ros.nodes.live_view_text import LiveViewText
from robot_dynamics_ros.nodes.parameters import RobotParameters, parameter
from robot_dynamics_ros.nodes.robot import Robot
from robot_dynamics_ros.nodes.robot_node import LATCHED, RobotNode
from robot_dynamics_ros.nodes.runner import run

#: To the first column of a line above, and clear the rest of the screen.
_UP, _CLEAR = '\x1b[{}F', '\x1b[J'


@dataclass(frozen=True)
class LiveViewParameters(RobotParameters):
    """Parameters of the live view."""

    terminal_period: float = parameter(0.5, 'between two views on a terminal [s]', minimum=0.05,
                                       maximum=60.0)
    line_period: float = parameter(4.0, 'between two lines elsewhere [s]', minimum=0.1,
                                   maximum=600.0)
    history_file: str = parameter('', 'what was learned over time, written at the end (.npz)')


class LiveViewNode(RobotNode):
    """Shows the newest estimate."""

    parameter_type = LiveViewParameters

    def __init__(self, **settings: object) -> None:
        """Start without a robot."""
        super().__init__('live_view', **settings)
        self.stream = sys.stdout
        self._text: LiveViewText | None = None
        self._estimate: MlcEstimate | None = None
        self._motion = math.nan
        self._begin = time.monotonic()
        self._height = 0  # lines of the last view
        self._history: list[tuple[float, MlcEstimate]] = []

    def make_interfaces(self) -> None:
        """Subscribe."""
        p = self.parameters
        self.create_subscription(MlcSetMessage, 'mlc', self._on_mlc, LATCHED)
        self.create_subscription(Float32, 'progress', self._on_progress, 10)
        period = p.terminal_period if self.stream.isatty() else p.line_period
        self.create_timer(period, self._on_tick, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def use_robot(self, robot: Robot) -> None:
        """Compare with the parameters of this robot."""
        encoding = (getattr(self.stream, 'encoding', None) or 'ascii').lower()
        self._text = LiveViewText(robot.estimate, plain=not encoding.startswith('utf'))
        self._estimate = None

    def come_to_rest(self) -> None:
        """Show the last state and write the history."""
        self._on_tick()
        if self.parameters.history_file and self._history:
            save_history(self.parameters.history_file, self._history)

    def _on_mlc(self, message: MlcSetMessage) -> None:
        if self.robot is None or self._text is None:
            return
        try:
            self._estimate = estimate_from_message(message, self.robot.model.mlc,
                                                   self.robot.chain.joint_physics)
            self._text.take(self._estimate)
            self._history.append((seconds(message.header.stamp), self._estimate))
        except RobotDynamicsError as error:
            self.report.warn('refused parameters', str(error))

    def _on_progress(self, message: Float32) -> None:
        self._motion = message.data

    def _on_tick(self) -> None:
        if self._estimate is None or self._text is None:
            return
        state = self._estimate, time.monotonic() - self._begin, self._motion
        if not self.stream.isatty():
            self.stream.write(self._text.summary(*state) + '\n')
        else:
            lines = self._text.lines(*state)
            back = (_UP.format(self._height) if self._height else '') + _CLEAR
            self.stream.write(back + '\n'.join(lines) + '\n')
            self._height = len(lines)
        self.stream.flush()


def main() -> int:
    """Run the node."""
    return run(LiveViewNode)


if __name__ == '__main__':
    sys.exit(main())
