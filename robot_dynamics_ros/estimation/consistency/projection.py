# SPDX-License-Identifier: Apache-2.0
"""
Link inertias that bodies can have, from estimated minimal parameters.

A body can exist if its pseudo-inertia (Wensing, Kim & Slotine 2018), the 4 x 4 matrix of second
moments, first moment and mass, is positive definite. Two questions, both semidefinite programs:

1. Which minimal parameters of possible bodies are nearest to the estimate, measured by its
   covariance? Nothing changes where possible bodies have the estimated values already.
2. Which of the many bodies that have these values? The split among the links cannot be measured.
   Those nearest to the URDF are taken, in the metric of Lee & Park (2018) at the URDF values,
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
SMALLEST_SHARE = 1e-5

#: Without a covariance, one standard deviation is this part of the torque.
_TORQUE = 0.01

#: Correlations of the estimate beyond this are taken as this: noise-free data know no bounds.
_CORRELATION_FLOOR = 1e-10


@dataclass(frozen=True, eq=False)
class ConsistentInertias:
    """
    A robot that can exist.

    :param chain: the chain with these link inertias.
    :param mlc: its minimal parameters.
    :param changed: False where the estimate was possible as it was.
    :param distance: from the estimate, in standard deviations (Mahalanobis), without a
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
    Return the possible robot nearest to an estimate.

    :param chain: the robot; its inertias are the choice where nothing was measured.
    :param estimate: minimal parameters with estimated values; rotor inertias that are grouped
        into them become part of the links.
    :param covariance: (p, p) of the estimate; a variance that is not finite means "not
        estimated". None = distances are those of the torque at random states.
    :param carried: inertia of bodies that are part of each link and known, in its frame E_i;
        None = none. What remains of the link must be possible too.
    :raises ParameterError: sizes do not fit the chain.
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

    y = exact_point(space, B[rows], target[rows], SMALLEST_SHARE)
    changed = y is None
    if y is None:
        y = nearest_point(space, weights @ B[rows], weights @ target[rows], SMALLEST_SHARE)
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
    Return which elements were estimated, and R with ``|R (w - w_hat)|`` the distance.

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
    # values known exactly: as good as the best known other one
    deviations = np.sqrt(variances[rows])
    positive = deviations[deviations > 0.0]
    deviations = np.maximum(deviations, 1e-6 * np.max(positive) if positive.size else 1.0)
    correlations = C[np.ix_(rows, rows)] / np.outer(deviations, deviations)
    eigenvalues, V = np.linalg.eigh(0.5 * (correlations + correlations.T))
    root = 1.0 / np.sqrt(np.maximum(eigenvalues, _CORRELATION_FLOOR))
    return rows, np.asarray((V * root).T / deviations)


#: Accuracy asked from the solver, in scaled units.
_TOLERANCE = 1e-9

#: Weight of the reference bodies beside an estimate: a body that differs by 100 % from its
#: reference counts as much as a thousandth of a standard deviation of the estimate.
_BELIEF, _LEAST_BELIEF = 1e-3, 1e-7

#: Eigenvalues that the solver leaves negative beyond this are no rounding.
_ROUNDING = 1e-3


def exact_point(space: BodySpace, B: Array, target: Array, share: float) -> Array | None:
    """
    Return the bodies y nearest to the reference bodies with ``B y = target``; None = no such.

    :param space: of the bodies.
    :param B: (m, 10 n).
    :param target: (m,).
    :param share: smallest eigenvalue that every Y may have.
    :raises IdentificationError: clarabel is not installed.
    """
    scale = 1.0 / np.linalg.norm(B, axis=1)
    equations, right = B * scale[:, None], target * scale
    y = _solve(space, np.ones(len(space.reference)), -space.reference, equations, right, share)
    if y is None:
        return None
    y = y + np.linalg.lstsq(equations, right - equations @ y, rcond=None)[0]
    # the solver's word is checked: a body thinner than asked for is none
    return y if np.all(space.smallest_eigenvalues(y) > 0.5 * share) else None


def nearest_point(space: BodySpace, F: Array, f: Array, share: float) -> Array | None:
    """
    Return the bodies y with the smallest ``|F y - f|``; None where the solver fails.

    Directions that F does not see stay as near as possible to the reference bodies.

    :param space: of the bodies.
    :param F: (m, 10 n) in standard deviations of the estimate.
    :param f: (m,) the same of the estimate.
    :param share: smallest eigenvalue that every Y may have.
    :raises IdentificationError: clarabel is not installed.
    """
    m, size = F.shape
    scale = 1.0 / np.max(np.abs(F))
    belief = max(_BELIEF * scale, _LEAST_BELIEF)
    # unknowns y and r = F y - f: the squares of F would double the digits that are needed
    cost = np.concatenate([np.full(size, belief**2), np.ones(m)])
    linear = np.concatenate([-belief**2 * space.reference, np.zeros(m)])
    y = _solve(space, cost, linear, np.hstack([F * scale, -np.eye(m)]), f * scale, share)
    if y is None:
        return None
    smallest = float(np.min(space.smallest_eigenvalues(y)))
    if smallest < -_ROUNDING:
        return None
    missing = max(share - smallest, 0.0)
    inside = missing / (1.0 - smallest) if missing else 0.0
    return np.asarray((1.0 - inside) * y + inside * space.reference)


def _solve(space: BodySpace, cost: Array, linear: Array, equations: Array, right: Array,
           share: float) -> Array | None:
    """Minimise ``z cost z / 2 + linear z`` with the equations; the first unknowns are bodies."""
    clarabel = _clarabel()
    size = len(space.reference)
    cone = np.hstack([-np.eye(size), np.zeros((size, len(cost) - size))])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = _TOLERANCE
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags(cost)), linear,
        sparse.csc_matrix(np.vstack([equations, cone])),
        np.concatenate([right, -share * space.reference]),
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
