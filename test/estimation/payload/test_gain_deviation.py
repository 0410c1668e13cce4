# SPDX-License-Identifier: Apache-2.0
"""Gains of the drives that are wrong: the deviations of a payload include them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import EffortSemantics, chain_from_urdf, minimal_parameters
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.estimation.identification.identify import identify
from robot_dynamics_ros.estimation.payload.identify import identify_payload
from robot_dynamics_ros.estimation.payload.stream import PayloadEstimator
from robot_dynamics_ros.estimation.recordings.recording import Recording

LOAD = Inertia.from_centre_of_mass(2.8, [0.02, -0.01, 0.08], np.diag([0.004, 0.005, 0.003]))
DEVIATION = 0.08


@pytest.fixture(scope='module')
def puma():
    chain = chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')
    return chain.with_joint_physics(random_physics(np.random.default_rng(0), 4))


def with_wrong_gains(rng):
    """Return the meaning of efforts that are torques, with gains off by a draw."""
    return replace(EffortSemantics.torque(4), gain=1.0 + DEVIATION * rng.normal(size=4),
                   gain_deviation=np.full(4, DEVIATION))


def recorded(rng, chain):
    data = excitation(rng, chain)
    tau = data.tau + 0.01 * np.std(data.tau, axis=0) * rng.normal(size=data.tau.shape)
    return data, Recording(data.t, data.q, data.qd, tau, chain.joint_names)


def described(chain):
    return MlcEstimate.not_estimated(chain, minimal_parameters(chain))


def scores(found):
    """Return the errors of mass and centre over their standard deviations."""
    return [(found.mass - LOAD.mass) / found.mass_standard_deviation,
            *(found.centre - LOAD.centre_of_mass) / found.centre_standard_deviations]


def within_two_deviations(values):
    return np.mean(np.abs(values) < 2.0)


def test_errors_stay_within_the_deviations_where_the_arm_is_known(puma):
    batch, stream, blind = [], [], []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        effort = with_wrong_gains(rng)
        data, recording = recorded(rng, puma.with_payload(LOAD))
        batch.append(scores(identify_payload(puma, described(puma), recording, effort=effort)))
        sure = replace(effort, gain_deviation=np.zeros(4))
        blind.append(scores(identify_payload(puma, described(puma), recording, effort=sure)))
        estimator = PayloadEstimator(puma, described(puma), effort=effort)
        for sample in zip(*(each[::20] for each in (data.q, data.qd, data.qdd,
                                                    effort.gain * recording.tau))):
            estimator.update(*sample)
        stream.append(scores(estimator.estimate))
    assert within_two_deviations(batch) > 0.88
    assert within_two_deviations(stream) > 0.88
    assert within_two_deviations(blind) < 0.7  # without this uncertainty too much is claimed


def test_errors_stay_within_the_deviations_where_the_arm_was_learned_with_the_same_gains(puma):
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        effort = with_wrong_gains(rng)
        arm = identify(puma, recorded(rng, puma)[1], effort=effort, friction='coulomb').estimate
        found.append(scores(identify_payload(
            puma, arm, recorded(rng, puma.with_payload(LOAD))[1], effort=effort)))
    assert within_two_deviations(found) > 0.85


def test_a_common_error_of_all_gains_scales_what_was_learned(puma):
    # all torques 20 % too large: arm and payload are 20 % too heavy, the centre is right
    arm = described(puma)
    arm = replace(arm, samples=1000, state=arm.state.CONVERGED, residual_rms=np.ones(4),
                  mlc=arm.mlc.with_values(1.2 * arm.mlc.values),
                  joint_physics=replace(puma.joint_physics, **{
                      name: 1.2 * getattr(puma.joint_physics, name)
                      for name in ('rotor_inertia', 'viscous', 'coulomb', 'offset')}))
    rng = np.random.default_rng(1)
    data = excitation(rng, puma.with_payload(LOAD))
    recording = Recording(data.t, data.q, data.qd, data.tau, puma.joint_names)
    effort = replace(EffortSemantics.torque(4), gain=np.full(4, 1.2))
    found = identify_payload(puma, arm, recording, effort=effort)
    assert found.mass == pytest.approx(1.2 * LOAD.mass, rel=1e-3)
    np.testing.assert_allclose(found.centre, LOAD.centre_of_mass, atol=1e-3)


def test_the_deviation_is_that_of_a_payload_found_with_another_gain(puma):
    data = excitation(np.random.default_rng(2), puma.with_payload(LOAD))

    def found(gain, deviation):
        effort = replace(EffortSemantics.torque(4), gain_deviation=np.array(deviation))
        estimator = PayloadEstimator(puma, described(puma), effort=effort)
        for sample in zip(*(each[::20] for each in (data.q, data.qd, data.qdd,
                                                    np.array(gain) * data.tau))):
            estimator.update(*sample)
        return estimator.estimate

    plain = found([1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0])
    changed = found([1.0, 1.01, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0])
    uncertain = found([1.0, 1.0, 1.0, 1.0], [0.0, 0.03, 0.0, 0.0])
    added = uncertain.mass_standard_deviation**2 - plain.mass_standard_deviation**2
    assert np.sqrt(added) == pytest.approx(3.0 * abs(changed.mass - plain.mass), rel=1e-4)
    assert uncertain.mass == plain.mass


def test_unknown_gains_of_currents_are_assumed_and_told(puma):
    _, recording = recorded(np.random.default_rng(3), puma.with_payload(LOAD))
    currents = replace(EffortSemantics.torque(4), gain=np.array([1.0, 1.001, 1.001, 1.0]))
    told = identify_payload(puma, described(puma), recording, effort=currents).assumptions
    assert len(told) == 2
    assert told[0].startswith('5 % standard deviation of the drive gains of joint_1, joint_4:')
    assert told[1].startswith('10 % standard deviation of the drive gains of joint_2, joint_3:')
    given = replace(currents, gain_deviation=np.full(4, 0.1))
    assert identify_payload(puma, described(puma), recording, effort=given).assumptions == ()


def test_errors_that_last_are_part_of_the_deviations_of_a_stream(puma):
    sure, found, blind = replace(EffortSemantics.torque(4), gain_deviation=np.zeros(4)), [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = excitation(rng, puma.with_payload(LOAD), duration=16.0, step=0.04)
        keep = np.exp(-0.04 / 0.3)  # noise that lasts 0.3 s
        noise = lfilter([np.sqrt(1.0 - keep**2)], [1.0, -keep], rng.normal(size=data.tau.shape),
                        axis=0)
        tau = data.tau + 0.02 * np.std(data.tau, axis=0) * noise
        estimator = PayloadEstimator(puma, described(puma), effort=sure)
        for sample in zip(data.q, data.qd, data.qdd, tau):
            estimator.update(*sample)
        found.append(scores(estimator.estimate))
        estimator._blocks.standard_deviations = lambda prior, stated: stated
        blind.append(scores(estimator.estimate))
    assert within_two_deviations(found) > 0.8  # 0.90 over 60 seeds
    assert within_two_deviations(blind) < 0.55  # as if all samples were independent: 0.33


def test_an_arm_that_is_known_less_well_makes_a_stream_less_sure(puma, rng):
    sure = replace(EffortSemantics.torque(4), gain_deviation=np.zeros(4))
    arm = identify(puma, recorded(rng, puma)[1], friction='coulomb').estimate
    loaded = excitation(rng, puma.with_payload(LOAD), duration=6.0, step=0.02)
    deviations = []
    for factor in (1.0, 400.0):
        estimator = PayloadEstimator(puma, replace(arm, covariance=factor * arm.covariance),
                                     effort=sure)
        for sample in zip(loaded.q, loaded.qd, loaded.qdd, loaded.tau):
            estimator.update(*sample)
        deviations.append(estimator.estimate.mass_standard_deviation)
    assert deviations[1] > 1.5 * deviations[0]
