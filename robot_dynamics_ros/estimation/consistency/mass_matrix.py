# SPDX-License-Identifier: Apache-2.0
"""Whether a mass matrix is positive definite wherever the robot may stand."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.runtime.model import Model

#: Number of postures that are looked at.
_POSTURES = 200
#: Reach of a joint without limits, to either side [rad, m].
_FREE_REACH = np.pi
#: Smallest over largest eigenvalue of a scaled mass matrix that still counts as definite.
_DEFINITE = 1e-6


def possible_postures(chain: Chain) -> Array:
    """Return random postures (N, n) inside the position limits [rad, m]."""
    lower, upper = chain.position_limits
    reach = np.random.default_rng(len(chain)).uniform(size=(_POSTURES, len(chain)))
    low = np.where(np.isfinite(lower), lower, -_FREE_REACH)
    high = np.where(np.isfinite(upper), upper, _FREE_REACH)
    return np.asarray(low + reach * (high - low))


def mass_matrix_objection(model: Model, postures: Array) -> str:
    """
    Return why no robot can have this mass matrix, or ''.

    :param model: model with the parameters in question.
    :param postures: (N, n) postures to look at [rad, m].
    """
    mass = model.mass_matrix(postures)
    size = np.sqrt(np.abs(np.einsum('kii->ki', mass)).clip(1e-12))
    scaled = mass / (size[:, :, None] * size[:, None, :])
    if not np.all(np.isfinite(scaled)):
        return 'the mass matrix is not finite'
    eigenvalues = np.linalg.eigvalsh(scaled)
    bad = np.flatnonzero(eigenvalues[:, 0] < _DEFINITE * eigenvalues[:, -1])
    if bad.size:
        posture = ', '.join(f'{value:.2f}' for value in postures[bad[0]])
        return f'the mass matrix is not positive definite at q = ({posture})'
    return ''
