# SPDX-License-Identifier: Apache-2.0
"""A low-pass filter of first order for samples at uneven times."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array


class LowPass:
    """Follows values (n,); the first one is taken as it is."""

    def __init__(self, cutoff: float) -> None:
        """
        Start without a past.

        :param cutoff: [rad/s].
        """
        self._cutoff = cutoff
        self._value: Array | None = None

    def restart(self) -> None:
        """Forget the past."""
        self._value = None

    def update(self, values: Array, step: float) -> tuple[Array, Array]:
        """
        Take a sample.

        :param values: (n,).
        :param step: time since the last sample [s]; without a past, or where it is not positive,
            the derivative is zero.
        :returns: the filtered values and their derivative [1/s], (n,) each.
        """
        before = self._value
        if before is None or not step > 0.0:
            self._value = values
            return values, np.zeros_like(values)
        self._value = before - np.expm1(-self._cutoff * step) * (values - before)
        return self._value, (self._value - before) / step
