# SPDX-License-Identifier: Apache-2.0
"""PD with compensated weight, on paper."""

import numpy as np
from support.pendulum import Pendulums

from robot_dynamics_ros.control.pid import PidGains, pd_gravity
from robot_dynamics_ros.motion.trajectory import TrajectorySample


def test_it_is_weight_plus_springs_plus_dampers():
    gains = PidGains([100.0, 50.0], [7.0, 7.0], [10.0, 5.0], [1.0, 1.0])
    desired = TrajectorySample(np.array([0.5, 0.1]), np.array([0.2, 0.0]), np.ones(2), np.zeros(2))
    q, qd = np.array([0.4, 0.3]), np.array([0.0, 1.0])
    expected = 10.0 * np.cos(q) + [100.0 * 0.1 + 10.0 * 0.2, -50.0 * 0.2 - 5.0]
    np.testing.assert_allclose(pd_gravity(Pendulums(), gains, desired, q, qd), expected)
