# SPDX-License-Identifier: Apache-2.0
"""The short part of make soak."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from soak import scenarios

pytestmark = pytest.mark.ros


def assert_passed(rows):
    assert rows
    assert [row for row in rows if row.passed is False] == []


def test_nodes_bear_joint_states_at_a_kilohertz(ros, tmp_path):
    assert_passed(scenarios.load(ros, tmp_path, duration=2.0))


def test_two_nodes_on_one_checkpoint_leave_it_whole(ros, tmp_path):
    assert_passed(scenarios.shared_checkpoint(ros, tmp_path, duration=2.0))


def test_a_failed_row_is_seen():
    with pytest.raises(AssertionError):
        assert_passed([scenarios.Row('a', 'b', False)])
