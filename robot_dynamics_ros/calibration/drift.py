# SPDX-License-Identifier: Apache-2.0
"""What has changed between two calibrations of one robot, parameter by parameter, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

#: A difference is a change beyond this many standard deviations...
_DEVIATIONS = 4.0
#: ...and beyond this part of the larger value: below, no drive would feel it.
_PART = 0.05
#: Parameters of one link: its number is part of the name.
_OF_LINK = re.compile(r'(?:[A-Za-z]+?)(\d+)(?:_|$|-)')


class ParameterChange(NamedTuple):
    """
    One parameter in two calibrations.

    :param name: name of the parameter, or of the joint term.
    :param before: value in the first one.
    :param after: value in the second one.
    :param deviation: standard deviation of the difference; NaN = not known.
    :param joint: name of the joint, for friction and the like; empty = a minimal parameter.
    """

    name: str
    before: float
    after: float
    deviation: float
    joint: str = ''

    @property
    def score(self) -> float:
        """Difference in standard deviations; NaN = not known."""
        known = self.deviation > 0.0
        return (self.after - self.before) / self.deviation if known else np.nan

    @property
    def verdict(self) -> str:
        """'changed', 'same', or 'not known' where nobody can say."""
        if not np.isfinite(self.score):
            return 'not known'
        largest = max(abs(self.before), abs(self.after))
        changed = (abs(self.score) > _DEVIATIONS
                   and abs(self.after - self.before) > _PART * largest)
        return 'changed' if changed else 'same'


def explanations(changes: Sequence[ParameterChange], joints: int) -> list[str]:
    """
    Return what the changes point to, for people; one line says so where there is none.

    :param changes: all parameters.
    :param joints: number of joints.
    """
    changed = [each for each in changes if each.verdict == 'changed']
    if not changed:
        judged = sum(each.verdict == 'same' for each in changes)
        return [f'no change beyond the uncertainty in {judged} of {len(changes)} parameters; the '
                'others are not known well enough']
    lines = []
    for joint in dict.fromkeys(each.joint for each in changed if each.joint):
        here = [each for each in changed if each.joint == joint]
        words = ', '.join(f'{each.name.split()[0].replace("_", " ")} {_percent(each)}'
                          for each in here)
        lines.append(f'{joint}: {words}: {_cause(here)}')
    links = [int(found[1]) for each in changed if not each.joint
             if (found := _OF_LINK.match(each.name))]
    if joints in links:
        lines.append('parameters of the last link have changed: a tool or payload was put on or '
                     'taken off; find it with payload:=true')
    elif links:
        lines.append(f'parameters of link {", ".join(map(str, sorted(set(links))))} have changed '
                     'and not those of the last one: something was mounted there, or the motion '
                     'did not show them well; look at the reports')
    return lines


def _percent(change: ParameterChange) -> str:
    if change.before == 0.0:
        return 'appeared'
    return f'{100 * (change.after / change.before - 1.0):+.0f} %'


def _cause(changes: Sequence[ParameterChange]) -> str:
    terms = {each.name.split()[0] for each in changes}
    risen = all(abs(each.after) > abs(each.before) for each in changes)
    if 'torque_offset' in terms:
        return 'the zero of the effort has moved: check the sensor or the current offset'
    if 'rotor_inertia' in terms:
        return 'the drive train has changed: a belt that slips or is loose, another gear'
    if risen:
        return 'colder or older grease, a tight belt, a bearing that wears'
    return 'warmer, newly greased, or a belt that has become loose'
