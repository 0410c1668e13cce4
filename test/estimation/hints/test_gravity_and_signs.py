# SPDX-License-Identifier: Apache-2.0
"""Hints at the cause where a recording does not fit: gravity, sign and unit of the efforts."""

from dataclasses import replace

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, identify
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.estimation.hints.efforts import effort_findings
from robot_dynamics_ros.estimation.regression.rows import Rows
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

CHAIN = chain_from_dh('R', beta=[0.0], b=[0.0], d=[0.0], theta=[0.0])
PLAIN = EffortSemantics.torque(1)
T = np.arange(1000) * 0.01
RIGID = (5.0 * np.sin(2 * T))[:, None]
OFFSET = np.ones((1000, 1, 1))


def rows_of(tau, usable=True):
    return Rows(OFFSET, tau, np.full(tau.shape, usable), T, np.zeros(1000, dtype=np.int64),
                np.zeros((1000, 2)))


@pytest.mark.parametrize('gain, kinds', [
    (1.0, []), (4.9, []), (0.21, []), (-1.0, ['effort_sign']), (5.1, ['effort_unit']),
    (0.19, ['effort_unit'])])
def test_sign_and_unit_are_judged_by_the_torque_of_the_urdf(gain, kinds):
    findings = effort_findings(rows_of(gain * RIGID + 0.3), RIGID, OFFSET, CHAIN, PLAIN)
    assert [finding.kind for finding in findings] == kinds
    for finding in findings:
        assert finding.where == CHAIN.joint_names[0]
        assert finding.value == pytest.approx(gain)


def test_nothing_is_said_where_the_urdf_explains_too_little(rng):
    noise = 10.0 * rng.normal(size=RIGID.shape)
    assert effort_findings(rows_of(-RIGID + noise), RIGID, OFFSET, CHAIN, PLAIN) == []


def test_nothing_is_said_where_friction_or_offset_dominate():
    assert effort_findings(rows_of(-0.1 * RIGID + 50.0), RIGID, OFFSET, CHAIN, PLAIN) == []


def test_nothing_is_said_without_data_or_without_inertias():
    assert effort_findings(rows_of(-RIGID, usable=False), RIGID, OFFSET, CHAIN, PLAIN) == []
    assert effort_findings(rows_of(-RIGID), 0.0 * RIGID, OFFSET, CHAIN, PLAIN) == []


@pytest.fixture(scope='module')
def recorded():
    """Return a robot whose URDF is off by 10 %, and a noisy recording of the true one."""
    rng = np.random.default_rng(11)
    known = chain_from_urdf(URDF_FOLDER / 'rx90.urdf')
    known = known.with_joint_physics(random_physics(rng, len(known)))
    data = excitation(rng, with_parameter_error(known, 0.1, rng), duration=20.0, step=0.01)
    size = np.sqrt(np.mean(data.tau ** 2, axis=0))
    tau = data.tau + 0.02 * size * rng.normal(size=data.tau.shape)
    return known, data.t, data.q, data.qd, tau


def kinds(result):
    return [finding.kind for finding in result.findings]


@pytest.mark.parametrize('gravity', [(0.0, 0.0, 9.81), (9.81, 0.0, 0.0), (0.0, -9.81, 0.0)])
def test_a_wrong_gravity_is_named_and_its_remedy_helps(recorded, gravity):
    chain, *data = recorded
    wrong = identify(replace(chain, gravity=np.array(gravity)), *data)
    assert not wrong.verdict.passed
    assert 'effort_sign' not in kinds(wrong)
    (finding,) = (each for each in wrong.findings if each.kind == 'gravity_direction')
    told = [float(word) for word in finding.remedy.removeprefix('--gravity=').split(',')]
    np.testing.assert_allclose(told, chain.gravity, atol=1e-9)
    assert identify(replace(chain, gravity=np.array(told)), *data).verdict.passed


def test_nothing_is_said_about_gravity_where_it_is_right(recorded):
    chain, *data = recorded
    result = identify(chain, *data)
    assert result.verdict.passed
    assert 'gravity_direction' not in kinds(result)


def test_a_wrong_sign_of_one_joint_is_not_blamed_on_gravity(recorded):
    chain, *motion, tau = recorded
    flipped = identify(chain, *motion, tau * np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0]))
    assert 'gravity_direction' not in kinds(flipped)
    assert not flipped.verdict.passed


def test_random_efforts_of_two_joints_do_not_pass(recorded, rng):
    chain, *motion, tau = recorded
    size = np.sqrt(np.mean(tau ** 2, axis=0))
    small = np.flatnonzero(size > 0.02 * size.max())
    chosen = small[np.argsort(size[small])[:2]]  # the least that matter
    odd = tau.copy()
    for j in chosen:
        odd[:, j] = np.std(tau[:, j]) * rng.normal(size=len(tau))
    verdict = identify(chain, *motion, odd).verdict
    assert verdict.held_out_error < 0.1  # pooled, it would pass
    assert not verdict.passed
    for j in chosen:
        assert any(chain.joint_names[j] in reason for reason in verdict.reasons)


def test_exact_data_of_the_same_urdf_pass(recorded):
    chain = recorded[0]
    data = excitation(np.random.default_rng(3), chain, duration=20.0, step=0.01)
    assert identify(chain, data.t, data.q, data.qd, data.tau).verdict.passed
