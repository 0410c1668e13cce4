# SPDX-License-Identifier: Apache-2.0
"""
Truncated power series in time: scalars that carry their time derivatives.

A recursion written over plain scalars and run with series gives the exact time derivatives of
its result; no equation has to be differentiated on paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.scalars.vector import Function, Scalar, total


@dataclass(frozen=True)
class Series:
    """
    ``c0 + c1 t + c2 t^2 + ...`` up to a fixed power of t.

    :param coefficients: c0, c1, ...: floats or numpy rows (N,).
    """

    coefficients: tuple[Scalar, ...]

    #: numpy must leave ``row * series`` to this class.
    __array_ufunc__ = None

    @classmethod
    def of_derivatives(cls, derivatives: Sequence[Scalar]) -> Series:
        """Return the series of a quantity from its value, first, second ... time derivative."""
        return cls(tuple(value / math.factorial(k) for k, value in enumerate(derivatives)))

    def derivative(self, k: int) -> Scalar:
        """Return the k-th time derivative at t = 0."""
        return self.coefficients[k] * float(math.factorial(k))

    def __add__(self, other: Scalar) -> Series:
        """Return the sum with a series or a constant."""
        if isinstance(other, Series):
            return Series(tuple(a + b for a, b in zip(self.coefficients, other.coefficients)))
        first, *rest = self.coefficients
        return Series((first + other, *rest))

    __radd__ = __add__

    def __neg__(self) -> Series:
        """Return the negative."""
        return Series(tuple(-a for a in self.coefficients))

    def __sub__(self, other: Scalar) -> Series:
        """Return the difference with a series or a constant."""
        return self.__add__(-other)

    def __rsub__(self, other: Scalar) -> Series:
        """Return a constant minus the series."""
        return self.__neg__().__add__(other)

    def __mul__(self, other: Scalar) -> Series:
        """Return the product with a series or a constant."""
        if not isinstance(other, Series):
            return Series(tuple(a * other for a in self.coefficients))
        a, b = self.coefficients, other.coefficients
        return Series(tuple(total([a[j] * b[k - j] for j in range(k + 1)])
                            for k in range(len(a))))

    __rmul__ = __mul__


def series_cos_sin(angle: Series, cos: Function, sin: Function) -> tuple[Series, Series]:
    """
    Return cosine and sine of a series.

    :param cos: cosine of a coefficient.
    :param sin: sine of a coefficient.
    """
    u = angle.coefficients
    c, s = [cos(u[0])], [sin(u[0])]
    for k in range(1, len(u)):  # from c' = -s u' and s' = c u'
        c.append(total([u[j] * s[k - j] * (-j / k) for j in range(1, k + 1)]))
        s.append(total([u[j] * c[k - j] * (j / k) for j in range(1, k + 1)]))
    return Series(tuple(c)), Series(tuple(s))
