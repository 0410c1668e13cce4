# SPDX-License-Identifier: Apache-2.0
"""report.html: one page that shows whether an identification can be trusted, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from html import escape

import numpy as np

from robot_dynamics_ros.dynamics.joints.joint_terms import JointTerms
from robot_dynamics_ros.estimation.identification.report_chart import (
    HALF,
    Line,
    line_chart,
)
from robot_dynamics_ros.estimation.identification.report_page import (
    page,
    percent,
    picture_of_robot,
    scrolling,
)
from robot_dynamics_ros.estimation.identification.report_parameters import (
    change_section,
    determined,
    excitation_section,
    parameter_section,
)
from robot_dynamics_ros.estimation.identification.result import Identification
from robot_dynamics_ros.estimation.identification.verdict import relative_errors

_CUT_WORDS = {
    'duplicate_time': 'samples with the same time as the one before',
    'backward_time': 'samples older than an earlier one',
    'invalid_state': 'samples with a position or velocity that is not finite',
    'implausible_state': 'samples with an implausible position or velocity',
    'inconsistent_velocity': 'smoothed samples whose velocities contradict their positions',
    'unexpected_torque': 'smoothed samples with an unexpected torque',
    'gaps': 'gaps at which the recording was split',
    'short_stretch': 'samples in stretches too short to filter',
    'standstill': 'samples without motion',
    'missing_effort': 'missing values of effort',
    'saturated_effort': 'saturated values of effort',
    'implausible_effort': 'implausible values of effort',
}


def html_report(result: Identification, sources: Sequence[str] = (), *,
                picture: bytes | None = None) -> str:
    """
    Return the page: verdict first, then torques, parameters, excitation, excluded data.

    :param result: result of `identify`.
    :param sources: names of the recordings.
    :param picture: picture of the robot as PNG (`robot_picture`); None = none.
    """
    return page(f'Identification of {result.chain.robot}', [
        _head(result, sources, picture), _facts(result), _joints(result), _torques(result),
        _residuals(result), _friction(result), change_section(result),
        parameter_section(result), excitation_section(result), _cut_out(result),
        _findings(result)])


def _head(result: Identification, sources: Sequence[str], picture: bytes | None) -> str:
    verdict = result.verdict
    word, style = ('Passed', 'passed') if verdict.passed else ('Not passed', 'failed')
    reasons = ''.join(f'<li>{escape(reason)}</li>' for reason in verdict.reasons)
    origin = ', '.join(escape(source) for source in sources) or 'recorded arrays'
    return (picture_of_robot(picture, result.chain.robot)
            + f'<h1>Identification of {escape(result.chain.robot)}</h1>'
            f'<p class="soft">{len(result.chain)} joints from {escape(result.chain.base)} to '
            f'{escape(result.chain.tip)} · {origin}</p>'
            f'<div class="verdict {style}"><div><div class="figure">'
            f'{percent(verdict.held_out_error)}</div><small>torque error on held-out data'
            f'</small></div><div><strong>{word}</strong><ul>{reasons}</ul></div></div>')


def _facts(result: Identification) -> str:
    estimate, t = result.estimate, result.comparison.t
    essential = sum(line.essential for line in result.parameters)
    seconds = sum(float(np.ptp(t[result.comparison.stretch == k]))
                  for k in np.unique(result.comparison.stretch))
    filters = [f'{value:.3g} Hz' if value is not None else 'none'
               for value in (result.cutoff, result.parallel_cutoff)]
    facts = [(f'{seconds:.1f} s', f'of motion, {estimate.samples} samples used'),
             *determined(result.parameters),
             (str(essential), 'essential parameters'),
             (f'{estimate.condition_number:.3g}', 'condition number'),
             (' / '.join(filters), 'low-pass / parallel filter'),
             (_friction_law(result), 'friction law')]
    return '<div class="facts">' + ''.join(
        f'<div><b>{escape(value)}</b><small>{escape(text)}</small></div>'
        for value, text in facts) + '</div>'


def _friction_law(result: Identification) -> str:
    if result.settings.friction == 'none':
        return 'none'
    physics = result.joint_physics
    more = {'Stribeck': physics.static, 'load': physics.load_friction,
            'presliding': physics.presliding, 'direction': physics.viscous_asymmetry}
    return ' + '.join(['Coulomb', *(word for word, values in more.items()
                                    if values is not None)])


def _bar(part: float, style: str = '') -> str:
    width = 100 * min(part, 1.0) if np.isfinite(part) else 0.0
    return f'<span class="bar {style}"><i style="width:{width:.1f}%"></i></span>'


def _joints(result: Identification) -> str:
    data = result.comparison
    tested = data.usable & np.isfinite(data.held_out)
    turning = np.array([joint.revolute for joint in result.chain.joints])
    urdf = relative_errors(data.measured, data.urdf, tested, turning).by_joint
    rms = np.sqrt(np.sum(np.where(data.usable, data.measured, 0.0) ** 2, axis=0)
                  / np.maximum(data.usable.sum(axis=0), 1))
    rows = ''.join(
        f'<tr><td class="text">{escape(joint.name)}</td><td>{rms[j]:.3g}</td>'
        f'<td>{result.residual_rms[j]:.3g}</td><td>{"N m" if joint.revolute else "N"}</td>'
        f'<td>{percent(error)}</td><td>{_bar(error)}</td><td>{percent(urdf[j])}</td>'
        f'<td>{_bar(float(urdf[j]), "urdf")}</td></tr>'
        for j, (joint, error) in enumerate(zip(result.chain.joints,
                                               result.verdict.held_out_by_joint)))
    return '<h2>Error of each joint</h2>' + scrolling('<table><tr><th class="text">joint</th>'
            '<th>torque RMS</th><th>residual RMS</th><th>unit</th><th class="text" colspan="2">'
            'held-out error</th><th class="text" colspan="2">URDF error</th></tr>' + rows
            + '</table>')


def _torques(result: Identification) -> str:
    data = result.comparison
    held_out = np.any(np.isfinite(data.held_out))
    model = data.held_out if held_out else data.predicted
    words = ('held-out prediction, by a model fitted without this part' if held_out
             else 'prediction')
    parts = ['<h2>Measured and predicted torque</h2><div class="key">'
             '<span><i style="color:var(--measured)"></i>measured</span>'
             f'<span><i style="color:var(--model)"></i>{words}</span>'
             '<span><i style="color:var(--urdf);border-top-style:dashed"></i>URDF parameters'
             '</span><span><i style="color:var(--rest)"></i>measured − predicted</span></div>']
    for j, joint in enumerate(result.chain.joints):
        measured = np.where(data.usable[:, j], data.measured[:, j], np.nan)
        unit = 'N m' if joint.revolute else 'N'
        lines = [Line('measured', measured), Line('urdf', data.urdf[:, j]),
                 Line('model', model[:, j])]
        parts.append(
            f'<section class="joint"><h3>{escape(joint.name)}</h3>'
            + line_chart(data.t, lines, f'torque [{unit}]', 200, f'torque of {joint.name}',
                         data.stretch)
            + line_chart(data.t, [Line('rest', measured - model[:, j])],
                         f'measured − predicted [{unit}]', 110, f'residual of {joint.name}',
                         data.stretch) + '</section>')
    return ''.join(parts)


def _residuals(result: Identification) -> str:
    """Return what is left of the torque of every joint, over its position and velocity."""
    data, n = result.comparison, len(result.chain)
    tested = np.isfinite(data.held_out)
    model = np.where(tested, data.held_out, data.predicted)
    rest = np.where(data.usable, data.measured - model, np.nan)
    parts = []
    for j, joint in enumerate(result.chain.joints):
        unit, length = ('N m', 'rad') if joint.revolute else ('N', 'm')
        charts = [line_chart(
            data.states[:, k], [], f'measured − predicted [{unit}]', 190,
            f'residual of {joint.name} over its {word}', along=f'{word} [{per}]', width=HALF,
            points=(data.states[:, k], rest[:, j]))
            for k, word, per in ((j, 'position', length), (n + j, 'velocity', f'{length}/s'))]
        parts.append(f'<section class="joint"><h3>{escape(joint.name)}</h3><div class="pair">'
                     + ''.join(charts) + '</div></section>')
    return ('<h2>Residuals</h2><p class="soft">A good model leaves a band without structure. A '
            'slope against velocity points to viscous friction, two levels to Coulomb friction, a '
            'wave against position to gravity or a cable.</p>' + ''.join(parts))


def _friction(result: Identification) -> str:
    """Return the friction curve of every motor over what was measured."""
    data = result.friction
    if data is None:
        return ''
    motors = replace(result.joint_physics, coupling=None)
    terms, parts, loaded = JointTerms.of(motors, np), [], motors.load_friction is not None
    largest = np.max(np.abs(data.velocity), axis=0)
    grid = np.linspace(-1.0, 1.0, 401)[:, None] * np.maximum(largest, 1e-6)
    loads = np.nanmean(data.load, axis=0)
    curves = [np.stack(terms.friction_torque(list(grid.T), list(
        np.tile(load, (len(grid), 1)).T)), axis=-1) for load in (0.0 * loads, loads)]
    for j, joint in enumerate(result.chain.joints):
        along, unit = (('velocity [rad/s]', 'N m') if joint.revolute
                       else ('velocity [m/s]', 'N'))
        lines = [*([Line('urdf', curves[0][:, j])] if loaded else []),
                 Line('model', curves[1][:, j])]
        parts.append(f'<section class="joint"><h3>{escape(joint.name)}</h3>' + line_chart(
            grid[:, j], lines, f'friction [{unit}]', 200, f'friction of {joint.name}', along=along,
            points=(data.velocity[:, j], data.torque[:, j])) + '</section>')
    return ('<h2>Friction</h2><div class="key"><span><i style="color:var(--measured)"></i>'
            'measured torque minus links and rotors</span><span><i style="color:var(--model)"></i>'
            f'steady curve{" at the mean load" if loaded else ""}</span>'
            + ('<span><i style="color:var(--urdf);border-top-style:dashed"></i>without load</span>'
               if loaded else '') + '</div>' + ''.join(parts))


def _cut_out(result: Identification) -> str:
    counts = [(getattr(result.cut_out, field.name), _CUT_WORDS[field.name])
              for field in fields(result.cut_out)]
    lines = ''.join(f'<li>{count} {escape(words)}</li>' for count, words in counts if count)
    return '<h2>Excluded data</h2>' + (f'<ul class="plain">{lines}</ul>' if lines
                                          else '<p>Nothing.</p>')


def _findings(result: Identification) -> str:
    lines = ''.join(f'<li>{escape(str(finding))}</li>'
                    for finding in (*result.findings, *result.chain.findings))
    return '<h2>Findings</h2>' + (f'<ul class="plain">{lines}</ul>' if lines else '<p>None.</p>')
