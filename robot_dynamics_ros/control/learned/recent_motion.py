# SPDX-License-Identifier: Apache-2.0
"""The last seconds of a robot's motion, and how well a model explains them."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array, Mask
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


class Lag(NamedTuple):
    """
    How late torques are; a model that was learned from them hides a part of it.

    :param time: smallest lag that fits [s]; negative = they are early.
    :param part: part of what is unexplained that it explains, 0 to 1.
    """

    time: float
    part: float


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
        left, _, used = self._averages(model, since)
        samples = np.count_nonzero(used, axis=0).astype(np.int64)
        squares = np.sum(np.where(used, left, 0.0) ** 2, axis=0)
        return Residual(np.where(samples > 0, np.sqrt(squares / np.maximum(samples, 1)), np.nan),
                        samples)

    def lag(self, model: MomentumModel) -> Lag:
        """
        Return how late the torques seem, compared with the motion.

        A torque that is late by d differs from the right one by d times its own rate. What a model
        that was learned from such torques leaves unexplained still shows a part of that.

        :param model: the robot.
        """
        left, rates, used = self._averages(model, -np.inf)
        left, rates = np.where(used, left, 0.0), np.where(used, rates, 0.0)
        squares = np.sum(left**2, axis=0)
        joints = squares > 0.0
        # every joint counts by the part of its own residual
        weight = np.count_nonzero(used, axis=0)[joints] / squares[joints]
        both, rate, rest = (float(np.sum(product, axis=0)[joints] @ weight)
                            for product in (left * rates, rates**2, left**2))
        return Lag(both / rate, both**2 / (rate * rest)) if rate > 0.0 else Lag(0.0, 0.0)

    def _averages(self, model: MomentumModel, since: float) -> tuple[Array, Array, Mask]:
        """
        Return averages over G groups of samples: one with a pause in it says nothing.

        :returns: (G, n) unexplained torques [N m, N], rates of the measured torques [N m/s, N/s],
            and whether the joint moved all the time and both are known.
        """
        kept = [sample for sample in self._samples if sample.time > since]
        n = kept[0].q.size if kept else 0
        if len(kept) < 2:
            return np.zeros((0, n)), np.zeros((0, n)), np.zeros((0, n), dtype=np.bool_)
        times = np.array([sample.time for sample in kept])
        q, qd, torque = (np.array([getattr(sample, name) for sample in kept])
                         for name in ('q', 'qd', 'effort'))
        drive = torque - model.torque(q, qd, np.zeros_like(qd))
        left = mean_external_torque(times, qd, model.mass_matrix(q), drive)
        steps = np.diff(times)
        group = np.floor((times[1:] - times[0]) / AVERAGE).astype(np.int64)
        weight = np.bincount(group, steps)
        whole = (np.bincount(group, steps > LONGEST_GAP) == 0) & (weight > 0.5 * AVERAGE)
        duration = np.maximum(weight, 1e-12)
        change, still = np.diff(torque, axis=0), np.abs(qd[1:]) <= MOVING

        def summed(values: Array) -> Array:
            return np.stack([np.bincount(group, values[:, j]) for j in range(n)], axis=1)

        means = summed(left * steps[:, None]) / duration[:, None]
        rates = summed(change) / duration[:, None]
        used = whole[:, None] & (summed(still) == 0) & np.isfinite(means) & np.isfinite(rates)
        return means, rates, used
