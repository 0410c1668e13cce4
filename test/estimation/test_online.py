# SPDX-License-Identifier: Apache-2.0
"""The online estimator: joint states in, parameters out, while the robot works."""

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model, minimal_parameters
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.estimation import online
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.recursion.recursive import inner_loops
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error


@pytest.fixture(scope='module')
def truth():
    chain = chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')
    return chain.with_joint_physics(random_physics(np.random.default_rng(7), len(chain)))


@pytest.fixture(scope='module')
def data(truth):
    return excitation(np.random.default_rng(8), truth, duration=40.0, step=0.004, base=0.13)


def fed(estimator, data, rng, noise=0.02, stop=None):
    size = np.sqrt(np.mean(data.tau ** 2, axis=0))
    tau = data.tau + noise * size * rng.normal(size=data.tau.shape)
    for k in range(len(data.t) if stop is None else stop):
        estimator.feed(data.t[k], data.q[k], data.qd[k], tau[k])
    return estimator.estimate()


def torque_error(chain, estimate, data):
    model = compile_model(chain)
    model.swap(estimate.mlc.values, estimate.joint_physics)
    error = model.torque(data.q, data.qd, data.qdd) - data.tau
    return np.sqrt(np.mean(error ** 2) / np.mean(data.tau ** 2))


def test_it_learns_a_robot_from_a_wrong_urdf(truth, data, rng):
    wrong = with_parameter_error(truth, 0.3, seed=5)
    estimator = OnlineEstimator(wrong)
    first = estimator.estimate()
    assert first.state == EstimateState.FROM_URDF and first.samples == 0
    assert torque_error(wrong, first, data) > 0.1
    estimate = fed(estimator, data, rng)
    assert estimate.state == EstimateState.CONVERGED
    assert all(estimate.identified)
    assert torque_error(wrong, estimate, data) < 0.01
    mlc = minimal_parameters(truth)
    expected = mlc.values + rotor_grouping(truth, mlc).matrix @ truth.joint_physics.rotor_inertia
    scores = (estimate.mlc.values - expected) / estimate.standard_deviations
    assert np.sqrt(np.mean(scores ** 2)) < 4.0
    np.testing.assert_allclose(estimator.relative_error, 0.02, atol=0.02)
    assert estimate.mlc.formulas == rotor_grouping(truth, mlc).formulas
    estimator.reset()
    assert estimator.samples == 0 and estimator.estimate().state == EstimateState.FROM_URDF


def test_a_pause_freezes_and_changes_nothing(truth, data, rng):
    estimator = OnlineEstimator(truth)
    fed(estimator, data, rng, stop=5000)
    before, t, q = estimator.estimate(), data.t[4999], data.q[4999]
    for k in range(1, 2000):
        estimator.feed(t + 0.004 * k, q, np.zeros(4), data.tau[4999] + rng.normal(size=4))
    after = estimator.estimate()
    assert after.state == EstimateState.FROZEN
    assert estimator.cut_out.standstill > 100
    # the samples of the stop itself are used; the hold is not
    assert after.samples - before.samples < 30


def test_a_motion_of_one_joint_does_not_wash_out_the_others(truth, data, rng):
    estimator = OnlineEstimator(truth, horizon=5.0)
    fed(estimator, data, rng)
    before = torque_error(truth, estimator.estimate(), data)
    model, t = compile_model(truth), data.t[-1]
    for k in range(1, 6000):  # more than four horizons
        s = 0.004 * k
        q, qd, qdd = data.q[-1].copy(), np.zeros(4), np.zeros(4)
        q[3] += 0.3 * np.sin(2 * s)
        qd[3], qdd[3] = 0.6 * np.cos(2 * s), -1.2 * np.sin(2 * s)
        tau = model.torque(q, qd, qdd) + 0.05 * rng.normal(size=4)
        estimator.feed(t + s, q, qd, tau)
    estimate = estimator.estimate()
    assert estimate.state == EstimateState.FROZEN
    assert torque_error(truth, estimate, data) < max(3.0 * before, 0.05)


def test_missing_efforts_speeds_and_odd_times_do_no_harm(truth, data, rng):
    estimator = OnlineEstimator(with_parameter_error(truth, 0.3, seed=5))
    for k in range(0, 8000):
        tau = data.tau[k] + 0.1 * rng.normal(size=4)
        tau[k // 1000 % 4] = np.nan
        t = data.t[k] - (0.002 if k % 500 == 100 else 0.0)
        q = data.q[k] if k % 700 else np.full(4, np.nan)
        estimator.feed(t, q, None, tau)
    assert estimator.cut_out.invalid_state == 12
    assert torque_error(truth, estimator.estimate(), data) < 0.03


def test_wrong_input_is_refused(truth):
    estimator = OnlineEstimator(truth)
    with pytest.raises(StateError, match=r'q has shape \(3,\), expected \(4,\): joint_1'):
        estimator.feed(0.0, np.zeros(3), np.zeros(4), np.zeros(4))
    for options in ({'cutoff': 0.0}, {'horizon': -1.0}):
        with pytest.raises(ParameterError, match='must be positive'):
            OnlineEstimator(truth, **options)


def test_a_stream_does_not_wait_for_a_compiler(truth, monkeypatch):
    """What took two seconds at the first sample is done before; a stream lost samples."""
    asked = []
    monkeypatch.setattr(online, 'inner_loops', asked.append)
    OnlineEstimator(truth)
    OnlineEstimator(truth, compiled=False)
    assert asked == [None, False]
    assert inner_loops(None) is inner_loops(None), 'compiled once'
