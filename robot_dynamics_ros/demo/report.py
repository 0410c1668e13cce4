# SPDX-License-Identifier: Apache-2.0
"""Results of the demo: tables, a picture and a page to look at."""

from __future__ import annotations

import io
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.cli.support.output import save_figure, write_file
from robot_dynamics_ros.cli.support.terminal import short, table
from robot_dynamics_ros.demo.learning_curve import LearningCurve
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.estimation.identification.report_chart import (
    CHANGES_IN_WORDS,
    Change,
    Line,
    change_chart,
    line_chart,
)
from robot_dynamics_ros.estimation.identification.report_page import (
    page,
    percent,
    picture_of_robot,
    scrolling,
)
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.motion.playing.tracked_motion import TrackedMotion

#: Parameters in the table on the terminal.
_SHOWN = 10
#: Tracking error with the calibration over that of PID alone, and over that of the URDF.
_SUCCESS = (1.0 / 3.0, 0.8)
#: Styles of the lines of the three ways.
_STYLES = ('measured', 'urdf', 'model')


@dataclass(frozen=True, eq=False)
class DemoResult:
    """
    Everything that the demo measured.

    :param chain: the robot of the URDF.
    :param truth: the robot that was simulated.
    :param estimate: result of the calibration.
    :param motions: the motion with PID alone, with the URDF and with the calibration.
    :param curve: torque error while learning; None = not known.
    :param picture: picture of the robot as PNG; None = none.
    """

    chain: Chain
    truth: Chain
    estimate: MlcEstimate
    motions: tuple[TrackedMotion, ...]
    curve: LearningCurve | None = None
    picture: bytes | None = None

    @property
    def successful(self) -> bool:
        """Whether the calibration brought what it must."""
        alone, urdf, learned = (motion.tracking.total_rms for motion in self.motions)
        return learned <= _SUCCESS[0] * alone and learned <= _SUCCESS[1] * urdf

    @property
    def parameters(self) -> dict[str, tuple[float, float, float, float]]:
        """URDF, calibrated, standard deviation and truth of every minimal parameter, by name."""
        urdf, truth = (OnlineEstimator(chain).estimate().mlc.values
                       for chain in (self.chain, self.truth))
        found = self.estimate.mlc.values, self.estimate.standard_deviations
        return {name: (float(a), float(b), float(c), float(d)) for name, a, b, c, d
                in zip(self.estimate.mlc.names, urdf, *found, truth)}


def tracking_table(result: DemoResult) -> str:
    """Return the tracking errors of every way, the last line over all joints."""
    ways = [motion.tracking for motion in result.motions]
    rows = [[name, *(f'{1e3 * way.rms[j]:.2f}' for way in ways)]
            for j, name in enumerate(ways[0].joint_names)]
    rows.append(['all', *(f'{1e3 * way.total_rms:.2f}' for way in ways)])
    rows.append(['reduction factor',
                 *(f'{ways[0].total_rms / way.total_rms:.1f}' for way in ways)])
    return table(['tracking error, rms [mrad]',
                  *(motion.name for motion in result.motions)], rows)


def parameter_table(result: DemoResult) -> str:
    """Return the parameters most wrong in the URDF, in standard deviations of the calibration."""
    def error(row: tuple[float, float, float, float]) -> float:
        urdf, _, deviation, truth = row
        return abs(urdf - truth) / deviation if deviation > 0.0 else 0.0

    worst = sorted(result.parameters.items(), key=lambda item: -error(item[1]))[:_SHOWN]
    units = dict(zip(result.estimate.mlc.names, result.estimate.mlc.units))
    rows = [[name, units[name], *(short(round(value, 4)) if np.isfinite(value) else '-'
                                  for value in values)] for name, values in worst]
    return table(['most wrong in the URDF', 'unit', 'URDF', 'calibrated', 'standard deviation',
                  'true'], rows, left=2)


def write(result: DemoResult, folder: Path) -> None:
    """Write report.html and tracking.png."""
    write_file(folder / 'report.html', _page(result))
    _plot(result, folder / 'tracking.png')


def _page(result: DemoResult) -> str:
    alone, urdf, learned = (motion.tracking.total_rms for motion in result.motions)
    facts = {'samples used': f'{result.estimate.samples}',
             'PID alone': f'{1e3 * alone:.2f} mrad', 'with the URDF': f'{1e3 * urdf:.2f} mrad',
             'with the calibration': f'{1e3 * learned:.2f} mrad'}
    return page(f'{result.chain.robot}: calibrated', [
        picture_of_robot(result.picture, result.chain.robot),
        f'<h1>{escape(result.chain.robot)}: calibrated</h1>',
        '<p class="soft">A simulated arm that differs from its URDF, calibrated over ROS 2: '
        '<a href="calibration/report.html">report of the calibration</a>, '
        '<a href="calibration/log.txt">log</a>.</p>',
        f'<div class="verdict {"passed" if result.successful else "failed"}">'
        f'<div class="figure">{alone / learned:.0f} times</div>'
        '<div><strong>smaller tracking error than PID alone</strong><br>'
        f'and {urdf / learned:.1f} times smaller than with feedforward of the URDF</div></div>',
        '<div class="facts">', *(f'<div><b>{escape(value)}</b>{escape(name)}</div>'
                                 for name, value in facts.items()), '</div>',
        '<h2>Tracking errors</h2>', _key(result), *_tracking_charts(result),
        _learning(result), _changes(result),
        '<h2>Minimal parameters</h2>', scrolling(_parameter_rows(result))])


def _learning(result: DemoResult) -> str:
    """Return the learning curve."""
    curve = result.curve
    if curve is None:
        return ''
    return ('<h2>Learning curve</h2><p>Torque error of the online estimator along the exciting '
            f'motion: {percent(float(curve.errors[0]))} with the URDF, '
            f'{percent(float(curve.errors[-1]))} at the end. Every step is an update that the '
            'gate accepted; the URDF is in use until the first one.</p>'
            + line_chart(curve.times, [Line('model', 100.0 * curve.errors)], 'torque error [%]',
                         200, 'torque error while learning'))


def _changes(result: DemoResult) -> str:
    """Return how the parameters differ from the URDF, with their confidence."""
    changes = [Change(name, (found - urdf) / size, 2.0 * sigma / size)
               for name, (urdf, found, sigma, _) in result.parameters.items()
               if (size := max(abs(urdf), abs(found))) > 0.0 and np.isfinite(sigma)]
    if not changes:
        return ''
    return ('<h2>Changes from the URDF</h2><p class="soft">' + CHANGES_IN_WORDS + '</p>'
            + change_chart(changes, 'changes of the parameters from the URDF'))


def _key(result: DemoResult) -> str:
    styles = ('color:var(--measured)', 'color:var(--urdf);border-top-style:dashed',
              'color:var(--model)')
    return '<div class="key">' + ''.join(
        f'<span><i style="{style}"></i>{escape(motion.name)}</span>'
        for motion, style in zip(result.motions, styles)) + '</div>'


def _tracking_charts(result: DemoResult) -> list[str]:
    ways = [motion.tracking for motion in result.motions]
    t = ways[0].times
    charts = []
    for j, name in enumerate(ways[0].joint_names):
        lines = [Line(style, _on(t, way.times, 1e3 * way.errors[:, j]))
                 for style, way in zip(_STYLES, ways)]
        chart = line_chart(t, lines, 'error [mrad]', 140, f'tracking error of {name}')
        charts.append(f'<section class="joint"><h3>{escape(name)}</h3>{chart}</section>')
    return charts


def _on(t: Array, times: Array, values: Array) -> Array:
    return np.asarray(np.interp(t, times, values))


def _parameter_rows(result: DemoResult) -> str:
    rows = [f'<tr><td class="name">{escape(name)}</td>'
            + ''.join(f'<td>{round(value, 4) + 0.0:.4f}</td>' if np.isfinite(value)
                      else '<td>–</td>' for value in values)
            + f'<td class="text">{escape(unit.replace("^2", "²"))}</td></tr>'
            for (name, values), unit in zip(result.parameters.items(), result.estimate.mlc.units)]
    return ('<table><tr><th class="text">name</th><th>URDF</th><th>calibrated</th><th>σ</th>'
            '<th>true</th><th class="text">unit</th></tr>' + ''.join(rows) + '</table>')


def _plot(result: DemoResult, path: Path) -> None:
    """Write a picture: the robot, and the errors of all joints, one panel per way."""
    from matplotlib.figure import Figure
    from matplotlib.image import imread

    ways = result.motions
    figure = Figure(figsize=(11.0, 5.6), layout='constrained')
    columns = figure.subplot_mosaic([['robot', k] for k in range(len(ways))],
                                    width_ratios=(0.30, 0.70), sharey=False)
    robot = columns['robot']
    robot.axis('off')
    if result.picture is not None:
        robot.imshow(imread(io.BytesIO(result.picture), 'png'))
    first, last = (1e3 * ways[k].tracking.total_rms for k in (0, -1))
    robot.set_title(f'{result.chain.robot}\n{first:.1f} → {last:.1f} mrad', fontsize=14,
                    fontweight='bold')
    largest = 1.08 * max(float(np.max(np.abs(way.tracking.errors))) for way in ways)
    for k, (motion, colour) in enumerate(zip(ways, ('#b3261e', '#d98200', '#0b63ce'))):
        tracking, axis = motion.tracking, columns[k]
        axis.plot(tracking.times, 1e3 * np.asarray(tracking.errors), color=colour, linewidth=1.0,
                  alpha=0.75)
        axis.set_title(f'{motion.name}: {1e3 * tracking.total_rms:.1f} mrad rms', loc='left',
                       fontsize=11, color=colour, fontweight='bold')
        axis.set_ylim(-1e3 * largest, 1e3 * largest)
        axis.set_ylabel('error [mrad]')
        axis.grid(alpha=0.3)
        axis.tick_params(labelbottom=k == len(ways) - 1)
    axis.set_xlabel('time [s]')
    save_figure(figure, path)
