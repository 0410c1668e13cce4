# SPDX-License-Identifier: Apache-2.0
"""
A set of minimal parameters from numbers alone: independent columns of the stacked regressor.

Columns are taken in their natural order, link 1 first, whenever they are independent of those
taken before. For exact geometry with gravity this gives the names of Khalil's set.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import STANDARD_UNITS
from robot_dynamics_ros.dynamics.linear_forms import LinearForms
from robot_dynamics_ros.dynamics.structural_rank import RANK_TOLERANCE

#: A column is taken at first sight if more than this part of it is new; a column that is new in
#: a smaller part only is taken if no other one shows the same, which keeps coefficients small.
_CLEARLY_NEW = 1e-5

#: Coefficients smaller than this part of the largest one of their row are rounding dust.
_DUST = 1e-12


def numeric_forms(chain: Chain, W: Array) -> LinearForms:
    """
    Return standard parameters grouped so that the columns of W they keep are independent.

    :param chain: the robot; its inertias are not used.
    :param W: stacked regressor (rows, 10 n).
    """
    # same lengths and angles, fewer rows
    columns = np.asarray(np.linalg.qr(W, mode='r'), dtype=np.float64)
    kept = independent_columns(columns)
    coefficients, *_ = np.linalg.lstsq(columns[:, kept], columns, rcond=None)
    coefficients[:, kept] = np.eye(len(kept))
    largest = np.max(np.abs(coefficients), axis=1, keepdims=True, initial=0.0)
    coefficients[np.abs(coefficients) <= _DUST * largest] = 0.0
    names = chain.standard_parameter_names
    return LinearForms.of([(names[j], STANDARD_UNITS[j % 10], row)
                           for j, row in zip(kept, coefficients)], len(chain))


def independent_columns(columns: Array) -> list[int]:
    """Return the indices of independent columns that span all of them, in natural order."""
    lengths = np.linalg.norm(columns, axis=0)
    smallest = RANK_TOLERANCE * np.max(lengths)
    basis = np.zeros((columns.shape[0], 0))
    kept: list[int] = []
    for part in (_CLEARLY_NEW, 0.0):
        for j in range(columns.shape[1]):
            if j in kept or lengths[j] <= smallest:
                continue
            new = columns[:, j]
            for _ in range(2):  # projecting twice makes the rest orthogonal to rounding
                new = new - basis @ (basis.T @ new)
            size = float(np.linalg.norm(new))
            if size > max(smallest, part * lengths[j]):
                kept.append(j)
                basis = np.column_stack([basis, new / size])
    return sorted(kept)
