# SPDX-License-Identifier: Apache-2.0
"""
Dual numbers: scalars that carry their derivatives along.

An equation run on dual numbers gives its value and its gradient at once, by the rules of
differentiation and nothing else. The parts of a dual number are scalars themselves: floats, numpy
rows or nodes of a graph, so that derivatives are reference, batch and generated code, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from robot_dynamics_ros.dynamics.scalars.vector import Functions, Scalar

#: tanh of any scalar but zero times this is its sign.
_STEEP = 1e300

#: Derivatives by the number of the variable; those that are missing are zero.
Gradient = Mapping[int, Scalar]


def _sum(a: Gradient, b: Gradient) -> Gradient:
    result = dict(a)
    for k, value in b.items():
        result[k] = result[k] + value if k in result else value
    return result


def _scaled(factor: Scalar, gradient: Gradient) -> Gradient:
    if isinstance(factor, float) and factor == 0.0:
        return {}
    return {k: factor * value for k, value in gradient.items()}


class Dual:
    """
    A scalar and its gradient; calculates like a float.

    :param value: the scalar.
    :param gradient: its derivatives.
    """

    __slots__ = ('gradient', 'value')
    __array_ufunc__ = None  # numpy leaves row + dual to the dual number

    def __init__(self, value: Scalar, gradient: Gradient) -> None:
        self.value = value
        self.gradient = gradient

    def __neg__(self) -> Dual:
        """Return -self."""
        return Dual(-self.value, {k: -value for k, value in self.gradient.items()})

    def __add__(self, other: Scalar) -> Dual:
        """Return self + other."""
        if isinstance(other, Dual):
            return Dual(self.value + other.value, _sum(self.gradient, other.gradient))
        return Dual(self.value + other, self.gradient)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Dual:
        """Return self - other."""
        return self.__add__(-other)

    def __rsub__(self, other: Scalar) -> Dual:
        """Return other - self."""
        return (-self).__add__(other)

    def __mul__(self, other: Scalar) -> Dual:
        """Return self * other."""
        if isinstance(other, Dual):
            return Dual(self.value * other.value, _sum(_scaled(other.value, self.gradient),
                                                       _scaled(self.value, other.gradient)))
        return Dual(self.value * other, _scaled(other, self.gradient))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Dual:
        """Return self / other."""
        if not isinstance(other, Dual):
            return self.__mul__(1.0 / other)
        inverse = 1.0 / other.value
        quotient = self.value * inverse
        return Dual(quotient, _scaled(inverse, _sum(self.gradient,
                                                    _scaled(-quotient, other.gradient))))

    def __rtruediv__(self, other: Scalar) -> Dual:
        """Return other / self."""
        return Dual(other, {}).__truediv__(self)


class DualFunctions:
    """
    Functions of dual numbers, and of plain scalars as before.

    :param functions: functions of the scalars that dual numbers are made of.
    """

    def __init__(self, functions: Functions) -> None:
        self._plain = functions

    def sin(self, x: Scalar) -> Scalar:
        """Return the sine."""
        return self._chain_rule(self._plain.sin, lambda x, _: self._plain.cos(x), x)

    def cos(self, x: Scalar) -> Scalar:
        """Return the cosine."""
        return self._chain_rule(self._plain.cos, lambda x, _: -self._plain.sin(x), x)

    def tanh(self, x: Scalar) -> Scalar:
        """Return the hyperbolic tangent."""
        return self._chain_rule(self._plain.tanh, lambda _, y: 1.0 - y * y, x)

    def exp(self, x: Scalar) -> Scalar:
        """Return the exponential function."""
        return self._chain_rule(self._plain.exp, lambda _, y: y, x)

    def fabs(self, x: Scalar) -> Scalar:
        """Return the absolute value; its derivative is the sign, and 0 at 0."""
        return self._chain_rule(self._plain.fabs, lambda x, _: self._plain.tanh(_STEEP * x), x)

    @staticmethod
    def _chain_rule(function: Callable[[Scalar], Scalar],
                    derivative: Callable[[Scalar, Scalar], Scalar], x: Scalar) -> Scalar:
        """Return a function of x; its derivative is one of x and of the function's value."""
        if not isinstance(x, Dual):
            return function(x)
        y = function(x.value)
        return Dual(y, _scaled(derivative(x.value, y), x.gradient))


def variables(values: Sequence[Scalar], first: int = 0) -> list[Dual]:
    """
    Return scalars as variables to differentiate by.

    :param values: the scalars.
    :param first: number of the first variable.
    """
    return [Dual(value, {first + k: 1.0}) for k, value in enumerate(values)]


def derivatives(values: Sequence[Scalar], first: int, count: int) -> list[list[Scalar]]:
    """Return a row for each value: its derivatives by `count` variables from `first` on."""
    gradients = [value.gradient if isinstance(value, Dual) else {} for value in values]
    return [[gradient.get(k, 0.0) for k in range(first, first + count)]
            for gradient in gradients]
