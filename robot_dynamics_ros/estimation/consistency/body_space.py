# SPDX-License-Identifier: Apache-2.0
"""
Inertias of physical bodies as positive definite matrices around reference bodies.

The pseudo-inertia of a body is ``P = [[S, h], [h^T, m]]`` with second moments S, first moment h
and mass m; its tensor is ``trace(S) 1 - S``. With ``P = L Y L^T`` and ``P_0 = L L^T`` of a
reference body, Y is the identity there, and distances between Y do not depend on frames or units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.inertia import Inertia

#: Order of a pseudo-inertia, and its number of different entries.
ORDER, ENTRIES = 4, 10

#: Upper triangle, column by column: the order of the entries of Y.
_TRIANGLE = tuple((i, j) for j in range(ORDER) for i in range(j + 1))

#: A reference body has at least this part of the second moments and the mass of its scale...
_THINNEST = 1e-2

#: ...which is its own mass and extent, but at least this fraction of the mean mass and this radius
#: of gyration [m]. So links without inertia in the URDF get references too, light ones.
_LIGHTEST, _GYRATION = 0.01, 0.01


def pseudo_inertia(body: Inertia) -> Array:
    """Return P (4, 4) [kg m^2, kg m, kg] of a body."""
    second = 0.5 * np.trace(body.tensor) * np.eye(3) - body.tensor
    h = body.first_moment[:, None]
    return np.block([[second, h], [h.T, np.array([[body.mass]])]])


def inertia_from_pseudo(P: Array) -> Inertia:
    """Return the body with a pseudo-inertia P (4, 4)."""
    second = P[:3, :3]
    return Inertia(float(P[3, 3]), P[:3, 3], np.trace(second) * np.eye(3) - second)


def symmetric_from_entries(y: Array) -> Array:
    """Return the matrix Y (4, 4) of ten entries; those off the diagonal are scaled by sqrt(2)."""
    Y = np.zeros((ORDER, ORDER))
    for value, (i, j) in zip(y, _TRIANGLE):
        Y[i, j] = Y[j, i] = value if i == j else value / np.sqrt(2.0)
    return Y


@dataclass(frozen=True, eq=False)
class BodySpace:
    """
    The bodies of a chain, each described by the ten entries y of its matrix Y.

    :param reference: (10 n,) entries of the reference bodies: identity matrices.
    :param to_parameters: (10 n, 10 n) matrix from y to standard parameters.
    """

    reference: Array
    to_parameters: Array

    @classmethod
    def around(cls, bodies: Sequence[Inertia]) -> BodySpace:
        """Return the space around these bodies; those that cannot exist are made possible."""
        masses = [body.mass for body in bodies if body.mass > 0.0]
        lightest = _LIGHTEST * float(np.mean(masses)) if masses else 1.0
        blocks = []
        for body in bodies:
            L = np.linalg.cholesky(_possible(pseudo_inertia(body), lightest))
            columns = [inertia_from_pseudo(L @ symmetric_from_entries(unit) @ L.T)
                       .standard_parameters for unit in np.eye(ENTRIES)]
            blocks.append(np.column_stack(columns))
        identity = [1.0 if i == j else 0.0 for i, j in _TRIANGLE]
        return cls(np.tile(identity, len(bodies)), block_diag(*blocks))

    def __len__(self) -> int:
        """Return the number of bodies."""
        return len(self.reference) // ENTRIES

    def entries_of(self, bodies: Sequence[Inertia]) -> Array:
        """Return the entries y (10 n,) of bodies."""
        x = np.concatenate([body.standard_parameters for body in bodies])
        return np.asarray(np.linalg.solve(self.to_parameters, x))

    def condition_rows(self, index: int, matrices: Array) -> Array:
        """
        Return conditions on the entries of one body.

        :param index: number of the body.
        :param matrices: (k, 4, 4) matrices M of conditions ``trace(M P) >= 0``.
        :returns: (k, 10) rows with ``rows @ y >= 0``.
        """
        here = slice(ENTRIES * index, ENTRIES * (index + 1))
        units = np.array([pseudo_inertia(Inertia.from_standard_parameters(column))
                          for column in self.to_parameters[here, here].T])
        return np.asarray(np.einsum('kij,aij->ka', matrices, units))

    def smallest_eigenvalues(self, y: Array) -> Array:
        """Return the smallest eigenvalue of every Y (n,): positive for physical bodies."""
        return np.array([np.linalg.eigvalsh(symmetric_from_entries(part))[0]
                         for part in y.reshape(-1, ENTRIES)])


def _possible(P: Array, lightest: float) -> Array:
    """Return P made positive definite, by no more than is needed."""
    mass = max(float(P[3, 3]), lightest)
    extent = np.sqrt(max(float(np.trace(P[:3, :3])) / mass / 3.0, _GYRATION**2))
    scale = np.array([extent, extent, extent, 1.0]) * np.sqrt(mass)
    eigenvalues, V = np.linalg.eigh(P / np.outer(scale, scale))
    floor = _THINNEST * max(float(eigenvalues[-1]), 1.0)
    return np.asarray((V * np.maximum(eigenvalues, floor)) @ V.T * np.outer(scale, scale))
