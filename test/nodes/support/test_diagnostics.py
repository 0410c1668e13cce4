# SPDX-License-Identifier: Apache-2.0
"""What a node says about itself."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from support.messages import published

from robot_dynamics_ros.nodes.support.diagnostics import Diagnostics

pytestmark = pytest.mark.ros


@pytest.fixture
def diagnostics(ros):
    return Diagnostics(ros.node)


def values(diagnostics):
    return {pair.key: pair.value for pair in diagnostics.status().values}


def test_counts_values_and_latencies_are_shown(diagnostics):
    diagnostics.count('joint states', 5)
    diagnostics.value('payload [kg]', 1.5)
    with diagnostics.timed('trajectory'):
        pass
    shown = values(diagnostics)
    assert shown['joint states'] == '5'
    assert float(shown['joint states [1/s]']) > 0.0
    assert shown['payload [kg]'] == '1.5'
    assert float(shown['trajectory p99 [ms]']) >= float(shown['trajectory p50 [ms]']) >= 0.0


def test_a_warning_shows_once_and_is_counted_for_ever(diagnostics, ros):
    messages = published(ros.node, '/diagnostics')
    diagnostics.state('running')
    diagnostics.warn('dropped joint states', 'too old')
    diagnostics.publish()
    diagnostics.publish()
    warned, calm = (message.status[0] for message in messages)
    assert (warned.level, calm.level) == (b'\x01', b'\x00')
    assert warned.message == 'dropped joint states: 1'
    assert calm.message == 'running'
    assert values(diagnostics)['dropped joint states'] == '1'


def test_an_error_stays_above_warnings(diagnostics):
    diagnostics.state('no robot', error=True)
    diagnostics.warn('dropped joint states', 'too old')
    status = diagnostics.status()
    assert (status.level, status.message) == (b'\x02', 'no robot')


def test_log_lines_are_throttled_per_kind(diagnostics, ros, monkeypatch):
    lines = []
    monkeypatch.setattr(type(ros.node.get_logger()), 'warning',
                        lambda self, text, **_: lines.append(text))
    for _ in range(100):
        diagnostics.warn('one', 'first kind')
    diagnostics.warn('two', 'second kind')
    assert lines == ['first kind', 'second kind']
    assert diagnostics.counted('one') == 100
