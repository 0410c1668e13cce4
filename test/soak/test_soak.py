# SPDX-License-Identifier: Apache-2.0
"""The short part of make soak."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from soak.checkpoint import shared_checkpoint
from soak.load import leaks, load
from soak.measuring import Row

pytestmark = pytest.mark.ros


def assert_passed(rows):
    assert rows
    assert [row for row in rows if row.passed is False] == []


def test_nodes_bear_joint_states_at_a_kilohertz(ros, tmp_path):
    assert_passed(load(ros, tmp_path, duration=2.0))


def test_two_nodes_on_one_checkpoint_leave_it_whole(ros, tmp_path):
    assert_passed(shared_checkpoint(ros, tmp_path, duration=2.0))


def test_a_failed_row_is_seen():
    with pytest.raises(AssertionError):
        assert_passed([Row('a', 'b', False)])


@pytest.mark.parametrize(('rate', 'leaking'), [(0.0, False), (0.5, False), (2.0, True)])
def test_memory_that_grows_for_minutes_is_seen(rate, leaking):
    times = [float(i) for i in range(181)]
    steps = [float(i % 3) for i in range(181)]  # comes and goes
    assert leaks(times, [200.0 + rate * time / 60.0 + step
                         for time, step in zip(times, steps)]) == leaking


def test_a_step_in_a_short_run_is_no_leak():
    assert not leaks([0.0, 1.0, 2.0], [200.0, 201.0, 201.0])
    assert leaks([0.0, 1.0, 2.0], [200.0, 220.0, 240.0])
