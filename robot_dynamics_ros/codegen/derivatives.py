# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of torques and accelerations: the model's own equations, run on dual numbers.

The derivatives of forward dynamics follow from those of the torque. With tau(q, qd, qdd(q, qd,
tau)) = tau, by differentiation,

    A dqdd/dq = -dtau/dq,    A dqdd/dqd = -dtau/dqd,    A dqdd/dtau = 1

with dtau/dq and dtau/dqd at the acceleration qdd that belongs to tau.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from robot_dynamics_ros.dynamics.recursions.forward_dynamics import FactoredMatrix
from robot_dynamics_ros.dynamics.scalars.dual import DualFunctions, derivatives, variables
from robot_dynamics_ros.dynamics.scalars.vector import Scalar

if TYPE_CHECKING:
    from robot_dynamics_ros.codegen.equations import Equations

#: Matrices (n, n), each n rows.
Matrices = list[list[list[Scalar]]]


def state_derivatives(equations: Equations,
                      function: Callable[[Equations], Sequence[Scalar]]) -> Matrices:
    """
    Return the derivatives of n results by q and by qd, at constant other inputs.

    :param equations: equations at a state.
    :param function: n results from such equations.
    """
    n = len(equations.chain)
    state = {'q': variables(equations.inputs['q']),
             'qd': variables(equations.inputs['qd'], first=n)}
    results = function(replace(equations, inputs={**equations.inputs, **state},
                               functions=DualFunctions(equations.functions)))
    return [derivatives(results, first, n) for first in (0, n)]


def acceleration_derivatives(equations: Equations) -> Matrices:
    """
    Return the derivatives of the accelerations by q, qd and tau.

    :param equations: equations at q, qd and tau.
    """
    n = len(equations.chain)
    at = replace(equations, inputs={**equations.inputs, 'qdd': equations.forward_dynamics()})
    by_q, by_qd = state_derivatives(at, lambda dual: dual.torque())
    unit = [[1.0 if i == k else 0.0 for k in range(n)] for i in range(n)]
    A = FactoredMatrix.of(equations.mass_matrix())
    return [[[sign * value for value in row] for row in A.solved_columns(matrix)]
            for sign, matrix in ((-1.0, by_q), (-1.0, by_qd), (1.0, unit))]
