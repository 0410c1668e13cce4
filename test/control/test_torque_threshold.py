# SPDX-License-Identifier: Apache-2.0
"""Events of the external torque."""

import numpy as np
import pytest

from robot_dynamics_ros.control.observer import TorqueThreshold
from robot_dynamics_ros.errors import ParameterError


def test_a_joint_passes_its_threshold_once_and_is_released_below_it():
    monitor = TorqueThreshold(['a', 'b'], np.array([10.0, np.inf]))
    assert monitor.update(np.array([9.0, 1e6])) == ()
    assert monitor.update(np.array([-10.5, 0.0])) == ('a',)
    assert monitor.update(np.array([-11.0, 0.0])) == ()
    assert monitor.update(np.array([8.5, 0.0])) == ()
    assert monitor.above == ('a',)
    assert monitor.update(np.array([7.9, 0.0])) == ()
    assert monitor.above == ()
    assert monitor.update(np.array([10.5, 0.0])) == ('a',)


def test_an_unknown_torque_changes_nothing():
    monitor = TorqueThreshold(['a', 'b'], np.array([1.0, 1.0]))
    monitor.update(np.array([2.0, 0.0]))
    assert monitor.update(np.array([np.nan, np.nan])) == ()
    assert monitor.above == ('a',)


@pytest.mark.parametrize('threshold', [0.0, -1.0, np.nan])
def test_a_threshold_that_is_not_positive_is_refused(threshold):
    with pytest.raises(ParameterError, match='joint elbow'):
        TorqueThreshold(['elbow'], np.array([threshold]))
