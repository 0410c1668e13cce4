# SPDX-License-Identifier: Apache-2.0
"""
The numeric judge of a set of minimal parameters: the regressor at many random states.

The stacked regressor W depends on geometry and gravity only, and its rank is the number of
parameters that any motion can show. A set w = B x is complete if W = A B for some A, and minimal
if the columns of A are independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.regressor import standard_regressor

#: Singular values below this part of the largest one are zero. Axes at an angle of eps give
#: singular values of about 0.5 eps^2, so axes nearer than 5e-5 rad count as parallel here, while
#: GEOMETRIC_TOLERANCE says they are not: the sets disagree and the numeric one is used.
RANK_TOLERANCE = 1e-9

_SEED = 1995
_MOST_SAMPLES = 81

#: Entries of the regressor below this part of the accelerations are rounding dust.
_DUST = 1e-14


@dataclass(frozen=True)
class Verdict:
    """
    How a set of combinations compares with the stacked regressor.

    :param missing: largest part of a column of W that is no combination of the set.
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
    :param moving: False gives the gravity load alone.

    More samples than unknowns per joint are enough, since joint j adds ten columns and its own
    rows; a chain of many joints needs no more samples than one of seven.
    """
    n = len(chain)
    rng = np.random.default_rng(_SEED)
    samples = min(8 * n + 25, _MOST_SAMPLES)
    revolute = np.array([joint.revolute for joint in chain.joints])
    q = np.where(revolute, np.pi, 2.0) * rng.uniform(-1.0, 1.0, (samples, n))
    qd, qdd = rng.normal(size=(2, samples, n)) if moving else np.zeros((2, samples, n))
    W = standard_regressor(chain, q, qd, qdd).reshape(samples * n, 10 * n)
    dust = _DUST * (float(np.linalg.norm(chain.gravity)) + (1.0 if moving else 0.0))
    return np.where(np.abs(W) <= dust, 0.0, W)


def right_inverse(B: Array) -> Array:
    """Return B^+ (10 n, p) of a matrix B (p, 10 n) with independent rows."""
    Q, R = np.linalg.qr(B.T)
    return np.asarray(np.linalg.solve(R, Q.T).T)


def judge(W: Array, B: Array) -> Verdict:
    """
    Compare a set with the stacked regressor.

    :param W: from `stacked_regressor`.
    :param B: (p, 10 n) the set.
    """
    A = W @ right_inverse(B)
    size = float(np.max(np.linalg.norm(W, axis=0)))
    rest = float(np.max(np.linalg.norm(W - A @ B, axis=0)))
    missing = rest / size if rest > 0.0 else 0.0
    if len(B) == 0:
        return Verdict(missing, 1.0)
    singular_values = np.linalg.svd(np.linalg.qr(A, mode='r'), compute_uv=False)
    largest = float(singular_values[0])
    return Verdict(missing, float(singular_values[-1]) / largest if largest > 0.0 else 0.0)
