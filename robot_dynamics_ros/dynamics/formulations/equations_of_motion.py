# SPDX-License-Identifier: Apache-2.0
"""
The parts of tau = A(q) qdd + C(q, qd) qd + Q(q) by every formulation of the papers, on arrays.

Of the rigid links only, to compare and to study; `Model` has the same quantities with rotors and
friction, compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import (
    chosen,
    lin_constants,
    link_parameters,
)
from robot_dynamics_ros.dynamics.formulations.lagrange import Lagrange
from robot_dynamics_ros.dynamics.formulations.wrenches import Wrenches, wrench_torque
from robot_dynamics_ros.dynamics.recursions.composite import InertiaConstants
from robot_dynamics_ros.dynamics.recursions.forward_dynamics import (
    by_mass_matrix,
    linear_recursion,
)
from robot_dynamics_ros.dynamics.recursions.mass_matrix import (
    ScalarRows,
    by_inverse_dynamics,
    composite_bodies,
    from_regressor,
    renaud,
    renaud_gravity,
)
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.recursions.regressor import reduced_matrix, regressor
from robot_dynamics_ros.dynamics.scalars.factored_matrix import solve_from_tip
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame, gravity_vector
from robot_dynamics_ros.dynamics.scalars.pair import LinkWrenches, wrenches_at_joints
from robot_dynamics_ros.dynamics.scalars.samples import Samples, state_arrays
from robot_dynamics_ros.dynamics.scalars.vector import ZERO, Scalar, Vector
from robot_dynamics_ros.errors import ParameterError


def mass_matrix(chain: Chain, q: ArrayLike, *, formulation: str = 'composite_bodies') -> Array:
    """
    Return the mass matrix A (n, n) or (N, n, n) of the rigid links [kg m^2, kg m, kg].

    :param chain: the robot, with its inertias.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param formulation: one of MASS_MATRICES.
    :raises ParameterError: unknown formulation.
    """
    equations = chosen(MASS_MATRICES, formulation, 'the mass matrix', chain)
    if chain.followers:
        G, c = chain.coupling
        whole = mass_matrix(chain.released, state_arrays(chain, q=q)['q'] @ G.T + c,
                            formulation=formulation)
        return np.asarray(G.T @ whole @ G)
    state = Samples.of(chain, q=q)
    return state.matrix(equations(state))


def gravity_torque(chain: Chain, q: ArrayLike, *, formulation: str = 'newton_euler') -> Array:
    """
    Return the torque Q (n,) or (N, n) that holds the links against gravity [N m, N].

    :param chain: the robot, with its inertias.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param formulation: one of GRAVITY_TORQUES.
    :raises ParameterError: unknown formulation.
    """
    equations = chosen(GRAVITY_TORQUES, formulation, 'the gravity torque', chain)
    if chain.followers:
        G, c = chain.coupling
        return gravity_torque(chain.released, state_arrays(chain, q=q)['q'] @ G.T + c,
                              formulation=formulation) @ G
    state = Samples.of(chain, q=q)
    return state.vector(equations(state))


def coriolis_matrix(chain: Chain, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return C (n, n) or (N, n, n) of the Christoffel symbols [kg m^2/s, kg m/s, kg/s].

    ``C qd`` is the Coriolis and centrifugal torque, and ``dA/dt - 2 C`` is skew-symmetric
    (Khalil & Dombre 9.7).

    :param chain: the robot, with its inertias.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param qd: joint velocities [rad/s, m/s], same shape.
    """
    if not chain.serial:
        raise ParameterError(f"Lagrange's equations are written for serial chains, and "
                             f'{chain.robot} is a tree; use coriolis_matrix of its Model')
    state = Samples.of(chain, q=q, qd=qd)
    return state.matrix(_lagrange(state).coriolis_matrix(state['qd']))


def forward_dynamics(chain: Chain, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
                     wrench: ArrayLike | None = None,
                     link_wrenches: Wrenches | None = None,
                     formulation: str = 'mass_matrix') -> Array:
    """
    Return the joint accelerations (n,) or (N, n) of the rigid links [rad/s^2, m/s^2].

    They are NaN where a joint moves nothing that has inertia. With joints that follow others every
    formulation is that of the mass matrix.

    :param chain: the robot, with its inertias.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param qd: joint velocities [rad/s, m/s], same shape.
    :param tau: torques on the rigid links [N m, N], same shape.
    :param wrench: (6,) or (N, 6) force and moment exerted by the environment on the tip link, at
        its origin, in its frame [N, N m]; None = nothing.
    :param link_wrenches: the same on any links by name, as for `wrench_torque`; None = nothing.
    :param formulation: one of FORWARD_DYNAMICS.
    :raises ParameterError: unknown formulation.
    """
    solve = chosen(FORWARD_DYNAMICS, formulation, 'the forward dynamics', chain)
    state = Samples.of(chain, q=q, qd=qd, tau=tau, wrench=wrench)
    external = None if wrench is None else wrenches_at_joints(chain, state['wrench'])
    load = state['tau']
    if link_wrenches is not None:
        outer = np.moveaxis(wrench_torque(chain, q, link_wrenches), -1, 0)
        load = [own + other for own, other in zip(load, outer)]
    if chain.followers:
        solve = partial(_with_followers, chain)
    try:
        with np.errstate(all='ignore'):
            return state.vector(solve(state.frames, link_parameters(chain), state['qd'], load,
                                      gravity_vector(chain), external))
    except ZeroDivisionError:
        return state.vector([math.nan] * len(chain))


def _with_followers(chain: Chain, frames: Sequence[JointFrame],
                    parameters: Sequence[Sequence[Scalar]], qd: Sequence[Scalar],
                    tau: Sequence[Scalar], gravity: Vector,
                    wrench: LinkWrenches | None) -> list[Scalar]:
    """Return the accelerations of joints that others follow, as `by_mass_matrix` does."""
    A = reduced_matrix(chain, composite_bodies(frames, parameters))
    bias = chain.joint_sums(newton_euler(frames, parameters, chain.moving_rates(qd),
                                         [0.0] * len(parameters), gravity, wrench))
    return solve_from_tip(A, [t - b for t, b in zip(tau, bias)])


def _composite_bodies(state: Samples) -> ScalarRows:
    return composite_bodies(state.frames, link_parameters(state.chain))


def _minimal(state: Samples) -> InertiaConstants:
    """Return inertia constants made of the minimal linear combinations alone."""
    constants, groups = lin_constants(state.chain)
    return constants.representative(groups)


def _renaud(state: Samples) -> ScalarRows:
    return renaud(state.frames, _minimal(state))


def _inverse_dynamics(state: Samples) -> ScalarRows:
    return by_inverse_dynamics(state.frames, link_parameters(state.chain))


def _lagrange(state: Samples) -> Lagrange:
    return Lagrange(state.frames, link_parameters(state.chain), gravity_vector(state.chain))


def _regressor(state: Samples) -> ScalarRows:
    n = len(state.chain)
    at_rest = partial(regressor, state.frames, [0.0] * n, gravity=ZERO)
    A, _ = from_regressor(at_rest, state.chain.standard_parameters.tolist(), n)
    return A


def _newton_euler_gravity(state: Samples) -> list[Scalar]:
    rest = [0.0] * len(state.chain)
    return newton_euler(state.frames, link_parameters(state.chain), rest, rest,
                        gravity_vector(state.chain))


def _renaud_gravity(state: Samples) -> list[Scalar]:
    return renaud_gravity(state.frames, _minimal(state), gravity_vector(state.chain))


#: Independent ways to the same mass matrix.
MASS_MATRICES: dict[str, Callable[[Samples], ScalarRows]] = {
    'composite_bodies': _composite_bodies,
    'renaud': _renaud,
    'lagrange': lambda state: _lagrange(state).mass_matrix(),
    'inverse_dynamics': _inverse_dynamics,
    'regressor': _regressor,
}

#: Independent ways to the same gravity torque.
GRAVITY_TORQUES: dict[str, Callable[[Samples], list[Scalar]]] = {
    'newton_euler': _newton_euler_gravity,
    'renaud': _renaud_gravity,
    'lagrange': lambda state: _lagrange(state).gravity_torque(),
}

#: Independent ways to the same joint accelerations.
FORWARD_DYNAMICS: dict[str, Callable[..., list[Scalar]]] = {
    'mass_matrix': by_mass_matrix,
    'linear_recursion': linear_recursion,
}
