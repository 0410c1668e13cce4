# SPDX-License-Identifier: Apache-2.0
"""From recordings to smoothed samples: cut-off frequencies, pauses, joints that never move."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros import EffortSemantics
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.errors import IdentificationError
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.preparation import prepare

CHAIN = chain_from_dh('RR', beta=[0.0, 0.0], b=[0.0, 0.5], d=[0.0, 0.0], theta=[0.0, 0.0])
TORQUE = EffortSemantics.torque(2)
T = np.arange(4000) * 0.005


def recording(still=False, **changes):
    """Return 20 s of sines of 1 and 0.5 Hz; joint 2 may stand still."""
    q = np.stack([np.sin(2 * np.pi * T), (not still) * np.cos(np.pi * T)], axis=1)
    return replace(Recording(T, q, None, 5.0 * q + 1.0, CHAIN.joint_names), **changes)


def prepared(*recordings, effort=TORQUE, **settings):
    return prepare(CHAIN, recordings or (recording(),), effort, IdentificationSettings(**settings))


def test_cutoffs_follow_from_the_motion():
    found = prepared()
    assert found.cutoff == pytest.approx(10.0, rel=0.1)  # ten times 1 Hz
    assert found.parallel_cutoff == pytest.approx(found.cutoff / 2.0)
    assert found.findings == ()
    np.testing.assert_allclose(found.velocity, [2 * np.pi / np.sqrt(2), np.pi / np.sqrt(2)],
                               rtol=0.02)


def test_given_cutoffs_are_used_and_infinity_is_no_filter():
    found = prepared(cutoff=7.0, parallel_cutoff=2.0)
    assert (found.cutoff, found.parallel_cutoff) == (7.0, 2.0)
    found = prepared(cutoff=np.inf)
    assert (found.cutoff, found.parallel_cutoff) == (None, None)
    np.testing.assert_array_equal(found.samples[0].q, recording().q)


def test_every_recording_is_a_stretch():
    found = prepared(recording(), recording())
    assert len(found.samples) == len(found.stretches) == len(found.moving) == 2


def test_efforts_are_turned_into_torques():
    half = replace(TORQUE, gain=[0.5, 1.0])
    found = prepared(effort=half, cutoff=np.inf)
    np.testing.assert_allclose(found.samples[0].tau, recording().tau * [0.5, 1.0])


def test_a_joint_that_never_moves_is_a_finding():
    found = prepared(recording(still=True))
    assert [(each.kind, each.where) for each in found.findings] == [
        ('joint_never_moves', CHAIN.joint_names[1])]


def test_a_joint_without_effort_has_no_usable_torque():
    found = prepared(recording(tau=recording().tau * [1.0, 0.0]))
    assert [each.kind for each in found.findings] == ['no_effort']
    assert np.any(found.samples[0].usable[:, 0]) and not np.any(found.samples[0].usable[:, 1])


def test_a_pause_is_counted_in_recorded_samples():
    pause = np.where((T > 8.0) & (T < 12.0), 8.0, np.where(T < 12.0, T, T - 4.0))
    q = np.stack([np.sin(2 * np.pi * pause), np.cos(np.pi * pause)], axis=1)
    found = prepared(recording(q=q, tau=5.0 * q + 1.0))
    assert found.cut_out.standstill == pytest.approx(4.0 / 0.005, rel=0.05)
    resting = np.concatenate([part.t[~use] for part, use in zip(found.samples, found.moving)])
    assert resting.min() >= 8.0 and resting.max() <= 12.0


def test_nothing_that_moves_is_an_error():
    with pytest.raises(IdentificationError, match='no joint moves in the recording'):
        prepared(recording(q=np.zeros((4000, 2))))
