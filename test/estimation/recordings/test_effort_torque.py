# SPDX-License-Identifier: Apache-2.0
"""Recorded efforts and joint torques."""

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.estimation.recordings.effort_torque import (
    effort_from_torque,
    removed_weight,
    torque_from_effort,
)

COUPLED = EffortSemantics(sign=np.array([1.0, -1.0]), gain=np.array([2.0, 5.0]),
                          offset=np.array([0.1, -0.2]), side=('motor', 'motor'),
                          coupling=np.array([[1.0, 0.0], [0.5, 1.0]]),
                          gravity_removed=(False, False))


def test_efforts_come_back_from_their_torques(rng):
    effort = rng.normal(size=(4, 2))
    there = torque_from_effort(effort, COUPLED)
    np.testing.assert_allclose(effort_from_torque(there, COUPLED), effort, atol=1e-14)


def test_a_motor_without_effort_leaves_the_joints_that_it_moves_without_torque():
    torque = torque_from_effort(np.array([[1.0, np.nan]]), COUPLED)
    np.testing.assert_array_equal(np.isnan(torque), [[True, True]])
    torque = torque_from_effort(np.array([[np.nan, 1.0]]), COUPLED)
    np.testing.assert_array_equal(np.isnan(torque), [[True, False]])


def test_only_joints_that_report_no_weight_lack_it():
    def gravity_torque(q):
        return 10.0 + np.asarray(q)

    q = np.array([[1.0, 2.0], [3.0, 4.0]])
    semantics = replace(EffortSemantics.torque(2), gravity_removed=(False, True))
    np.testing.assert_array_equal(removed_weight(gravity_torque, q, semantics),
                                  [[0.0, 12.0], [0.0, 14.0]])
    np.testing.assert_array_equal(removed_weight(gravity_torque, q[0], semantics), [0.0, 12.0])


def test_no_weight_is_computed_where_none_is_removed():
    def gravity_torque(q):
        raise AssertionError('not needed')

    np.testing.assert_array_equal(
        removed_weight(gravity_torque, np.ones((3, 2)), EffortSemantics.torque(2)),
        np.zeros((3, 2)))
