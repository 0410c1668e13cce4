# SPDX-License-Identifier: Apache-2.0
"""Essential parameters: what is left when those that the data do not need are taken out."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.estimation.regression import Fit, upper_triangle

#: A parameter stays if leaving it out costs more than this (chi-square, 1 %).
_COST = 6.63


def essential_parameters(fit: Fit) -> Mask:
    """
    Return which unknowns (u,) the torque cannot do without, by stepwise elimination.

    One at a time, the unknown whose absence costs least is set to zero and the others are solved
    again, until every absence would cost more than chance explains. The cost of an unknown is its
    squared ratio to its standard deviation.
    """
    left = ~fit.fixed
    z = fit.triangle @ fit.x
    while np.any(left):
        x, deviation = _solved(fit.triangle[:, left], z)
        cost = (x / deviation) ** 2
        least = int(np.argmin(cost))
        if cost[least] > _COST:
            break
        left[np.flatnonzero(left)[least]] = False
    return left


def _solved(A: Array, z: Array) -> tuple[Array, Array]:
    """Return the least squares solution and its standard deviations."""
    R = upper_triangle(np.column_stack([A, z]))
    size = A.shape[1]
    inverse = np.linalg.inv(R[:size, :size])
    return inverse @ R[:size, size], np.sqrt(np.sum(inverse ** 2, axis=1))
