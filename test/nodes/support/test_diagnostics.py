# SPDX-License-Identifier: Apache-2.0
"""What a node says about itself."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from support.messages import published

from robot_dynamics_ros.nodes.support.diagnostics import Report

pytestmark = pytest.mark.ros


@pytest.fixture
def report(ros):
    return Report(ros.node)


def values(report):
    return {pair.key: pair.value for pair in report.status().values}


def test_counts_values_and_latencies_are_shown(report):
    report.count('joint states', 5)
    report.value('payload [kg]', 1.5)
    with report.timed('trajectory'):
        pass
    shown = values(report)
    assert shown['joint states'] == '5'
    assert float(shown['joint states [1/s]']) > 0.0
    assert shown['payload [kg]'] == '1.5'
    assert float(shown['trajectory p99 [ms]']) >= float(shown['trajectory p50 [ms]']) >= 0.0


def test_a_warning_shows_once_and_is_counted_for_ever(report, ros):
    messages = published(ros.node, '/diagnostics')
    report.state('running')
    report.warn('dropped joint states', 'too old')
    report.publish()
    report.publish()
    warned, calm = (message.status[0] for message in messages)
    assert (warned.level, calm.level) == (b'\x01', b'\x00')
    assert warned.message == 'dropped joint states: 1'
    assert calm.message == 'running'
    assert values(report)['dropped joint states'] == '1'


def test_an_error_stays_above_warnings(report):
    report.state('no robot', error=True)
    report.warn('dropped joint states', 'too old')
    status = report.status()
    assert (status.level, status.message) == (b'\x02', 'no robot')


def test_log_lines_are_throttled_per_kind(report, ros, monkeypatch):
    lines = []
    monkeypatch.setattr(type(ros.node.get_logger()), 'warning',
                        lambda self, text, **_: lines.append(text))
    for _ in range(100):
        report.warn('one', 'first kind')
    report.warn('two', 'second kind')
    assert lines == ['first kind', 'second kind']
    assert report.counted('one') == 100
