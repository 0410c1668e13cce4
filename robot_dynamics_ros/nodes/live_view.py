# SPDX-License-Identifier: Apache-2.0
"""
The live view: shows what the identification learns, on a page in the browser and on a terminal.

It receives ``joint_states``, ``mlc``, ``progress`` and ``/diagnostics``. The page is served on
this machine only, at an address with a random token that is printed once; its buttons call
``start``, ``stop``, ``reset`` and ``save``. On a terminal, a table is redrawn in place; other
outputs get an occasional line.
"""

from __future__ import annotations

import math
import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from std_msgs.msg import Float32
from std_srvs.srv import Trigger

from robot_dynamics_interfaces.msg import MlcSet as MlcSetMessage
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import RobotDynamicsError, ViewError
from robot_dynamics_ros.estimation.parameters.history import save_history
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.nodes.support.conversion import estimate_from_message, seconds
from robot_dynamics_ros.nodes.support.joint_states import JointStates
from robot_dynamics_ros.nodes.support.robot_node import LATCHED, RobotNode
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.services import SERVICE
from robot_dynamics_ros.nodes.support.settings import RobotNodeSettings, setting
from robot_dynamics_ros.picture.drawn_robot import drawn_robot
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.view.guarded_server import LOCALHOST, GuardedServer, is_local
from robot_dynamics_ros.view.live_page import BUTTONS, RATE, LivePage
from robot_dynamics_ros.view.live_state import LiveState
from robot_dynamics_ros.view.live_text import WIDTH, LiveText
from robot_dynamics_ros.view.viewed_robot import ViewedRobot

#: Escape codes: to the first column of a line above, and clear the rest of the screen.
_UP, _CLEAR = '\x1b[{}F', '\x1b[J'

#: Number of estimates in a history above which every second one is dropped.
MOST_ESTIMATES = 10_000

#: Joint states that follow the last one sooner are left out [s].
_SHORTEST = 0.004


@dataclass(frozen=True)
class LiveViewNodeSettings(RobotNodeSettings):
    """Settings of the live view."""

    terminal_period: float = setting(0.5, 'time between two updates on a terminal [s]',
                                     minimum=0.05, maximum=60.0)
    line_period: float = setting(4.0, 'time between two lines if the output is not a terminal [s]',
                                 minimum=0.1, maximum=600.0)
    history_file: str = setting(
        '', '.npz file of what was learned over time, written at the end; empty = none')
    page: bool = setting(True, 'serve the page in the browser; needs viser')
    page_address: str = setting(
        LOCALHOST, 'address at which the page is served; with another one than 127.0.0.1, '
        'everybody who knows the token can press its buttons, and nothing is encrypted')
    page_port: int = setting(8080, 'port of the page, or one of the next; 0 = any', minimum=0,
                             maximum=65535)
    mesh_folders: tuple[str, ...] = setting(
        (), 'folders with mesh files, beside the packages that are installed',
        example='[/opt/robot/meshes]')


class LiveViewNode(RobotNode):
    """Shows the newest estimate."""

    settings_type = LiveViewNodeSettings

    def __init__(self, **options: object) -> None:
        super().__init__('live_view', **options)
        self.stream = sys.stdout
        self._text: LiveText | None = None
        self._state: LiveState | None = None
        self._estimate: MlcEstimate | None = None
        self._begin = time.monotonic()
        self._height = 0  # lines of the last view
        self.history: list[tuple[float, MlcEstimate]] = []
        self._joint_states = JointStates(self, self._on_joint_state)
        self.server: GuardedServer | None = None
        self.page: LivePage | None = None
        self._called: dict[str, Any] = {}
        self._last_sample = -math.inf

    def make_interfaces(self) -> None:
        """Subscribe, and serve the page."""
        p = self.settings
        self.create_subscription(MlcSetMessage, 'mlc', self._on_mlc, LATCHED)
        self.create_subscription(Float32, 'progress', self._on_progress, 10)
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._joint_states.subscribe(newest=False)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        period = p.terminal_period if self.stream.isatty() else p.line_period
        self.create_timer(period, self._on_tick, clock=steady)
        if p.page:
            self._serve()
            self.create_timer(1.0 / RATE, self._on_page, clock=steady)

    def _serve(self) -> None:
        """Begin to serve the page; without viser there is the terminal."""
        p = self.settings
        try:
            self.server = GuardedServer(port=p.page_port, address=p.page_address)
        except ViewError as error:
            self.get_logger().warning(f'no page in the browser: {error}')
            return
        self._called = {word: self.create_client(Trigger, word, qos_profile=SERVICE)
                          for word in BUTTONS}
        if not is_local(p.page_address):
            self.get_logger().warning(f'the page is served on {p.page_address}: who knows the '
                                      'token can press its buttons, and nothing is encrypted')
        self.stream.write(f'live page: {self.server.url}\n')
        self.stream.flush()
        if self.robot is not None:
            self._make_page(self.server, self.robot)

    def remove_interfaces(self) -> None:
        """Stop serving."""
        self.page = None
        for client in self._called.values():
            self.destroy_client(client)
        self._called = {}
        if self.server is not None:
            self.server.close()
            self.server = None

    def destroy_node(self) -> None:
        """Stop serving, and end the node."""
        self.remove_interfaces()
        super().destroy_node()

    def use_robot(self, robot: Robot) -> None:
        """Compare with the parameters of this robot."""
        encoding = (getattr(self.stream, 'encoding', None) or 'ascii').lower()
        self._text = LiveText(robot.estimate, plain=not encoding.startswith('utf'))
        self._state, self._estimate, self._last_sample = LiveState(robot), None, -math.inf
        self._joint_states.use_robot(robot.chain)
        if self.server is not None:
            self._make_page(self.server, robot)

    def _make_page(self, server: GuardedServer, robot: Robot) -> None:
        drawn = drawn_robot(self.description, folders=self.settings.mesh_folders)
        if drawn.findings:
            self.get_logger().info(f'{len(drawn.findings)} links are drawn without their meshes; '
                                   'name their folders in mesh_folders')
        if self._state is not None:
            self.page = LivePage(server, ViewedRobot(drawn, robot.chain), self._state,
                                  tuple(self._called))

    def clock_set_back(self) -> None:
        """Forget the torques."""
        self._joint_states.restart()
        self._last_sample = -math.inf
        if self._state is not None:
            self._state.restart()

    def come_to_rest(self) -> None:
        """Show the last estimate and write the history."""
        self._on_tick()
        if self.settings.history_file and self.history:
            try:
                save_history(self.settings.history_file, self.history)
            except RobotDynamicsError as error:
                self.get_logger().error(str(error))

    def _on_joint_state(self, sample: JointSample) -> None:
        if self._state is not None and sample.time - self._last_sample >= _SHORTEST:
            self._last_sample = sample.time
            self._state.observe(sample)

    def _on_mlc(self, message: MlcSetMessage) -> None:
        if self.robot is None or self._text is None or self._state is None:
            return
        try:
            self._estimate = estimate_from_message(message, self.robot.model.mlc)
            self._text.take(self._estimate)
            time = seconds(message.header.stamp)
            self._state.learn(time, self._estimate)
            self._remember(time, self._estimate)
        except RobotDynamicsError as error:
            self.diagnostics.warn('refused parameters', str(error))

    def _remember(self, time: float, estimate: MlcEstimate) -> None:
        """Keep an estimate for the history; a long one is kept at half the rate."""
        if self.settings.history_file:
            self.history.append((time, estimate))
        if len(self.history) > MOST_ESTIMATES:
            del self.history[1::2]

    def _on_progress(self, message: Float32) -> None:
        if self._state is not None:
            self._state.motion = message.data

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        if self._state is None:
            return
        own = self.get_fully_qualified_name().lstrip('/')
        for status in message.status:
            if status.name != own:
                self._state.hear(status.name, {'': status.message, **{
                    value.key: value.value for value in status.values}})

    def _on_page(self) -> None:
        if self.page is None:
            return
        for word in self.page.orders():
            client = self._called[word]
            if not client.service_is_ready():
                self.page.answer(word, False, f'no node offers {client.srv_name}')
                continue
            self.get_logger().info(f'{client.srv_name} is called from the page')
            client.call_async(Trigger.Request()).add_done_callback(
                self.guarded(partial(self._on_answer, word)))
        self.page.step()

    def _on_answer(self, word: str, future: Any) -> None:
        if self.page is not None and not future.cancelled():
            response = future.result()
            self.page.answer(word, response.success, response.message)

    def _on_tick(self) -> None:
        if self._estimate is None or self._text is None or self._state is None:
            return
        state = self._estimate, time.monotonic() - self._begin, self._state.motion
        if not self.stream.isatty():
            self.stream.write(self._text.summary(*state) + '\n')
        else:
            lines = self._text.lines(*state, *_size(self.stream))
            back = (_UP.format(self._height) if self._height else '') + _CLEAR
            self.stream.write(back + '\n'.join(lines) + '\n')
            self._height = len(lines)
        self.stream.flush()


def _size(stream: Any) -> tuple[int, int | None]:
    """Return columns and lines of a terminal."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return WIDTH, None
    return (size.columns or WIDTH, size.lines or None)


def main() -> int:
    """Run the node."""
    return run(LiveViewNode)


if __name__ == '__main__':
    sys.exit(main())
