# SPDX-License-Identifier: Apache-2.0
"""Solution of A x = b for a symmetric positive definite A, in a straight line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.scalars.vector import Scalar, total


@dataclass(frozen=True)
class FactoredMatrix:
    """
    A = L^T D L of a symmetric positive definite matrix, from the tip, without a pivot.

    Entries that are 0.0 because joints are on different branches of a tree stay 0.0, since parents
    are numbered before their children; they cost nothing.

    :param L: n rows of the lower triangle; diagonal: D.
    :param inverse: n inverses of the entries of D.
    """

    L: list[list[Scalar]]
    inverse: list[Scalar]

    @classmethod
    def of(cls, A: Sequence[Sequence[Scalar]]) -> FactoredMatrix:
        """Factor n rows of a matrix; only the lower triangle is read."""
        n = len(A)
        L = [list(row[:i + 1]) for i, row in enumerate(A)]
        inverse: list[Scalar] = [0.0] * n
        for k in range(n - 1, -1, -1):
            inverse[k] = 1.0 / L[k][k]
            pivots = L[k][:k]
            felt = [i for i, pivot in enumerate(pivots) if not _is_zero(pivot)]
            for i in felt:
                L[k][i] = pivots[i] * inverse[k]
                for j in felt[:felt.index(i) + 1]:
                    L[i][j] = L[i][j] - L[k][i] * pivots[j]
        return cls(L, inverse)

    def solved(self, b: Sequence[Scalar], *, one: bool = False) -> list[Scalar]:
        """
        Return x with A x = b.

        :param b: n scalars.
        :param one: nothing else is solved: dividing by D_1 is one operation less than its inverse.
        """
        L, x = self.L, list(b)
        for k in range(len(x) - 1, 0, -1):
            for i in range(k):
                if not _is_zero(L[k][i]):
                    x[i] = x[i] - L[k][i] * x[k]
        x[0] = x[0] / L[0][0] if one else x[0] * self.inverse[0]
        for k in range(1, len(x)):
            x[k] = x[k] * self.inverse[k]
            for i in range(k):
                if not _is_zero(L[k][i]):
                    x[k] = x[k] - L[k][i] * x[i]
        return x

    def inverted(self) -> list[list[Scalar]]:
        """Return the rows of A^-1; what is known by its symmetry is not calculated again."""
        n = len(self.inverse)
        X: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        for k in range(n):
            for j in range(k, n):
                entry = total([self.L[j][i] * X[i][k] for i in range(j)])
                X[j][k] = X[k][j] = self.inverse[k] - entry if j == k else -entry
        return X

    def solved_columns(self, B: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """Return the rows of X with A X = B."""
        columns = [self.solved(column) for column in zip(*B)]
        return [list(row) for row in zip(*columns)]


def _is_zero(value: Scalar) -> bool:
    """Return whether a scalar is the number 0.0, not a row or a node."""
    return isinstance(value, float) and value == 0.0


def solve_from_tip(A: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """
    Return x with A x = b by A = L^T D L, without a comparison or a pivot.

    :param A: n rows of a symmetric positive definite matrix; only the lower triangle is read.
    :param b: n scalars.
    """
    return FactoredMatrix.of(A).solved(b, one=True)
