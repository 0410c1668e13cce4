# SPDX-License-Identifier: Apache-2.0
"""Parameters in a report: how they changed from the URDF, how well they are known, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from robot_dynamics_ros.estimation.identification.report_chart import (
    CHANGES_IN_WORDS,
    Change,
    change_chart,
    interval_bar,
)
from robot_dynamics_ros.estimation.identification.report_page import percent, scrolling
from robot_dynamics_ros.estimation.identification.result import (
    Identification,
    IdentifiedParameter,
)

#: Values below this are rounding errors of zero.
_DUST = 1e-9

#: A standard deviation above this part of the value means that the value is not known.
_UNKNOWN = 0.5

#: What a parameter is called in the table, by how well it is known.
_WORDS = {'excited': 'data', 'uncertain': 'uncertain', 'prior': 'prior', 'zero': 'held at 0'}

#: Changes that are drawn, the most certain ones.
_DRAWN = 36


def _tag(line: IdentifiedParameter) -> tuple[str, str]:
    """Return the class and the word of a parameter."""
    uncertain = line.state == 'excited' and line.relative_standard_deviation > _UNKNOWN
    tag = 'uncertain' if uncertain else line.state
    return tag, _WORDS[tag]


def determined(parameters: Sequence[IdentifiedParameter]) -> list[tuple[str, str]]:
    """Return how many parameters the data determine, as figures with their words."""
    tags = [_tag(line)[0] for line in parameters]
    known, uncertain = tags.count('excited'), tags.count('uncertain')
    facts = [(f'{known + uncertain} of {len(tags)}', 'parameters determined by the data')]
    if uncertain:
        facts.append((str(uncertain), 'of these uncertain: σ above half of the value'))
    return facts


def change_section(result: Identification) -> str:
    """Return how the parameters differ from the URDF, with their confidence, as a chart."""
    changes = []
    for line in result.parameters:
        size = max(abs(line.value), abs(line.urdf))
        if line.state == 'excited' and size > _DUST and line.standard_deviation > 0.0:
            changes.append(Change(line.name, (line.value - line.urdf) / size,
                                  2.0 * line.standard_deviation / size))
    if not changes:
        return ''
    clearest = sorted(changes, key=lambda change: -abs(change.value) / change.half_width)[:_DRAWN]
    shown = [change for change in changes if change in clearest]
    less = f' The {len(shown)} clearest of {len(changes)} are shown.' if len(changes) > len(
        shown) else ''
    beyond = sum(abs(change.value) > change.half_width for change in changes)
    return (f'<h2>Changes from the URDF</h2><p>{beyond} of {len(changes)} parameters differ from '
            f'the URDF by more than 2 σ.</p><p class="soft">{CHANGES_IN_WORDS}{less}</p>'
            + change_chart(shown, 'changes of the parameters from the URDF'))


def _number(value: float) -> str:
    return f'{value:.4g}' if abs(value) > _DUST else '0'


def _short_formula(formula: str) -> str:
    """Return a formula with four digits; parameters.yaml has all of them."""
    return re.sub(r'\d+\.\d+', lambda number: f'{float(number.group()):.4g}', formula)


def parameter_section(result: Identification) -> str:
    """Return all parameters as a table."""
    rows = []
    for line in result.parameters:
        sure = line.state == 'excited'
        sigma = f'{line.standard_deviation:.2g}' if sure else '–'
        relative = f'{100 * line.relative_standard_deviation:.1f} %' if (
            sure and line.relative_standard_deviation < 10.0) else '–'
        bar = interval_bar(line.value, line.standard_deviation if sure else 0.0, line.urdf)
        tag, words = _tag(line)
        rows.append(
            f'<tr class="{line.state}"><td class="name">{escape(line.name)}</td>'
            f'<td>{_number(line.value)}</td><td>{sigma}</td><td>{relative}</td>'
            f'<td class="text">{line.unit.replace("^2", "²")}</td><td>{_number(line.urdf)}</td>'
            f'<td>{bar}</td>'
            f'<td class="text"><span class="tag {tag}">{words}</span></td>'
            f'<td>{"●" if line.essential else ""}</td>'
            f'<td class="formula">{escape(_short_formula(line.formula))}</td></tr>')
    return ('<h2>Parameters</h2><p class="soft">σ is the standard deviation. The bar shows the '
            'value with ±2 σ (blue) and the value of the URDF (orange); every row has its own '
            'scale. ● marks parameters that the data need (essential). Ia: rotor inertia; Fv and '
            'Fc: viscous and Coulomb friction; Fs: excess of static over Coulomb friction. '
            f'"{_WORDS["uncertain"]}" means that σ is more than half of the value.</p>'
            + scrolling('<table><tr><th class="text">name</th><th>value</th><th>σ</th>'
                        '<th>σ/value</th><th class="text">unit</th><th>URDF</th><th></th>'
                        '<th class="text">from</th><th>ess.</th><th class="text">formula</th>'
                        '</tr>' + ''.join(rows) + '</table>'))


def excitation_section(result: Identification) -> str:
    """Return which parameters the data determine, and Lin's procedure joint by joint."""
    rows = ''.join(
        f'<tr><td class="text">{escape(line.joint)}</td><td>{line.rank} of {len(line.unknowns)}'
        f'</td><td>{line.condition_number:.3g}</td><td>{percent(line.relative_error)}</td>'
        f'<td class="formula">{escape(", ".join(line.unknowns))}</td></tr>'
        for line in result.diagnosis)
    groups = {tag: [line.name for line in result.parameters if _tag(line)[0] == tag]
              for tag in ('uncertain', 'prior', 'zero')}
    texts = {'uncertain': 'Determined by the data, but with σ above half of the value',
             'prior': 'Not determined by the data and held near the URDF value by the prior',
             'zero': 'Held at 0, because the estimate would be negative'}
    words = ' '.join(f'{texts[tag]}: {", ".join(names)}.' for tag, names in groups.items()
                     if names) or 'All parameters are determined by the data.'
    return (f'<h2>Excitation</h2><p>{escape(words)}</p><p class="soft">Lin’s procedure, from the '
            'last joint to the first: the parameters that only the torque of this joint can '
            'show, and the residual once those of the joints beyond it are known. A sudden '
            'increase shows at which joint the model fails.</p>'
            + scrolling('<table><tr><th class="text">joint</th><th>excited</th>'
                        '<th>condition number</th><th>residual</th><th class="text">'
                        'parameters of this joint</th></tr>' + rows + '</table>'))
