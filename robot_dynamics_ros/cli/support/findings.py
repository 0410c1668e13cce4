# SPDX-License-Identifier: Apache-2.0
"""Findings about a robot, grouped so that the serious ones are seen first."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.cli.support.terminal import WIDTH

#: Headings and the kinds of findings below them, the most serious first. A kind that is not named
#: here belongs to the last heading.
HEADINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ('Wrong: no real body has such inertias or friction', (
        'negative_mass', 'indefinite_inertia', 'triangle_inequality', 'negative_friction',
        'zero_inertia')),
    ('Missing: give it in joints.yaml (robot-dynamics joints ROBOT writes one)', (
        'unknown_effort_limit', 'unknown_velocity_limit', 'unknown_position_limits',
        'unusable_position_limits')),
    ('Good to know', ()),
)

#: Names that one line lists before it only counts the others.
MOST_NAMES = 6


def grouped_findings(findings: Sequence[Finding]) -> str:
    """Return the findings as text: alike ones in one line, below headings by seriousness."""
    if not findings:
        return 'No findings.'
    parts = [f'Findings ({len(findings)}; inspect --json lists each)']
    known = {kind for _, kinds in HEADINGS for kind in kinds}
    for heading, kinds in HEADINGS:
        chosen = [finding for finding in findings
                  if finding.kind in kinds or (not kinds and finding.kind not in known)]
        if chosen:
            parts += [heading, *(_item(line) for line in _lines(chosen))]
    return '\n'.join(parts)


def _lines(findings: Sequence[Finding]) -> list[str]:
    """Return one line for all findings of a kind that say the same."""
    lines: list[str] = []
    alike: dict[tuple[str, str], list[Finding]] = {}
    snapped = [finding for finding in findings if finding.kind == 'snapped' and finding.where]
    for finding in findings:
        if finding not in snapped:
            alike.setdefault((finding.kind, finding.message), []).append(finding)
    for (_, message), group in alike.items():
        names = [finding.where for finding in group if finding.where]
        more = len(names) - MOST_NAMES
        shown = ', '.join(names[:MOST_NAMES]) + (f' and {more} more' if more > 0 else '')
        lines.append(f'{shown}: {message}' if shown else message)
    if len(snapped) > 1:
        largest = max(finding.value or 0.0 for finding in snapped)
        lines.append(f'{len(snapped)} lengths and angles were taken as 0 or a multiple of pi/2, '
                     f'which they miss by at most {largest:.1g} m or rad')
    else:
        lines += [str(finding) for finding in snapped]
    return lines


def _item(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent='  - ', subsequent_indent='    ',
                         break_on_hyphens=False)
