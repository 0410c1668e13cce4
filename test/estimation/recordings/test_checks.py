# SPDX-License-Identifier: Apache-2.0
"""Checks of recordings: units of time, position and velocity, and missing efforts."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.recordings.checks import check_recording
from robot_dynamics_ros.estimation.recordings.recording import DEGREES, Recording

T = np.arange(500) * 0.01


@pytest.fixture
def chain():
    chain = chain_from_dh('RR', beta=[0.0, 0.0], b=[0.0, 0.5], d=[0.0, 0.0], theta=[0.0, 0.0])
    return replace(chain, joints=tuple(replace(joint, velocity_limit=3.0)
                                       for joint in chain.joints))


@pytest.fixture
def recording(chain):
    q = np.stack([np.sin(T), np.cos(2 * T)], axis=1)
    qd = np.stack([np.cos(T), -2 * np.sin(2 * T)], axis=1)
    return Recording(T, q, qd, 3 * q + 1, chain.joint_names, 'file')


def test_a_good_recording_has_no_findings(recording, chain):
    assert check_recording(recording, chain) == []
    assert check_recording(replace(recording, qd=None), chain) == []


def test_a_joint_without_effort_is_a_finding(recording, chain):
    tau = recording.tau.copy()
    tau[:, 1] = 0.0
    tau[::2, 1] = np.nan
    (finding,) = check_recording(replace(recording, tau=tau), chain)
    assert (finding.kind, finding.where) == ('no_effort', chain.joint_names[1])


@pytest.mark.parametrize('change, message', [
    (lambda r: {'t': r.t[:2], 'q': r.q[:2], 'qd': None, 'tau': r.tau[:2]}, '2 samples are too'),
    (lambda r: {'tau': 0.0 * r.tau}, 'no efforts were recorded'),
    (lambda r: {'q': r.q * [1.0, np.nan]}, 'joint .*2 has no finite position'),
    (lambda r: {'t': np.zeros(500)}, 'time does not advance'),
    (lambda r: {'q': 20.0 * np.degrees(r.q), 'qd': None}, 'joint .*1 moves at .* its limit is 3'),
    (lambda r: {'q': np.degrees(r.q), 'qd': None}, 'look like degrees.* try --degrees '),
    (lambda r: {'q': np.degrees(r.q), 'qd': np.degrees(r.qd)}, 'degrees.* try --degrees '),
    (lambda r: {'q': np.degrees(0.05 * r.q), 'qd': 0.05 * r.qd}, 'try --degrees positions'),
    (lambda r: {'qd': np.degrees(r.qd)}, 'try --degrees velocities'),
    (lambda r: {'t': 1e-3 * r.t, 'qd': None}, 'time or position is in another unit'),
    (lambda r: {'t': 1e3 * r.t}, 'positions change 0.001 times as fast as the recorded vel'),
    (lambda r: {'qd': np.degrees(r.qd)}, 'change 0.0175 times as fast as the recorded velocities'),
    (lambda r: {'qd': -r.qd}, 'change -1 times as fast'),
    (lambda r: {'qd': 0.0 * r.qd}, 'change 0 times as fast'),
    (lambda r: {'qd': np.nan * r.qd}, 'velocities are not finite; leave them out'),
])
def test_what_cannot_be_right_is_refused(change, message, recording, chain):
    with pytest.raises(RecordingError, match=f'file: .*{message}|file: {message}'):
        check_recording(replace(recording, **change(recording)), chain)


def test_velocities_need_not_be_exact(recording, chain, rng):
    noisy = recording.qd * 1.5 + 0.2 * rng.normal(size=recording.qd.shape)
    assert check_recording(replace(recording, qd=noisy), chain) == []


@pytest.mark.parametrize('degrees', DEGREES)
def test_what_is_in_degrees_becomes_radians(degrees, recording, chain):
    odd = replace(recording, q=np.degrees(recording.q) if degrees != 'velocities' else recording.q,
                  qd=np.degrees(recording.qd) if degrees != 'positions' else recording.qd)
    again = odd.in_radians(chain, degrees)
    np.testing.assert_allclose(again.q, recording.q)
    np.testing.assert_allclose(again.qd, recording.qd)
    assert check_recording(again, chain) == []


def test_a_joint_that_turns_many_times_is_not_in_degrees(recording, chain):
    turning = replace(recording, q=recording.q + np.array([0.0, 8.0]) * T[:, None], qd=None)
    assert np.max(turning.q) > 30.0 and check_recording(turning, chain) == []


def test_a_robot_that_stands_still_is_not_an_error_of_units(recording, chain):
    still = replace(recording, q=0.0 * recording.q, qd=0.0 * recording.qd)
    assert check_recording(still, chain) == []
