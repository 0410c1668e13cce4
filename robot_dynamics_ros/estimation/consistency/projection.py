# SPDX-License-Identifier: Apache-2.0
"""
Physically consistent link inertias from estimated minimal parameters.

A body can exist if its pseudo-inertia (Wensing, Kim & Slotine 2018), the 4 x 4 matrix of second
moments, first moment and mass, is positive definite. Two questions, both semidefinite programs:

1. Which minimal parameters of physical bodies are nearest to the estimate, measured by its
   covariance? Nothing changes if physical bodies already have the estimated values.
2. Which of the many bodies that have these values? The split among the links cannot be measured.
   The ones nearest to the URDF are chosen, in the metric of Lee & Park (2018) at the URDF values,
   ``sum_i trace((P_i0^-1 (P_i - P_i0))^2)``, which does not depend on the choice of frames.

Both are solved by clarabel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.numeric_set import stacked_regressor
from robot_dynamics_ros.errors import IdentificationError, ParameterError
from robot_dynamics_ros.estimation.consistency.body_space import ENTRIES, ORDER, BodySpace

#: No body may be thinner or lighter than this part of the URDF's, in any direction.
SMALLEST_EIGENVALUE = 1e-5

#: Without a covariance, one standard deviation is this part of the torque.
_TORQUE = 0.01

#: Smallest eigenvalue of the correlations; those of noise-free data can be arbitrarily small.
_CORRELATION_FLOOR = 1e-10


@dataclass(frozen=True, eq=False)
class ConsistentInertias:
    """
    A robot that can exist.

    :param chain: the chain with these link inertias.
    :param mlc: its minimal parameters.
    :param changed: False if the estimate was physically possible as it was.
    :param distance: distance from the estimate in standard deviations (Mahalanobis), without a
        covariance in percent of the torque; 0 if not changed.
    :param torque_error: RMS change of the torque over RMS torque, at random states.
    """

    chain: Chain
    mlc: MlcSet
    changed: bool
    distance: float
    torque_error: float


def consistent_inertias(chain: Chain, estimate: MlcSet, *, covariance: ArrayLike | None = None,
                        carried: Sequence[Inertia] | None = None) -> ConsistentInertias:
    """
    Return the physically possible robot nearest to an estimate.

    :param chain: the robot; its inertias are used where nothing was measured.
    :param estimate: minimal parameters with estimated values; rotor inertias that are grouped
        into them become part of the links.
    :param covariance: (p, p) covariance of the estimate; a variance that is not finite means "not
        estimated". None = distances are those of the torque at random states.
    :param carried: known inertia of the bodies that are part of each link, in its frame E_i;
        None = none. The rest of the link must be physically possible too.
    :raises ParameterError: sizes that do not match the chain.
    :raises IdentificationError: clarabel is not installed, or finds no solution.
    """
    if estimate.joint_names != chain.joint_names:
        raise ParameterError(f'the estimate is for {", ".join(estimate.joint_names)}, the chain '
                             f'has {", ".join(chain.joint_names)}')
    known = [Inertia.zero()] * len(chain) if carried is None else list(carried)
    fixed = np.concatenate([body.standard_parameters for body in known])
    own = chain.standard_parameters - fixed
    space = BodySpace.around([Inertia.from_standard_parameters(row)
                              for row in own.reshape(-1, 10)])
    W = stacked_regressor(chain) @ estimate.right_inverse
    rows, weights = _weights(estimate, covariance, W)
    B = estimate.matrix @ space.to_parameters
    target = estimate.values - estimate.matrix @ fixed

    y = exact_point(space, B[rows], target[rows], SMALLEST_EIGENVALUE)
    changed = y is None
    if y is None:
        y = nearest_point(space, weights @ B[rows], weights @ target[rows], SMALLEST_EIGENVALUE)
    if y is None:
        raise IdentificationError('no physically possible robot was found near the estimate')
    x = space.to_parameters @ y + fixed
    result = chain.with_standard_parameters(x)
    values = estimate.of(result)
    difference = values - estimate.values
    distance = float(np.linalg.norm(weights @ difference[rows])) if changed else 0.0
    size = float(np.linalg.norm(W @ estimate.values))
    return ConsistentInertias(result, estimate.with_values(values), changed, distance,
                              float(np.linalg.norm(W @ difference)) / size if size else 0.0)


def _weights(estimate: MlcSet, covariance: ArrayLike | None,
             W: Array) -> tuple[NDArray[np.intp], Array]:
    """
    Return which parameters were estimated, and R with ``|R (w - w_hat)|`` the distance.

    :returns: indices (m,) and matrix (m, m).
    """
    p = len(estimate)
    if covariance is None:
        size = _TORQUE * float(np.linalg.norm(W @ estimate.values))
        return np.arange(p, dtype=np.intp), np.asarray(np.linalg.qr(W, mode='r')) / size
    C = read_only(covariance)
    if C.shape != (p, p):
        raise ParameterError(f'covariance has shape {C.shape}, expected ({p}, {p})')
    variances = np.diag(C)
    rows = np.flatnonzero(np.isfinite(variances))
    if rows.size == 0 or np.any(variances[rows] < 0.0):
        raise ParameterError('covariance must have finite variances that are not negative')
    # a value without variance is taken as very precise, not as exact
    sigma = np.sqrt(variances[rows])
    positive = sigma[sigma > 0.0]
    sigma = np.maximum(sigma, 1e-6 * np.max(positive) if positive.size else 1.0)
    correlations = C[np.ix_(rows, rows)] / np.outer(sigma, sigma)
    eigenvalues, V = np.linalg.eigh(0.5 * (correlations + correlations.T))
    root = 1.0 / np.sqrt(np.maximum(eigenvalues, _CORRELATION_FLOOR))
    return rows, np.asarray((V * root).T / sigma)


#: Accuracy asked from the solver, in scaled units.
_TOLERANCE = 1e-9

#: Weight of the reference bodies relative to the estimate: a body that differs by 100 % from its
#: reference costs as much as a thousandth of a standard deviation of the estimate.
_BELIEF, _LEAST_BELIEF = 1e-3, 1e-7

#: Negative eigenvalues beyond this are not rounding errors of the solver.
_ROUNDING = 1e-3


def exact_point(space: BodySpace, B: Array, target: Array, smallest: float) -> Array | None:
    """
    Return the bodies y nearest to the references with ``B y = target``; None = there are none.

    :param space: space of the bodies.
    :param B: (m, 10 n) matrix of the equations.
    :param target: (m,) right-hand side.
    :param smallest: smallest eigenvalue that any Y may have.
    :raises IdentificationError: clarabel is not installed.
    """
    scale = 1.0 / np.linalg.norm(B, axis=1)
    equations, right = B * scale[:, None], target * scale
    y = _solve(space, np.ones(len(space.reference)), -space.reference, equations, right, smallest)
    if y is None:
        return None
    y = y + np.linalg.lstsq(equations, right - equations @ y, rcond=None)[0]
    # do not trust the solver's status: reject bodies below the requested eigenvalue
    return y if np.all(space.smallest_eigenvalues(y) > 0.5 * smallest) else None


def nearest_point(space: BodySpace, F: Array, f: Array, smallest: float) -> Array | None:
    """
    Return the bodies y with the smallest ``|F y - f|``; None if the solver fails.

    In directions that F does not determine, they stay as near as possible to the references.

    :param space: space of the bodies.
    :param F: (m, 10 n) matrix of the equations, in standard deviations of the estimate.
    :param f: (m,) right-hand side, in the same unit.
    :param smallest: smallest eigenvalue that any Y may have.
    :raises IdentificationError: clarabel is not installed.
    """
    m, size = F.shape
    scale = 1.0 / np.max(np.abs(F))
    belief = max(_BELIEF * scale, _LEAST_BELIEF)
    # unknowns y and r = F y - f: squaring F would square its condition number
    cost = np.concatenate([np.full(size, belief**2), np.ones(m)])
    linear = np.concatenate([-belief**2 * space.reference, np.zeros(m)])
    y = _solve(space, cost, linear, np.hstack([F * scale, -np.eye(m)]), f * scale, smallest)
    if y is None:
        return None
    found = float(np.min(space.smallest_eigenvalues(y)))
    if found < -_ROUNDING:
        return None
    missing = max(smallest - found, 0.0)
    inside = missing / (1.0 - found) if missing else 0.0
    return np.asarray((1.0 - inside) * y + inside * space.reference)


def _solve(space: BodySpace, cost: Array, linear: Array, equations: Array, right: Array,
           smallest: float) -> Array | None:
    """Minimise ``z cost z / 2 + linear z`` under the equations; z begins with the bodies y."""
    clarabel = _clarabel()
    size = len(space.reference)
    cone = np.hstack([-np.eye(size), np.zeros((size, len(cost) - size))])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = _TOLERANCE
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags(cost)), linear,
        sparse.csc_matrix(np.vstack([equations, cone])),
        np.concatenate([right, -smallest * space.reference]),
        [clarabel.ZeroConeT(len(equations)),
         *[clarabel.PSDTriangleConeT(ORDER) for _ in range(size // ENTRIES)]], settings)
    solution = solver.solve()
    if str(solution.status) not in ('Solved', 'AlmostSolved', 'InsufficientProgress'):
        return None
    return np.array(solution.x[:size])


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError:
        raise IdentificationError('physically consistent inertias need the package clarabel: '
                                  '`pip install clarabel`') from None
    return clarabel
