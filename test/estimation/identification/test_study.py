# SPDX-License-Identifier: Apache-2.0
"""Fits to parts of the rows, what counts as excited, and the check of sign and unit."""

import numpy as np
import pytest

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.estimation.identification.study import effort_findings, excited_unknowns
from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.rows import Rows

CHAIN = chain_from_dh('R', beta=[0.0], b=[0.0], d=[0.0], theta=[0.0])
T = np.arange(1000) * 0.01
RIGID = (5.0 * np.sin(2 * T))[:, None]
OFFSET = np.ones((1000, 1, 1))


def rows_of(tau, usable=True):
    return Rows(OFFSET, tau, np.full(tau.shape, usable), T, np.zeros(1000, dtype=np.int64),
                np.zeros((1000, 2)))


def test_an_unknown_is_excited_if_the_data_reduce_its_uncertainty():
    prior = Prior(np.zeros(3), np.array([1.0, 10.0, 1.0]))
    excited = excited_unknowns(np.array([0.29, 3.1, 0.01]), prior, np.array([False, False, True]))
    np.testing.assert_array_equal(excited, [True, False, False])


@pytest.mark.parametrize('gain, kinds', [
    (1.0, []), (4.9, []), (0.21, []), (-1.0, ['effort_sign']), (5.1, ['effort_unit']),
    (0.19, ['effort_unit'])])
def test_sign_and_unit_are_judged_by_the_torque_of_the_urdf(gain, kinds):
    findings = effort_findings(rows_of(gain * RIGID + 0.3), RIGID, OFFSET, CHAIN)
    assert [finding.kind for finding in findings] == kinds
    for finding in findings:
        assert finding.where == CHAIN.joint_names[0]
        assert finding.value == pytest.approx(gain)


def test_nothing_is_said_where_the_urdf_explains_too_little(rng):
    noise = 10.0 * rng.normal(size=RIGID.shape)
    assert effort_findings(rows_of(-RIGID + noise), RIGID, OFFSET, CHAIN) == []


def test_nothing_is_said_where_friction_or_offset_dominate():
    assert effort_findings(rows_of(-0.1 * RIGID + 50.0), RIGID, OFFSET, CHAIN) == []


def test_nothing_is_said_without_data_or_without_inertias():
    assert effort_findings(rows_of(-RIGID, usable=False), RIGID, OFFSET, CHAIN) == []
    assert effort_findings(rows_of(-RIGID), 0.0 * RIGID, OFFSET, CHAIN) == []
