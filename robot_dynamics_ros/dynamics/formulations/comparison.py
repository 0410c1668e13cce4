# SPDX-License-Identifier: Apache-2.0
"""Independent formulations of the same dynamics, compared at random states of one robot."""

from __future__ import annotations

from functools import partial

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import (
    FORMULATIONS,
    inverse_dynamics,
)
from robot_dynamics_ros.dynamics.formulations.lagrange import Lagrange
from robot_dynamics_ros.dynamics.formulations.lin import LinConstants
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.regressor_columns import mlc_columns
from robot_dynamics_ros.dynamics.minimal.structure import structure
from robot_dynamics_ros.dynamics.recursions.forward_dynamics import (
    by_mass_matrix,
    linear_recursion,
)
from robot_dynamics_ros.dynamics.recursions.mass_matrix import (
    by_inverse_dynamics,
    composite_bodies,
    from_regressor,
    renaud,
)
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.recursions.regressor import regressor, standard_regressor
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples

#: Disagreement, relative to the largest entry, above which something is wrong.
AGREEMENT = 1e-9

_FROM_MASS_CENTRES = {'kane', 'lu_meng', 'lu_meng_recursive'}


def self_check(chain: Chain, mlc: MlcSet, count: int = 8) -> dict[str, float]:
    """
    Return the largest disagreement of every formulation, relative to the largest entry.

    Torques are compared with the plain Newton-Euler recursion, mass matrices with composite
    bodies, forward dynamics by the torque it gives back. What a robot does not allow is left
    out: forms that start from mass centres for a link with a first moment but no mass, forward
    dynamics where a joint moves nothing.

    :param chain: the robot with its link inertias.
    :param mlc: a minimal set of this chain with its values.
    :param count: number of random states.
    """
    rng = np.random.default_rng(7)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, count, len(chain)))
    torque = inverse_dynamics(chain, q, qd, qdd)
    names = set(FORMULATIONS) - {'newton_euler'}
    if any(link.mass == 0.0 and np.any(link.first_moment) for link in chain.links):
        names -= _FROM_MASS_CENTRES
    if mlc.set != 'lin':
        names -= {'lin'}
    result = {name: _error(inverse_dynamics(chain, q, qd, qdd, formulation=name), torque)
              for name in sorted(names)}
    Y = mlc_columns(standard_regressor(chain, q, qd, qdd), mlc)
    result['minimal regressor'] = _error(Y @ mlc.values, torque)
    return result | _compare_matrices(Samples.of(chain, q=q, qd=qd), torque, mlc)


def _compare_matrices(state: Samples, torque: Array, mlc: MlcSet) -> dict[str, float]:
    """Compare mass matrices and forward dynamics."""
    chain, frames, gravity = state.chain, state.frames, gravity_vector(state.chain)
    links = [link.standard_parameters.tolist() for link in chain.links]
    matrices = {
        'lagrange': Lagrange(frames, links, gravity).mass_matrix(),
        'inverse dynamics': by_inverse_dynamics(frames, links),
        'regressor': from_regressor(partial(regressor, frames, state['qd'], gravity=gravity),
                                    chain.standard_parameters.tolist(), len(chain))[0],
    }
    if mlc.set == 'lin':
        minimal = LinConstants.from_names(len(chain), dict(zip(mlc.names, mlc.values.tolist())))
        matrices['renaud'] = renaud(frames, minimal.representative(structure(chain)))
    A = state.matrix(composite_bodies(frames, links))
    result = {f'mass matrix: {name}': _error(state.matrix(rows), A)
              for name, rows in matrices.items()}
    if np.min(np.linalg.svd(A, compute_uv=False)) <= 1e-12 * np.max(np.abs(A)):
        return result
    tau = [torque[:, j] for j in range(len(chain))]
    for name, solve in (('mass matrix', by_mass_matrix), ('linear recursion', linear_recursion)):
        qdd = solve(frames, links, state['qd'], tau, gravity)
        again = state.vector(newton_euler(frames, links, state['qd'], qdd, gravity))
        result[f'forward dynamics: {name}'] = _error(again, torque)
    return result


def _error(values: Array, expected: Array) -> float:
    scale = float(np.max(np.abs(expected))) or 1.0
    return float(np.max(np.abs(values - expected))) / scale
