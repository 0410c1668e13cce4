# SPDX-License-Identifier: Apache-2.0
"""Friction after a reversal, friction under load, and the way back from torque to motion."""

from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_chain
from support.excitation import fourier_motion, random_physics

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.dynamics.joints.elastic import ElasticModel
from robot_dynamics_ros.dynamics.joints.presliding import (
    direction_along,
    presliding_state,
    turned,
)
from robot_dynamics_ros.simulation.robot import SimulatedRobot

LAW = {'load_friction': np.array([0.1, 0.2, 0.05]), 'presliding': np.array([2e-3, 0.0, 1e-2]),
       'viscous_asymmetry': np.array([0.1, -0.2, 0.0])}


@pytest.fixture
def chain(rng):
    return random_chain(rng, 3, types='RRR').with_joint_physics(random_physics(rng, 3, **LAW))


def test_the_state_turns_by_1_less_1_over_e_of_the_way():
    z = presliding_state(np.array([[0.0], [1.0], [0.99], [0.98]]), np.array([0.01]))
    rest = np.exp(-1.0)
    np.testing.assert_allclose(z[:, 0], [1.0, 1.0, -1.0 + 2.0 * rest, -1.0 + 2.0 * rest**2],
                               rtol=1e-12)


def test_the_state_along_a_motion_is_that_of_its_steps(rng):
    q = np.cumsum(1e-3 * rng.normal(size=(300, 3)), axis=0)
    q[100:120] = q[100]  # at rest nothing turns
    z, distance = presliding_state(q, LAW['presliding'], np.zeros(3)), LAW['presliding']
    expected = [np.zeros(3)]
    for travel in np.diff(q, axis=0):
        expected.append(turned(expected[-1], travel, distance))
    np.testing.assert_allclose(z, expected, atol=1e-12)
    assert np.all(np.abs(z) <= 1.0)


def test_in_steady_motion_the_direction_is_the_smooth_sign(rng):
    physics = random_physics(rng, 3, **LAW)
    qd = np.tile([0.3, -0.02, 0.04], (200, 1))
    q = 0.05 * np.arange(200)[:, None] * qd
    np.testing.assert_allclose(direction_along(physics, q, qd),
                               np.tanh(qd / physics.coulomb_velocity), atol=1e-12)


def test_torque_along_a_motion_differs_from_torque_after_reversals_only(chain, rng):
    model = compile_model(chain)
    _, q, qd, qdd = fourier_motion(rng, 3)
    along, single = model.torque_along(q, qd, qdd), model.torque(q, qd, qdd)
    np.testing.assert_allclose(along[:, 1], single[:, 1], atol=1e-9)  # no presliding there
    z = presliding_state(q, LAW['presliding'], np.zeros(3))
    far = np.all(np.abs(z - np.sign(qd)) < 1e-6, axis=1)
    assert 0.2 < np.mean(far) < 1.0
    np.testing.assert_allclose(along[far], single[far], atol=1e-4)
    assert np.max(np.abs(along - single)) > 0.1
    plain = compile_model(chain.with_joint_physics(replace(chain.joint_physics, presliding=None)))
    np.testing.assert_array_equal(plain.torque_along(q, qd, qdd), single)


def test_feedforward_does_not_chatter_at_a_reversal(chain):
    """The friction of a joint that turns around goes from one side to the other once."""
    model = compile_model(chain)
    t = np.linspace(0.0, 2.0, 2001)
    q = np.outer(np.cos(np.pi * t), [0.3, 0.2, 0.1])
    qd = np.outer(-np.pi * np.sin(np.pi * t), [0.3, 0.2, 0.1])
    qdd = np.outer(-np.pi**2 * np.cos(np.pi * t), [0.3, 0.2, 0.1])
    smooth = model.inverse_dynamics(q, qd, qdd)
    friction = model.torque_along(q, qd, qdd) - smooth
    inner = slice(900, 1100)  # around the reversal at 1 s
    steps = np.diff(friction[inner, 0])
    assert np.sum(np.diff(np.sign(steps[np.abs(steps) > 0.01])) != 0.0) <= 2
    assert np.max(np.abs(steps)) < np.ptp(friction[inner, 0]) / 3.0


def test_friction_under_load_dissipates(chain, rng):
    model = compile_model(chain)
    qd, load = rng.normal(size=(2, 200, 3))
    still = model.friction_torque(np.zeros((200, 3)))
    assert np.all((model.friction_under_load(qd, 30.0 * load) - still) * qd >= 0.0)


def test_elastic_joints_come_back_from_their_torque(chain, rng):
    elastic = ElasticModel(chain, np.array([5e3, np.inf, 8e3]))
    q, qd, qdd, jerk, snap = rng.normal(size=(5, 3))
    motor = elastic.inverse(q, qd, qdd, jerk, snap)
    links, motors = elastic.forward(q, qd, motor.position, motor.velocity, motor.torque)
    np.testing.assert_allclose(links, qdd, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(motors, motor.acceleration, rtol=1e-7, atol=1e-7)


def test_a_simulated_robot_follows_the_torque_of_its_model(chain):
    """Feedforward of the whole law leads the simulated robot along; without load it does not."""
    t = np.arange(0.0, 1.5, 1e-3)
    blend = np.minimum(t / 0.5, 1.0)
    size = np.array([0.4, -0.3, 0.5])
    phase = 3.0 * t
    q = np.outer((1.0 - np.cos(phase)) * blend**0, size)
    qd, qdd = np.outer(3.0 * np.sin(phase), size), np.outer(9.0 * np.cos(phase), size)
    errors = []
    for law in (chain.joint_physics, replace(chain.joint_physics, load_friction=None)):
        robot = SimulatedRobot(chain, compile_model(chain), q=q[0])
        efforts = compile_model(chain.with_joint_physics(law)).torque_along(q, qd, qdd)
        for effort, desired, speed in zip(efforts, q, qd):
            robot.advance(effort + 50.0 * (desired - robot.q) + 5.0 * (speed - robot.qd))
        errors.append(np.linalg.norm(robot.q - q[-1]))
    assert errors[0] < 0.5 * errors[1]
