# SPDX-License-Identifier: Apache-2.0
"""
The numeric judge of a set of minimal parameters, and a set from numbers alone.

The stacked regressor W at many random states depends on geometry and gravity only, and its rank is
the number of parameters that any motion can show. A set w = B x is complete if W = A B for some A,
and minimal if the columns of A are independent.

The numeric set takes columns in their natural order, link 1 first, whenever they are independent
of those taken before. For exact geometry with gravity this gives the names of Khalil's set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import STANDARD_UNITS
from robot_dynamics_ros.dynamics.minimal.linear_forms import LinearForms
from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor

#: Singular values below this part of the largest one are zero. Axes at an angle of eps give
#: singular values of about 0.5 eps^2, so axes nearer than 5e-5 rad count as parallel here, while
#: GEOMETRIC_TOLERANCE says they are not: the sets disagree and the numeric one is used.
RANK_TOLERANCE = 1e-9

_SEED = 1995
_MOST_SAMPLES = 81

#: Entries of the regressor below this part of the accelerations are rounding dust.
_DUST = 1e-14


@dataclass(frozen=True)
class SetCheck:
    """
    How a set of combinations compares with the stacked regressor.

    :param missing: largest part of a column of W that is not a combination of the set.
    :param smallest: smallest singular value of A, relative to the largest; 1.0 for an empty set.
    """

    missing: float
    smallest: float

    @property
    def complete(self) -> bool:
        """Whether the set determines the torque."""
        return self.missing <= RANK_TOLERANCE

    @property
    def minimal(self) -> bool:
        """Whether no element of the set is redundant."""
        return self.smallest > RANK_TOLERANCE


def stacked_regressor(chain: Chain, *, moving: bool = True) -> Array:
    """
    Return W (rows, 10 n): the standard regressor at seeded random states, one under the other.

    :param chain: the robot; its inertias are not used.
    :param moving: motion at the states; False gives the gravity torque alone.

    More samples than unknowns per joint are enough, since joint j adds ten columns and its own
    rows; a chain of many joints needs no more samples than one of seven.
    """
    q, qd, qdd = random_motion(chain, moving=moving)
    samples, n = q.shape
    W = standard_regressor(chain, q, qd, qdd).reshape(samples * n, 10 * len(chain.links))
    dust = _DUST * (float(np.linalg.norm(chain.gravity)) + (1.0 if moving else 0.0))
    return np.where(np.abs(W) <= dust, 0.0, W)


def random_motion(chain: Chain, *, moving: bool = True) -> tuple[Array, Array, Array]:
    """
    Return q, qd, qdd (N, n) of the states that `stacked_regressor` uses: always the same.

    :param chain: the robot.
    :param moving: motion at the states; False gives zero velocities and accelerations.
    """
    n = len(chain)
    rng = np.random.default_rng(_SEED)
    samples = min(8 * n + 25, _MOST_SAMPLES)
    revolute = np.array([joint.revolute for joint in chain.joints])
    q = np.where(revolute, np.pi, 2.0) * rng.uniform(-1.0, 1.0, (samples, n))
    qd, qdd = rng.normal(size=(2, samples, n)) if moving else np.zeros((2, samples, n))
    return q, qd, qdd


def right_inverse(B: Array) -> Array:
    """Return B^+ (10 n, p) of a matrix B (p, 10 n) with independent rows."""
    Q, R = np.linalg.qr(B.T)
    return np.asarray(np.linalg.solve(R, Q.T).T)


def conversion_matrix(source: Array, target: Array) -> tuple[Array, Array]:
    """
    Return M with ``w_target = M w_source`` (Lin 1994, Corollary 6), and what it misses.

    :param source: B (p, 10 n) of the set to convert from.
    :param target: B (r, 10 n) of the set to convert to.
    :returns: M (r, p), and for every row of `target` (r,) the largest coefficient that does not
        follow from `source`, relative to the largest one of the row; zero but for rounding where
        both sets are of the same robot.
    """
    M = np.asarray(target @ right_inverse(source))
    missed = np.max(np.abs(target - M @ source), axis=1, initial=0.0)
    size = np.max(np.abs(target), axis=1, initial=0.0)
    return M, missed / np.where(size > 0.0, size, 1.0)


def judge(W: Array, B: Array) -> SetCheck:
    """
    Compare a set with the stacked regressor.

    :param W: rows from `stacked_regressor`.
    :param B: (p, 10 n) matrix of the set.
    """
    try:
        A = W @ right_inverse(B)
    except np.linalg.LinAlgError:  # rows that depend on each other but for rounding
        return SetCheck(np.inf, 0.0)
    size = float(np.max(np.linalg.norm(W, axis=0)))
    rest = float(np.max(np.linalg.norm(W - A @ B, axis=0)))
    missing = rest / size if rest > 0.0 else 0.0
    if len(B) == 0:
        return SetCheck(missing, 1.0)
    singular_values = np.linalg.svd(np.linalg.qr(A, mode='r'), compute_uv=False)
    largest = float(singular_values[0])
    return SetCheck(missing, float(singular_values[-1]) / largest if largest > 0.0 else 0.0)


#: A column is taken at first sight if more than this part of it is new; a column that is new in
#: a smaller part only is taken if no other one shows the same, which keeps coefficients small.
_CLEARLY_NEW = 1e-5

#: Coefficients smaller than this part of the largest one of their row are rounding dust.
_COEFFICIENT_DUST = 1e-12


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
    coefficients[np.abs(coefficients) <= _COEFFICIENT_DUST * largest] = 0.0
    names = chain.standard_parameter_names
    return LinearForms.of([(names[j], STANDARD_UNITS[j % 10], row)
                           for j, row in zip(kept, coefficients)], len(chain.links))


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
