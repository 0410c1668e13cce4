# SPDX-License-Identifier: Apache-2.0
"""Rotors, friction and offset on the joint side."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.joints.joint_terms import (
    JOINT_TERMS,
    JointTerms,
)


@pytest.fixture
def joints():
    return JointPhysics(rotor_inertia=[0.1, 0.2, 0.3], viscous=[1.0, 2.0, 3.0],
                        coulomb=[4.0, 5.0, 6.0], offset=[0.5, -0.5, 0.0], coulomb_velocity=0.1)


@pytest.fixture
def coupled(joints):
    return replace(joints, coupling=np.array([[1.0, 0, 0], [0, 1.0, 0], [0, -0.5, 2.0]]))


def friction_torque(physics, qd):
    """Return friction and offset at states (..., n)."""
    return np.stack(JointTerms.of(physics, np).friction_torque(list(np.moveaxis(qd, -1, 0))), -1)


def rotor_inertia_matrix(physics):
    return np.array(JointTerms.of(physics, np).rotor_matrix())


def test_uncoupled_joints_stand_for_themselves(joints):
    np.testing.assert_array_equal(rotor_inertia_matrix(joints), np.diag([0.1, 0.2, 0.3]))
    tau = friction_torque(joints, np.array([10.0, -10.0, 0.0]))
    np.testing.assert_allclose(tau, [14.5, -25.5, 0.0], atol=1e-12)


def test_energy_of_coupled_rotors_is_that_of_the_motors(coupled, rng):
    qd = rng.normal(size=3)
    qd_motor = np.linalg.solve(coupled.coupling, qd)
    expected = coupled.rotor_inertia @ qd_motor**2
    np.testing.assert_allclose(qd @ rotor_inertia_matrix(coupled) @ qd, expected, rtol=1e-13)


def test_power_of_coupled_friction_is_that_of_the_motors(coupled, rng):
    qd = rng.normal(size=3)
    qd_motor = np.linalg.solve(coupled.coupling, qd)
    own = replace(coupled, coupling=None)
    np.testing.assert_allclose(qd @ friction_torque(coupled, qd),
                               qd_motor @ friction_torque(own, qd_motor), rtol=1e-13)


def test_a_grouped_rotor_adds_nothing(joints):
    grouped = replace(joints, rotor_inertia=np.array([np.nan, 0.2, 0.3]))
    np.testing.assert_array_equal(rotor_inertia_matrix(grouped), np.diag([0.0, 0.2, 0.3]))


@pytest.mark.parametrize('which', ['joints', 'coupled'])
def test_regressor_times_parameters_is_the_torque(which, request, rng):
    physics = request.getfixturevalue(which)
    qd, qdd = rng.normal(size=(2, 6, 3))
    x = np.concatenate([physics.rotor_inertia, physics.viscous, physics.coulomb, physics.offset])
    assert x.size == 3 * len(JOINT_TERMS)
    joints = JointTerms.of(physics, np)
    rotors = np.stack(joints.rotor_torque(list(qdd.T)), -1)
    assert_close(rotors, qdd @ rotor_inertia_matrix(physics), SAME_ALGEBRA)
    expected = rotors + friction_torque(physics, qd)
    for k in range(6):
        assert_close(joints.regressor(qd[k].tolist(), qdd[k].tolist()) @ x, expected[k],
                     SAME_ALGEBRA)


@pytest.mark.parametrize('which', ['joints', 'coupled'])
def test_floats_and_rows_give_the_same(which, request, rng):
    physics = replace(request.getfixturevalue(which), static=[5.0, 7.0, 9.0],
                      stribeck_velocity=[0.1, 0.2, 0.3])
    qd = rng.normal(size=(6, 3))
    one = [JointTerms.of(physics, math).friction_torque(row) for row in qd.tolist()]
    assert_close(friction_torque(physics, qd), np.array(one), SAME_ALGEBRA)
