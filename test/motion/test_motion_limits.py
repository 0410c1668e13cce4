# SPDX-License-Identifier: Apache-2.0
"""Trajectories inside and outside the limits of positions and velocities."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.motion_limits import SAMPLES, MotionLimits
from robot_dynamics_ros.motion.trajectory import Trajectory

NAMES = ('a', 'b')
LIMITS = MotionLimits(NAMES, [[-1.0, -np.inf], [1.0, np.inf]], [2.0, np.nan])
REST = np.zeros((2, 2))


def accepted(trajectory):
    try:
        LIMITS.check(trajectory)
    except TrajectoryError:
        return False
    return True


def test_what_stays_inside_is_accepted():
    assert accepted(Trajectory(NAMES, [0.0, 1.0], [[-1.0, 50.0], [1.0, -50.0]]))


@pytest.mark.parametrize(('beyond', 'allowed'), [(1e-6, True), (0.05, False)])
def test_only_rounding_beyond_a_limit_is_accepted(beyond, allowed):
    low, high = -1.0 - beyond, 2.0 + beyond
    for positions, velocities in (([[low, 0.0], [1.0, 0.0]], [[2.0, 0.0], [2.0, 0.0]]),
                                  ([[-1.0, 0.0], [1.0, 0.0]], [[high, 0.0], [2.0, 0.0]])):
        assert accepted(Trajectory(NAMES, [0.0, 1.0], positions, velocities)) == allowed


@pytest.mark.parametrize(('trajectory', 'message'), [
    (Trajectory(NAMES, [0.0, 1.0], [[0.0, 0.0], [1.5, 0.0]]),
     'joint a: position 1.5 .* outside its limits -1 to 1'),
    (Trajectory(NAMES, [0.0, 1.0], [[-1.25, 0.0], [0.0, 0.0]]), 'joint a: position -1.25'),
    (Trajectory(NAMES, [0.0, 0.1], [[0.0, 0.0], [0.5, 0.0]]),
     'joint a: velocity 5 .* beyond its limit 2'),
    (Trajectory(NAMES, [0.0, 1.0], REST, [[3.0, 0.0], [0.0, 0.0]]), 'joint a: velocity 3'),
    # at rest at both ends: a cubic is one and a half times as quick as its mean
    (Trajectory(NAMES, [0.0, 0.5], [[-0.4, 0.0], [0.4, 0.0]], REST), 'joint a: velocity 2.4'),
    # thrown upwards and caught: outside between two points that are inside
    (Trajectory(NAMES, [0.0, 8.0], [[0.9, 0.0], [0.9, 0.0]], [[1.0, 0.0], [-1.0, 0.0]]),
     'joint a: position 2.9'),
], ids=['above', 'below', 'steep', 'velocity', 'quick between points', 'outside between points'])
def test_what_leaves_the_limits_is_refused_with_joint_value_and_limit(trajectory, message):
    with pytest.raises(TrajectoryError, match=message):
        LIMITS.check(trajectory)


@pytest.mark.parametrize('place', [0, SAMPLES, 2 * SAMPLES - 1])
def test_every_point_of_a_long_trajectory_is_looked_at(place):
    positions = np.zeros((2 * SAMPLES, 2))
    times = np.arange(2.0 * SAMPLES)
    LIMITS.check(Trajectory(NAMES, times, positions))
    positions[place, 0] = 1.5
    with pytest.raises(TrajectoryError, match=r'position 1\.5'):
        LIMITS.check(Trajectory(NAMES, times, positions))
