# SPDX-License-Identifier: Apache-2.0
"""Stamps that stray while the samples are even, and stamps that are right."""

import numpy as np
import pytest

from robot_dynamics_ros import Recording
from robot_dynamics_ros.estimation.recordings.clock import even_times, evened

STEP = 0.001
NAMES = ('a', 'b')


def positions(t):
    return np.column_stack([np.sin(2.0 * t), 0.5 * np.cos(3.0 * t)])


def recorded(stamps, taken):
    q = positions(taken)
    return Recording(stamps, q, None, np.ones_like(q), NAMES)


def strayed(kind, t, rng):
    k = np.arange(t.size)
    return {'white': t + 0.3 * STEP * rng.uniform(-1.0, 1.0, t.size),
            'periodic': t + 0.3 * STEP * np.sin(2.0 * np.pi * 187.3 * t),
            'bursts': t[k // 4 * 4] + 0.1 * STEP * (k % 4)}[kind]


@pytest.mark.parametrize('kind', ['white', 'periodic', 'bursts'])
def test_even_samples_with_straying_stamps_get_even_times(kind, rng):
    t = STEP * np.arange(4000)
    result, findings = evened(recorded(strayed(kind, t, rng), t))
    assert [finding.kind for finding in findings] == ['jittered_stamps']
    late = result.t - t  # a delay of all samples alike does no harm
    assert np.ptp(late) < 0.1 * STEP


def test_samples_that_were_taken_at_odd_times_keep_their_stamps(rng):
    taken = strayed('white', STEP * np.arange(4000), rng)
    recording = recorded(taken, taken)
    assert evened(recording) == (recording, [])


def test_even_stamps_are_left_alone():
    t = STEP * np.arange(1000)
    recording = recorded(t, t)
    assert evened(recording) == (recording, [])


def test_lost_samples_leave_their_places_empty(rng):
    t = STEP * np.arange(4000)
    kept = np.ones(t.size, dtype=bool)
    for first in (500, 1700, 1740, 3000):
        kept[first:first + 8] = False
    stamps = strayed('white', t, rng)[kept]
    assert np.ptp(even_times(stamps) - t[kept]) < 0.1 * STEP


def test_wrong_and_missing_times_stay_as_they_are(rng):
    t = STEP * np.arange(1000)
    stamps = strayed('white', t, rng)
    stamps[300], stamps[500] = np.nan, stamps[400]
    result, _ = evened(recorded(stamps, t))
    assert np.isnan(result.t[300])
    assert result.t[500] == stamps[400]


@pytest.mark.parametrize('wild', [[1e308], [-1e308, 1e308], [np.inf], [1e300, 1e301]])
@pytest.mark.filterwarnings('error')
def test_times_of_no_clock_do_no_harm(wild):
    t = np.concatenate([STEP * np.arange(300), wild])
    recording = recorded(t, STEP * np.arange(t.size))
    assert evened(recording) == (recording, [])
