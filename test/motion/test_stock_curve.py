# SPDX-License-Identifier: Apache-2.0
"""Our curve, resampled and blended, against samples of joint_trajectory_controller 4.42.1."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.motion.resampling import resample
from robot_dynamics_ros.motion.waypoints import trajectory_from_waypoints

DATA = json.loads((Path(__file__).parent.parent / 'data' / 'jtc_samples.json').read_text())
CASES = {case['label']: case for case in DATA['cases']}


def as_the_controller_runs_it(case):
    """Return the waypoints, after the blend from the state of the sample at time zero."""
    n, points = len(case['positions'][0]), len(case['times'])
    rows = {field: [row or [] for row in case[field] or [[]] * points]
            for field in ('velocities', 'accelerations')}
    trajectory = trajectory_from_waypoints([f'joint_{i}' for i in range(n)], case['times'],
                                           positions=case['positions'], **rows)
    return trajectory.begun(0.0, case['start_position'], case['start_velocity'])[0]


def assert_same(sample, case):
    for ours, theirs in zip(sample, (case['q'], case['qd'], case['qdd'])):
        assert_close(ours, np.array(theirs), SAME_ALGEBRA)


def test_all_six_kinds_of_curve_are_there():
    assert list(CASES) == ['quintic', 'cubic', 'linear', 'mixed', 'blend cubic', 'blend quintic']


@pytest.mark.parametrize('label', CASES)
def test_the_curve_is_that_of_the_controller(label):
    case = CASES[label]
    times = np.array(case['sample_ns']) * 1e-9
    assert_same(as_the_controller_runs_it(case).sample(times), case)


@pytest.mark.parametrize('rate', [33.0, 100.0])
@pytest.mark.parametrize('label', CASES)
def test_more_points_do_not_change_the_curve(label, rate):
    case = CASES[label]
    times = np.array(case['sample_ns']) * 1e-9
    dense = resample(as_the_controller_runs_it(case), rate).sample(times)
    # second derivatives of segments of 10 ms lose digits
    for ours, theirs, tolerance in zip(dense, (case['q'], case['qd'], case['qdd']),
                                       (1e-12, 1e-10, 1e-8)):
        assert_close(ours, np.array(theirs), tolerance)
