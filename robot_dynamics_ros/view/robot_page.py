# SPDX-License-Identifier: Apache-2.0
"""The page of ``robot-dynamics view``: sliders, weights, inertias, and a motion that plays."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.view.guarded_server import GuardedServer
from robot_dynamics_ros.view.panels import bars, facts, intervals, number
from robot_dynamics_ros.view.scene import RobotScene
from robot_dynamics_ros.view.viewed_robot import OVERLAYS, ShownMotion, ViewedRobot

#: Pictures of a motion per second.
RATE = 30.0

#: Labels of what can be shown beside the links.
_LABELS = {'axes': 'axes E_i', 'gravity': 'gravity', 'inertia': 'inertia'}


class RobotPage:
    """
    The page; call `step` regularly.

    :param server: server of the page.
    :param robot: the robot.
    :param motion: motion to be played; None = none.
    :param shown: what is shown beside the links at first, out of `OVERLAYS`.
    :param floor: height of the floor in the frame of the root [m]; None = lowest point.
    """

    def __init__(self, server: GuardedServer, robot: ViewedRobot,
                 motion: ShownMotion | None = None, shown: Sequence[str] = ('gravity',),
                 floor: float | None = None) -> None:
        self.robot, self._motion = robot, motion
        self._gui = server.viser.gui
        self._lock = threading.Lock()
        self._changed = True
        self._clicked = ''
        self._played = self._last = 0.0
        self.scene = RobotScene(server.viser, robot, shown, self.select)
        self._gui.set_panel_label(robot.drawn.tree.robot)
        self._gui.configure_theme(show_logo=False, show_share_button=False,
                                  control_width='large')
        self.panel = self._gui.add_html('')
        self.link_panel = self._gui.add_html(facts([('', 'click a link to see its own')],
                                                   'Minimal parameters'))
        self._add_switches(shown)
        if motion is not None:
            self._add_motion(motion, floor)
        elif floor is not None:
            self.scene.floor = floor
        self.sliders = self._add_sliders()
        self._add_findings()

    def _add_sliders(self) -> dict[str, Any]:
        sliders = {}
        ranges, rest = self.robot.drawn.ranges(), self.robot.rest()
        with self._gui.add_folder('Posture', expand_by_default=len(ranges) <= 12):
            zero = self._gui.add_button('Back to the start')
            for joint in self.robot.drawn.joints:
                low, high = ranges[joint.name]
                unit = 'm' if joint.type == 'prismatic' else 'rad'
                slider = self._gui.add_slider(
                    f'{joint.name} [{unit}]', min=low, max=high, step=(high - low) / 500.0,
                    initial_value=min(max(rest[joint.name], low), high))
                slider.on_update(lambda _: self.slide())
                sliders[joint.name] = slider
        zero.on_click(lambda _: self.move(rest))
        return sliders

    def _add_switches(self, shown: Sequence[str]) -> None:
        with self._gui.add_folder('Show'):
            for name in OVERLAYS:
                box = self._gui.add_checkbox(_LABELS[name], initial_value=name in shown)
                box.on_update(lambda event, name=name: self.scene.show(name, event.target.value))
            if self.robot.chain is not None:
                words = ('orange: URDF, blue: identified' if self.robot.identified is not None
                         else 'even density, same mass and inertia')
                self._gui.add_html(facts([('ellipsoids', words)]))

    def _add_motion(self, motion: ShownMotion, floor: float | None) -> None:
        moment, point = motion.lowest(self.robot, self.scene.positions)
        lowest = min(self.scene.floor, float(point[2]))
        self.scene.floor = lowest if floor is None else floor
        with self._gui.add_folder('Motion'):
            self._playing = self._gui.add_checkbox('play', initial_value=True)
            self._time = self._gui.add_slider(
                'time [s]', min=0.0, max=max(motion.duration, 1e-3),
                step=max(motion.duration / 500.0, 1e-3), initial_value=0.0)
            gap = float(point[2]) - self.scene.floor
            self._gui.add_html(facts([
                ('lowest point', f'{point[2]:.3f} m at {moment:.2f} s'),
                ('floor', f'{self.scene.floor:.3f} m ({gap:.3f} m below)')]))
        self._time.on_update(lambda _: self._on_time())

    def _add_findings(self) -> None:
        found = [str(finding) for finding in self.robot.drawn.findings]
        if found:
            with self._gui.add_folder(f'Findings ({len(found)})', expand_by_default=False):
                self._gui.add_html(facts([('', text) for text in found[:30]]))

    def slide(self) -> None:
        """Take note that a slider has been moved."""
        with self._lock:
            self._changed = True

    def _on_time(self) -> None:
        if not self._playing.value:
            with self._lock:
                self._played = self._time.value

    def select(self, link: str) -> None:
        """Take a click on a link; its own facts are shown with the next step."""
        with self._lock:
            self._clicked = link

    def move(self, positions: dict[str, float]) -> None:
        """Set the sliders, and the robot with them; positions by joint name [rad, m]."""
        for name, slider in self.sliders.items():
            if name in positions and math.isfinite(positions[name]):
                slider.value = min(max(positions[name], slider.min), slider.max)
        with self._lock:
            self._changed = True

    def step(self, now: float | None = None) -> None:
        """
        Show what has changed.

        :param now: time [s], for the motion; None = that of the machine.
        """
        now = time.monotonic() if now is None else now
        with self._lock:
            changed, self._changed = self._changed, False
            clicked, self._clicked = self._clicked, ''
        if self._motion is not None:
            self._play(self._motion, now)
        elif changed:
            self.scene.place({name: slider.value for name, slider in self.sliders.items()})
        if changed or self._motion is not None:
            self._show_weights()
        if clicked:
            self._show_link(clicked)
        self._last = now

    def _play(self, motion: ShownMotion, now: float) -> None:
        if self._playing.value and self._last:
            self._played = (self._played + now - self._last) % max(motion.duration, 1e-3)
            self._time.value = self._played
        self.scene.place({**{name: slider.value for name, slider in self.sliders.items()},
                          **motion.at(self._played)})
        self.scene.mark_lowest(self.robot.lowest_point(self.scene.positions, moving=True))

    def _show_weights(self) -> None:
        chain, positions = self.robot.chain, self.scene.positions
        lowest = self.robot.lowest_point(positions, moving=True)[2]
        rows = [('lowest point', f'{lowest:.3f} m above {self.robot.drawn.tree.root}')]
        if chain is None:
            text = facts([*rows, ('dynamics', 'not shown: choose a chain with --base and --tip')],
                         self.robot.drawn.tree.robot)
        else:
            text = bars(chain.joint_names, self.robot.gravity_torque(positions),
                        chain.effort_limits,
                        ['N m' if joint.revolute else 'N' for joint in chain.joints],
                        'Torque against gravity') + facts(rows)
        if text != self.panel.content:
            self.panel.content = text

    def _show_link(self, link: str) -> None:
        body = self.robot.body_of(link)
        if body is None or self.robot.chain is None:
            self.link_panel.content = facts([('link', link), ('', 'does not move in this chain')],
                                       'Minimal parameters')
            return
        rows, inertia = self.robot.parameters_of(body), self.robot.chain.links[body]
        centre = ', '.join(number(float(x)) for x in np.atleast_1d(inertia.centre_of_mass))
        joint = self.robot.chain.moving[body].name
        about = facts([('joint', joint), ('mass of the URDF', f'{number(inertia.mass)} kg'),
                       ('centre of mass in E_i', f'{centre} m')])
        self.link_panel.content = about + (
            intervals(rows, f'Minimal parameters of {link}') if rows else
            facts([('', 'none of its own: they are part of those of other bodies')], link))
