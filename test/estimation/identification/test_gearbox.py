# SPDX-License-Identifier: Apache-2.0
"""A geared arm with friction under load and hysteresis: its law comes back from a recording."""

from dataclasses import replace

import numpy as np
from support.excitation import fourier_motion
from support.robots import URDF_FOLDER

from robot_dynamics_ros import JointPhysics, chain_from_urdf, compile_model, identify
from robot_dynamics_ros.dynamics.joints.joint_terms import rotor_torque
from robot_dynamics_ros.dynamics.joints.presliding import friction_along

LOAD, DISTANCE = np.array([0.0, 0.08, 0.06, 0.0]), np.array([3e-3, 5e-3, 5e-3, 2e-3])


def recording(rng, chain):
    """Return t, q, qd and torque with noise of 0.5 %, 40 s at 200 Hz."""
    t, q, qd, qdd = fourier_motion(rng, len(chain), duration=40.0)
    physics = chain.joint_physics
    load = compile_model(chain).inverse_dynamics(q, qd, qdd) + rotor_torque(physics, qdd)
    tau = load + friction_along(physics, q, qd, load)
    return t, q, qd, tau + 0.005 * np.std(tau, axis=0) * rng.normal(size=tau.shape)


def test_load_dependent_friction_and_hysteresis_come_back(rng):
    physics = JointPhysics(np.full(4, 0.3), np.full(4, 2.0), np.array([6.0, 5.0, 4.0, 3.0]),
                           np.full(4, 0.2), load_friction=LOAD, presliding=DISTANCE)
    truth = chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf').with_joint_physics(physics)
    told = truth.with_joint_physics(JointPhysics.zero(4))
    data = recording(rng, truth)
    result = identify(told, *data)
    found = result.joint_physics
    np.testing.assert_allclose(found.coulomb, physics.coulomb, rtol=0.1)
    np.testing.assert_allclose(found.viscous, physics.viscous, rtol=0.1)
    np.testing.assert_allclose(found.load_friction[1:3], LOAD[1:3], rtol=0.1)
    np.testing.assert_allclose(found.load_friction[[0, 3]], 0.0, atol=0.01)
    np.testing.assert_allclose(found.presliding, DISTANCE, rtol=0.1)
    assert result.verdict.passed and result.verdict.held_out_error < 0.01
    former = identify(told, *data, friction='stribeck')
    assert result.verdict.held_out_error < 0.3 * former.verdict.held_out_error
    plain = identify(told, *recording(rng, truth.with_joint_physics(replace(
        physics, load_friction=None, presliding=None)))).joint_physics
    assert plain.load_friction is None and plain.presliding is None, 'nothing is made up'


def test_static_friction_comes_back_where_it_is(rng):
    coulomb = np.array([6.0, 5.0, 4.0, 3.0])
    physics = JointPhysics(np.full(4, 0.3), np.full(4, 2.0), coulomb, np.full(4, 0.2),
                           static=coulomb * [1.0, 1.6, 1.0, 1.0],
                           stribeck_velocity=np.full(4, 0.2))
    truth = chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf').with_joint_physics(physics)
    found = identify(truth.with_joint_physics(JointPhysics.zero(4)),
                     *recording(rng, truth)).joint_physics
    np.testing.assert_allclose(found.coulomb, coulomb, rtol=0.1)
    np.testing.assert_allclose(found.static[[0, 2, 3]], coulomb[[0, 2, 3]], rtol=0.01)
    # Stribeck velocities are tried by factors of 2
    assert 1.3 < found.static[1] / coulomb[1] < 2.2
    assert found.load_friction is None and found.presliding is None
