# SPDX-License-Identifier: Apache-2.0
"""
Outliers of a stream, told from a change of the robot.

A single sample far from the prediction is an outlier; many of them are a robot that has changed,
e.g. one that has picked up a payload. Which of the two it is, the following samples show. Until
then the sample is set aside, and nothing is lost: after a change it is learned from as well.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.estimation.recursion.recursive import RecursiveLeastSquares

#: A prediction error is far off beyond this many standard deviations...
_FAR = 8.0
#: ...and beyond this part of the typical torque.
_FAR_PART = 0.05

#: So many samples far off are a change; smoothing spreads one wrong value over up to ten.
_CHANGE = 25

#: An outlier is forgotten after so many good samples.
_GOOD = 2

#: What an estimator learns from: regressor (n, u) and torque (n,) [N m, N].
TorqueSample = tuple[Array, Array]


def far_off(recursion: RecursiveLeastSquares, sample: TorqueSample, torque: Array) -> bool:
    """
    Return whether the torque of a joint is far from its prediction.

    :param recursion: estimate before the sample; the uncertainty of its parameters is allowed for.
    :param sample: new sample.
    :param torque: (n,) typical torques [N m, N].
    """
    Y, tau = sample
    sigma = recursion.residual_sigma
    error = np.abs(tau - Y @ recursion.x)
    odd = error > np.maximum(_FAR * sigma, _FAR_PART * torque)
    if not odd.any():
        return False
    spread = np.linalg.solve(recursion.triangle.T, Y[odd].T)
    variance = sigma[odd] ** 2 + np.sum(spread ** 2, axis=0)
    return bool(np.any(error[odd] > _FAR * np.sqrt(variance)))


class OutlierBuffer:
    """Sets samples aside that are far off, and gives them back if the robot has changed."""

    def __init__(self) -> None:
        self._aside: list[TorqueSample] = []
        self._dropped = 0
        self._good = 0  # good samples since the last outlier was forgotten, or since a change
        self._changed = False

    @property
    def outliers(self) -> int:
        """Number of samples that were not learned from."""
        return self._dropped + len(self._aside)

    @property
    def unsettled(self) -> bool:
        """True while the robot seems to have changed."""
        return self._changed or len(self._aside) > _CHANGE // 2

    def passed(self, sample: TorqueSample, far: bool) -> list[TorqueSample]:
        """
        Return the samples to learn from now.

        :param sample: new sample.
        :param far: whether it is far from its prediction.
        """
        self._good = 0 if far else self._good + 1
        if self._changed:
            self._changed = self._good < _CHANGE
            return [sample]
        if not far:
            if self._aside and self._good % _GOOD == 0:
                self._aside.pop(0)
                self._dropped += 1
            return [sample]
        self._aside.append(sample)
        if len(self._aside) < _CHANGE:
            return []
        self._changed = True
        released, self._aside = self._aside, []
        return released
