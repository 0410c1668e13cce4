# SPDX-License-Identifier: Apache-2.0
"""Shares of the torque, and the residual."""

import numpy as np
import pytest
from support.pendulum import Pendulums

from robot_dynamics_ros.control.observer import TorqueMonitor
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.motion.joint_state import JointSample


class Model(Pendulums):
    def coriolis_torque(self, q, qd):
        return 3.0 * qd**2


def sample(time, q, qd, effort):
    return JointSample(time, time, np.array([q]), np.array([qd]), np.array([effort]))


def test_the_shares_are_those_of_the_model():
    monitor = TorqueMonitor(100.0)
    assert monitor.contributions(Model(), sample(1.0, 0.5, 2.0, 0.0)) is None
    found = monitor.contributions(Model(), sample(1.1, 0.5, 2.0, 0.0))
    assert found.gravity[0] == pytest.approx(10.0 * np.cos(0.5))
    assert found.coriolis[0] == pytest.approx(12.0)
    assert found.friction[0] == pytest.approx(1.0)


def test_a_perfect_model_leaves_little_residual_and_a_load_shows():
    monitor, extra, residuals = TorqueMonitor(50.0), 2.5, []
    for t in np.arange(0.0, 2.0, 0.001):
        q, qd, qdd = np.sin(t), np.cos(t), -np.sin(t)
        tau = Model().torque(q, qd, qdd) + (extra if t > 1.0 else 0.0)
        found = monitor.contributions(Model(), sample(1.0 + t, q, qd, tau))
        if found is not None:
            residuals.append(found.residual[0])
            assert found.external_torque[0] == -found.residual[0]
    assert np.abs(residuals[100:900]).max() < 1e-4
    assert residuals[-1] == pytest.approx(extra, abs=1e-4)


def test_a_missing_effort_gives_a_residual_of_nan_alone():
    monitor = TorqueMonitor(100.0)
    monitor.contributions(Model(), sample(1.0, 0.5, 2.0, np.nan))
    found = monitor.contributions(Model(), sample(1.1, 0.5, 2.0, np.nan))
    assert np.isnan(found.residual).all()
    assert np.isfinite(found.gravity).all()


def test_a_missing_velocity_is_refused_and_a_restart_forgets_the_past():
    monitor = TorqueMonitor(100.0)
    with pytest.raises(StateError, match='velocities'):
        monitor.contributions(Model(), sample(1.0, 0.5, np.nan, 0.0))
    monitor.contributions(Model(), sample(5.0, 0.5, 0.0, 0.0))
    monitor.restart()
    assert monitor.contributions(Model(), sample(5.1, 0.5, 0.0, 0.0)) is None
