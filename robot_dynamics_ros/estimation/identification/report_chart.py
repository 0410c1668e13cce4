# SPDX-License-Identifier: Apache-2.0
"""Line charts and bars as inline SVG: small, sharp at any size, self-contained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.estimation.regression.time_blocks import Blocks

#: Size of a chart in units of the view box; the page scales it to its width.
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 900, 58, 12, 22, 36

#: Width of a chart that shares its line with another one.
HALF = 450

#: Axis of a chart over time.
TIME = 'time [s]'

#: Steps of the vertical scale of a low chart: fewer may leave a single number, and no scale.
_LEAST_TICKS = 5

#: Points of a cloud, at most about this many.
_POINTS = 2000

#: Points per line: two for every unit of the width.
_BINS = WIDTH - LEFT - RIGHT

#: What a chart of changes shows.
CHANGES_IN_WORDS = (
    'Difference divided by the larger of the two values: 0 is the value of the URDF (orange), '
    '±50 % half or twice of it; at ±100 % one of the two is zero, and beyond that their signs '
    'differ. The line is ±2 σ.')

#: Height of a row of changes; and of the scale below, in units of the view box.
_ROW, _SCALE = 17, 40


@dataclass(frozen=True, eq=False)
class Line:
    """
    One line of a chart.

    :param style: CSS class, which sets the colour.
    :param values: (N,) values to draw; NaN leaves a gap.
    """

    style: str
    values: Array


def line_chart(t: Array, lines: Sequence[Line], unit: str, height: int, label: str,
               breaks: Blocks | None = None, along: str = TIME,
               points: tuple[Array, Array] | None = None, width: int = WIDTH) -> str:
    """
    Return a line chart as an SVG element.

    :param t: (N,) time [s], increasing within a stretch; or another quantity, see `along`.
    :param lines: lines of the chart; later ones are drawn on top.
    :param unit: quantity and unit of the values.
    :param height: height of the chart, in units of the view box.
    :param label: text for readers who cannot see the picture.
    :param breaks: (N,) number of the stretch; lines are interrupted between stretches.
    :param along: quantity and unit of `t`; of a time the first one is shown as zero.
    :param points: (M,) places and values of points below the lines; NaN is left out.
    :param width: width of the chart, in units of the view box.
    """
    shown = np.concatenate([*(line.values for line in lines), *(() if points is None
                                                                else (points[1],))])
    shown = shown[np.isfinite(shown)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (-1.0, 1.0)
    margin = 0.06 * (high - low) or 1.0
    low, high = low - margin, high + margin
    position = _positions(t, breaks) if along == TIME else t
    first, last = float(np.min(position)), float(np.max(position))
    last = max(last, first + 1e-9)
    right, bottom = width - RIGHT, height - BOTTOM

    def x(value: ArrayLike) -> Array:
        return np.asarray(LEFT + (right - LEFT) * (np.asarray(value) - first) / (last - first))

    def y(value: ArrayLike) -> Array:
        return np.asarray(bottom - (bottom - TOP) * (np.asarray(value) - low) / (high - low))

    parts = [_opened(width, height, label)]
    for tick in _ticks(low, high, max(_LEAST_TICKS, height // 38)):
        level = float(y(tick))
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{level:.1f}" '
                     f'y2="{level:.1f}"/><text x="{LEFT - 6}" y="{level + 3.5:.1f}" '
                     f'text-anchor="end">{tick:g}</text>')
    for tick in _ticks(first, last, max(4, width // 90)):
        place = float(x(tick))
        parts.append(f'<text x="{place:.1f}" y="{bottom + 15}" text-anchor="middle">{tick:g}'
                     '</text>')
    parts.append(f'<text x="{(LEFT + right) / 2:.1f}" y="{height - 5}" text-anchor="middle">'
                 f'{escape(along)}</text>')
    parts.append(f'<text x="4" y="{TOP - 9}">{escape(unit)}</text>')
    if points is not None:
        good = np.isfinite(points[1])
        every = max(1, int(good.sum()) // _POINTS)
        parts += [f'<circle class="point" cx="{a:.1f}" cy="{b:.1f}" r="1.5"/>' for a, b in zip(
            x(points[0][good][::every]), y(points[1][good][::every]))]
    for line in lines:
        for px, py in _pieces(x(position), y(line.values), breaks):
            corners = ' '.join(f'{a:.1f},{b:.1f}' for a, b in zip(px, py))
            parts.append(f'<polyline class="{line.style}" points="{corners}"/>')
    return ''.join(parts) + '</svg></div>'


def _opened(width: int, height: int, label: str) -> str:
    return (f'<div class="chart"><svg viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(label)}">')


@dataclass(frozen=True)
class Change:
    """
    How a parameter differs from its reference.

    :param name: name of the parameter.
    :param value: difference, as a part.
    :param half_width: half of its interval of confidence, as a part.
    """

    name: str
    value: float
    half_width: float


def change_chart(changes: Sequence[Change], label: str) -> str:
    """
    Return one row per parameter: its change as a dot on its interval of confidence.

    :param changes: the changes.
    :param label: text for readers who cannot see the picture.
    """
    left, right, height = 110, WIDTH - 30, _ROW * len(changes) + _SCALE
    reach = max(max(abs(each.value) + each.half_width for each in changes), 0.1)
    reach = min(1.05 * reach, 2.2)

    def x(value: float) -> float:
        part = float(np.clip(value / reach, -1.0, 1.0))
        return 0.5 * (left + right) + 0.5 * (right - left) * part

    bottom = height - _SCALE + 4
    parts = [_opened(WIDTH, height, label)]
    for tick in _ticks(-reach, reach, 8):
        parts.append(f'<line class="{"grid" if tick else "zero-line"}" x1="{x(tick):.1f}" '
                     f'x2="{x(tick):.1f}" y1="2" y2="{bottom}"/><text x="{x(tick):.1f}" '
                     f'y="{bottom + 15}" text-anchor="middle">{100 * tick:g}</text>')
    for row, each in enumerate(changes):
        y = _ROW * row + 11
        low, high = x(each.value - each.half_width), x(each.value + each.half_width)
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{escape(each.name)}'
                     f'</text><line class="stem" x1="{x(0.0):.1f}" x2="{x(each.value):.1f}" '
                     f'y1="{y}" y2="{y}"/><line class="whisker" x1="{low:.1f}" x2="{high:.1f}" '
                     f'y1="{y}" y2="{y}"/><circle class="dot" cx="{x(each.value):.1f}" cy="{y}" '
                     'r="3.5"/>')
    parts.append(f'<text x="{0.5 * (left + right):.1f}" y="{height - 5}" text-anchor="middle">'
                 'change [%]</text></svg></div>')
    return ''.join(parts)


def _positions(t: Array, breaks: Blocks | None) -> Array:
    """Return time from zero, without the pauses between stretches."""
    if breaks is None:
        return np.asarray(t - t[0])
    position = np.empty_like(t)
    start = 0.0
    for number in np.unique(breaks):
        places = breaks == number
        position[places] = start + t[places] - t[places][0]
        start = float(position[places][-1])
    return position


def _pieces(x: Array, y: Array, breaks: Blocks | None) -> list[tuple[Array, Array]]:
    """Return the unbroken parts of a line, each reduced to its extremes per unit of width."""
    good = np.isfinite(y)
    cut = ~good[1:] | ~good[:-1]
    if breaks is not None:
        cut |= np.diff(breaks) != 0
    pieces = []
    for places in np.split(np.arange(x.size), np.flatnonzero(cut) + 1):
        kept = places[good[places]]
        if kept.size > 1:
            pieces.append(_thinned(x[kept], y[kept]))
    return pieces


def _thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Return at most the lowest and the highest point of every unit of width."""
    if x.size <= 2 * _BINS:
        return x, y
    bins = np.floor(x).astype(np.int64)
    starts = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
    chosen: set[int] = {0, x.size - 1}
    for first, last in zip(starts, [*starts[1:], x.size]):
        chosen |= {int(first + np.argmin(y[first:last])), int(first + np.argmax(y[first:last]))}
    order = np.array(sorted(chosen))
    return x[order], y[order]


def _ticks(low: float, high: float, count: int) -> list[float]:
    """Return round numbers between two values."""
    raw = (high - low) / count
    size = 10.0 ** np.floor(np.log10(raw))
    step = float(size * next(k for k in (1, 2, 2.5, 5, 10) if k * size >= 0.999 * raw))
    first = int(np.ceil(low / step))
    return [round(k * step, 12) for k in range(first, int(np.floor(high / step)) + 1)]


def interval_bar(value: float, sigma: float, reference: float) -> str:
    """
    Return a small SVG: a value with its 95 % interval as a bar, and a reference as a tick.

    Every bar has its own scale, symmetric about zero, on which all of them just fit.
    """
    reach = max(abs(value) + 2.0 * sigma, abs(reference), 1e-300) * 1.08
    middle, half = 70.0, 66.0

    def x(number: float) -> float:
        return middle + half * float(np.clip(number / reach, -1.0, 1.0))

    low, high = x(value - 2.0 * sigma), x(value + 2.0 * sigma)
    return ('<svg class="interval" viewBox="0 0 140 16" aria-hidden="true">'
            f'<line class="grid" x1="{middle}" x2="{middle}" y1="1" y2="15"/>'
            f'<rect class="span" x="{low:.1f}" y="6" width="{max(high - low, 0.8):.1f}" '
            'height="4"/>'
            f'<line class="tick" x1="{x(reference):.1f}" x2="{x(reference):.1f}" y1="3" y2="13"/>'
            f'<circle class="dot" cx="{x(value):.1f}" cy="8" r="3"/></svg>')
