# SPDX-License-Identifier: Apache-2.0
"""Computed torque makes the error a linear second-order system."""

import numpy as np
import pytest
from support.pendulum import Pendulums

from robot_dynamics_ros.control.computed_torque import ComputedTorqueGains, computed_torque
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.trajectory import TrajectorySample

FREQUENCY = 10.0
GAINS = ComputedTorqueGains.critically_damped(FREQUENCY, 1)


def desired(t):
    return TrajectorySample(np.array([np.sin(t)]), np.array([np.cos(t)]), np.array([-np.sin(t)]),
                            np.zeros(1))


def test_without_error_it_is_the_torque_of_the_motion():
    now = desired(0.3)
    np.testing.assert_allclose(computed_torque(Pendulums(), GAINS, now, now.q, now.qd),
                               Pendulums().torque(now.q, now.qd, now.qdd))


def test_the_error_decays_like_a_critically_damped_system():
    # e'' = -kd e' - kp e exactly, but for the viscous friction, which is taken at desired speed
    class Frictionless(Pendulums):
        viscous = 0.0

    model, step = Frictionless(), 1e-4
    q, qd = np.array([0.1]), np.array([1.0])
    for k in range(3000):
        tau = computed_torque(model, GAINS, desired(k * step), q, qd)
        qd = qd + step * (tau - model.gravity_torque(q)) / model.inertia
        q = q + step * qd
    t = 3000 * step
    expected = -0.1 * (1.0 + FREQUENCY * t) * np.exp(-FREQUENCY * t)
    assert (desired(t).q - q)[0] == pytest.approx(expected, rel=0.02)


def test_friction_is_that_of_the_desired_speed():
    now = desired(0.3)
    gains = ComputedTorqueGains([0.0], [0.0])
    measured = computed_torque(Pendulums(), gains, now, now.q, now.qd + 100.0)
    np.testing.assert_allclose(measured, Pendulums().torque(now.q, now.qd, now.qdd))


@pytest.mark.parametrize('bad', [([-1.0], [1.0]), ([1.0], [np.nan]), ([1.0, 2.0], [1.0])])
def test_impossible_gains_are_refused(bad):
    with pytest.raises(ParameterError, match='computed torque'):
        ComputedTorqueGains(*bad)
