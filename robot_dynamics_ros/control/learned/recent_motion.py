# SPDX-License-Identifier: Apache-2.0
"""The last seconds of a robot's motion, and how well a model explains them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.observer import (
    LONGEST_GAP,
    MomentumModel,
    mean_external_torque,
)
from robot_dynamics_ros.estimation.recordings.plausibility import PlausibleRange
from robot_dynamics_ros.motion.joint_state import JointSample

#: Samples closer than this are not kept [s].
INTERVAL = 0.005
#: The unexplained torque is averaged over this time before it is squared [s].
AVERAGE = 0.05
#: Below this velocity friction may have any value, and says nothing about a model [rad/s, m/s].
MOVING = 0.02


class Residual(NamedTuple):
    """
    What a model leaves unexplained.

    :param rms: (n,) root mean square of each joint while it moved [N m, N]; NaN = it never did.
    :param samples: (n,) number of averages behind each.
    """

    rms: Array
    samples: NDArray[np.int64]


class RecentMotion:
    """A window of joint states with torques."""

    def __init__(self, window: float, plausible: PlausibleRange | None = None) -> None:
        """
        Begin empty.

        :param window: length [s].
        :param plausible: range of the joint states, others are left out; None = any.
        """
        self._window, self._plausible = window, plausible
        self._samples: deque[JointSample] = deque()

    def clear(self) -> None:
        """Forget everything."""
        self._samples.clear()

    def add(self, sample: JointSample) -> None:
        """
        Remember a joint state, and forget those that are too old.

        :param sample: efforts as joint torques [N m, N]. Without velocities or torques of all
            joints it is left out; a clock set back empties the window.
        """
        if not (np.all(np.isfinite(sample.qd)) and np.all(np.isfinite(sample.effort))):
            return
        samples = self._samples
        if samples and sample.time <= samples[-1].time:
            samples.clear()
        if samples and sample.time - samples[-1].time < INTERVAL:
            return
        if self._plausible is not None and not (
                self._plausible.has_state(sample.q, sample.qd)
                and np.all(np.abs(sample.effort) <= self._plausible.torque)):
            return
        samples.append(sample)
        while sample.time - samples[0].time > self._window:
            samples.popleft()

    def residual(self, model: MomentumModel, since: float = -np.inf) -> Residual:
        """
        Return what a model leaves unexplained of the motion.

        :param model: the robot.
        :param since: only what was measured after this time [s].
        """
        kept = [sample for sample in self._samples if sample.time > since]
        n = kept[0].q.size if kept else 0
        if len(kept) < 2:
            return Residual(np.full(n, np.nan), np.zeros(n, dtype=np.int64))
        times = np.array([sample.time for sample in kept])
        q, qd, torque = (np.array([getattr(sample, name) for sample in kept])
                         for name in ('q', 'qd', 'effort'))
        drive = torque - model.torque(q, qd, np.zeros_like(qd))
        left = mean_external_torque(times, qd, model.mass_matrix(q), drive)
        steps = np.diff(times)
        # one average per group of steps; a group with a pause in it says nothing
        group = np.floor((times[1:] - times[0]) / AVERAGE).astype(np.int64)
        weight = np.bincount(group, steps)
        whole = (np.bincount(group, steps > LONGEST_GAP) == 0) & (weight > 0.5 * AVERAGE)
        duration = np.maximum(weight, 1e-12)
        moving = np.abs(qd[1:]) > MOVING
        rms, samples = np.full(n, np.nan), np.zeros(n, dtype=np.int64)
        for j in range(n):
            mean = np.bincount(group, left[:, j] * steps) / duration
            # a joint that stood still during a part of it is left out as a whole
            used = whole & (np.bincount(group, ~moving[:, j]) == 0) & np.isfinite(mean)
            samples[j] = np.count_nonzero(used)
            if samples[j]:
                rms[j] = np.sqrt(np.mean(mean[used]**2))
        return Residual(rms, samples)
