# SPDX-License-Identifier: Apache-2.0
"""Efforts and torques, each from the other: sign, gain, offset and coupled motors."""

from dataclasses import replace

import numpy as np
import pytest
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import EffortSemantics
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recordings.effort_torque import (
    effort_from_torque,
    removed_weight,
    torque_from_effort,
    torque_shares,
)

#: Motor 3 also moves joint 2.
COUPLING = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 1.0]])
COUPLED = replace(EffortSemantics.torque(3), coupling=COUPLING, side=('joint', 'motor', 'motor'))


def test_sign_gain_and_offset_on_paper():
    meaning = replace(EffortSemantics.torque(2), sign=[1.0, -1.0], gain=[10.0, 2.0],
                      offset=[0.0, 1.0])
    effort, torque = np.array([[0.5, 4.0]]), np.array([[5.0, -6.0]])
    np.testing.assert_allclose(torque_from_effort(effort, meaning), torque)
    np.testing.assert_allclose(effort_from_torque(torque, meaning), effort)


def test_coupled_motors_on_paper():
    # torque_motor = J^T torque_joint: motor 3 gives what joint 3 needs, and half of joint 2
    motors = effort_from_torque(np.array([[1.0, 4.0, 2.0]]), COUPLED)
    np.testing.assert_allclose(motors, [[1.0, 4.0, 2.0 + 0.5 * 4.0]])


def test_power_is_the_same_on_both_sides(rng):
    torque, motor_velocity = rng.normal(size=(2, 20, 3))
    joint_velocity = motor_velocity @ COUPLING.T  # q = J q_motor
    motors = effort_from_torque(torque, COUPLED)
    assert_close(np.sum(motors * motor_velocity, axis=1), np.sum(torque * joint_velocity, axis=1),
                 SAME_ALGEBRA)


def test_each_is_the_inverse_of_the_other(rng):
    meaning = replace(COUPLED, sign=[1.0, -1.0, 1.0], gain=[2.0, 3.0, 0.1], offset=[0.0, 1.0, 5.0])
    effort = rng.normal(size=(20, 3))
    assert_close(effort_from_torque(torque_from_effort(effort, meaning), meaning), effort,
                 SAME_ALGEBRA)


def test_a_missing_effort_spreads_only_to_the_joints_that_its_motor_moves():
    torque = torque_from_effort(np.array([[1.0, np.nan, 1.0], [np.nan, 1.0, 1.0]]), COUPLED)
    np.testing.assert_array_equal(np.isnan(torque), [[False, True, True], [True, False, False]])


def test_a_coupling_does_not_matter_where_efforts_are_on_the_joint_side(rng):
    meaning = replace(COUPLED, side=('joint',) * 3)
    effort = rng.normal(size=(5, 3))
    np.testing.assert_array_equal(torque_from_effort(effort, meaning), effort)


def test_coupled_joints_on_different_sides_are_refused():
    meaning = replace(COUPLED, side=('joint', 'motor', 'joint'))
    with pytest.raises(ParameterError, match='coupled to each other must all have side'):
        torque_from_effort(np.zeros((1, 3)), meaning)


@pytest.mark.parametrize('coupling', [None, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 2.0]]])
def test_the_share_of_a_drive_is_what_its_gain_changes(rng, coupling):
    meaning = replace(EffortSemantics.torque(3), gain=np.array([3.0, 2.0, 5.0]), coupling=coupling,
                      side=('joint' if coupling is None else 'motor',) * 3)
    effort = rng.normal(size=(6, 3))
    torque = torque_from_effort(effort, meaning)
    shares = torque_shares(torque, meaning)
    np.testing.assert_allclose(shares.sum(axis=-1), torque, atol=1e-12)
    for drive in range(3):
        more = replace(meaning, gain=meaning.gain * np.where(np.arange(3) == drive, 1.1, 1.0))
        np.testing.assert_allclose(torque_from_effort(effort, more) - torque,
                                   0.1 * shares[:, :, drive], atol=1e-12)


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
