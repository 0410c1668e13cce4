# SPDX-License-Identifier: Apache-2.0
"""The load at the tip: from a recording, from a stream, and what may be claimed of it."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_chain, random_inertia, random_states
from support.oracle import Oracle
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros import (
    EffortSemantics,
    chain_from_urdf,
    compile_model,
    minimal_parameters,
)
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import IdentificationError, ParameterError, RecordingError
from robot_dynamics_ros.estimation.excitation.design import design_excitation
from robot_dynamics_ros.estimation.payload.estimate import payload_estimate
from robot_dynamics_ros.estimation.payload.identify import PayloadTerms, identify_payload
from robot_dynamics_ros.estimation.payload.stream import PayloadEstimator
from robot_dynamics_ros.estimation.recordings.recording import Recording

LOAD = Inertia.from_centre_of_mass(1.5, [0.02, -0.01, 0.08], [[0.004, 0.0005, 0],
                                                              [0.0005, 0.005, 0], [0, 0, 0.003]])
RATE = 200.0

#: Torques of a simulation: nothing is wrong with their scale.
EXACT = replace(EffortSemantics.torque(7), gain_deviation=np.zeros(7))


def known_arm(chain, *, deviation=0.0):
    """Return the chain's own values as an estimate, all with the same relative deviation."""
    mlc = minimal_parameters(chain)
    covariance = np.diag((deviation * mlc.values)**2)
    return MlcEstimate(chain.robot, chain.base, chain.tip, mlc, chain.joint_physics,
                       (True,) * len(mlc), mlc.names, covariance, 1000, 10.0,
                       np.full(len(chain), 0.5))


@pytest.fixture(scope='module')
def demo():
    return chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf')


@pytest.fixture(scope='module')
def motion(demo):
    """Return times and a motion that excites everything."""
    trajectory = design_excitation(demo, unchecked=True,
                                   start=[0, 0.2, 0, -1.2, 0, 0.5, 0], candidates=20,
                                   iterations=0).trajectory
    times = trajectory.times(RATE)
    return times, trajectory.sample(times)


def recording(chain, times, motion, load, noise=0.0, rng=None):
    tau = compile_model(chain.with_payload(load)).torque(*motion)
    if noise:
        tau = tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return Recording(times, motion.q, motion.qd, tau, chain.joint_names)


def test_the_columns_of_a_load_are_the_change_of_the_torque(rng):
    for n in (1, 2, 4, 4, 5):
        chain = random_chain(rng, n)
        load = random_inertia(rng)
        q, qd, qdd = random_states(rng, n)
        change = (Oracle(chain.with_payload(load)).inverse_dynamics(q, qd, qdd)
                  - Oracle(chain).inverse_dynamics(q, qd, qdd))
        Y = PayloadTerms(compile_model(chain)).regressor(q, qd, qdd)
        assert_close(Y @ load.standard_parameters, change, OTHER_IMPLEMENTATION)


def test_a_noise_free_recording_gives_the_load_back(demo, motion):
    found = identify_payload(demo, known_arm(demo), recording(demo, *motion, LOAD),
                             effort=EXACT, cutoff=np.inf, parallel_cutoff=np.inf)
    assert found.tip == demo.tip and found.known and found.tensor_known
    np.testing.assert_allclose(found.mass, LOAD.mass, rtol=1e-5)
    np.testing.assert_allclose(found.centre, LOAD.centre_of_mass, atol=1e-6)
    np.testing.assert_allclose(found.tensor, LOAD.central_tensor, atol=1e-6)
    assert_close(found.inertia.standard_parameters, LOAD.standard_parameters, 1e-5)
    assert found.error_with < 1e-5 < 0.1 < found.error_without


@pytest.mark.parametrize('seed', range(5))
def test_mass_and_centre_are_found_at_two_percent_torque_noise(demo, motion, seed):
    noisy = recording(demo, *motion, LOAD, 0.02, np.random.default_rng(seed))
    found = identify_payload(demo, known_arm(demo), noisy, effort=EXACT)
    assert found.known
    assert abs(found.mass - LOAD.mass) < 0.02 * LOAD.mass
    assert np.max(np.abs(found.centre - LOAD.centre_of_mass)) < 0.005
    assert abs(found.mass - LOAD.mass) < 5.0 * found.mass_standard_deviation
    error = np.abs(found.centre - LOAD.centre_of_mass)
    assert np.all(error < 5.0 * found.centre_standard_deviations)


def test_two_recordings_tell_more_than_one(demo, motion):
    noisy = [recording(demo, *motion, LOAD, 0.05, np.random.default_rng(seed)) for seed in (1, 2)]
    one = identify_payload(demo, known_arm(demo), noisy[0], effort=EXACT)
    both = identify_payload(demo, known_arm(demo), noisy, effort=EXACT)
    assert both.mass_standard_deviation < 0.9 * one.mass_standard_deviation


def test_the_uncertainty_of_the_arm_is_part_of_the_deviations(demo, motion):
    noisy = recording(demo, *motion, LOAD, 0.02, np.random.default_rng(0))
    sure = identify_payload(demo, known_arm(demo), noisy, effort=EXACT)
    unsure = identify_payload(demo, known_arm(demo, deviation=0.02), noisy, effort=EXACT)
    assert unsure.mass == sure.mass
    assert unsure.mass_standard_deviation > 2.0 * sure.mass_standard_deviation


def test_errors_of_the_arm_stay_within_their_deviations(demo, motion, rng):
    estimate = known_arm(demo, deviation=0.02)
    wrong = replace(estimate, mlc=estimate.mlc.with_values(
        estimate.mlc.values * (1.0 + 0.02 * rng.normal(size=len(estimate.mlc)))))
    found = identify_payload(demo, wrong, recording(demo, *motion, LOAD), effort=EXACT)
    assert abs(found.mass - LOAD.mass) < 4.0 * found.mass_standard_deviation
    error = np.abs(found.centre - LOAD.centre_of_mass)
    assert np.all(error < 4.0 * found.centre_standard_deviations)


def test_no_load_is_not_claimed(demo, motion):
    found = identify_payload(demo, known_arm(demo), recording(
        demo, *motion, Inertia.zero(), 0.02, np.random.default_rng(3)))
    assert not found.mass_known and not found.known
    assert any(reason.startswith('mass:') for reason in found.reasons)
    with pytest.raises(IdentificationError, match='not identifiable: mass'):
        _ = found.inertia


def test_a_negative_mass_is_not_identifiable(demo, motion):
    lighter = Inertia.from_standard_parameters(-LOAD.standard_parameters)
    found = identify_payload(demo, known_arm(demo), recording(demo, *motion, lighter))
    assert found.mass == pytest.approx(-1.5, rel=1e-3)
    assert not found.mass_known and 'is not positive' in found.reasons[0]


def test_a_motion_about_an_upright_axis_shows_no_weight(demo):
    # joint 1 is upright: its slow motion alone changes nothing that gravity could show
    times = np.arange(0.0, 5.0, 1.0 / RATE)
    q = np.zeros((len(times), 7))
    q[:, 0] = 0.5 * (1.0 - np.cos(0.5 * times))
    qd = np.gradient(q, times, axis=0)
    qdd = np.gradient(qd, times, axis=0)
    tau = compile_model(demo.with_payload(LOAD)).torque(q, qd, qdd)
    rng = np.random.default_rng(0)
    found = identify_payload(demo, known_arm(demo), Recording(
        times, q, qd, tau + 0.3 * rng.normal(size=tau.shape), demo.joint_names))
    assert not found.tensor_known and not all(found.centre_known)
    with pytest.raises(IdentificationError, match='not identifiable'):
        _ = found.inertia


def test_slow_motion_shows_mass_and_centre_but_no_inertia(demo, motion):
    times, fast = motion
    slow = type(fast)(fast.q, fast.qd / 20.0, fast.qdd / 400.0)
    rng = np.random.default_rng(0)
    found = identify_payload(demo, known_arm(demo), recording(
        demo, 20.0 * times, slow, LOAD, 0.02, rng))
    assert found.known and not found.tensor_known
    assert any(reason.startswith('inertia:') for reason in found.reasons)
    point = found.inertia
    assert abs(point.mass - LOAD.mass) < 0.02 * LOAD.mass
    np.testing.assert_allclose(point.central_tensor, np.zeros((3, 3)), atol=1e-12)


def test_a_recording_that_the_arm_does_not_explain_claims_nothing(demo, motion, rng):
    times, states = motion
    other = compile_model(demo.with_links([replace(link, mass=3 * link.mass,
                                                   first_moment=2.5 * link.first_moment)
                                           for link in demo.links])).torque(*states)
    found = identify_payload(demo, known_arm(demo), Recording(
        times, states.q, states.qd, np.flip(other, axis=1), demo.joint_names))
    assert not found.known and 'stays unexplained' in found.reasons[0]


def test_a_recording_of_another_robot_is_refused(demo, motion):
    times, states = motion
    strange = Recording(times, states.q, states.qd, states.q, tuple('abcdefg'))
    with pytest.raises(RecordingError, match=r'joint joint_1.* of demo_arm was not recorded'):
        identify_payload(demo, known_arm(demo), strange)


def test_parameters_of_another_robot_are_refused(demo, motion):
    other = chain_from_urdf(URDF_FOLDER / 'rx90.urdf')
    with pytest.raises(ParameterError, match='the parameters are of rx90'):
        identify_payload(demo, known_arm(other), recording(demo, *motion, LOAD))
    with pytest.raises(ParameterError, match='the parameters are of rx90'):
        PayloadEstimator(demo, known_arm(other))


# claims

def test_deviations_on_paper():
    # 2 kg +- 0.1 kg at x = 0.5 m, first moment known to 0.02 kg m, independent
    x = Inertia.from_centre_of_mass(2.0, [0.5, 0, 0], np.eye(3)).standard_parameters
    covariance = np.zeros((10, 10))
    covariance[9, 9], covariance[6, 6] = 0.01, 0.0004
    found = payload_estimate('tip', x, covariance)
    assert found.mass_standard_deviation == pytest.approx(0.1)
    expected = np.hypot(0.02 / 2.0, 1.0 * 0.1 / 4.0)  # d(h / m) = dh / m - h dm / m^2
    assert found.centre_standard_deviations[0] == pytest.approx(expected, rel=1e-6)
    assert found.centre_known == (True, True, True) and found.tensor_known


@pytest.mark.parametrize('index, deviation, reason', [
    (9, 1.0, 'mass: 2 .* too uncertain'),
    (7, 0.2, 'centre of mass y: .* too uncertain'),
    (0, 0.9, 'inertia: the motion does not show it'),
])
def test_what_is_uncertain_is_not_claimed(index, deviation, reason):
    x = Inertia.from_centre_of_mass(2.0, [0.0, 0.1, 0], np.eye(3)).standard_parameters
    covariance = np.zeros((10, 10))
    covariance[index, index] = deviation**2
    found = payload_estimate('tip', x, covariance)
    assert not found.tensor_known
    assert len(found.reasons) == 1 and re.match(reason, found.reasons[0])


def test_an_impossible_tensor_is_not_claimed():
    x = Inertia.from_centre_of_mass(2.0, np.zeros(3), np.diag([1.0, 1.0, 5.0])).standard_parameters
    found = payload_estimate('tip', x, np.zeros((10, 10)))
    assert found.known and not found.tensor_known
    assert 'no body has the principal inertias' in found.reasons[0]


# the stream

def feed(estimator, states, tau, every=5):
    for sample in zip(*(values[::every] for values in (*states, tau))):
        estimator.update(*sample)


def test_the_stream_agrees_with_plain_least_squares(demo, motion, rng):
    _, states = motion
    tau = recording(demo, *motion, LOAD, 0.02, rng).tau
    estimator = PayloadEstimator(demo, known_arm(demo))
    feed(estimator, states, tau, 20)
    few = [values[::20] for values in states]
    Y = PayloadTerms(compile_model(demo)).regressor(*few).reshape(-1, 10)
    left = (tau[::20] - compile_model(demo).torque(*few)).ravel()
    expected = np.linalg.lstsq(Y, left, rcond=None)[0]
    found = estimator.estimate
    np.testing.assert_allclose(found.mass, expected[9], rtol=1e-4)
    np.testing.assert_allclose(found.centre, expected[6:9] / expected[9], atol=1e-4)


def test_the_stream_finds_the_load(demo, motion, rng):
    _, states = motion
    estimator = PayloadEstimator(demo, known_arm(demo))
    assert not estimator.estimate.known and 'too few samples' in estimator.estimate.reasons[0]
    feed(estimator, states, recording(demo, *motion, LOAD, 0.02, rng).tau)
    found = estimator.estimate
    assert found.known and found.tip == demo.tip
    assert abs(found.mass - LOAD.mass) < 0.02 * LOAD.mass
    assert np.max(np.abs(found.centre - LOAD.centre_of_mass)) < 0.005
    assert found.error_with < found.error_without


def test_a_stream_that_forgets_follows_another_load(demo, motion):
    _, states = motion
    heavy = Inertia.from_standard_parameters(2.0 * LOAD.standard_parameters)
    results = []
    for memory in (np.inf, 50.0):
        estimator = PayloadEstimator(demo, known_arm(demo), memory=memory)
        for load in (LOAD, heavy):
            feed(estimator, states, recording(demo, *motion, load).tau)
        results.append(estimator.estimate.mass)
    assert results[0] == pytest.approx(2.25, abs=0.3)
    assert results[1] == pytest.approx(heavy.mass, rel=0.02)


def test_missing_efforts_and_states_are_left_out(demo, motion):
    _, states = motion
    tau = recording(demo, *motion, LOAD).tau.copy()
    tau[:, 2] = np.nan
    estimator = PayloadEstimator(demo, known_arm(demo))
    estimator.update(np.full(7, np.nan), states.qd[0], states.qdd[0], tau[0])
    assert not np.any(estimator.triangle)
    feed(estimator, states, tau)
    assert estimator.estimate.mass == pytest.approx(LOAD.mass, rel=1e-3)


def test_reset_forgets_the_load(demo, motion):
    _, states = motion
    estimator = PayloadEstimator(demo, known_arm(demo))
    feed(estimator, states, recording(demo, *motion, LOAD).tau, 100)
    estimator.reset()
    assert not np.any(estimator.triangle) and not estimator.estimate.known


@pytest.mark.parametrize('options', [{'memory': 0.0}, {'correlation': 0.5}, {'memory': np.nan}])
def test_numbers_of_samples_below_one_are_refused(demo, options):
    with pytest.raises(ParameterError, match='numbers of samples, at least 1'):
        PayloadEstimator(demo, known_arm(demo), **options)


def test_deviations_are_numbers_however_little_noise_one_sample_shows(rng):
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    estimate = replace(known_arm(chain), residual_rms=np.zeros(2))
    for _ in range(20):  # two rows for ten unknowns: the prior is all that keeps them apart
        estimator = PayloadEstimator(chain, estimate)
        estimator.update(*rng.uniform(-0.3, 0.3, size=(4, 2)))
        found = estimator.estimate
        assert not found.known and 0.0 < found.mass_standard_deviation < np.inf
