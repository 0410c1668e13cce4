# SPDX-License-Identifier: Apache-2.0
"""Minimal parameters as the grouped standard parameters that the recursions calculate with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.minimal.khalil_set import khalil_forms
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.numeric_set import numeric_forms, stacked_regressor
from robot_dynamics_ros.dynamics.minimal.structure import structure
from robot_dynamics_ros.dynamics.scalars.vector import Scalar, total

#: Rounding dust of the conversion, relative to the largest entry; exact numbers fold.
_DUST = 1e-12


@dataclass(frozen=True, eq=False)
class Grouping:
    """
    Standard parameters, many of them zero, that have the torque of minimal ones.

    :param matrix: (10 n, p) from minimal parameters to grouped standard ones; exact zeros and
        ones where the algebra has them.
    :param zeros: places of grouped parameters that are known to be zero.
    """

    matrix: Array
    zeros: frozenset[int] = frozenset()

    @cached_property
    def _rows(self) -> list[list[tuple[int, float]]]:
        return [_entries(row) for row in self.matrix]

    @cached_property
    def _columns(self) -> list[tuple[int, list[tuple[int, float]]]]:
        """The last place of each column and its entries; none where the only one is 1."""
        columns = [_entries(column) for column in self.matrix.T]
        return [(column[-1][0], [] if column[:-1] == [] and column[0][1] == 1.0 else column)
                for column in columns]

    @cached_property
    def _transposed(self) -> Any:
        """The transposed matrix, sparse."""
        from scipy.sparse import csr_array
        return csr_array(self.matrix.T)

    def links(self, minimal: Sequence[Scalar]) -> list[list[Scalar]]:
        """Return ten grouped parameters per link."""
        x = [0.0 if place in self.zeros else total([factor * minimal[k] for k, factor in row])
             for place, row in enumerate(self._rows)]
        return [x[i:i + 10] for i in range(0, len(x), 10)]

    def regressor(self, standard: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """
        Return the regressor of the minimal parameters from that of the standard ones.

        :param standard: one row per joint; entries of links that it does not carry are 0.0.
        """
        links = len(self.matrix) // 10
        inside = range(0, 10 * links, 10) if len(standard) == links else [0] * len(standard)
        return [[0.0 if last < first else _combined(row, last, column, first)
                 for last, column in self._columns] for first, row in zip(inside, standard)]

    def regressor_array(self, standard: Array) -> Array:
        """
        Return the same from numbers, (n, p) for one state or (n, p, N).

        :param standard: (10 n, n) or (10 n, n, N), the places of the parameters first.
        """
        flat = self._transposed @ standard.reshape(len(standard), -1)
        return np.asarray(flat).reshape(-1, *standard.shape[1:]).swapaxes(0, 1)


def _combined(row: Sequence[Scalar], last: int, column: list[tuple[int, float]],
              first: int) -> Scalar:
    if not column:
        return row[last]
    return total([factor * row[k] for k, factor in column
                  if k >= first and not (isinstance(row[k], float) and row[k] == 0.0)])


def _entries(values: Array) -> list[tuple[int, float]]:
    """Return the entries that are not zero, with their places."""
    return [(k, float(values[k])) for k in np.flatnonzero(values).tolist()]


def grouping_of(chain: Chain, mlc: MlcSet) -> Grouping:
    """
    Return the grouping of a minimal set.

    It is Khalil & Dombre's, whose zeros save the most operations. Where the closed form does not
    hold for a chain (see `minimal_parameters`), `mlc` consists of standard parameters itself.
    """
    forms = (khalil_forms(chain, structure(chain)) if mlc.set == 'lin'
             else numeric_forms(chain, stacked_regressor(chain)))
    places = [chain.standard_parameter_names.index(name) for name in forms.names]
    conversion = np.linalg.inv(mlc.matrix[:, places])
    for exact in (0.0, 1.0, -1.0):
        conversion[np.abs(conversion - exact) <= _DUST * np.max(np.abs(conversion))] = exact
    matrix = np.zeros((10 * len(chain.links), len(mlc)))
    matrix[places] = conversion
    return Grouping(read_only(matrix))
