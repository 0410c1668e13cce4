# SPDX-License-Identifier: Apache-2.0
"""
What the feedback of a controller already carries when feedforward begins.

A controller that holds an arm without feedforward carries its weight by PID: by the integral once
it has come to rest. Feedforward of the weight on top of that counts it twice, and the arm jumps by
weight / P. So the efforts that are sent begin without what is carried. What the integral carries
stays there: it gives nothing away without an error (weight = I times the area under the error), so
taking it over in a time T costs an error of weight / (I T). What P carries is an error already;
feedforward takes that over, smoothly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array, freeze

#: Distance from its reference within which a joint at rest is carried by the integral [rad, m].
SETTLED = 2e-3
#: Distance from its reference within which P carries nothing of a joint any more [rad, m].
RELIEVED = 2e-4


@dataclass(frozen=True, eq=False)
class CarriedEffort:
    """
    Effort that feedback carries in place of feedforward.

    :param effort: (n,) [N m, N].
    :param fading: (n,) True where feedforward takes it over, False where it stays.
    :param duration: time in which feedforward takes it over [s].
    :param guessed: True where the reference may have had an effort: then less is carried.
    :param hung: (n,) True where the arm hung below its reference, None before that was seen.
    """

    effort: Array
    fading: NDArray[np.bool_]
    duration: float
    guessed: bool = False
    hung: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        """Make the effort read-only."""
        freeze(self, 'effort')

    @classmethod
    def nothing(cls, n: int) -> CarriedEffort:
        """Return that feedback of n joints carries nothing."""
        return cls(np.zeros(n), np.zeros(n, dtype=bool), 0.0)

    @classmethod
    def unknown(cls, effort: Array, duration: float) -> CarriedEffort:
        """
        Return what to begin with where nobody knows the controller.

        :param effort: (n,) feedforward effort at rest [N m, N]; all of it may be carried.
        :param duration: time in which feedforward takes it over [s].
        """
        if duration <= 0.0:
            return cls.nothing(effort.size)
        return cls(effort, np.ones(effort.size, dtype=bool), duration)

    @classmethod
    def seen(cls, output: Array, error: Array, effort: Array, duration: float) -> CarriedEffort:
        """
        Return what a controller carries whose reference has no effort.

        Of its output only what feedforward is about to bring counts; the rest makes up for errors
        of the model and stays.

        :param output: (n,) commanded effort [N m, N].
        :param error: (n,) distance from the reference [rad, m].
        :param effort: (n,) feedforward effort at rest [N m, N].
        :param duration: time in which feedforward takes over what P carries [s].
        """
        carried = np.clip(output, np.minimum(effort, 0.0), np.maximum(effort, 0.0))
        fading = np.abs(error) > SETTLED
        # at rest where it should be, the integral carries all there is, whatever the model says
        whole = ~fading & (np.abs(carried) > 0.5 * np.abs(effort))
        carried = np.where(whole, effort, carried)
        if duration <= 0.0:
            carried = np.where(fading, 0.0, carried)
        return cls(carried, fading, duration)

    @classmethod
    def while_falling(cls, output: Array, error: Array, effort: Array,
                      duration: float) -> CarriedEffort:
        """
        Return what a controller carries whose arm may have begun to fall, as `seen` does.

        What feedback does against a fall is over with the fall; an integral that carries most of
        the weight near the reference is not empty.
        """
        loaded = (np.abs(error) < SETTLED) & (np.abs(output) > 0.5 * np.abs(effort))
        return cls.seen(np.where(loaded, output, 0.0), np.zeros_like(effort), effort, duration)

    @property
    def fades(self) -> bool:
        """True where feedforward takes over anything."""
        return bool(np.any(self.fading & (self.effort != 0.0)))

    def shown(self, error: Array) -> CarriedEffort:
        """Return it with the joints that hang below their reference by an error (n,) [rad, m]."""
        if self.hung is not None:
            return self
        return replace(self, hung=self.fading & (error * np.sign(self.effort) > SETTLED))

    def relieved(self, error: Array) -> CarriedEffort | None:
        """
        Return what stays with the integral once P has nothing left to carry, or None.

        P and the integral may have shared a weight, and nobody sees in which parts: a joint that
        has come up to its reference is carried by the integral from there on.

        :param error: (n,) distance from the reference [rad, m].
        """
        if self.hung is None:
            return None
        up = (self.hung & self.fading & (self.effort != 0.0)
              & (error * np.sign(self.effort) < RELIEVED))
        return replace(self, fading=self.fading & ~up) if np.any(up) else None

    def at(self, times: Array) -> Array:
        """Return what is carried (N, n) [N m, N] at times (N,) after the beginning [s]."""
        if not self.fades:
            return np.broadcast_to(np.where(self.fading, 0.0, self.effort),
                                   (times.size, self.effort.size))
        u = np.clip(times / self.duration, 0.0, 1.0)[:, None]
        left = 1.0 - u**2 * (3.0 - 2.0 * u)
        return np.where(self.fading, left, 1.0) * self.effort

    def after(self, time: float) -> CarriedEffort:
        """Return what is left to carry some time [s] after the beginning."""
        return replace(self, effort=self.at(np.array([time]))[0],
                       duration=max(self.duration - max(time, 0.0), 0.0))
