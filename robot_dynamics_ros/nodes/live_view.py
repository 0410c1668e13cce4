# SPDX-License-Identifier: Apache-2.0
"""
The live view: shows on a terminal what the identification learns, while it learns.

``mlc`` and ``progress`` in, text out: a table redrawn in place on a terminal, a line from time to
time elsewhere.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from dataclasses import dataclass

import numpy as np
from rclpy.clock import Clock, ClockType
from std_msgs.msg import Float32

from robot_dynamics_interfaces.msg import MlcSet as MlcSetMessage
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.estimation.parameters.history import save_history
from robot_dynamics_ros.nodes.support.conversion import estimate_from_message, seconds
from robot_dynamics_ros.nodes.support.robot_node import LATCHED, RobotNode
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.settings import RobotNodeSettings, setting
from robot_dynamics_ros.robot import Robot

#: Escape codes: to the first column of a line above, and clear the rest of the screen.
_UP, _CLEAR = '\x1b[{}F', '\x1b[J'

#: Number of estimates in a history above which every second one is dropped.
MOST_ESTIMATES = 10_000


@dataclass(frozen=True)
class LiveViewNodeSettings(RobotNodeSettings):
    """Settings of the live view."""

    terminal_period: float = setting(0.5, 'time between two views on a terminal [s]',
                                     minimum=0.05, maximum=60.0)
    line_period: float = setting(4.0, 'time between two lines elsewhere [s]', minimum=0.1,
                                 maximum=600.0)
    history_file: str = setting(
        '', '.npz file of what was learned over time, written at the end; empty = none')


class LiveViewNode(RobotNode):
    """Shows the newest estimate."""

    settings_type = LiveViewNodeSettings

    def __init__(self, **options: object) -> None:
        super().__init__('live_view', **options)
        self.stream = sys.stdout
        self._text: LiveViewText | None = None
        self._estimate: MlcEstimate | None = None
        self._motion = math.nan
        self._begin = time.monotonic()
        self._height = 0  # lines of the last view
        self._history: list[tuple[float, MlcEstimate]] = []

    def make_interfaces(self) -> None:
        """Subscribe."""
        p = self.settings
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
        """Show the last estimate and write the history."""
        self._on_tick()
        if self.settings.history_file and self._history:
            try:
                save_history(self.settings.history_file, self._history)
            except RobotDynamicsError as error:
                self.get_logger().error(str(error))

    def _on_mlc(self, message: MlcSetMessage) -> None:
        if self.robot is None or self._text is None:
            return
        try:
            self._estimate = estimate_from_message(message, self.robot.model.mlc)
            self._text.take(self._estimate)
            self._remember(seconds(message.header.stamp), self._estimate)
        except RobotDynamicsError as error:
            self.diagnostics.warn('refused parameters', str(error))

    def _remember(self, time: float, estimate: MlcEstimate) -> None:
        """Keep an estimate for the history; a long one is kept at half the rate."""
        if self.settings.history_file:
            self._history.append((time, estimate))
        if len(self._history) > MOST_ESTIMATES:
            del self._history[1::2]

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


#: Levels of a small curve, lowest first.
BLOCKS, PLAIN_BLOCKS = ' ▁▂▃▄▅▆▇█', ' .:-=+*#@'
#: Columns of a small curve.
CURVE = 24
#: Minimal parameters that are shown.
ROWS = 9


class LiveViewText:
    """Text of a view; remembers the last residuals, to draw curves."""

    def __init__(self, first: MlcEstimate, *, plain: bool = False) -> None:
        """
        Begin with the parameters of the URDF.

        :param first: estimate with these parameters.
        :param plain: True = ASCII characters only.
        """
        self._first = first
        self._levels = PLAIN_BLOCKS if plain else BLOCKS
        self._residuals: deque[Array] = deque(maxlen=CURVE)
        # the largest ones of the URDF, always the same rows
        order = np.argsort(-np.abs(first.mlc.values), kind='stable')
        self._rows = sorted(order[:ROWS].tolist())

    def take(self, estimate: MlcEstimate) -> None:
        """Remember the residuals of an estimate."""
        self._residuals.append(np.asarray(estimate.residual_rms))

    def summary(self, estimate: MlcEstimate, elapsed: float, motion: float) -> str:
        """
        Return one line.

        :param estimate: newest estimate.
        :param elapsed: time since the start [s].
        :param motion: part of the exciting motion that was played; NaN = none.
        """
        condition = (f', condition number {estimate.condition_number:.0f}'
                     if np.isfinite(estimate.condition_number) else '')
        played = f', motion {100.0 * motion:.0f} %' if np.isfinite(motion) else ''
        residual = np.sqrt(np.mean(np.asarray(estimate.residual_rms)**2))
        left = f', residual {residual:.2f} N m' if np.isfinite(residual) else ''
        return (f'{elapsed:5.1f} s  {estimate.state.name}: {estimate.samples} samples'
                f'{condition}{left}{played}')

    def lines(self, estimate: MlcEstimate, elapsed: float, motion: float) -> list[str]:
        """Return the whole view; arguments as of `summary`."""
        return [self.summary(estimate, elapsed, motion), '', *self._joint_lines(estimate), '',
                *self._parameter_lines(estimate)]

    def _joint_lines(self, estimate: MlcEstimate) -> list[str]:
        lines = [f'{"joint":<12}{"residual [N m]":>15}  {"":<{CURVE}}'
                 f'{"viscous":>16}{"Coulomb":>16}']
        first, now = self._first.joint_physics, estimate.joint_physics
        history = np.array(self._residuals)
        for j, name in enumerate(estimate.mlc.joint_names):
            curve = self._curve(history[:, j]) if len(history) else ''
            lines.append(
                f'{name:<12}{_number(estimate.residual_rms[j]):>15}  {curve:<{CURVE}}'
                f'{_change(first.viscous[j], now.viscous[j]):>16}'
                f'{_change(first.coulomb[j], now.coulomb[j]):>16}')
        return lines

    def _parameter_lines(self, estimate: MlcEstimate) -> list[str]:
        lines = [f'{"parameter":<12}{"URDF":>10}{"learned":>10}{"std. dev.":>11}  unit']
        deviations = estimate.standard_deviations
        for i in self._rows:
            lines.append(f'{estimate.mlc.names[i]:<12}{_number(self._first.mlc.values[i]):>10}'
                         f'{_number(estimate.mlc.values[i]):>10}{_number(deviations[i]):>11}  '
                         f'{estimate.mlc.units[i]}')
        return lines

    def _curve(self, values: Array) -> str:
        """Return one level per value; the largest value has the highest level."""
        largest = np.max(np.nan_to_num(values), initial=1e-300)
        steps = len(self._levels) - 1
        return ''.join(self._levels[round(steps * float(value) / largest)]
                       for value in np.nan_to_num(values))


def _number(value: float) -> str:
    return '-' if not np.isfinite(value) else f'{value:.3f}'


def _change(before: float, now: float) -> str:
    return f'{before:.2f} > {now:.2f}'


def main() -> int:
    """Run the node."""
    return run(LiveViewNode)


if __name__ == '__main__':
    sys.exit(main())
