# SPDX-License-Identifier: Apache-2.0
"""The two semidefinite programs of physical consistency, solved by clarabel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import IdentificationError
from robot_dynamics_ros.estimation.body_space import ENTRIES, ORDER, BodySpace

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
