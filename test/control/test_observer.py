# SPDX-License-Identifier: Apache-2.0
"""External torque: the analytic lag on paper, a load on an arm in MuJoCo, every bad input."""

import numpy as np
import pytest
from support.pendulum import Pendulums
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.control.observer import LONGEST_GAP, MomentumObserver
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.motion.joint_state import JointSample

BANDWIDTH, STEP = 50.0, 0.001


def sample(time, q, qd, effort):
    return JointSample(time, time, *(np.atleast_1d(np.asarray(values, dtype=float))
                                     for values in (q, qd, effort)))


def swinging(t, external=0.0):
    """Return a sample of a pendulum that swings as sin(t) while something pushes it."""
    q, qd, qdd = np.sin(t), np.cos(t), -np.sin(t)
    return sample(1.0 + t, q, qd, Pendulums().torque(q, qd, qdd) - external)


def test_a_step_of_external_torque_shows_with_the_lag_of_the_observer():
    observer, push = MomentumObserver(BANDWIDTH), 2.5
    times = np.arange(0.0, 0.2, STEP)
    assert observer.external_torque(Pendulums(), swinging(times[0], push)) is None
    estimates = np.array([observer.external_torque(Pendulums(), swinging(t, push))[0]
                          for t in times[1:]])
    expected = push * (1.0 - np.exp(-BANDWIDTH * times[1:]))
    np.testing.assert_allclose(estimates, expected, atol=1e-5 * push)


def test_an_estimate_begins_at_zero_again_after_a_restart_and_after_a_pause():
    observer = MomentumObserver(BANDWIDTH)
    for t in np.arange(0.0, 0.2, STEP):
        estimate = observer.external_torque(Pendulums(), swinging(t, 5.0))
    assert estimate[0] == pytest.approx(5.0, rel=1e-3)
    assert observer.external_torque(Pendulums(), swinging(0.2 + 2 * LONGEST_GAP, 5.0)) is None
    after = observer.external_torque(Pendulums(), swinging(0.201 + 2 * LONGEST_GAP, 5.0))
    assert 0.0 < after[0] < 0.3
    observer.restart()
    assert observer.external_torque(Pendulums(), swinging(1.0, 5.0)) is None
    assert observer.external_torque(Pendulums(), swinging(0.5)) is None, 'a clock set back'


def test_an_arm_that_is_pushed_in_mujoco():
    """The arm moves under its own weight and motors; the observer knows nothing of the push."""
    pytest.importorskip('mujoco', reason='needs the extra `simulation`')
    from robot_dynamics_ros.simulation.mujoco_robot import MujocoRobot

    chain = chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf')
    # friction of MuJoCo is sharper than ours: without it both are the same robot
    physics = chain.joint_physics
    chain = chain.with_joint_physics(type(physics)(
        np.full(7, 0.2), physics.viscous, np.zeros(7), np.zeros(7)))
    model, arm, observer = compile_model(chain), MujocoRobot(chain), MomentumObserver(BANDWIDTH)
    push = np.array([5.0, -8.0, 0.0, 4.0, 0.0, -1.5, 0.5])
    steps, start = 600, 300
    estimates = []
    for k in range(steps):
        t = k * arm.step
        tau = model.gravity_torque(arm.q) + 5.0 * np.sin(6.0 * t + np.arange(7.0))
        q, qd = arm.q, arm.qd
        arm.advance(tau + (push if k >= start else 0.0))
        middle = sample(1.0 + t, q, qd, tau)  # the torque acts during the step that follows
        estimate = observer.external_torque(model, middle)
        estimates.append(np.zeros(7) if estimate is None else estimate)
    estimates = np.array(estimates)
    assert np.abs(arm.qd).max() > 0.5, 'it moves'
    time = (np.arange(steps) - start)[:, None] * arm.step
    expected = np.where(time > 0.0, push * (1.0 - np.exp(-BANDWIDTH * time)), 0.0)
    # half a step of the motors: their torque is constant over a step, ours a trapezoid
    np.testing.assert_allclose(estimates, expected, atol=0.1)


def test_a_joint_without_measured_effort_is_nan_alone_and_comes_back():
    observer = MomentumObserver(BANDWIDTH)
    pair = np.array([0.2, 0.3])
    still = Pendulums().gravity_torque(pair)
    observer.external_torque(Pendulums(), sample(1.0, pair, [0.0, 0.0], still))
    blind = observer.external_torque(Pendulums(), sample(1.01, pair, [0.0, 0.0],
                                                         [np.nan, still[1] - 1.0]))
    assert np.isnan(blind[0])
    assert blind[1] > 0.1
    for time in (1.02, 1.03):
        seen = observer.external_torque(Pendulums(), sample(time, pair, [0.0, 0.0], still))
    assert seen[0] == pytest.approx(0.0, abs=1e-12)


def test_a_missing_velocity_is_refused():
    with pytest.raises(StateError, match='velocities of every joint'):
        MomentumObserver(BANDWIDTH).external_torque(Pendulums(), sample(1.0, 0.1, np.nan, 0.0))


@pytest.mark.parametrize('bandwidth', [0.0, -1.0, np.nan, np.inf])
def test_a_bandwidth_that_is_not_positive_is_refused(bandwidth):
    with pytest.raises(ParameterError, match='bandwidth must be positive'):
        MomentumObserver(bandwidth)
