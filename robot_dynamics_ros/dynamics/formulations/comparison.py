# SPDX-License-Identifier: Apache-2.0
"""Independent formulations of the same dynamics, compared at random states of one robot."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import (
    FORWARD_DYNAMICS,
    GRAVITY_TORQUES,
    MASS_MATRICES,
    forward_dynamics,
    gravity_torque,
    mass_matrix,
)
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import (
    FOR_TREES,
    FORMULATIONS,
    inverse_dynamics,
)
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet, minimal_parameters
from robot_dynamics_ros.dynamics.minimal.regressor_columns import mlc_columns
from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor

#: Disagreement, relative to the largest entry, above which something is wrong.
AGREEMENT = 1e-9

_FROM_MASS_CENTRES = {'kane', 'kane_matrices', 'lu_meng', 'lu_meng_recursive'}
#: Formulations in closed minimal sets; they need a chain whose minimal set is Lin's.
_FROM_LIN_SET = {'lin', 'khalil', 'renaud'}


def compare_formulations(chain: Chain, mlc: MlcSet | None = None,
                         count: int = 8) -> dict[str, float]:
    """
    Return the largest disagreement of every formulation, relative to the largest entry.

    Torques are compared with the plain Newton-Euler recursion, mass matrices with composite
    bodies, forward dynamics by the torque it gives back. What a robot does not allow is left
    out: forms that start from mass centres for a link with a first moment but no mass, forward
    dynamics where a joint moves nothing, formulations of serial chains for a tree.

    :param chain: the robot with its link inertias.
    :param mlc: a minimal set of this chain, whose values are compared too; None = Lin's set with
        the values of the chain.
    :param count: number of random states.
    """
    mlc = minimal_parameters(chain) if mlc is None else mlc
    rng = np.random.default_rng(7)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, count, len(chain)))
    torque = inverse_dynamics(chain, q, qd, qdd)
    left_out: set[str] = set()
    if any(link.mass == 0.0 and np.any(link.first_moment) for link in chain.links):
        left_out |= _FROM_MASS_CENTRES
    if mlc.set != 'lin':
        left_out |= _FROM_LIN_SET
    if not chain.serial:
        left_out |= {*FORMULATIONS, *MASS_MATRICES, *GRAVITY_TORQUES} - {*FOR_TREES}
    # a robot with these minimal parameters: whatever else its inertias are, its torque is the same
    minimal = chain.with_standard_parameters(mlc.right_inverse @ mlc.values)

    def robots(names: Iterable[str]) -> dict[str, Chain]:
        """Return the robot to use for each formulation that is not left out."""
        return {name: minimal if name in _FROM_LIN_SET else chain
                for name in sorted(names) if name not in left_out}

    result = {name: _error(inverse_dynamics(robot, q, qd, qdd, formulation=name), torque)
              for name, robot in robots(FORMULATIONS).items()}
    Y = mlc_columns(standard_regressor(chain, q, qd, qdd), mlc)
    result['minimal regressor'] = _error(Y @ mlc.values, torque)
    A, Q = mass_matrix(chain, q), gravity_torque(chain, q)
    for name, robot in robots(MASS_MATRICES).items():
        result[f'mass matrix: {name}'] = _error(mass_matrix(robot, q, formulation=name), A)
    for name, robot in robots(GRAVITY_TORQUES).items():
        result[f'gravity torque: {name}'] = _error(gravity_torque(robot, q, formulation=name), Q)
    if np.min(np.linalg.svd(A, compute_uv=False)) > 1e-12 * np.max(np.abs(A)):
        for name in FORWARD_DYNAMICS:
            found = forward_dynamics(chain, q, qd, torque, formulation=name)
            result[f'forward dynamics: {name}'] = _error(inverse_dynamics(chain, q, qd, found),
                                                         torque)
    references = ('newton_euler', 'mass matrix: composite_bodies', 'gravity torque: newton_euler')
    return {name: error for name, error in result.items() if name not in references}


def _error(values: Array, expected: Array) -> float:
    scale = float(np.max(np.abs(expected))) or 1.0
    return float(np.max(np.abs(values - expected))) / scale
