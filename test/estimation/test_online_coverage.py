# SPDX-License-Identifier: Apache-2.0
"""Streams of real and simulated robots: true standard deviations, and a true CONVERGED."""

import numpy as np
import pytest
from estimation.identification.test_real_recordings import (  # noqa: F401
    DATA,
    panda,
    tx40,
    ur10,
)
from studies.coverage import SPLITS, part, simulated, within_two

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.smoothing.stream_sampler import StreamSampler

#: Cut-off frequency of the smoother [Hz], and the part of the recording in which the robot moves.
ROBOTS = {'ur10': (10.0, 1.0), 'panda': (3.0, 1.0), 'tx40': (20.0, 0.85)}

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f'no recordings in {DATA}')


def learned(chain, recordings, cutoff):
    """Return value and standard deviation of every minimal parameter that was identified."""
    estimator = OnlineEstimator(chain, cutoff=cutoff)
    for each in recordings:
        estimator.feed_many(each.t, each.q, each.qd, each.tau)
    estimate = estimator.estimate()
    return {name: (value, sigma) for name, value, sigma in zip(
        estimate.mlc.names, estimate.mlc.values, estimate.standard_deviations)
        if np.isfinite(sigma)}


def differences(chain, recording, cutoff, splits):
    for name in splits:
        one, other = (learned(chain, [part(recording, *each) for each in parts], cutoff)
                      for parts in SPLITS[name])
        for same in one.keys() & other.keys():
            (a, sigma_a), (b, sigma_b) = one[same], other[same]
            yield (a - b) / np.hypot(sigma_a, sigma_b)


@needs_data
@pytest.mark.parametrize('robot', ROBOTS)
def test_parts_of_a_real_stream_agree(robot, request):
    chain, recording = request.getfixturevalue(robot)
    cutoff, moving = ROBOTS[robot]
    scores = np.array(list(differences(chain, part(recording, 0.0, moving), cutoff, SPLITS)))
    assert within_two(scores) >= 0.90 and np.sqrt(np.mean(scores ** 2)) > 0.5


@pytest.mark.parametrize('noise', ['coloured', 'friction'])
@pytest.mark.parametrize('duration', [12.0, 30.0])
def test_parts_of_a_simulated_stream_agree(noise, duration):
    scores = np.array([each for robot in ('puma_4dof', 'rx90') for seed in (1, 2)
                       for each in differences(*simulated(robot, noise, duration, seed)[1:], 10.0,
                                               ('halves',))])
    assert within_two(scores) >= 0.90 and np.sqrt(np.mean(scores ** 2)) > 0.5


@needs_data
@pytest.mark.parametrize('robot', ['ur10', 'panda'])
def test_a_stream_with_late_or_early_efforts_does_not_converge(robot, request):
    chain, recording = request.getfixturevalue(robot)

    def learned_state(lag):
        estimator = OnlineEstimator(chain, cutoff=ROBOTS[robot][0])
        t, tau = recording.t, recording.tau.T
        estimator.feed_many(t, recording.q, recording.qd, np.transpose(
            [np.interp(t - lag, t, each) for each in tau]))
        return estimator.estimate().state

    assert [learned_state(lag) for lag in (-0.05, 0.0, 0.05)] == [
        EstimateState.LEARNING, EstimateState.CONVERGED, EstimateState.LEARNING]


@needs_data
@pytest.mark.parametrize('robot', ROBOTS)
def test_converged_means_that_the_rest_of_the_recording_is_predicted(robot, request):
    chain, recording = request.getfixturevalue(robot)
    cutoff, moving = ROBOTS[robot]
    recording = part(recording, 0.0, moving)
    states = StreamSampler(chain, EffortSemantics.torque(len(chain)), cutoff).feed_many(
        recording.t, recording.q, recording.qd, recording.tau)
    q, qd, qdd, tau = (np.array([getattr(state, name) for state in states])
                       for name in ('q', 'qd', 'qdd', 'tau'))
    estimator, model = OnlineEstimator(chain, cutoff=cutoff), compile_model(chain)
    errors = []
    for k in range(0, len(recording), len(recording) // 30):
        each = slice(k, k + len(recording) // 30)
        estimator.feed_many(recording.t[each], recording.q[each], recording.qd[each],
                            recording.tau[each])
        rest = slice(round(len(q) * each.stop / len(recording)), None)
        if each.stop > 0.85 * len(recording):  # too little is left to judge by
            break
        estimate = estimator.estimate()
        if estimate.state == EstimateState.CONVERGED:
            model.swap(estimate.mlc.values, estimate.joint_physics)
            error = model.torque(q[rest], qd[rest], qdd[rest]) - tau[rest]
            errors.append(np.sqrt(np.nansum(error ** 2) / np.nansum(tau[rest] ** 2)))
    assert errors and max(errors) < 0.10
