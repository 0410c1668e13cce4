# SPDX-License-Identifier: Apache-2.0
"""Elastic joints."""

from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_chain, random_tree
from support.oracle import Oracle
from support.tolerances import (
    FINITE_DIFFERENCE,
    OTHER_FORMULATION,
    OTHER_IMPLEMENTATION,
    assert_close,
)

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.joints.elastic import ElasticModel
from robot_dynamics_ros.dynamics.joints.joint_terms import JointTerms
from robot_dynamics_ros.errors import ParameterError, StateError


def elastic_chain(rng, n, *, coupled=False, followers=0):
    coupling = np.eye(n) + 0.2 * rng.normal(size=(n, n)) if coupled else None
    physics = JointPhysics(rotor_inertia=rng.uniform(0.1, 1.0, n), viscous=rng.uniform(0, 1, n),
                           coulomb=rng.uniform(0, 1, n), offset=rng.normal(size=n),
                           coulomb_velocity=0.5, coupling=coupling)
    chain = random_tree(rng, n, followers=followers) if followers else random_chain(rng, n)
    return chain.with_joint_physics(physics)


def along(q, qd, qdd, jerk, snap, t):
    """Return the motion with constant snap at time t."""
    return (q + qd * t + qdd * t**2 / 2 + jerk * t**3 / 6 + snap * t**4 / 24,
            qd + qdd * t + jerk * t**2 / 2 + snap * t**3 / 6,
            qdd + jerk * t + snap * t**2 / 2, jerk + snap * t, snap)


def test_a_turning_rod_on_a_spring_can_be_checked_on_paper():
    """With tau = J qdd + m g l cos(q) the motor is at q + tau / k; derivatives by the rules."""
    J, mgl, k, Ia = 0.5, 9.81 * 2.0 * 0.3, 80.0, 0.2
    rod = Inertia(2.0, np.array([0.6, 0.0, 0.0]), np.diag([0.0, J, J]))
    physics = JointPhysics([Ia], [0.0], [0.0], [0.0])
    chain = chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0], links=[rod],
                          gravity=(0.0, -9.81, 0.0), joint_physics=physics)
    q, qd, qdd, jerk, snap = 0.4, 1.5, -0.7, 2.0, -3.0
    c, s = np.cos(q), np.sin(q)
    tau = J * qdd + mgl * c
    tau_rate = J * jerk - mgl * s * qd
    tau_curve = J * snap - mgl * (c * qd**2 + s * qdd)
    motor = ElasticModel(chain, [k]).inverse([q], [qd], [qdd], [jerk], [snap])
    np.testing.assert_allclose(motor.position, q + tau / k, rtol=1e-14)
    np.testing.assert_allclose(motor.velocity, qd + tau_rate / k, rtol=1e-14)
    np.testing.assert_allclose(motor.acceleration, qdd + tau_curve / k, rtol=1e-14)
    np.testing.assert_allclose(motor.torque, tau + Ia * (qdd + tau_curve / k), rtol=1e-14)


@pytest.mark.parametrize(('coupled', 'followers'), [(False, 0), (True, 0), (True, 2)])
def test_forward_undoes_inverse(rng, coupled, followers):
    for k in range(20):
        n = int(rng.integers(1, 8))
        stiffness = rng.uniform(100.0, 1000.0, n)
        if k % 3 == 0:
            stiffness[rng.integers(n)] = np.inf
        chain = elastic_chain(rng, n, coupled=coupled, followers=followers)
        model = ElasticModel(chain, stiffness)
        q, qd, qdd, jerk, snap = rng.normal(size=(5, 4, n))
        motor = model.inverse(q, qd, qdd, jerk, snap)
        links, motors = model.forward(q, qd, motor.position, motor.velocity, motor.torque)
        assert_close(links, qdd, OTHER_FORMULATION)
        assert_close(motors, motor.acceleration, OTHER_FORMULATION)


@pytest.mark.parametrize('followers', [0, 2])
def test_springs_carry_the_torque_of_the_links(rng, followers):
    """(9.35a) with Pinocchio's torque."""
    chain = elastic_chain(rng, 6, followers=followers)
    stiffness = rng.uniform(100.0, 1000.0, 6)
    motion = rng.normal(size=(5, 6))
    motor = ElasticModel(chain, stiffness).inverse(*motion)
    assert_close(stiffness * (motor.position - motion[0]),
                 Oracle(chain).inverse_dynamics(*motion[:3]), OTHER_IMPLEMENTATION)


def test_motor_speed_and_acceleration_are_derivatives_of_the_position(rng):
    model = ElasticModel(elastic_chain(rng, 5), rng.uniform(50.0, 100.0, 5))
    motion = rng.normal(size=(5, 5))
    h = 1e-4
    before, here, after = (model.inverse(*along(*motion, t)) for t in (-h, 0.0, h))
    assert_close((after.position - before.position) / (2.0 * h), here.velocity,
                 FINITE_DIFFERENCE)
    assert_close((after.velocity - before.velocity) / (2.0 * h), here.acceleration,
                 FINITE_DIFFERENCE)


def test_very_stiff_joints_behave_as_rigid_ones(rng):
    chain = elastic_chain(rng, 4)
    q, qd, qdd, jerk, snap = rng.normal(size=(5, 4))
    joints = JointTerms.of(chain.joint_physics, np)
    rigid = (Oracle(chain).inverse_dynamics(q, qd, qdd) + joints.rotor_torque(qdd)
             + joints.friction_torque(qd))
    for stiffness, tolerance in ((np.inf, OTHER_IMPLEMENTATION), (1e12, 1e-8)):
        motor = ElasticModel(chain, np.full(4, stiffness)).inverse(q, qd, qdd, jerk, snap)
        assert_close(motor.torque, rigid, tolerance)


def test_one_state_and_a_batch_agree_and_nan_stays_in_its_state(rng):
    model = ElasticModel(elastic_chain(rng, 3), [200.0, np.inf, 300.0])
    motion = rng.normal(size=(5, 4, 3))
    motion[4, 2, 1] = np.nan
    batch = model.inverse(*motion)
    forward = model.forward(*motion[:4], batch.torque)[0]
    assert np.all(np.isnan(batch.torque[2])) and np.all(np.isnan(forward[2]))
    for k in (0, 1, 3):
        assert_close(batch.torque[k], model.inverse(*motion[:, k]).torque, OTHER_FORMULATION)
        assert_close(forward[k], model.forward(*motion[:4, k], batch.torque[k])[0],
                     OTHER_FORMULATION)


def test_bad_input_is_refused(rng):
    chain = elastic_chain(rng, 2)
    with pytest.raises(ParameterError, match='joint joint2: stiffness is 0'):
        ElasticModel(chain, [100.0, 0.0])
    with pytest.raises(ParameterError, match=r'stiffness has shape \(1,\)'):
        ElasticModel(chain, [100.0])
    light = replace(chain.joint_physics, rotor_inertia=np.array([0.1, 0.0]))
    with pytest.raises(ParameterError, match='joint joint2: an elastic joint needs'):
        ElasticModel(chain.with_joint_physics(light), [100.0, 100.0])
    ElasticModel(chain.with_joint_physics(light), [100.0, np.inf])
    massless = chain.with_links([chain.links[0], Inertia.zero()])
    with pytest.raises(ParameterError, match='a joint moves nothing that has inertia'):
        ElasticModel(massless, [100.0, 100.0]).forward(*np.zeros((5, 2)))
    with pytest.raises(StateError, match='jerk has shape'):
        ElasticModel(chain, [100.0, 100.0]).inverse([0, 0], [0, 0], [0, 0], [0], [0, 0])
