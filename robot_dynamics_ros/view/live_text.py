# SPDX-License-Identifier: Apache-2.0
"""The live view as text: a table for a terminal of any width, one line elsewhere."""

from __future__ import annotations

import io
import textwrap
from collections import deque
from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate

#: Levels of a small curve, lowest first.
BLOCKS, PLAIN_BLOCKS = ' ▁▂▃▄▅▆▇█', ' .:-=+*#@'
#: Columns of a small curve.
CURVE = 16
#: Minimal parameters that are shown.
ROWS = 9
#: Below this many columns the curves are left out.
_NARROW = 72
#: Columns of a terminal that does not say how many it has.
WIDTH = 80


class LiveText:
    """Text of a view; remembers the last residuals, to draw curves."""

    def __init__(self, first: MlcEstimate, *, plain: bool = False) -> None:
        """
        Begin with the parameters of the URDF.

        :param first: estimate with these parameters.
        :param plain: True = ASCII characters only.
        """
        self._first = first
        self._levels = PLAIN_BLOCKS if plain else BLOCKS
        self._residuals: deque[Array] = deque(maxlen=CURVE)
        # the largest ones of the URDF, always the same rows
        order = np.argsort(-np.abs(first.mlc.values), kind='stable')
        self._rows = sorted(order[:ROWS].tolist())

    def take(self, estimate: MlcEstimate) -> None:
        """Remember the residuals of an estimate."""
        self._residuals.append(np.asarray(estimate.residual_rms))

    def summary(self, estimate: MlcEstimate, elapsed: float, motion: float) -> str:
        """
        Return one line.

        :param estimate: newest estimate.
        :param elapsed: time since the start [s].
        :param motion: part of the exciting motion that was played; NaN = none.
        """
        condition = (f', condition number {estimate.condition_number:.0f}'
                     if np.isfinite(estimate.condition_number) else '')
        played = f', motion {100.0 * motion:.0f} %' if np.isfinite(motion) else ''
        residual = np.sqrt(np.mean(np.asarray(estimate.residual_rms)**2))
        left = f', residual {residual:.2f} N m' if np.isfinite(residual) else ''
        return (f'{elapsed:5.1f} s  {estimate.state.name}: {estimate.samples} samples'
                f'{condition}{left}{played}')

    def lines(self, estimate: MlcEstimate, elapsed: float, motion: float,
              width: int = WIDTH, height: int | None = None) -> list[str]:
        """
        Return the whole view.

        :param estimate: newest estimate.
        :param elapsed: time since the start [s].
        :param motion: part of the exciting motion that was played; NaN = none.
        :param width: columns of the terminal.
        :param height: lines of the terminal; None = as many as are needed.
        """
        if find_spec('rich') is None:
            return [self.summary(estimate, elapsed, motion),
                    'for the whole view: pip install rich']
        head = [*textwrap.wrap(self.summary(estimate, elapsed, motion), width,
                               subsequent_indent=' ' * 9, drop_whitespace=False), '']
        lines = [*head, *self._joint_lines(estimate, width), '',
                 *self._parameter_lines(estimate, width)]
        return lines if height is None else lines[:max(height - 1, 1)]

    def _joint_lines(self, estimate: MlcEstimate, width: int) -> list[str]:
        first, now = self._first.joint_physics, estimate.joint_physics
        history = np.array(self._residuals)
        columns = {
            'joint': list(estimate.mlc.joint_names),
            'residual [N m]': [_number(value) for value in estimate.residual_rms],
            '': [self._curve(history[:, j]) if len(history) else ''
                 for j in range(len(estimate.mlc.joint_names))],
            'viscous': [_change(a, b) for a, b in zip(first.viscous, now.viscous)],
            'Coulomb': [_change(a, b) for a, b in zip(first.coulomb, now.coulomb)]}
        if width < _NARROW:  # numbers first
            del columns['']
        sides = ''.join('<' if word in ('joint', '') else '>' for word in columns)
        return _table(tuple(columns), sides, list(zip(*columns.values())), width)

    def _parameter_lines(self, estimate: MlcEstimate, width: int) -> list[str]:
        deviations = estimate.standard_deviations
        rows = [(estimate.mlc.names[i], _number(self._first.mlc.values[i]),
                 _number(estimate.mlc.values[i]), _number(deviations[i]), estimate.mlc.units[i])
                for i in self._rows]
        return _table(('parameter', 'URDF', 'learned', 'std. dev.', 'unit'), '<>>><', rows, width)

    def _curve(self, values: Array) -> str:
        """Return one level per value; the largest value has the highest level."""
        largest = np.max(np.nan_to_num(values), initial=1e-300)
        steps = len(self._levels) - 1
        return ''.join(self._levels[round(steps * float(value) / largest)]
                       for value in np.nan_to_num(values))


def _table(header: Sequence[str], sides: str, rows: Sequence[Sequence[str]], width: int
           ) -> list[str]:
    """Return the lines of a table that is no wider than the terminal; names are cut short."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    widest = [max(map(len, column)) for column in zip(header, *rows)]
    widest[0] = max(min(widest[0], width - sum(widest[1:]) - 2 * len(widest) + 2), 6)
    for word, side, most in zip(header, sides, widest):
        table.add_column(word, justify='right' if side == '>' else 'left', no_wrap=True,
                         overflow='crop', width=CURVE if not word else most)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # a name may look like markup
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, force_terminal=False, markup=False,
            legacy_windows=False).print(table)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def _number(value: float) -> str:
    return '-' if not np.isfinite(value) else f'{value:.3f}'


def _change(before: float, now: float) -> str:
    return f'{before:.2f} > {now:.2f}'
