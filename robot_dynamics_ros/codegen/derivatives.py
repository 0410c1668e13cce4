# SPDX-License-Identifier: Apache-2.0
"""
Derivatives of torques and accelerations: the model's own equations, run on dual numbers.

Those of forward dynamics follow from the load, the torque of links and rotors. What friction
leaves of a torque, l(qd, tau), is what links and rotors need, L(q, qd, qdd). By differentiation of
L(q, qd, qdd(q, qd, tau)) = l(qd, tau) by any of the variables x,

    A dqdd/dx = d(l - L)/dx    at the constant acceleration that belongs to tau.
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


def state_derivatives(equations: Equations, function: Callable[[Equations], Sequence[Scalar]],
                      names: Sequence[str] = ('q', 'qd')) -> Matrices:
    """
    Return the derivatives of n results by vectors of variables, at constant other inputs.

    :param equations: equations at a state.
    :param function: n results from such equations.
    :param names: inputs to differentiate by.
    """
    n = len(equations.chain)
    duals = {name: variables(equations.inputs[name], first=k * n) for k, name in enumerate(names)}
    results = function(replace(equations, inputs={**equations.inputs, **duals},
                               functions=DualFunctions(equations.functions)))
    return [derivatives(results, k * n, n) for k in range(len(names))]


def acceleration_derivatives(equations: Equations) -> Matrices:
    """
    Return the derivatives of the accelerations by q, qd and tau.

    :param equations: equations at q, qd and tau.
    """
    at = replace(equations, inputs={**equations.inputs, 'qdd': equations.forward_dynamics()})
    A = FactoredMatrix.of(equations.mass_matrix())
    return [A.solved_columns(matrix) for matrix in state_derivatives(
        at, lambda dual: [left - needed for left, needed in zip(dual.carried_load(),
                                                                dual.load())],
        ('q', 'qd', 'tau'))]
