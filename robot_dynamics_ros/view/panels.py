# SPDX-License-Identifier: Apache-2.0
"""Panels of the page as HTML: bars and tables; every text from outside is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import ArrayLike

#: Colours that can be read on a light and on a dark page.
_URDF, _LEARNED, _GOOD, _BAD, _SOFT = '#d98200', '#3b82f6', '#16a34a', '#dc2626', '#8a94a0'

#: Smaller values are rounding errors of zero.
_DUST = 1e-9

_CELL = 'padding:1px 4px;white-space:nowrap'


def number(value: float, digits: int = 3) -> str:
    """Return a number with significant digits; a dash for what is not known."""
    if not np.isfinite(value):
        return '–'
    return f'{value:.{digits}g}' if abs(value) > _DUST else '0'


def bars(names: Sequence[str], values: ArrayLike, limits: ArrayLike, units: Sequence[str],
         title: str) -> str:
    """
    Return a bar to the left or right of zero for every joint.

    :param names: names of the joints.
    :param values: (n,) torques [N m, N].
    :param limits: (n,) effort limits [N m, N]; where not finite, the largest value is the scale.
    :param units: unit of each torque.
    :param title: headline.
    """
    values, limits = np.asarray(values), np.asarray(limits)
    largest = float(np.max(np.abs(values), initial=1e-9))
    rows = []
    for name, value, limit, unit in zip(names, values.tolist(), limits.tolist(), units):
        scale = limit if np.isfinite(limit) and limit > 0.0 else largest
        part = min(abs(value) / scale, 1.0) if np.isfinite(value) else 0.0
        colour = _BAD if np.isfinite(limit) and abs(value) > limit else _LEARNED
        side = 'left:50%' if value >= 0.0 else f'left:{50.0 - 50.0 * part:.1f}%'
        of_limit = f' of {number(limit)}' if np.isfinite(limit) else ''
        rows.append(
            f'<tr><td style="{_CELL}">{escape(name)}</td><td style="width:40%">'
            '<div style="position:relative;height:9px;background:#8884;border-radius:3px">'
            f'<i style="position:absolute;top:0;height:9px;{side};width:{50.0 * part:.1f}%;'
            f'background:{colour}"></i><i style="position:absolute;left:50%;top:-2px;'
            f'height:13px;width:1px;background:{_SOFT}"></i></div></td>'
            f'<td style="{_CELL};text-align:right">{number(value)}{of_limit} {unit}</td></tr>')
    return _table(title, rows)


def intervals(rows: Sequence[tuple[str, str, float, float, float]], title: str) -> str:
    """
    Return parameters as value, interval of two standard deviations, and the URDF's value.

    :param rows: name, unit, value of the URDF, learned value, its standard deviation; NaN where
        something is not known.
    :param title: headline.
    """
    lines = []
    for name, unit, urdf, value, sigma in rows:
        known = np.isfinite(value) and np.isfinite(sigma)
        middle = value if np.isfinite(value) else urdf
        half = 2.0 * sigma if known else 0.0
        reach = max(abs(middle) + half, abs(urdf), 1e-12) * 1.05

        def place(x: float, reach: float = reach) -> float:
            return 50.0 + 50.0 * float(np.clip(x / reach, -1.0, 1.0))

        left, right = place(middle - half), place(middle + half)
        text = (f'{number(value)} ± {number(2.0 * sigma, 2)}' if known else
                number(value if np.isfinite(value) else urdf))
        dot = f'<i style="{_dot(place(middle), _LEARNED)}"></i>' if known else ''
        lines.append(
            f'<tr><td style="{_CELL}"><code>{escape(name)}</code></td><td style="width:34%">'
            '<div style="position:relative;height:11px;border-bottom:1px solid #8886">'
            f'<i style="position:absolute;left:{left:.1f}%;width:{max(right - left, 0.4):.1f}%;'
            f'top:4px;height:4px;background:{_LEARNED}88"></i>'
            f'<i style="position:absolute;left:{place(urdf):.1f}%;top:0;width:2px;height:11px;'
            f'background:{_URDF}"></i>{dot}</div></td>'
            f'<td style="{_CELL};text-align:right">{text}</td>'
            f'<td style="{_CELL}">{escape(unit.replace("^2", "²"))}</td></tr>')
    learned = any(np.isfinite(row[3]) for row in rows)
    key = (f'<small style="padding:0 10px"><span style="color:{_URDF}">▎URDF</span>'
           + (f' &nbsp; <span style="color:{_LEARNED}">● learned ± 2 σ</span>' if learned else '')
           + '</small>')
    return _table(title, lines) + key


def facts(rows: Sequence[tuple[str, str]], title: str = '') -> str:
    """Return a table of two columns: what, and its value."""
    return _table(title, [f'<tr><td style="{_CELL};color:{_SOFT}">{escape(name)}</td>'
                          f'<td style="{_CELL};white-space:normal">{escape(value)}</td></tr>'
                          for name, value in rows])


def badge(text: str, good: bool | None) -> str:
    """
    Return a word in a coloured box.

    :param text: the word.
    :param good: True = green, False = red, None = grey.
    """
    colour = _SOFT if good is None else _GOOD if good else _BAD
    return (f'<span style="background:{colour};color:#fff;border-radius:4px;padding:1px 7px">'
            f'{escape(text)}</span>')


def _dot(place: float, colour: str) -> str:
    return (f'position:absolute;left:calc({place:.1f}% - 3px);top:3px;width:6px;height:6px;'
            f'border-radius:3px;background:{colour}')


def _table(title: str, rows: Sequence[str]) -> str:
    head = f'<b style="font-size:13px">{escape(title)}</b>' if title else ''
    return (f'<div style="padding:0 10px 6px;overflow-x:auto">{head}<table style="width:100%;'
            'font-size:12px;border-collapse:collapse;font-variant-numeric:tabular-nums">'
            f'{"".join(rows)}</table></div>')
