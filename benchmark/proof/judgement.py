# SPDX-License-Identifier: Apache-2.0
"""What the judges found, as tables, and whether the aims are reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from proof.tracking import TrackingErrors
from robot_dynamics_ros.cli.support.terminal import table

#: Aims: torques agree to this share of their size, with at least so many libraries.
SAME_TORQUE, LIBRARIES = 1e-9, 4
#: The tracking error is so many times smaller than with PID alone, in at least so many engines.
BETTER, ENGINES = 10.0, 3


@dataclass(frozen=True)
class Finding:
    """
    What one judge found.

    :param title: its name.
    :param version: its version; '' = it is not installed.
    :param simulates: True = it is asked for tracking, too.
    :param problem: reason for which it is not installed, or failed; '' = none.
    :param torques: largest disagreement by URDF, or why it was refused.
    :param tracking: tracking errors; None = it does not simulate.
    """

    title: str
    version: str
    simulates: bool
    problem: str = ''
    torques: dict[str, float | str] = field(default_factory=dict)
    tracking: TrackingErrors | None = None

    @property
    def installed(self) -> bool:
        """Whether it was there to be asked."""
        return bool(self.version)

    @property
    def disagreements(self) -> list[float]:
        """Largest disagreement about every robot that it takes."""
        return [value for value in self.torques.values() if not isinstance(value, str)]

    @property
    def misses(self) -> list[str]:
        """Every aim that is missed with this judge; one that is not installed misses none."""
        if not self.installed:
            return []
        if self.problem:
            return [f'{self.title} failed: {self.problem}']
        missed = [f'{self.title}, {name}: the torques differ by {value:.1e}'
                  for name, value in self.torques.items()
                  if not isinstance(value, str) and not value <= SAME_TORQUE]
        if not self.disagreements:
            missed.append(f'{self.title} takes none of the robots')
        if self.simulates and not (self.tracking and self.tracking.better >= BETTER):
            times = f'{self.tracking.better:.1f} times' if self.tracking else 'no times'
            missed.append(f'{self.title}: the tracking error is {times} smaller')
        return missed

    def as_data(self) -> dict[str, Any]:
        """Return the finding as data for JSON."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Finding:
        """Return the finding that `as_data` has written."""
        tracking = data.get('tracking')
        return cls(**{**data, 'tracking': TrackingErrors(**tracking) if tracking else None})


def misses(findings: Sequence[Finding]) -> list[str]:
    """Return every aim that is missed; none = the proof holds."""
    missed = [miss for finding in findings for miss in finding.misses]
    there = [finding for finding in findings if finding.installed and not finding.problem]
    if len(there) < LIBRARIES:
        missed.append(f'torques: {len(there)} libraries are there, {LIBRARIES} are needed')
    engines = sum(finding.simulates for finding in there)
    if engines < ENGINES:
        missed.append(f'tracking: {engines} engines are there, {ENGINES} are needed')
    return missed


def torque_table(findings: Sequence[Finding]) -> str:
    """Return the disagreements of torques, one line per judge."""
    rows = []
    for finding in findings:
        values = finding.disagreements
        refused = [name for name, value in finding.torques.items() if isinstance(value, str)]
        rows.append([_name(finding), f'{len(values)}', f'{max(values):.0e}' if values else '-',
                     finding.problem or ', '.join(refused) or '-'])
    return table(['torque of the rigid links', 'robots', 'largest difference', 'not taken'], rows,
                 align='<>><')


def tracking_table(findings: Sequence[Finding]) -> str:
    """Return the tracking errors, one line per engine."""
    rows = []
    for finding in findings:
        found = finding.tracking
        if found is not None:
            errors = [f'{1e3 * error:.2f}' for error in (found.pid, found.urdf, found.learned)]
            rows.append([_name(finding), *errors, f'{found.better:.1f}'])
        elif finding.simulates:
            rows.append([_name(finding), '-', '-', '-', '-'])
    return table(['tracking error, rms [mrad]', 'PID', 'PID + URDF', 'PID + learned',
                  'times better than PID'], rows)


def _name(finding: Finding) -> str:
    return f'{finding.title} {finding.version or "(not installed)"}'
