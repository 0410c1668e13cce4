# SPDX-License-Identifier: Apache-2.0
"""Torques and positions of a stream that are reported at different times."""

import numpy as np
import pytest

from robot_dynamics_ros.estimation.smoothing.effort_delay import EffortDelay

T = np.arange(300) * 0.01
Q = np.column_stack([np.sin(T), T])


def torque(t):
    return np.column_stack([3.0 * t, -t])


@pytest.mark.parametrize('delay', [0.035, -0.035, 0.02])
@pytest.mark.parametrize('size', [1, 7, 300])
def test_torques_meet_the_positions_they_belong_to(delay, size):
    line = EffortDelay(2, delay)
    parts = [line.feed(T[k:k + size], Q[k:k + size], None, torque(T[k:k + size] - delay))
             for k in range(0, 300, size)]
    t, q, tau = (np.concatenate([part[k] for part in parts]) for k in (0, 1, 3))
    np.testing.assert_array_equal(q, Q[:len(t)])
    known = np.isfinite(tau[:, 0])
    np.testing.assert_allclose(tau[known], torque(t)[known], atol=1e-9)
    assert len(t) >= 296 and known.sum() >= len(t) - 4


def test_without_a_delay_nothing_waits():
    t, q, qd, tau = EffortDelay(2, 0.0).feed(T, Q, Q, torque(T))
    assert t is T and q is Q and qd is Q and len(tau) == 300


def test_a_missing_torque_stays_missing_and_the_memory_is_short():
    line, tau = EffortDelay(2, 0.02), torque(T)
    tau[100, 0] = np.nan
    found = np.concatenate([line.feed(T[k:k + 1], Q[k:k + 1], None, tau[k:k + 1])[3]
                            for k in range(300)])
    assert np.isnan(found[98, 0]) and np.isfinite(found[98, 1]) and np.isfinite(found[101, 0])
    assert line._times.size < 10 and len(line._states) < 10


def test_odd_stamps_are_left_out_and_a_clock_that_is_set_back_starts_anew():
    line = EffortDelay(2, 0.02)
    line.feed(T + 100.0, Q, Q, torque(T))
    t, *_ = line.feed(np.array([103.0, np.nan, 103.0, 102.9]), Q[:4], Q[:4], torque(T[:4]))
    assert t.size <= 2
    t, _, _, tau = line.feed(T, Q, Q, torque(T - 0.02))
    assert t[0] == 0.0
    np.testing.assert_allclose(tau, torque(t), atol=1e-9)
