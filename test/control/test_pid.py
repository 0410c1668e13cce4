# SPDX-License-Identifier: Apache-2.0
"""PID on paper."""

import numpy as np
import pytest

from robot_dynamics_ros.control.pid import Pid, PidGains
from robot_dynamics_ros.errors import ParameterError


def gains(**changes):
    values = {'p': [100.0], 'i': [50.0], 'd': [5.0], 'i_clamp_max': [2.0]}
    return PidGains(**{**values, **changes})


def test_the_three_parts_add_up():
    pid = Pid(gains())
    assert pid.effort(np.array([0.1]), np.array([0.2]), 0.01)[0] == pytest.approx(10 + 0.05 + 1)
    assert pid.effort(np.array([0.1]), np.array([0.0]), 0.01)[0] == pytest.approx(10 + 0.1)


def test_the_integral_is_clamped_and_leaves_the_clamp_at_once():
    pid = Pid(gains(p=[0.0], d=[0.0]))
    for _ in range(1000):
        pid.effort(np.array([1.0]), np.zeros(1), 0.01)
    assert pid.effort(np.array([0.0]), np.zeros(1), 0.01)[0] == 2.0
    assert pid.effort(np.array([-1.0]), np.zeros(1), 0.01)[0] == 1.5


def test_reset_empties_the_integral():
    pid = Pid(gains(p=[0.0]))
    pid.effort(np.array([1.0]), np.zeros(1), 0.01)
    pid.reset()
    assert pid.effort(np.zeros(1), np.zeros(1), 0.01)[0] == 0.0


def test_the_integral_may_be_bounded_otherwise_below():
    pid = Pid(gains(p=[0.0], d=[0.0], i_clamp_min=[-0.5]))
    for _ in range(1000):
        pid.effort(np.array([-1.0]), np.zeros(1), 0.01)
    assert pid.effort(np.array([0.0]), np.zeros(1), 0.01)[0] == -0.5


@pytest.mark.parametrize('changes', [{'p': [-1.0]}, {'i_clamp_min': [0.1]}, {'d': [np.nan]},
                                     {'i': [1.0, 2.0]}])
def test_impossible_gains_are_refused(changes):
    with pytest.raises(ParameterError, match='PID'):
        gains(**changes)
