# SPDX-License-Identifier: Apache-2.0
"""What the live view shows, as lines of text: parameters that converge, residuals that fall."""

from __future__ import annotations

from collections import deque

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate

#: Levels of a small curve, lowest first.
BLOCKS, PLAIN_BLOCKS = ' ▁▂▃▄▅▆▇█', ' .:-=+*#@'
#: Columns of a small curve.
CURVE = 24
#: Minimal parameters that are shown.
ROWS = 9


class LiveViewText:
    """Remembers a little of the past, to draw curves."""

    def __init__(self, first: MlcEstimate, *, plain: bool = False) -> None:
        """
        Begin with the parameters of the URDF.

        :param first: those.
        :param plain: True = ASCII only.
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

        :param estimate: the newest one.
        :param elapsed: since the start [s].
        :param motion: part of the exciting motion that is over; NaN = none.
        """
        condition = (f', condition number {estimate.condition_number:.0f}'
                     if np.isfinite(estimate.condition_number) else '')
        played = f', motion {100.0 * motion:.0f} %' if np.isfinite(motion) else ''
        residual = np.sqrt(np.mean(np.asarray(estimate.residual_rms)**2))
        left = f', residual {residual:.2f} N m' if np.isfinite(residual) else ''
        return (f'{elapsed:5.1f} s  {estimate.state.name}: {estimate.samples} samples'
                f'{condition}{left}{played}')

    def lines(self, estimate: MlcEstimate, elapsed: float, motion: float) -> list[str]:
        """Return the whole view; arguments as of `summary`."""
        return [self.summary(estimate, elapsed, motion), '', *self._joint_lines(estimate), '',
                *self._parameter_lines(estimate)]

    def _joint_lines(self, estimate: MlcEstimate) -> list[str]:
        lines = [f'{"joint":<12}{"residual [N m]":>15}  {"":<{CURVE}}'
                 f'{"viscous":>16}{"Coulomb":>16}']
        first, now = self._first.joint_physics, estimate.joint_physics
        history = np.array(self._residuals)
        for j, name in enumerate(estimate.mlc.joint_names):
            curve = self._curve(history[:, j]) if len(history) else ''
            lines.append(
                f'{name:<12}{_number(estimate.residual_rms[j]):>15}  {curve:<{CURVE}}'
                f'{_change(first.viscous[j], now.viscous[j]):>16}'
                f'{_change(first.coulomb[j], now.coulomb[j]):>16}')
        return lines

    def _parameter_lines(self, estimate: MlcEstimate) -> list[str]:
        lines = [f'{"parameter":<12}{"URDF":>10}{"learned":>10}{"deviation":>11}  unit']
        deviations = estimate.standard_deviations
        for i in self._rows:
            lines.append(f'{estimate.mlc.names[i]:<12}{_number(self._first.mlc.values[i]):>10}'
                         f'{_number(estimate.mlc.values[i]):>10}{_number(deviations[i]):>11}  '
                         f'{estimate.mlc.units[i]}')
        return lines

    def _curve(self, values: Array) -> str:
        """Return a row of levels, the highest one for the largest value."""
        largest = np.max(np.nan_to_num(values), initial=1e-300)
        steps = len(self._levels) - 1
        return ''.join(self._levels[round(steps * float(value) / largest)]
                       for value in np.nan_to_num(values))


def _number(value: float) -> str:
    return '-' if not np.isfinite(value) else f'{value:.3f}'


def _change(before: float, now: float) -> str:
    return f'{before:.2f} > {now:.2f}'
