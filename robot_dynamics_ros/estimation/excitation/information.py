# SPDX-License-Identifier: Apache-2.0
"""
Information of a motion about the parameters: condition number and D-optimality.

The information of a motion is ``M = integral Y^T S^-2 Y dt`` over the columns of the minimal and
joint parameters that are independent, with S the noise of the efforts. Its inverse is the
covariance of the estimate from one sample per second; information of several motions adds up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.estimation.regression.motion_quality import shown_columns
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms

#: condition: condition number of the regressor with columns of unit length; determinant:
#: D-optimality, the volume of the confidence ellipsoid.
Criterion = Literal['condition', 'determinant']
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

#: Exponent of the power means that replace the largest and the smallest eigenvalue.
_SMOOTH_EXTREMES = 4

#: Step of the difference quotients over joint states [rad, m and per s, s^2].
_STEP = 1e-6

#: q, qd, qdd of N joint states, each (N, n) [rad, m and per s, s^2].
States = tuple[Array, Array, Array]


class Quality(NamedTuple):
    """
    A criterion to be minimised, and its gradient.

    :param value: natural logarithm of the condition number, or of the mean standard deviation.
    :param slope: (p, p) gradient with ``d value = trace(slope dM)``.
    """

    value: float
    slope: Array


@dataclass(frozen=True, eq=False)
class ExcitationRegressor:
    """
    The independent columns of minimal parameters and joint terms, rows weighted by the noise.

    :param model: model of the robot.
    :param kept: indices of the independent columns among ``model.columns``.
    :param noise: (n,) standard deviation of the efforts, or their relative size [N m, N].
    """

    model: Model
    kept: tuple[int, ...]
    noise: Array

    @classmethod
    def of(cls, model: Model, noise: ArrayLike) -> ExcitationRegressor:
        """Choose the independent columns; minimal parameters come first."""
        return cls(model, shown_columns(TorqueTerms(model.chain)),
                   np.asarray(noise, dtype=np.float64))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the independent columns."""
        return tuple(self.model.columns[k] for k in self.kept)

    def rows(self, states: States) -> Array:
        """Return the regressor (N, n, all columns) [N m, N per unit] of (N, n) joint states."""
        return self.model.regressor(*states, joint_terms=True)

    def weighted(self, rows: Array) -> Array:
        """Return the kept columns (N, n, p) of `rows`, over the noise."""
        return np.asarray(rows[..., self.kept] / self.noise[:, None])

    def information(self, rows: Array, duration: float) -> Array:
        """
        Return the information (p, p) of the rows of N equally spaced states.

        :param rows: (N, n, all columns) regressor.
        :param duration: time that the states cover [s].
        """
        W = self.weighted(rows).reshape(-1, len(self.kept))
        return np.asarray(W.T @ W * (duration / len(rows)))

    def factor(self, rows: Array, slope: Array, duration: float) -> Array:
        """Return the derivatives of ``trace(slope information)`` by the entries of `rows`."""
        result = np.zeros_like(rows)
        weighted = self.weighted(rows) @ slope
        result[..., self.kept] = weighted * (2.0 * duration / len(rows)) / self.noise[:, None]
        return result

    def state_slopes(self, states: States, factor: Array) -> States:
        """
        Return the derivatives (N, n) of ``sum(factor * rows)`` by q, qd and qdd.

        :param states: q, qd, qdd, each (N, n).
        :param factor: (N, n, all columns) factors on the entries of the regressor.
        """
        N, n = states[0].shape
        shifted = np.tile(np.concatenate(states, axis=1), (3 * n + 1, 1, 1))
        index = np.arange(3 * n)
        shifted[index, :, index] += _STEP
        q, qd, qdd = np.split(shifted.reshape(-1, 3 * n), 3, axis=1)
        rows = self.rows((q, qd, qdd)).reshape(3 * n + 1, N, -1)
        sums = np.einsum('dtk,tk->dt', rows, factor.reshape(N, -1))
        slopes = ((sums[:-1] - sums[-1]) / _STEP).T
        return slopes[:, :n], slopes[:, n:2 * n], slopes[:, 2 * n:]


def condition_number(information: Array) -> float:
    """Return the condition number of the regressor whose columns are scaled to unit length."""
    D = np.sqrt(np.diag(information))
    if not np.all(D > 0.0):
        return np.inf
    eigenvalues = np.linalg.eigvalsh(information / np.outer(D, D))
    return float(np.sqrt(eigenvalues[-1] / eigenvalues[0])) if eigenvalues[0] > 0.0 else np.inf


def quality_function(criterion: str) -> Callable[[Array], Quality]:
    """
    Return the function that judges an information matrix.

    :raises ExcitationError: an unknown criterion.
    """
    known: dict[str, Callable[[Array], Quality]] = {'condition': _condition_quality,
                                                    'determinant': _determinant_quality}
    if criterion not in known:
        raise ExcitationError(f"unknown criterion '{criterion}'; known are {', '.join(CRITERIA)}")
    return known[criterion]


def _determinant_quality(M: Array) -> Quality:
    """Return the logarithm of the mean standard deviation, ``-log det M / 2 p``."""
    p = len(M)
    sign, logarithm = np.linalg.slogdet(M)
    if sign <= 0.0 or not np.isfinite(logarithm):
        return Quality(np.inf, np.zeros_like(M))
    return Quality(-0.5 * float(logarithm) / p, np.asarray(np.linalg.inv(M) * (-0.5 / p)))


def _condition_quality(M: Array) -> Quality:
    """
    Return the logarithm of a smooth approximation of the condition number.

    ``C = D^-1 M D^-1`` has a unit diagonal; its extreme eigenvalues are replaced by power means
    over all eigenvalues, which are differentiable even where two eigenvalues are equal.
    """
    D = np.sqrt(np.diag(M))
    if not np.all(D > 0.0):
        return Quality(np.inf, np.zeros_like(M))
    eigenvalues, V = np.linalg.eigh(M / np.outer(D, D))
    if eigenvalues[0] <= 1e-14 * eigenvalues[-1]:
        return Quality(np.inf, np.zeros_like(M))
    k = _SMOOTH_EXTREMES
    large, small = (eigenvalues / eigenvalues[-1])**k, (eigenvalues[0] / eigenvalues)**k
    value = 0.5 * (np.log(eigenvalues[-1] / eigenvalues[0])
                   + np.log(large.sum() * small.sum()) / k)
    weight = 0.5 * (large / large.sum() - small / small.sum())  # of d log eigenvalue
    U = V / D[:, None]
    # d eigenvalue_i = u_i dM u_i - eigenvalue_i sum_a v_ai^2 dM_aa / M_aa
    slope = (U * (weight / eigenvalues)) @ U.T - np.diag((V**2 @ weight) / D**2)
    return Quality(float(value), slope)
