# SPDX-License-Identifier: Apache-2.0
"""Gains of the drives from a recording with a known payload."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import signal
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import EffortSemantics, chain_from_urdf
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.errors import IdentificationError, ParameterError
from robot_dynamics_ros.estimation.payload.drive_gains import identify_drive_gains
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

GAINS = np.array([12.0, 11.0, 9.0, 4.0])
LOAD = Inertia.from_centre_of_mass(4.0, [0.05, 0.02, 0.1], 0.01 * np.eye(3))

#: Pole of the drive's filter in the unit circle: 3 Hz at 200 samples per second.
POLE = np.exp(-2.0 * np.pi * 3.0 * 0.005)


@pytest.fixture(scope='module')
def puma():
    return chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')


def recorded(rng, puma, *, gains=GAINS, noise=0.01, filtered=False, load=LOAD):
    """Return the robot, and recordings of its currents without and with a load."""
    truth = puma.with_joint_physics(random_physics(rng, 4))
    recordings = []
    for chain in (truth, truth.with_payload(load)):
        data = excitation(rng, chain, duration=15.0)
        effort = data.tau / gains
        white = rng.normal(size=effort.shape)
        if filtered:
            white = signal.lfilter([np.sqrt(1.0 - POLE ** 2)], [1.0, -POLE], white, axis=0)
        effort += noise * np.std(effort, axis=0) * white
        recordings.append([Recording(data.t, data.q, data.qd, effort, chain.joint_names)])
    return (truth, *recordings)


def test_a_known_load_shows_the_gains_of_drives_that_report_currents(rng, puma):
    truth, unloaded, loaded = recorded(rng, puma)
    wrong = with_parameter_error(truth, 0.2, seed=3)
    found = identify_drive_gains(wrong, unloaded, loaded, LOAD)
    np.testing.assert_allclose(found.gain, GAINS, rtol=0.05)
    assert found.reasons == ('',) * 4
    np.testing.assert_array_equal(found.relative_deviations,
                                  found.standard_deviations / found.gain)


@pytest.mark.parametrize(('noise', 'filtered', 'cutoff'), [
    (0.3, False, None), (0.1, False, np.inf), (0.1, True, None), (0.1, True, np.inf)])
def test_noise_in_the_currents_leaves_gains_unbiased_and_deviations_honest(puma, noise, filtered,
                                                                         cutoff):
    scores = []
    for seed in range(25):
        truth, unloaded, loaded = recorded(np.random.default_rng(seed), puma, noise=noise,
                                           filtered=filtered)
        wrong = with_parameter_error(truth, 0.2, seed=seed)
        found = identify_drive_gains(wrong, unloaded, loaded, LOAD, cutoff=cutoff)
        scores.append((found.gain - GAINS) / found.standard_deviations)
    scores = np.array(scores)
    assert np.mean(np.isfinite(scores)) > 0.9
    scores = scores[np.isfinite(scores)]
    assert np.mean(np.abs(scores) < 2.0) > 0.88  # 95 %, less three deviations of chance
    assert 0.75 < np.sqrt(np.mean(scores ** 2)) < 1.25
    assert abs(np.mean(scores)) < 0.3


def test_the_size_of_a_gain_does_not_matter(puma):
    sizes = np.array([1e-3, 1.0, 50.0, 1e4])
    results = []
    for gains in (np.full(4, 10.0), 10.0 * sizes):
        truth, unloaded, loaded = recorded(np.random.default_rng(5), puma, gains=gains, noise=0.1)
        results.append(identify_drive_gains(truth, unloaded, loaded, LOAD))
    one, other = results
    np.testing.assert_allclose(other.gain, sizes * one.gain, rtol=1e-4)
    np.testing.assert_allclose(other.standard_deviations, sizes * one.standard_deviations,
                               rtol=1e-3)


def test_gains_to_start_from_and_inertias_of_the_urdf_do_not_matter(rng, puma):
    truth, unloaded, loaded = recorded(rng, puma, noise=0.1)
    plain = identify_drive_gains(truth, unloaded, loaded, LOAD)
    start = replace(EffortSemantics.torque(4), gain=np.full(4, 500.0))
    empty = truth.with_links([Inertia.zero()] * 4)
    other = identify_drive_gains(empty, unloaded, loaded, LOAD, effort=start)
    np.testing.assert_allclose(other.gain, plain.gain, rtol=1e-9)


def test_single_wild_currents_change_little(rng, puma):
    truth, unloaded, loaded = recorded(rng, puma, noise=0.05)
    before = identify_drive_gains(truth, unloaded, loaded, LOAD)
    effort = loaded[0].tau.copy()
    effort[500:520] *= 3.0
    after = identify_drive_gains(truth, unloaded, [replace(loaded[0], tau=effort)], LOAD)
    np.testing.assert_allclose(after.gain, before.gain, rtol=0.03)


def test_a_joint_that_the_load_hardly_moves_has_a_reason_instead_of_a_gain(rng, puma):
    # a point on the axis of the last joint exerts no torque on it; one beside it very little
    for beside, reason in ((0.0, 'exerts no torque on it'),
                           (5e-4, r'the payload is .* \+- .* % of its effort')):
        load = Inertia.from_centre_of_mass(4.0, [beside, 0.0, 0.1], np.zeros((3, 3)))
        truth, unloaded, loaded = recorded(rng, puma, noise=0.05, load=load)
        found = identify_drive_gains(truth, unloaded, loaded, load)
        assert np.isfinite(found.gain).tolist() == [True, True, True, False]
        assert np.isnan(found.standard_deviations[3])
        assert found.reasons[:3] == ('', '', '')
        assert re.search(reason, found.reasons[3])


def test_a_joint_with_the_wrong_sign_or_without_efforts_has_a_reason(rng, puma):
    truth, unloaded, loaded = recorded(rng, puma)
    changed = [[replace(part[0], tau=part[0].tau * [1.0, -1.0, 1.0, np.nan])]
               for part in (unloaded, loaded)]
    found = identify_drive_gains(truth, *changed, LOAD)
    assert np.isfinite(found.gain).tolist() == [True, False, True, False]
    assert 'wrong sign' in found.reasons[1] and '0 usable samples' in found.reasons[3]


def test_recordings_that_are_too_short_show_no_gain(rng, puma):
    truth, unloaded, loaded = recorded(rng, puma, noise=0.1)
    short = [[replace(part[0], t=part[0].t[:300], q=part[0].q[:300], qd=part[0].qd[:300],
                      tau=part[0].tau[:300])] for part in (unloaded, loaded)]
    with pytest.raises(IdentificationError, match=r'do not show the payload.*joint_1: '):
        identify_drive_gains(truth, *short, LOAD)


def test_without_a_load_the_scale_stays_open(rng, puma):
    truth, unloaded, loaded = recorded(rng, puma)
    with pytest.raises(ParameterError, match='with and without a payload of known mass'):
        identify_drive_gains(truth, unloaded, loaded, Inertia.zero())
    with pytest.raises(ParameterError, match='with and without a payload of known mass'):
        identify_drive_gains(truth, unloaded, [], LOAD)


def test_a_payload_that_was_not_carried_shows_no_gain(rng, puma):
    truth, unloaded, _ = recorded(rng, puma)
    with pytest.raises(IdentificationError, match='the efforts do not show the payload'):
        identify_drive_gains(truth, unloaded, unloaded, LOAD)


def test_efforts_of_coupled_motors_are_refused(rng, puma):
    truth, unloaded, loaded = recorded(rng, puma)
    meaning = replace(EffortSemantics.torque(4), coupling=np.eye(4), side=('motor',) * 4)
    with pytest.raises(ParameterError, match='coupled motors are not supported'):
        identify_drive_gains(truth, unloaded, loaded, LOAD, effort=meaning)
