# SPDX-License-Identifier: Apache-2.0
"""Friction that would have to be negative: a wrong sign, or nothing worth speaking of."""

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import JointPhysics, chain_from_urdf, compile_model, identify

URDF = URDF_FOLDER / 'planar_2r.urdf'


@pytest.fixture
def slow_motion():
    """Return times and a slow motion, in which the torque is weight and friction."""
    t = np.arange(0.0, 40.0, 0.01)
    q = np.stack([1.2 * np.sin(0.35 * t) + 0.4 * np.sin(0.81 * t),
                  np.sin(0.52 * t + 1.0) + 0.5 * np.sin(0.93 * t)], axis=1)
    qd = np.gradient(q, t, axis=0)
    return t, q, qd, np.gradient(qd, t, axis=0)


@pytest.mark.parametrize(('gravity', 'sign', 'negative'), [(-9.81, 1.0, False),
                                                           (9.81, -1.0, True)])
def test_efforts_and_gravity_that_are_both_reversed_are_seen_by_the_friction(
        rng, slow_motion, gravity, sign, negative):
    t, q, qd, qdd = slow_motion
    true = chain_from_urdf(URDF).with_joint_physics(JointPhysics(
        np.zeros(2), np.array([0.3, 0.1]), np.array([2.0, 0.6]), np.zeros(2), 0.01))
    tau = compile_model(true).torque(q, qd, qdd) + rng.normal(scale=0.02, size=q.shape)
    verdict = identify(chain_from_urdf(URDF, gravity=(0.0, 0.0, gravity)), t, q, qd,
                       sign * tau).verdict
    assert any('would have to be negative' in reason for reason in verdict.reasons) == negative
    assert verdict.passed != negative


def test_a_robot_without_friction_passes_although_its_friction_comes_out_negative(
        rng, slow_motion):
    """Efforts 2 ms early look like a little friction that drives the joints."""
    t, q, qd, qdd = slow_motion
    model = compile_model(chain_from_urdf(URDF))
    early = model.torque(q + 0.002 * qd, qd + 0.002 * qdd, qdd)
    found = identify(model.chain, t, q, qd, early + rng.normal(scale=0.02, size=q.shape))
    assert found.verdict.passed, found.verdict.reasons
