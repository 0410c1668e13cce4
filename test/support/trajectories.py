# SPDX-License-Identifier: Apache-2.0
"""Trajectories to test with."""

import numpy as np

from robot_dynamics_ros.motion.trajectory import Trajectory

NAMES = ('a', 'b', 'c')


def random_trajectory(rng, points=6, degree=5, n=3):
    """Return random waypoints that fill what a curve of this degree needs."""
    fields = [rng.uniform(-2, 2, (points, n)) for _ in range(3)]
    return Trajectory(NAMES[:n], np.cumsum(rng.uniform(0.1, 1.0, points)) - 0.05,
                      *fields[:(degree + 1) // 2])
