# SPDX-License-Identifier: Apache-2.0
"""
3-vectors and 3x3 matrices as tuples of scalars.

A scalar is whatever the caller calculates with: a float, a numpy row (N,) or a node of an
expression graph. Only + - * / are used, never a comparison, so that an equation written with
these functions is reference, batch and code generator's input at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

#: Anything with + - * /: float, numpy row, graph node. Their mixture has no common type.
Scalar: TypeAlias = Any
#: Three scalars.
Vector: TypeAlias = tuple[Scalar, Scalar, Scalar]
#: Three rows.
Matrix: TypeAlias = tuple[Vector, Vector, Vector]

ZERO: Vector = (0.0, 0.0, 0.0)

#: A function of one scalar, such as ``math.cos`` or ``numpy.cos``.
Function = Callable[[Scalar], Scalar]


class Functions(Protocol):
    """Functions of one kind of scalar: the module math, the module numpy, or a graph."""

    @property
    def sin(self) -> Function:
        """Sine."""

    @property
    def cos(self) -> Function:
        """Cosine."""

    @property
    def tanh(self) -> Function:
        """Hyperbolic tangent."""

    @property
    def exp(self) -> Function:
        """Exponential function."""

    @property
    def fabs(self) -> Function:
        """Absolute value."""


def vector(values: Iterable[Scalar]) -> Vector:
    """Return three scalars as a vector; numpy's floats become plain ones."""
    x, y, z = (float(v) if isinstance(v, float) else v for v in values)
    return (x, y, z)


def add(u: Vector, v: Vector) -> Vector:
    """Return u + v."""
    return (u[0] + v[0], u[1] + v[1], u[2] + v[2])


def subtract(u: Vector, v: Vector) -> Vector:
    """Return u - v."""
    return (u[0] - v[0], u[1] - v[1], u[2] - v[2])


def negate(v: Vector) -> Vector:
    """Return -v."""
    return (-v[0], -v[1], -v[2])


def scale(factor: Scalar, v: Vector) -> Vector:
    """Return factor * v."""
    return (factor * v[0], factor * v[1], factor * v[2])


def dot(u: Vector, v: Vector) -> Scalar:
    """Return the scalar product u . v."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


def cross(u: Vector, v: Vector) -> Vector:
    """Return the vector product u x v."""
    return (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


def multiply(A: Matrix, v: Vector) -> Vector:
    """Return A v."""
    return (dot(A[0], v), dot(A[1], v), dot(A[2], v))


def transpose(A: Matrix) -> Matrix:
    """Return A^T."""
    (a, b, c), (d, e, f), (g, h, i) = A
    return ((a, d, g), (b, e, h), (c, f, i))


def add_matrices(A: Matrix, B: Matrix) -> Matrix:
    """Return A + B."""
    return (add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2]))


def scale_matrix(factor: Scalar, A: Matrix) -> Matrix:
    """Return factor * A."""
    return (scale(factor, A[0]), scale(factor, A[1]), scale(factor, A[2]))


def multiply_matrices(A: Matrix, B: Matrix) -> Matrix:
    """Return A B."""
    columns = transpose(B)
    a, b, c = ((dot(row, columns[0]), dot(row, columns[1]), dot(row, columns[2])) for row in A)
    return (a, b, c)


def skew(v: Vector) -> Matrix:
    """Return [v]x, the matrix with [v]x w = v x w."""
    x, y, z = v
    return ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))


def outer(u: Vector, v: Vector) -> Matrix:
    """Return u v^T."""
    return (scale(u[0], v), scale(u[1], v), scale(u[2], v))


def symmetric(xx: Scalar, xy: Scalar, xz: Scalar, yy: Scalar, yz: Scalar, zz: Scalar) -> Matrix:
    """Return the symmetric matrix with these entries (the order of STANDARD_PARAMETERS)."""
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def total(values: Sequence[Scalar]) -> Scalar:
    """Return the sum of the scalars, without adding to a zero first; 0.0 for none."""
    if not values:
        return 0.0
    result = values[0]
    for value in values[1:]:
        result = result + value
    return result
