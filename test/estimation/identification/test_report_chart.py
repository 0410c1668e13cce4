# SPDX-License-Identifier: Apache-2.0
"""Charts of the report: well-formed SVG whose points are the data."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from robot_dynamics_ros.estimation.identification.report_chart import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Change,
    Line,
    change_chart,
    interval_bar,
    line_chart,
)

HEIGHT = 200


def chart(t, *values, **options):
    lines = [Line('measured', np.asarray(each, dtype=float)) for each in values]
    return ElementTree.fromstring(line_chart(np.asarray(t, dtype=float), lines, 'N m', HEIGHT,
                                             'torque of <a>', **options)).find('svg')


def polylines(svg):
    return [np.array([[float(number) for number in point.split(',')]
                      for point in line.get('points').split()])
            for line in svg.iter('polyline')]


def test_the_line_goes_through_the_data():
    svg = chart([5.0, 6.0, 9.0], [0.0, 10.0, 5.0])
    (points,) = polylines(svg)
    width, top, bottom = WIDTH - LEFT - RIGHT, TOP, HEIGHT - BOTTOM
    np.testing.assert_allclose(points[:, 0], LEFT + width * np.array([0.0, 0.25, 1.0]), atol=0.05)
    margin = 0.06 * (bottom - top) / 1.12  # 6 % of the values above and below
    expected = bottom - margin - (bottom - top - 2 * margin) * np.array([0.0, 1.0, 0.5])
    np.testing.assert_allclose(points[:, 1], expected, atol=0.06)
    assert svg.get('aria-label') == 'torque of <a>'


def test_missing_values_and_the_ends_of_stretches_break_the_line():
    t = [0.0, 1.0, 2.0, 3.0, 4.0, 100.0, 101.0]
    values = [0.0, 1.0, np.nan, 1.0, 0.0, 0.0, 1.0]
    breaks = np.array([0, 0, 0, 0, 0, 1, 1])
    parts = polylines(chart(t, values, breaks=breaks))
    assert [len(part) for part in parts] == [2, 2, 2]
    # the pause between the stretches takes no room
    assert parts[1][-1, 0] == parts[2][0, 0]


def test_a_long_line_keeps_its_extremes(rng):
    t = np.arange(50_000) * 0.001
    values = np.sin(t) + 0.01 * rng.normal(size=t.size)
    values[23_456], values[34_567] = 7.0, -5.0
    (points,) = polylines(chart(t, values))
    assert len(points) < 2 * WIDTH
    assert np.all(np.diff(points[:, 0]) >= 0.0)
    (whole,) = polylines(chart(t[::50], values[::50] * 0.0 + np.linspace(-5.0, 7.0, 1000)))
    np.testing.assert_allclose([points[:, 1].min(), points[:, 1].max()],
                               [whole[:, 1].min(), whole[:, 1].max()], atol=0.1)


@pytest.mark.parametrize('values', [[2.0, 2.0, 2.0], [np.nan, np.nan, np.nan]])
def test_a_constant_and_an_empty_line_can_be_drawn(values):
    svg = chart([0.0, 1.0, 2.0], values)
    drawn = polylines(svg)
    assert len(drawn) == (1 if np.isfinite(values[0]) else 0)
    for points in drawn:
        np.testing.assert_allclose(points[:, 1], (TOP + HEIGHT - BOTTOM) / 2)


def test_ticks_are_round_numbers_inside_the_range():
    texts = [text.text for text in chart([0.0, 10.0], [-0.3, 1.7]).iter('text')]
    assert texts[-2:] == ['time [s]', 'N m']
    assert texts[:texts.index('0', 2)] == ['0', '0.5', '1', '1.5']
    assert {'1', '2', '5', '10'} <= set(texts)


@pytest.mark.parametrize('size', np.geomspace(1.0, 10.0, 30))
def test_a_low_chart_has_a_scale(size):
    svg = ElementTree.fromstring(line_chart(np.arange(2.0), [Line('rest', np.array([-0.5, 0.5])
                                                                  * size)], 'N m', 90, 'rest'))
    levels = [text for text in svg.iter('text') if text.get('text-anchor') == 'end'
              and text.text != 's']
    assert 2 <= len(levels) <= 6


def test_an_interval_on_paper():
    svg = interval_bar(1.0, 0.25, -1.5)  # 0.5 to 1.5; the reference fills the scale
    scale = 66.0 / (1.5 * 1.08)
    number = {name: float(value) for name, value in re.findall(r'(cx|width|x1)="([\d.]+)"', svg)}
    assert number['cx'] == pytest.approx(70.0 + scale * 1.0, abs=0.06)
    assert number['width'] == pytest.approx(scale * 1.0, abs=0.06)
    assert number['x1'] == pytest.approx(70.0 - scale * 1.5, abs=0.06)  # the tick, drawn last
    ElementTree.fromstring(svg)


def test_no_point_is_cut_off():
    x, y = np.linspace(0.0, 1.0, 400), np.zeros(400)
    y[7], y[11] = 1e3, np.nan
    svg = chart(x, points=(x, y), along='position [rad]')
    places = np.array([[float(each.get('cx')), float(each.get('cy'))]
                       for each in svg.iter('circle')])
    assert len(places) == 399
    assert places[:, 1].min() > TOP and places[:, 1].max() < HEIGHT - BOTTOM


def test_both_axes_have_quantity_and_unit():
    texts = [each.text for each in chart([0.0, 1.0], [1.0, 2.0]).iter('text')]
    assert {'N m', 'time [s]'} <= set(texts)
    texts = [each.text for each in chart([0.0, 1.0], [1.0, 2.0], along='velocity [rad/s]'
                                         ).iter('text')]
    assert 'velocity [rad/s]' in texts and 'time [s]' not in texts


def test_a_change_is_a_dot_on_its_interval():
    svg = ElementTree.fromstring(change_chart([
        Change('a<', 0.5, 0.1), Change('b', -9.0, 0.2), Change('c', 0.0, 50.0)], 'x'))
    dots = [float(each.get('cx')) for each in svg.iter('circle')]
    zero, = (float(each.get('x1')) for each in svg.iter('line')
             if each.get('class') == 'zero-line')
    whiskers = [(float(each.get('x1')), float(each.get('x2'))) for each in svg.iter('line')
                if each.get('class') == 'whisker']
    assert dots[0] > zero > dots[1] and dots[2] == zero
    assert all(low <= dot <= high for dot, (low, high) in zip(dots, whiskers))
    assert (dots[0] - whiskers[0][0]) == pytest.approx(0.2 * (dots[0] - zero), abs=0.11)
    assert min(low for low, _ in whiskers) > 0.0 and max(high for _, high in whiskers) <= WIDTH
    assert 'a<' in [each.text for each in svg.iter('text')]
