# SPDX-License-Identifier: Apache-2.0
"""A robot at work, without ROS: what the live page is fed with."""

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import load_robot
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.view.live_state import LiveState

RATE = 100.0  # [Hz]


@pytest.fixture
def state():
    return LiveState(load_robot((URDF_FOLDER / 'planar_2r.urdf').read_text()))


@pytest.fixture
def work():
    """Return a function that lets a robot with some model work for a while."""
    def feed(state, model, seconds, begin=0.0):
        for k in range(int(seconds * RATE)):
            t = begin + k / RATE
            q, qd, qdd = (np.array([0.5, 0.8]) * part for part in
                          (np.sin(2.0 * t), 2.0 * np.cos(2.0 * t), -4.0 * np.sin(2.0 * t)))
            state.observe(JointSample(t, t, q, qd, model.torque(q, qd, qdd)))
    return feed
