# SPDX-License-Identifier: Apache-2.0
"""Streams with wrong samples in them: the estimate must be that of the good ones."""

from dataclasses import replace

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.smoothing.fixed_lag import SmoothedState
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

DURATION = 25.0
#: Part by which the torque error may grow because samples are missing, and what never matters.
GROWTH, NEGLIGIBLE = 1.25, 5e-4


class Case:
    """A robot, its motion, and what is measured of it at a rate."""

    def __init__(self, rate, duration=DURATION):
        rng, chain = np.random.default_rng(3), chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')
        self.truth = chain.with_joint_physics(random_physics(np.random.default_rng(7), 4))
        self.wrong = with_parameter_error(self.truth, 0.3, seed=5)
        self.data = excitation(np.random.default_rng(8), self.truth, duration=duration,
                               step=1.0 / rate, base=0.13)
        self._clean, d = {}, self.data
        self.noise = 0.02 * np.sqrt(np.mean(d.tau ** 2, axis=0)) * rng.normal(size=d.tau.shape)
        self.measured = {'q': d.q + 1e-5 * rng.normal(size=d.q.shape),
                         'qd': d.qd + 3e-3 * rng.normal(size=d.q.shape), 'tau': d.tau + self.noise}

    def learn(self, spoil=None, with_velocity=True):
        measured = {name: values.copy() for name, values in self.measured.items()}
        if spoil is not None:
            spoil(measured)
        q, qd, tau = measured.values()
        estimator = OnlineEstimator(self.wrong)
        for k in range(0, len(q), 100):
            part = slice(k, k + 100)
            estimator.feed_many(self.data.t[part], q[part], qd[part] if with_velocity else None,
                                tau[part])
        return estimator

    def error(self, estimator, tau=None):
        estimate, d = estimator.estimate(), self.data
        tau = d.tau if tau is None else tau
        model = compile_model(self.wrong)
        model.swap(estimate.mlc.values, estimate.joint_physics)
        left = model.torque(d.q, d.qd, d.qdd) - tau
        return np.sqrt(np.mean(left ** 2) / np.mean(tau ** 2))

    def assert_unharmed(self, spoil, with_velocity=True):
        if with_velocity not in self._clean:
            self._clean[with_velocity] = self.error(self.learn(None, with_velocity))
        clean = self._clean[with_velocity]
        estimator = self.learn(spoil, with_velocity)
        assert self.error(estimator) < GROWTH * clean + NEGLIGIBLE
        assert estimator.estimate().state == EstimateState.CONVERGED
        return estimator.cut_out


@pytest.fixture(scope='module', params=[1000, 100], ids=['1 kHz', '100 Hz'])
def case(request):
    return Case(request.param)


@pytest.fixture(scope='module')
def slow_case():
    return Case(100)


@pytest.mark.parametrize('value', [1e3, -1e6, 1e155, np.nan, np.inf])
@pytest.mark.parametrize('name', ['q', 'qd', 'tau'])
def test_one_implausible_sample_poisons_nothing(slow_case, name, value):
    def spoil(measured):
        rng = np.random.default_rng(4)
        measured[name][rng.integers(1200, 2300), rng.integers(4)] = value

    cut = slow_case.assert_unharmed(spoil)
    if name != 'tau':
        assert cut.implausible_state + cut.invalid_state == 1
    elif np.isfinite(value):
        assert cut.implausible_effort == 1 or 0 < cut.unexpected_torque < 15


def test_one_velocity_of_1000_rad_s_poisons_nothing(case):
    def spoil(measured):
        measured['qd'][len(measured['qd']) * 2 // 3, 1] = 1e3

    assert case.assert_unharmed(spoil).implausible_state == 1


@pytest.mark.parametrize('at', [1600, 1601, 1602])
def test_one_joint_state_without_velocities_poisons_nothing(slow_case, at):
    estimator, d = OnlineEstimator(slow_case.wrong), slow_case.data
    q, qd, tau = slow_case.measured.values()
    for k in range(len(q)):
        estimator.feed(d.t[k], q[k], None if k == at else qd[k], tau[k])
    clean = slow_case.error(slow_case.learn())
    assert slow_case.error(estimator) < GROWTH * clean + NEGLIGIBLE
    assert estimator.estimate().state == EstimateState.CONVERGED


def test_what_is_not_finite_is_never_absorbed(slow_case, monkeypatch):
    estimator = slow_case.learn()
    before = estimator.estimate()
    spoiled = SmoothedState(99.0, np.zeros(4), np.ones(4), np.full(4, np.nan), np.zeros(4))
    monkeypatch.setattr(estimator._sampler, 'feed_many', lambda *_: [spoiled])
    assert estimator.feed(99.0, np.zeros(4), np.ones(4), np.zeros(4)) is None
    np.testing.assert_array_equal(estimator.estimate().mlc.values, before.mlc.values)
    assert estimator.cut_out.invalid_state == 1


@pytest.mark.parametrize('value', [3.0, 1e3, 1e155])
def test_without_velocities_a_wrong_position_poisons_nothing(slow_case, value):
    def spoil(measured):
        measured['q'][1600, 1] += value

    assert slow_case.assert_unharmed(spoil, with_velocity=False).implausible_state == 1


def test_spikes_within_the_limits_poison_nothing(case):
    def spoil(measured):
        rng = np.random.default_rng(4)
        n = len(measured['q'])
        for name, size in (('q', 0.5), ('qd', 8.0), ('tau', 150.0)):
            for _ in range(3):
                measured[name][rng.integers(n // 2, n - 200), rng.integers(4)] += size

    case.assert_unharmed(spoil)


@pytest.mark.parametrize('name', ['q', 'qd', 'tau'])
def test_a_burst_of_20_samples_poisons_nothing(case, name):
    def spoil(measured):
        start = len(measured['q']) * 2 // 3
        measured[name][start:start + 20, 2] = 1e3

    case.assert_unharmed(spoil)


@pytest.mark.parametrize('names', [('q',), ('qd',), ('tau',), ('q', 'qd', 'tau')])
def test_a_stuck_sensor_poisons_nothing(slow_case, names):
    def spoil(measured):
        for name in names:
            measured[name][1500:1700, 1] = measured[name][1500, 1]

    cut = slow_case.assert_unharmed(spoil)
    if names == ('tau',):
        assert cut.implausible_effort > 70
    else:
        assert cut.inconsistent_velocity > 30


def test_a_joint_learns_although_every_7th_of_its_efforts_is_missing(case):
    def spoil(measured):
        measured['tau'][::7, 2] = np.nan

    cut = case.assert_unharmed(spoil)
    assert cut.missing_effort == len(case.data.t[::7])


def test_a_sample_without_any_effort_is_none(slow_case):
    def spoil(measured):
        measured['tau'][:] = np.nan

    estimator = slow_case.learn(spoil)
    assert estimator.samples == 0
    assert estimator.estimate().state == EstimateState.FROM_URDF
    assert estimator.cut_out.missing_effort == slow_case.data.tau.size


def test_without_efforts_nothing_is_forgotten(slow_case):
    estimator = slow_case.learn()
    before, d = estimator.estimate(), slow_case.data
    estimator.feed_many(d.t[-1] + d.t[1:], d.q[1:], d.qd[1:], np.full_like(d.tau[1:], np.nan))
    after = estimator.estimate()
    assert after.state == EstimateState.FROZEN
    assert after.samples - before.samples < 10  # windows that reach back
    np.testing.assert_allclose(after.mlc.values, before.mlc.values, rtol=0.05, atol=1e-2)


# Changes that are true

def test_a_payload_is_learned_as_quickly_as_if_nothing_were_set_aside(monkeypatch):
    case = Case(100, duration=60.0)
    payload = Inertia.from_centre_of_mass(5.0, (0.0, 0.05, 0.1), 0.05 * np.eye(3))
    d, start = case.data, 3000
    tau = compile_model(case.truth.with_payload(payload)).torque(d.q, d.qd, d.qdd)

    def time_to_learn():
        q, qd = case.measured['q'], case.measured['qd']
        measured = np.concatenate([d.tau[:start], tau[start:]]) + case.noise
        estimator, learned, states = OnlineEstimator(case.wrong), np.inf, []
        for k in range(0, len(q), 50):
            part = slice(k, k + 50)
            estimator.feed_many(d.t[part], q[part], qd[part], measured[part])
            if k >= start:
                error = case.error(estimator, tau)
                learned = min(learned, d.t[k]) if error < 0.05 else np.inf
                states.append((error, estimator.estimate().state))
        assert estimator.cut_out.unexpected_torque < 15
        return learned, states

    learned, states = time_to_learn()
    assert learned < 55.0
    assert states[0][0] > 0.5
    # half a second after the change nobody is told that the estimate is right
    assert all(state != EstimateState.CONVERGED for error, state in states[1:] if error > 0.1)
    monkeypatch.setattr('robot_dynamics_ros.estimation.online.far_off', lambda *sample: False)
    assert learned <= time_to_learn()[0] + 0.5


def test_bad_predictions_are_not_called_converged(slow_case, monkeypatch):
    estimator = slow_case.learn()
    assert estimator.estimate().state == EstimateState.CONVERGED
    # another robot from now on, too little different for outliers
    monkeypatch.setattr('robot_dynamics_ros.estimation.online.far_off', lambda *sample: False)
    d, now = slow_case.data, slow_case.data.t[-1] + 0.01
    tau = 1.3 * d.tau
    for k in range(0, 300, 50):
        part = slice(k, k + 50)
        estimator.feed_many(now + d.t[part], d.q[part], d.qd[part], tau[part])
    assert slow_case.error(estimator, tau) > 0.1
    assert estimator.estimate().state == EstimateState.LEARNING


def test_a_stream_of_nothing_but_nonsense_raises_no_foreign_error(rng):
    case = Case(100, duration=5.0)
    d, estimator = case.data, OnlineEstimator(case.wrong)
    for value in (1e155, -1e300, np.inf, np.nan, 1e20):
        for name in ('q', 'qd', 'tau'):
            spoiled = replace(d, **{name: np.full_like(d.q, value)})
            estimator.feed_many(d.t, spoiled.q, spoiled.qd, spoiled.tau)
            estimator.estimate()
    assert np.all(np.isfinite(estimator.estimate().mlc.values))
