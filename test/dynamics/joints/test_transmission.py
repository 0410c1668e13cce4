# SPDX-License-Identifier: Apache-2.0
"""Transmission between motors and joints."""

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.joints.joint_terms import JointTerms, Transmission

#: A wrist: the second motor also has to follow when the first one turns.
WRIST = replace(JointPhysics.zero(2), coupling=np.array([[1.0, 0.0], [-1.0, 1.0]]))


def test_the_first_joint_of_a_wrist_turns_both_motors():
    np.testing.assert_array_equal(Transmission.of(WRIST).motor_motion(np.array([0.3, 0.0])),
                                  [0.3, 0.3])
    assert JointTerms.of(WRIST, np).motor_motion([0.3, 0.0]) == [0.3, 0.3]


def test_a_torque_of_the_second_motor_acts_on_both_joints():
    physics = replace(WRIST, offset=np.array([-2.0, 2.0]))
    assert JointTerms.of(physics, np).friction_torque([0.0, 0.0]) == [0.0, 2.0]


def test_motors_move_the_joints_by_the_coupling_matrix(rng):
    coupling = np.eye(4) + 0.3 * rng.normal(size=(4, 4))
    physics = replace(JointPhysics.zero(4), coupling=coupling)
    qd = rng.normal(size=(7, 4))
    qd_motor = Transmission.of(physics).motor_motion(qd)
    np.testing.assert_allclose(qd_motor @ coupling.T, qd, atol=1e-13)
    np.testing.assert_allclose(JointTerms.of(physics, np).motor_motion(list(qd.T)), qd_motor.T,
                               atol=1e-13)


def test_without_coupling_nothing_changes():
    plain = Transmission.of(JointPhysics.zero(3))
    np.testing.assert_array_equal(plain.motor_motion(np.array([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0])
