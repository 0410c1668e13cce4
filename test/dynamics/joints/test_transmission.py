# SPDX-License-Identifier: Apache-2.0
"""Transmission between motors and joints."""

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.joints.joint_terms import Transmission


def coupled(matrix):
    return Transmission.of(replace(JointPhysics.zero(len(matrix)), coupling=np.array(matrix)))


#: A wrist: the second motor also has to follow when the first one turns.
WRIST = coupled([[1.0, 0.0], [-1.0, 1.0]])


def test_the_first_motor_of_a_wrist_turns_both_joints():
    np.testing.assert_array_equal(WRIST.joint_motion(np.array([0.3, 0.0])), [0.3, -0.3])
    np.testing.assert_array_equal(WRIST.motor_motion(np.array([0.3, 0.0])), [0.3, 0.3])


def test_a_torque_at_the_second_joint_loads_both_motors():
    np.testing.assert_array_equal(WRIST.motor_torque(np.array([0.0, 2.0])), [-2.0, 2.0])
    np.testing.assert_array_equal(WRIST.joint_torque(np.array([-2.0, 2.0])), [0.0, 2.0])


def test_both_sides_do_the_same_work_and_ways_back_are_inverse(rng):
    transmission = coupled(np.eye(4) + 0.3 * rng.normal(size=(4, 4)))
    qd, tau = rng.normal(size=(2, 7, 4))
    qd_motor, tau_motor = transmission.motor_motion(qd), transmission.motor_torque(tau)
    np.testing.assert_allclose(np.sum(qd_motor * tau_motor, axis=1), np.sum(qd * tau, axis=1),
                               atol=1e-12)
    np.testing.assert_allclose(transmission.joint_motion(qd_motor), qd, atol=1e-13)
    np.testing.assert_allclose(transmission.joint_torque(tau_motor), tau, atol=1e-13)


def test_without_coupling_nothing_changes():
    plain = Transmission.of(JointPhysics.zero(3))
    np.testing.assert_array_equal(plain.motor_torque(np.array([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0])
