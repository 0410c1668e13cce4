# SPDX-License-Identifier: Apache-2.0
"""A scalar that counts the operations done with it."""

import math


class Counted:
    """A number; every + - * / of it adds one to a shared counter."""

    def __init__(self, value, counter):
        """Take a float and a list of one integer."""
        self.value = value
        self.counter = counter

    def _result(self, value):
        self.counter[0] += 1
        return Counted(value, self.counter)

    def __add__(self, other):
        return self._result(self.value + number(other))

    def __sub__(self, other):
        return self._result(self.value - number(other))

    def __rsub__(self, other):
        return self._result(number(other) - self.value)

    def __mul__(self, other):
        return self._result(self.value * number(other))

    def __truediv__(self, other):
        return self._result(self.value / number(other))

    def __rtruediv__(self, other):
        return self._result(number(other) / self.value)

    def __neg__(self):
        return Counted(-self.value, self.counter)

    __radd__ = __add__
    __rmul__ = __mul__


def number(scalar):
    """Return the float of a scalar."""
    return scalar.value if isinstance(scalar, Counted) else scalar


def cosine(scalar):
    """Return the cosine, not counted."""
    return Counted(math.cos(scalar.value), scalar.counter)


def sine(scalar):
    """Return the sine, not counted."""
    return Counted(math.sin(scalar.value), scalar.counter)
