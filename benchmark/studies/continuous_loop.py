# SPDX-License-Identifier: Apache-2.0
"""
An adaptive law in continuous time: robot, law and adaptation integrated together.

The law is evaluated in every stage of the integrator (Runge-Kutta of order four, fixed step), as
the proofs of stability assume it. What a sampled controller does is in `closed_loop`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.control.adaptive.adaptation import Adaptation
from robot_dynamics_ros.control.adaptive.laws import AdaptiveLaw, LawOutput
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.motion.trajectory import TrajectorySample


@dataclass(frozen=True, eq=False)
class ContinuousRun:
    """
    What happened, N times.

    :param times: (N,) [s].
    :param q: (N, n) positions [rad, m].
    :param qd: (N, n) velocities [rad/s, m/s].
    :param errors: (N, n) desired minus actual position [rad, m].
    :param s: (N, n) error signal of the law [rad/s, m/s].
    :param torque: (N, n) [N m, N].
    :param theta: (N, m) unknowns as estimated.
    """

    times: Array
    q: Array
    qd: Array
    errors: Array
    s: Array
    torque: Array
    theta: Array

    def settling_time(self, tolerance: float) -> float:
        """Return when the largest error falls below `tolerance` for good [s]; inf = never."""
        return self.time_below(np.max(np.abs(self.errors), axis=1), tolerance)

    def time_below(self, values: Array, tolerance: float) -> float:
        """Return when (N,) values fall below `tolerance` for good [s]; inf = never."""
        above = np.flatnonzero(~(values < tolerance))
        if not above.size:
            return float(self.times[0])
        return float(self.times[above[-1] + 1]) if above[-1] + 1 < len(values) else np.inf


class ContinuousLoop:
    """A plant under an adaptive law."""

    def __init__(self, plant: Model, law: AdaptiveLaw, learned: LearnedModel,
                 adaptation: Adaptation, desired: Callable[[float], TrajectorySample]) -> None:
        """
        Join the parts.

        :param plant: the robot as it is.
        :param law: the controller.
        :param learned: the robot as the controller knows it.
        :param adaptation: rule by which the controller learns.
        :param desired: the motion (n,) at a time [s].
        """
        self.plant, self.law, self.learned = plant, law, learned
        self.adaptation, self.desired = adaptation, desired

    def run(self, q: ArrayLike, qd: ArrayLike, duration: float, step: float) -> ContinuousRun:
        """
        Integrate from a state on; the unknowns begin at their first values.

        :param q: (n,) first positions [rad, m].
        :param qd: (n,) first velocities [rad/s, m/s].
        :param duration: duration of the motion [s].
        :param step: step of the integrator [s]; one row of the result per step.
        :raises StateError: the loop is unstable: the state is no longer finite.
        """
        n = len(self.plant.chain)
        x = np.concatenate([q, qd, self.adaptation.unknowns.start])
        count = round(duration / step)
        rows = []
        for k in range(count + 1):
            t = k * step
            rate, output = self._rate(t, x)
            rows.append((t, x, self.desired(t).q - x[:n], output))
            middle, _ = self._rate(t + 0.5 * step, x + 0.5 * step * rate)
            again, _ = self._rate(t + 0.5 * step, x + 0.5 * step * middle)
            last, _ = self._rate(t + step, x + step * again)
            x = x + step / 6.0 * (rate + 2.0 * (middle + again) + last)
            x[2 * n:] = self.adaptation.bounded(x[2 * n:])
            if not np.all(np.isfinite(x)):
                raise StateError(f'the closed loop is unstable: not finite after {t:g} s')
        states = np.array([state for _, state, _, _ in rows])
        return ContinuousRun(
            read_only([t for t, _, _, _ in rows]), read_only(states[:, :n]),
            read_only(states[:, n:2 * n]), read_only([error for _, _, error, _ in rows]),
            read_only([output.s for _, _, _, output in rows]),
            read_only([output.torque for _, _, _, output in rows]), read_only(states[:, 2 * n:]))

    def _rate(self, t: float, x: Array) -> tuple[Array, LawOutput]:
        n = len(self.plant.chain)
        q, qd, theta = x[:n], x[n:2 * n], x[2 * n:]
        desired = self.desired(t)

        def evaluate(qdd: Array) -> LawOutput:
            return self.law.evaluate(self.learned, self.adaptation, theta, desired, q, qd, qdd)

        output = evaluate(np.zeros(n))
        qdd = self.plant.forward_dynamics(q, qd, output.torque)
        if self.law.needs_acceleration:  # the torque does not depend on it, the gradient does
            output = evaluate(qdd)
        return np.concatenate([qd, qdd, self.adaptation.rate(theta, output.gradient)]), output
