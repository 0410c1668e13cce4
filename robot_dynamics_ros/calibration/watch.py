# SPDX-License-Identifier: Apache-2.0
"""
Watches a robot while it moves: joint limits, effort limits, and torques nobody expects.

The torque is compared with the prediction of what was learned so far. The band around it is that
of the estimator's own standard deviations: wide while little is known, narrow later. Tracking
errors and joint states that stay away are watched by the player of the motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.recordings.effort_torque import torque_from_effort
from robot_dynamics_ros.estimation.smoothing.stream_sampler import StreamSampler
from robot_dynamics_ros.motion.joint_state import JointSamples


@dataclass(frozen=True)
class WatchSettings:
    """
    What is trouble.

    :param outside: distance beyond a position limit [rad, m].
    :param deviations: standard deviations by which a torque may differ from its prediction.
    :param share: part of the effort limit that it may differ by in any case.
    :param lasting: number of smoothed samples in a row that must differ.
    :param cutoff: cut-off frequency of the smoother [Hz].
    """

    outside: float = 0.02
    deviations: float = 8.0
    share: float = 0.1
    lasting: int = 3
    cutoff: float = 10.0


class MotionWatch:
    """Looks at joint states and says what is wrong."""

    def __init__(self, chain: Chain, settings: WatchSettings | None = None) -> None:
        """
        Watch positions only, until the meaning of efforts is known.

        :param chain: the robot.
        :param settings: what is trouble.
        """
        self.settings = settings or WatchSettings()
        self._chain = chain
        self._effort: EffortSemantics | None = None
        self._sampler: StreamSampler | None = None
        self._estimator: OnlineEstimator | None = None
        self._beyond = np.zeros(len(chain), dtype=np.intp)
        #: (n,) standard deviation of the last expected torque [N m, N].
        self.deviation: Array = np.full(len(chain), np.inf)
        #: (n,) half the band around the expected torque [N m, N]; infinite = not watched.
        self.band: Array = np.full(len(chain), np.inf)

    def know_efforts(self, effort: EffortSemantics, seen: JointSamples | None = None) -> None:
        """
        Watch torques, too, from now on, and learn from what is seen.

        :param effort: meaning of the efforts.
        :param seen: joint states of the past, to learn from.
        """
        cutoff = self.settings.cutoff
        self._effort = effort
        self._sampler = StreamSampler(self._chain, effort, cutoff)
        self._estimator = OnlineEstimator(self._chain, effort=effort, cutoff=cutoff)
        if seen is not None and len(seen.times):
            self._estimator.feed_many(seen.times, seen.q, _velocities(seen), seen.effort)

    def look(self, samples: JointSamples) -> str:
        """
        Return what is wrong with the newest joint states; empty = nothing.

        :param samples: joint states in the order of time, at least one.
        """
        trouble = self._outside(samples.q)
        if self._effort is not None:
            trouble = trouble or self._beyond_limit(samples.effort, self._effort)
            trouble = self._unexpected(samples) or trouble
        return trouble

    def _outside(self, q: Array) -> str:
        lower, upper = self._chain.position_limits
        away = np.max(np.maximum(lower - q, q - upper), axis=0)
        j = int(np.argmax(away))
        if away[j] <= self.settings.outside:
            return ''
        return (f'joint {self._chain.joint_names[j]} is {away[j]:.3f} beyond its position limit '
                f'{lower[j]:g} to {upper[j]:g}')

    def _beyond_limit(self, efforts: Array, meaning: EffortSemantics) -> str:
        limits = self._chain.effort_limits
        torque = np.abs(torque_from_effort(efforts, meaning))
        # all of them: one sample may be a spike
        least = np.min(np.where(np.isfinite(torque), torque, 0.0), axis=0)
        over = np.where(np.isfinite(limits) & (len(efforts) >= self.settings.lasting),
                        least - limits, -np.inf)
        j = int(np.argmax(over))
        if over[j] <= 0.0:
            return ''
        return (f'joint {self._chain.joint_names[j]} needs {least[j]:.1f}, more than its effort '
                f'limit {limits[j]:g}')

    def _unexpected(self, samples: JointSamples) -> str:
        """Compare with what is expected, then learn."""
        s, estimator, sampler = self.settings, self._estimator, self._sampler
        assert estimator is not None and sampler is not None
        trouble = ''
        floor = s.share * np.nan_to_num(self._chain.effort_limits, nan=np.inf)
        for state in sampler.feed_many(samples.times, samples.q, _velocities(samples),
                                       samples.effort):
            expected, deviation = estimator.expected(state.q, state.qd, state.qdd)
            self.deviation = deviation
            # without a limit, only the standard deviations count
            self.band = np.where(np.isfinite(floor), np.maximum(s.deviations * deviation, floor),
                                 s.deviations * deviation)
            off = np.abs(np.nan_to_num(state.tau - expected))
            self._beyond = np.where(off > self.band, self._beyond + 1, 0)
            j = int(np.argmax(self._beyond))
            if self._beyond[j] >= s.lasting and not trouble:
                trouble = (f'joint {self._chain.joint_names[j]} has a torque of '
                           f'{state.tau[j]:.1f}, expected {expected[j]:.1f} +- '
                           f'{self.band[j]:.1f}: does the robot touch something?')
        estimator.feed_many(samples.times, samples.q, _velocities(samples), samples.effort)
        return trouble


def _velocities(samples: JointSamples) -> Array | None:
    return None if np.isnan(samples.qd).any() else samples.qd
