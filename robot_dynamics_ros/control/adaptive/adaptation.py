# SPDX-License-Identifier: Apache-2.0
"""
How fast the unknowns are changed, and what keeps them from drifting.

``theta' = -gain Y_u^T x - leakage (theta - start)``, held inside the bounds. x is the error signal
of the law with its dead zone taken off: an error of that size is noise, and learning from it
would let the parameters wander.

`LowPass` is a first-order filter for samples at uneven times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.control.adaptive.unknown_parameters import UnknownParameters
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.bounds import one_line


@dataclass(frozen=True, eq=False)
class Adaptation:
    """
    Settings of the adaptation.

    :param unknowns: unknowns to learn, with bounds.
    :param gains: (m,) diagonal of Gamma, squared unit of the parameter per J; 0 = do not learn.
    :param dead_zone: (n,) errors s below this are ignored [rad/s, m/s].
    :param leakage: return to the first values (sigma modification) [1/s].
    :raises ParameterError: wrong sizes, or a value that is negative or not finite.
    """

    unknowns: UnknownParameters
    gains: Array
    dead_zone: Array
    leakage: float = 0.0

    def __post_init__(self) -> None:
        """Make the arrays read-only and check them."""
        object.__setattr__(self, 'gains', read_only(
            np.broadcast_to(self.gains, len(self.unknowns))))
        object.__setattr__(self, 'dead_zone', read_only(np.atleast_1d(self.dead_zone)))
        for name in ('gains', 'dead_zone', 'leakage'):
            values = np.asarray(getattr(self, name))
            if not np.all(np.isfinite(values) & (values >= 0.0)):
                raise ParameterError(f'adaptation: {name} must be finite and not negative, got '
                                     f'{one_line(values)}')

    def beyond_dead_zone(self, s: Array) -> Array:
        """Return the error (n,) with the dead zone taken off, without a jump at its edge."""
        return s - np.minimum(np.maximum(s, -self.dead_zone), self.dead_zone)

    def rate(self, theta: Array, gradient: Array) -> Array:
        """
        Return theta' (m,) [unit/s], zero where it would leave the bounds.

        :param theta: (m,) present values.
        :param gradient: (m,) Y_u^T x of the law.
        """
        rate = self._free_rate(theta, gradient)
        outward = (((theta >= self.unknowns.upper) & (rate > 0.0))
                   | ((theta <= self.unknowns.lower) & (rate < 0.0)))
        rate[outward] = 0.0
        return rate

    def stepped(self, theta: Array, gradient: Array, step: float) -> Array:
        """Return the values (m,) after a time step [s], inside the bounds."""
        return self.bounded(theta + step * self._free_rate(theta, gradient))

    def bounded(self, theta: Array) -> Array:
        """Return the values (m,), moved inside the bounds."""
        return np.minimum(np.maximum(theta, self.unknowns.lower), self.unknowns.upper)

    def _free_rate(self, theta: Array, gradient: Array) -> Array:
        rate = -self.gains * gradient
        if self.leakage > 0.0:
            rate -= self.leakage * (theta - self.unknowns.start)
        return rate


class LowPass:
    """Follows values (n,); the first one is taken as it is."""

    def __init__(self, cutoff: float) -> None:
        """
        Start without a past.

        :param cutoff: cut-off frequency [rad/s].
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
