# SPDX-License-Identifier: Apache-2.0
"""report.html: one page that shows whether an identification can be trusted, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from html import escape

import numpy as np

from robot_dynamics_ros.dynamics.joints.joint_terms import JointTerms
from robot_dynamics_ros.estimation.identification.report_chart import (
    Line,
    interval_bar,
    line_chart,
)
from robot_dynamics_ros.estimation.identification.result import Identification
from robot_dynamics_ros.estimation.identification.verdict import relative_errors

#: Values below this are rounding errors of zero.
_DUST = 1e-9

_CUT_WORDS = {
    'duplicate_time': 'samples with the same time as the one before',
    'backward_time': 'samples older than an earlier one',
    'invalid_state': 'samples with a position or velocity that is not finite',
    'implausible_state': 'samples with an implausible position or velocity',
    'inconsistent_velocity': 'smoothed samples whose velocities contradict their positions',
    'unexpected_torque': 'smoothed samples with an unexpected torque',
    'gaps': 'gaps at which the recording was split',
    'short_stretch': 'samples in stretches too short to filter',
    'standstill': 'samples while no joint moved',
    'missing_effort': 'missing values of effort',
    'saturated_effort': 'saturated values of effort',
    'implausible_effort': 'implausible values of effort',
}


def html_report(result: Identification, sources: Sequence[str] = ()) -> str:
    """
    Return the page: verdict first, then torques, parameters, excitation, excluded data.

    :param result: result of `identify`.
    :param sources: names of the recordings.
    """
    robot = escape(result.chain.robot)
    parts = [_head(result, sources), _facts(result), _joints(result), _torques(result),
             _friction(result), _parameters(result), _excitation(result), _cut_out(result),
             _findings(result)]
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f'<title>Identification of {robot}</title><style>{STYLE}</style></head><body>'
            + '\n'.join(parts) + '</body></html>\n')


def _percent(part: float) -> str:
    return f'{100 * part:.1f} %' if np.isfinite(part) else '–'


def _number(value: float) -> str:
    return f'{value:.4g}' if abs(value) > _DUST else '0'


def _short_formula(formula: str) -> str:
    """Return a formula with four digits; parameters.yaml has all of them."""
    return re.sub(r'\d+\.\d+', lambda number: f'{float(number.group()):.4g}', formula)


def _head(result: Identification, sources: Sequence[str]) -> str:
    verdict = result.verdict
    word, style = ('Passed', 'passed') if verdict.passed else ('Not passed', 'failed')
    reasons = ''.join(f'<li>{escape(reason)}</li>' for reason in verdict.reasons)
    origin = ', '.join(escape(source) for source in sources) or 'recorded arrays'
    return (f'<h1>Identification of {escape(result.chain.robot)}</h1>'
            f'<p class="soft">{len(result.chain)} joints from {escape(result.chain.base)} to '
            f'{escape(result.chain.tip)} · {origin}</p>'
            f'<div class="verdict {style}"><div><div class="figure">'
            f'{_percent(verdict.held_out_error)}</div><small>torque error on held-out data'
            f'</small></div><div><strong>{word}</strong><ul>{reasons}</ul></div></div>')


def _facts(result: Identification) -> str:
    estimate, t = result.estimate, result.comparison.t
    excited = sum(line.state == 'excited' for line in result.parameters)
    essential = sum(line.essential for line in result.parameters)
    seconds = sum(float(np.ptp(t[result.comparison.stretch == k]))
                  for k in np.unique(result.comparison.stretch))
    filters = [f'{value:.3g} Hz' if value is not None else 'none'
               for value in (result.cutoff, result.parallel_cutoff)]
    facts = [(f'{seconds:.1f} s', f'of motion, {estimate.samples} samples used'),
             (f'{excited} of {len(result.parameters)}', 'parameters determined by the data'),
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
        f'<td>{_percent(error)}</td><td>{_bar(error)}</td><td>{_percent(urdf[j])}</td>'
        f'<td>{_bar(float(urdf[j]), "urdf")}</td></tr>'
        for j, (joint, error) in enumerate(zip(result.chain.joints,
                                               result.verdict.held_out_by_joint)))
    return ('<h2>Error of each joint</h2><table><tr><th class="text">joint</th>'
            '<th>torque RMS</th><th>residual RMS</th><th>unit</th><th colspan="2">held-out error'
            '</th><th colspan="2">URDF error</th></tr>' + rows + '</table>')


def _torques(result: Identification) -> str:
    data = result.comparison
    held_out = np.any(np.isfinite(data.held_out))
    model = data.held_out if held_out else data.predicted
    words = ('held-out prediction: by a model that was fitted without this part' if held_out
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
            + line_chart(data.t, lines, unit, 190, f'torque of {joint.name}', data.stretch)
            + line_chart(data.t, [Line('rest', measured - model[:, j])], unit, 90,
                         f'residual of {joint.name}', data.stretch) + '</section>')
    return ''.join(parts)


def _friction(result: Identification) -> str:
    """Return the friction curve of every motor over what was measured."""
    data = result.friction
    if data is None:
        return ''
    motors = replace(result.joint_physics, coupling=None)
    terms, parts = JointTerms.of(motors, np), []
    largest = np.max(np.abs(data.velocity), axis=0)
    grid = np.linspace(-1.0, 1.0, 401)[:, None] * np.maximum(largest, 1e-6)
    loads = np.nanmean(data.load, axis=0)
    curves = [np.stack(terms.friction_torque(list(grid.T), list(
        np.tile(load, (len(grid), 1)).T)), axis=-1) for load in (0.0 * loads, loads)]
    for j, joint in enumerate(result.chain.joints):
        units = ('rad/s', 'N m') if joint.revolute else ('m/s', 'N')
        lines = [Line('urdf', curves[0][:, j]), Line('model', curves[1][:, j])]
        parts.append(f'<section class="joint"><h3>{escape(joint.name)}</h3>' + line_chart(
            grid[:, j], lines, units[1], 190, f'friction of {joint.name}', along=units[0],
            points=(data.velocity[:, j], data.torque[:, j])) + '</section>')
    return ('<h2>Friction</h2><div class="key"><span><i style="color:var(--measured)"></i>'
            'measured torque less links and rotors</span><span><i style="color:var(--model)"></i>'
            'steady curve at the mean load</span><span>'
            '<i style="color:var(--urdf);border-top-style:dashed"></i>without load</span></div>'
            + ''.join(parts))


def _parameters(result: Identification) -> str:
    rows = []
    for line in result.parameters:
        sure = line.state == 'excited'
        sigma = f'{line.standard_deviation:.2g}' if sure else '–'
        relative = f'{100 * line.relative_standard_deviation:.1f} %' if (
            sure and line.relative_standard_deviation < 10.0) else '–'
        bar = interval_bar(line.value, line.standard_deviation if sure else 0.0, line.urdf)
        words = {'excited': 'data', 'prior': 'prior', 'zero': 'held at 0'}[line.state]
        rows.append(
            f'<tr class="{line.state}"><td class="name">{escape(line.name)}</td>'
            f'<td>{_number(line.value)}</td><td>{sigma}</td><td>{relative}</td>'
            f'<td class="text">{line.unit.replace("^2", "²")}</td><td>{_number(line.urdf)}</td>'
            f'<td>{bar}</td>'
            f'<td class="text"><span class="tag {line.state}">{words}</span></td>'
            f'<td>{"●" if line.essential else ""}</td>'
            f'<td class="formula">{escape(_short_formula(line.formula))}</td></tr>')
    return ('<h2>Parameters</h2><p class="soft">σ is the standard deviation. The bar shows the '
            'value with ±2 σ (blue) and the value of the URDF (orange); every row has its own '
            'scale. ● essential: the data need it. Ia: rotor inertia; Fv and Fc: viscous and '
            'Coulomb friction; Fs: excess of static over Coulomb friction.</p>'
            '<table><tr><th class="text">name</th><th>value</th><th>σ</th><th>σ/value</th>'
            '<th class="text">unit</th><th>URDF</th><th></th><th class="text">from</th><th>ess.'
            '</th><th class="text">formula</th></tr>' + ''.join(rows) + '</table>')


def _excitation(result: Identification) -> str:
    rows = ''.join(
        f'<tr><td class="text">{escape(line.joint)}</td><td>{line.rank} of {len(line.unknowns)}'
        f'</td><td>{line.condition_number:.3g}</td><td>{_percent(line.relative_error)}</td>'
        f'<td class="formula">{escape(", ".join(line.unknowns))}</td></tr>'
        for line in result.diagnosis)
    unsure = [line.name for line in result.parameters if line.state == 'prior']
    words = ('All parameters are determined by the data.' if not unsure else
             'Not determined by the data and held near the URDF value by the prior: '
             + ', '.join(unsure) + '.')
    return (f'<h2>Excitation</h2><p>{escape(words)}</p><p class="soft">Lin’s procedure, from the '
            'last joint to the first: the parameters that must be found from each joint’s own '
            'torque, and the residual once the parameters of the joints beyond it are known. A '
            'sudden increase shows at which joint the model fails.</p>'
            '<table><tr><th class="text">joint</th><th>excited</th><th>condition number</th>'
            '<th>residual</th><th class="text">parameters of this joint</th></tr>' + rows
            + '</table>')


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


STYLE = """
:root { --ink:#1c2430; --soft:#5c6773; --line:#e2e6ea; --page:#fff; --card:#f7f8fa;
  --measured:#8a94a0; --model:#0b63ce; --urdf:#d98200; --rest:#b3261e; --good:#136c3a;
  --good-card:#e7f5ec; --bad:#a11212; --bad-card:#fdecec; }
* { box-sizing:border-box; }
body { font:15px/1.5 system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
  color:var(--ink); background:var(--page); margin:0 auto; padding:28px 24px 60px;
  max-width:1000px; }
h1 { font-size:1.5rem; margin:0 0 2px; } h2 { font-size:1.12rem; margin:34px 0 8px; }
h3 { font-size:.95rem; margin:18px 0 2px; font-weight:600; }
p { margin:4px 0 10px; } .soft { color:var(--soft); } small { color:var(--soft); }
.verdict { border-radius:10px; padding:16px 20px; margin:16px 0 18px; display:grid;
  grid-template-columns:auto 1fr; gap:4px 26px; align-items:center; }
.verdict.passed { background:var(--good-card); border-left:6px solid var(--good); }
.verdict.failed { background:var(--bad-card); border-left:6px solid var(--bad); }
.verdict .figure { font-size:2.5rem; font-weight:700; line-height:1.1; }
.passed .figure, .passed strong { color:var(--good); }
.failed .figure, .failed strong { color:var(--bad); }
.verdict ul { margin:4px 0 0; padding-left:18px; }
.facts { display:grid; grid-template-columns:repeat(auto-fit,minmax(150px,1fr)); gap:10px; }
.facts div { background:var(--card); border-radius:8px; padding:8px 12px; }
.facts b { display:block; font-size:1.12rem; font-weight:600; }
table { border-collapse:collapse; width:100%; font-size:.86rem; }
th,td { padding:3px 8px; text-align:right; border-bottom:1px solid var(--line);
  vertical-align:middle; white-space:nowrap; }
th { color:var(--soft); font-weight:500; } td.text,th.text { text-align:left; }
td.formula { white-space:normal; text-align:left; overflow-wrap:anywhere; color:var(--soft);
  font:12px/1.35 ui-monospace,Menlo,Consolas,monospace; min-width:190px; }
td.name { font-family:ui-monospace,Menlo,Consolas,monospace; text-align:left; }
tr.prior td, tr.zero td { color:var(--soft); background:var(--card); }
.tag { font-size:.76rem; border-radius:4px; padding:1px 6px; }
.tag.excited { background:var(--good-card); color:var(--good); }
.tag.prior, .tag.zero { background:#eceff2; color:var(--soft); }
svg { width:100%; height:auto; display:block; } svg text { font-size:11px; fill:var(--soft); }
svg .grid { stroke:var(--line); } svg polyline { fill:none; stroke-width:1.3;
  stroke-linejoin:round; vector-effect:non-scaling-stroke; }
svg .measured { stroke:var(--measured); stroke-width:2.4; } svg .model { stroke:var(--model); }
svg .urdf { stroke:var(--urdf); stroke-dasharray:4 3; } svg .rest { stroke:var(--rest); }
svg.interval { width:120px; } .interval .span { fill:#9cc2f2; }
.point { fill:var(--measured); opacity:.35; }
.interval .dot { fill:var(--model); } .interval .tick { stroke:var(--urdf); stroke-width:2; }
.key { display:flex; gap:18px; flex-wrap:wrap; font-size:.82rem; color:var(--soft); }
.key i { display:inline-block; width:22px; height:0; border-top:3px solid; vertical-align:middle;
  margin-right:6px; }
.bar { background:var(--line); height:8px; width:110px; border-radius:4px; overflow:hidden;
  display:inline-block; vertical-align:middle; } .bar i { display:block; height:8px;
  background:var(--model); } .bar.urdf i { background:var(--urdf); }
ul.plain { padding-left:18px; margin:4px 0; }
@media print { body { padding:0; } section.joint { break-inside:avoid; } }
"""
