# SPDX-License-Identifier: Apache-2.0
"""Independent formulations of the same dynamics, compared at random states of one robot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.pose import Array
from robot_dynamics_ros.dynamics.body import bodies
from robot_dynamics_ros.dynamics.composite import inertia_constants
from robot_dynamics_ros.dynamics.forward_dynamics import by_mass_matrix, linear_recursion
from robot_dynamics_ros.dynamics.frames import gravity_vector
from robot_dynamics_ros.dynamics.kane import kane
from robot_dynamics_ros.dynamics.lagrange import Lagrange
from robot_dynamics_ros.dynamics.lin_constants import GENERAL, LinConstants
from robot_dynamics_ros.dynamics.lin_newton_euler import lin_newton_euler
from robot_dynamics_ros.dynamics.mass_matrix import (
    by_inverse_dynamics,
    composite_bodies,
    from_regressor,
    renaud,
)
from robot_dynamics_ros.dynamics.mlc import MlcSet
from robot_dynamics_ros.dynamics.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.regressor import regressor, standard_regressor
from robot_dynamics_ros.dynamics.samples import Samples
from robot_dynamics_ros.dynamics.structure import structure

#: Disagreement, relative to the largest entry, above which something is wrong.
AGREEMENT = 1e-9


def self_check(chain: Chain, mlc: MlcSet, count: int = 8) -> dict[str, float]:
    """
    Return the largest disagreement of each formulation with the plain Newton-Euler recursion.

    Relative to the largest entry; mass matrices are compared with composite bodies, forward
    dynamics by the torque it gives back.

    :param chain: the robot with its link inertias.
    :param mlc: a minimal set of this chain with its values.
    :param count: number of random states.
    """
    rng = np.random.default_rng(7)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, count, len(chain)))
    state = Samples.of(chain, q=q, qd=qd, qdd=qdd)
    frames, gravity = state.frames, gravity_vector(chain)
    motion = (state['qd'], state['qdd'])
    x = chain.standard_parameters
    links: list[list[float]] = x.reshape(-1, 10).tolist()

    torque = state.vector(newton_euler(frames, links, *motion, gravity))
    Y = standard_regressor(chain, q, qd, qdd)
    torques = {
        'Lagrange': state.vector(Lagrange(frames, links, gravity).torque(*motion)),
        'regressor of link parameters': Y @ x,
        'regressor of minimal parameters': (Y @ mlc.right_inverse) @ mlc.values,
    }
    if _have_centres(chain):
        torques['Kane'] = state.vector(kane(frames, bodies(chain), *motion, gravity))
    constants = inertia_constants(frames, links)
    everywhere = LinConstants.of_all_joints(constants)
    torques['Lin, all joints general'] = state.vector(
        lin_newton_euler(frames, everywhere, GENERAL, *motion, gravity))
    matrices = {
        'mass matrix: Lagrange': Lagrange(frames, links, gravity).mass_matrix(),
        'mass matrix: inverse dynamics': by_inverse_dynamics(frames, links),
        'mass matrix: regressor': from_regressor(
            partial(regressor, frames, state['qd'], gravity=gravity), x.tolist(), len(chain))[0],
    }
    if mlc.set == 'lin':
        groups = structure(chain)
        minimal = LinConstants.from_names(
            len(chain), dict(zip(mlc.names, mlc.values.tolist())))
        torques['Lin, minimal parameters'] = state.vector(
            lin_newton_euler(frames, minimal, groups, *motion, gravity))
        matrices['mass matrix: Renaud, minimal parameters'] = renaud(
            frames, minimal.representative(groups))

    result = {name: _error(tau, torque) for name, tau in torques.items()}
    A = state.matrix(composite_bodies(frames, links))
    result |= {name: _error(state.matrix(rows), A) for name, rows in matrices.items()}
    if np.min(np.linalg.svd(A, compute_uv=False)) <= 1e-12 * np.max(np.abs(A)):
        return result  # some joint moves nothing: no acceleration follows from its torque
    tau = [torque[:, j] for j in range(len(chain))]
    for name, solve in (('mass matrix', by_mass_matrix), ('linear recursion', linear_recursion)):
        back = solve(frames, links, state['qd'], tau, gravity)
        again = newton_euler(frames, links, state['qd'], back, gravity)
        result[f'forward dynamics: {name}'] = _error(state.vector(again), torque)
    return result


def _have_centres(chain: Chain) -> bool:
    """Return whether every link has a mass centre, which Kane's form starts from."""
    return all(link.mass != 0.0 or not np.any(link.first_moment) for link in chain.links)


def _error(values: Array | Sequence[Array], expected: Array) -> float:
    scale = float(np.max(np.abs(expected))) or 1.0
    return float(np.max(np.abs(np.asarray(values) - expected))) / scale
