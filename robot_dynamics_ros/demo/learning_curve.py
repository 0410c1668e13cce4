# SPDX-License-Identifier: Apache-2.0
"""How the torque error falls while the online estimator learns from a recording."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.codegen.runtime.model import compile_model
from robot_dynamics_ros.control.learned.gate import (
    DynamicParameters,
    GateSettings,
    ParameterGate,
)
from robot_dynamics_ros.control.learned.live_parameters import LiveParameters
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.estimation.identification.verdict import relative_errors
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.recordings.effort_torque import (
    removed_weight,
    torque_from_effort,
)
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.smoothing.stream_sampler import StreamSampler
from robot_dynamics_ros.motion.joint_state import JointSample

#: Cut-off frequency of the torques that are compared [Hz], and time between two points [s].
_CUTOFF, _STEP = 5.0, 0.5

#: Length of the motion that learned parameters are judged by [s], as in the nodes.
_JUDGED = 4.0


class LearningCurve(NamedTuple):
    """
    Torque error on the whole recording, of the parameters in use at each time.

    :param times: (N,) time of learning, from 0 [s].
    :param errors: (N,) RMS error over RMS torque; the first is that of the URDF.
    """

    times: Array
    errors: Array


def learning_curve(chain: Chain, effort: EffortSemantics, recording: Recording) -> LearningCurve:
    """
    Learn from a recording as the nodes do: what is learned is used once the gate accepts it.

    :param chain: the robot with the parameters of its URDF.
    :param effort: meaning of the recorded efforts.
    :param recording: joint states of the robot.
    """
    t, q, qd, tau = recording.t, recording.q, recording.qd, recording.tau
    samples = StreamSampler(chain, effort, _CUTOFF).feed_many(t, q, qd, tau)
    measured, *motion = (np.array([getattr(sample, name) for sample in samples])
                         for name in ('tau', 'q', 'qd', 'qdd'))
    turning = np.array([joint.revolute for joint in chain.joints])
    model, estimator = compile_model(chain), OnlineEstimator(chain, effort=effort)
    live = LiveParameters(ParameterGate(chain, GateSettings()), DynamicParameters.of(
        MlcEstimate.not_estimated(chain, model.mlc)), window=_JUDGED, ramp=0.0)
    weight = removed_weight(model.gravity_torque, q, effort)
    torque = torque_from_effort(tau, effort) + weight

    def error() -> float:
        return float(relative_errors(measured, model.torque(*motion), np.isfinite(measured),
                                     turning).total)

    times, errors = [0.0], [error()]
    marks = np.searchsorted(t, np.arange(t[0], t[-1] + _STEP, _STEP))
    for first, last in pairwise(marks.tolist()):
        part = slice(first, last)
        estimator.feed_many(t[part], q[part], None if qd is None else qd[part], tau[part])
        for k in range(first, last):
            velocity = np.full(len(chain), np.nan) if qd is None else qd[k]
            live.observe(JointSample(float(t[k]), float(t[k]), q[k], velocity, torque[k]))
        estimate, now = estimator.estimate(), float(t[last - 1])
        if live.offer(DynamicParameters.of(estimate), np.zeros(len(model.mlc)), now,
                      samples=estimate.samples,
                      converged=estimate.state == EstimateState.CONVERGED).accepted:
            model.swap(np.asarray(estimate.mlc.values), estimate.joint_physics)
        times.append(now - float(t[0]))
        errors.append(error())
    return LearningCurve(np.array(times), np.array(errors))
