# SPDX-License-Identifier: Apache-2.0
"""The live page: the robot at work, its torques, and what is learned from them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.view.guarded_server import GuardedServer
from robot_dynamics_ros.view.live_state import LiveState, Torques
from robot_dynamics_ros.view.panels import badge, facts, intervals, number
from robot_dynamics_ros.view.scene import RobotScene
from robot_dynamics_ros.view.viewed_robot import ViewedRobot

#: Pictures of the robot, and updates of charts and tables, per second.
RATE, SLOW_RATE = 20.0, 2.0

#: Services that have a button, and what it does.
BUTTONS = {'start': 'Start the exciting motion', 'stop': 'Stop the motion',
           'reset': 'Reset: learn again from the URDF', 'save': 'Save the parameters'}

#: A button that moves the robot must be pressed a second time within this time [s].
_CONFIRM = 6.0
_MOVES = ('start',)
_AGAIN = 'The robot will move: press again'

#: Orders that wait, at most.
_ORDERS = 4

#: Parameters in the table.
_SHOWN = 14

_COLOURS = {'measured': '#8a94a0', 'URDF': '#d98200', 'learned': '#3b82f6', 'bound': '#3b82f655'}

#: Widths of lines; the measured one can be seen below the others.
_WIDTHS = {'measured': 4, 'learned': 2, 'value': 2}


class LivePage:
    """
    The page; call `step` regularly. Nothing is sent while nobody looks.

    :param server: server of the page.
    :param robot: the robot, to be drawn.
    :param state: what is known about it.
    :param buttons: services that have a button, out of `BUTTONS`.
    """

    def __init__(self, server: GuardedServer, robot: ViewedRobot, state: LiveState,
                 buttons: Sequence[str] = ()) -> None:
        self._server, self._state = server, state
        self._gui = server.viser.gui
        self._lock = threading.Lock()
        self._orders: deque[str] = deque(maxlen=_ORDERS)
        self._armed: dict[str, float] = {}
        self._last = self._last_slow = -np.inf
        self._sent: dict[str, str] = {}
        server.viser.scene.reset()
        self._gui.reset()
        self.scene = RobotScene(server.viser, robot)
        chain = state.robot.chain
        self._gui.set_panel_label(f'{chain.robot}, live')
        self._gui.configure_theme(show_logo=False, show_share_button=False,
                                  control_width='large')
        self.headline = self._gui.add_html('')
        self._buttons = {word: self._add_button(word) for word in buttons}
        self.reply = self._gui.add_html('')
        tabs = self._gui.add_tab_group()
        with tabs.add_tab('Torque'):
            self._errors = self._gui.add_html('')
            self._charts = [self._torque_chart(joint.name, 'N m' if joint.revolute else 'N')
                            for joint in chain.joints]
        with tabs.add_tab('Parameters'):
            self._table = self._gui.add_html('')
            mlc = state.robot.estimate.mlc
            self._choice = self._gui.add_dropdown(
                'over time', tuple(mlc.names),
                initial_value=mlc.names[state.largest_parameters(1)[0]])
            self._history = self._chart(('value', 'bound', 'bound', 'URDF'), 150)
        with tabs.add_tab('State'):
            self.nodes = self._gui.add_html('')

    def _add_button(self, word: str) -> Any:
        button = self._gui.add_button(BUTTONS[word], color='red' if word == 'stop' else None)
        button.on_click(lambda _: self.press(word))
        return button

    def press(self, word: str) -> None:
        """Take a press of a button; one that moves the robot needs a second one."""
        with self._lock:
            now = time.monotonic()
            if word in _MOVES and now > self._armed.get(word, -np.inf):
                self._armed[word] = now + _CONFIRM
                return
            self._armed.pop(word, None)
            if word == 'stop':
                self._orders.clear()
            if word not in self._orders:
                self._orders.append(word)

    def orders(self) -> list[str]:
        """Return the services that were asked for since the last call, at most a few."""
        with self._lock:
            asked = list(self._orders)
            self._orders.clear()
        return asked

    def answer(self, word: str, done: bool, text: str) -> None:
        """
        Show what became of an order.

        :param word: the service.
        :param done: whether it was done.
        :param text: its answer.
        """
        self._put(self.reply, 'answer', '<div style="padding:0 10px 4px;font-size:12px">'
                  + badge(f'{word}: {"done" if done else "refused"}', done)
                  + facts([('', text[:300])] if text else []) + '</div>')

    def _chart(self, names: Sequence[str], height: int, title: str | None = None) -> Any:
        empty = np.array([-1.0, 0.0])
        series = [{}, *({'label': name, 'stroke': _COLOURS.get(name, _COLOURS['learned']),
                         'width': _WIDTHS.get(name, 1),
                         'dash': (5, 4) if name in ('URDF', 'bound') else ()} for name in names)]
        return self._gui.add_uplot((empty, *(np.full(2, np.nan) for _ in names)), tuple(series),
                                   title=title, height=height, scales={'x': {'time': False}},
                                   legend={'show': False}, padding=(10, 16, 0, 0),
                                   axes=({'size': 28, 'label': 's', 'labelSize': 14},
                                         {'size': 46}))

    def _torque_chart(self, name: str, unit: str) -> Any:
        return self._chart(('measured', 'URDF', 'learned'), 128, f'{name} [{unit}]')

    def step(self, now: float | None = None) -> None:
        """
        Show what has changed, at a bounded rate.

        :param now: time that never goes back [s]; None = that of the machine.
        """
        now = time.monotonic() if now is None else now
        if now - self._last < 0.99 / RATE or not self._server.viser.get_clients():
            return
        self._last = now
        self.scene.place(self._state.positions)
        for word in _MOVES:
            if word in self._buttons:
                label = _AGAIN if now < self._armed.get(word, -np.inf) else BUTTONS[word]
                if self._buttons[word].label != label:
                    self._buttons[word].label = label
        if now - self._last_slow >= 0.99 / SLOW_RATE:
            self._last_slow = now
            self.show_tables()

    def show_tables(self) -> None:
        """Write what has come into the tables."""
        state, torques = self._state, self._state.torques()
        self._put(self.headline, 'head', self._headline(torques))
        self._put(self._errors, 'errors', self._error_table(torques))
        if len(torques.t) > 1:
            for j, chart in enumerate(self._charts):
                chart.data = (torques.t, torques.measured[:, j], torques.urdf[:, j],
                              torques.learned[:, j])
        self._put(self._table, 'table', self._parameter_table())
        self._show_history()
        self._put(self.nodes, 'nodes', ''.join(
            facts(list(values.items()), source) for source, values in
            sorted(state.messages.items())) or facts([('', 'no node has said anything yet')]))

    def _headline(self, torques: Torques) -> str:
        state, estimate = self._state, self._state.estimate
        found = EstimateState.FROM_URDF if estimate is None else estimate.state
        good = True if found == EstimateState.CONVERGED else None
        rows = [('samples', '0' if estimate is None else str(estimate.samples)),
                ('torque error', f'URDF {_percent(torques.total_error(torques.urdf))}, learned '
                 f'{_percent(torques.total_error(torques.learned))}, last '
                 f'{-torques.t[0]:.0f} s' if len(torques.t) else 'no joint states yet')]
        for name, values in sorted(state.messages.items()):
            for key in ('learned parameters', 'parameters to accept'):
                if values.get(key, 'none') != 'none':
                    rows.append((f'gate of {name.rpartition("/")[2]}', values[key]))
        if np.isfinite(state.motion):
            rows.append(('motion', f'{100.0 * state.motion:.0f} %'))
        return ('<div style="padding:6px 10px 2px;font-size:13px">'
                f'{badge(found.name, good)}</div>' + facts(rows))

    def _error_table(self, torques: Torques) -> str:
        excitation = self._state.excitation()
        urdf, learned = torques.errors(torques.urdf), torques.errors(torques.learned)
        rows = [(name, f'URDF {_percent(a)} · learned {_percent(b)}'
                 + (f' · excitation {excitation[name]}' if name in excitation else ''))
                for name, a, b in zip(self._state.robot.chain.joint_names, urdf, learned)]
        key = ' &nbsp; '.join(f'<span style="color:{_COLOURS[name]}">▬ {name}</span>'
                              for name in ('measured', 'URDF', 'learned'))
        return facts(rows, 'Error of the predicted torque, in motion') + (
            f'<div style="padding:0 10px;font-size:12px">{key}</div>')

    def _parameter_table(self) -> str:
        first, estimate = self._state.robot.estimate.mlc, self._state.estimate
        values = sigmas = np.full(len(first), np.nan)
        if estimate is not None:
            values, sigmas = estimate.mlc.values, estimate.standard_deviations
        rows = [(first.names[i], first.units[i], float(first.values[i]), float(values[i]),
                 float(sigmas[i])) for i in self._state.largest_parameters(_SHOWN)]
        return intervals(rows, f'The largest of {len(first)} minimal parameters')

    def _show_history(self) -> None:
        mlc = self._state.robot.estimate.mlc
        place = mlc.names.index(self._choice.value) if self._choice.value in mlc.names else 0
        t, values, sigmas = self._state.history(place)
        if len(t) > 1:
            self._history.data = (t, values, values - 2.0 * sigmas, values + 2.0 * sigmas,
                                  np.full(len(t), mlc.values[place]))

    def _put(self, handle: Any, name: str, text: str) -> None:
        """Send a panel where it has changed."""
        if self._sent.get(name) != text:
            self._sent[name] = text
            handle.content = text


def _percent(part: float) -> str:
    return f'{number(100.0 * part, 3)} %' if np.isfinite(part) else '–'
