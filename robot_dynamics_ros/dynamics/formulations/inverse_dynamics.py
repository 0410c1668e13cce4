# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics by every formulation of the papers, on arrays: to compare and to study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.formulations.kane import kane, kane_matrices
from robot_dynamics_ros.dynamics.formulations.lagrange import Lagrange
from robot_dynamics_ros.dynamics.formulations.lin import GENERAL, LinConstants, lin_newton_euler
from robot_dynamics_ros.dynamics.formulations.lu_meng import closed_form, parameters_16, recursive
from robot_dynamics_ros.dynamics.formulations.wrenches import Wrenches, wrench_torque
from robot_dynamics_ros.dynamics.minimal.khalil_set import khalil_forms
from robot_dynamics_ros.dynamics.minimal.lin_set import lin_forms
from robot_dynamics_ros.dynamics.minimal.structure import Structure, structure
from robot_dynamics_ros.dynamics.recursions.body import bodies
from robot_dynamics_ros.dynamics.recursions.composite import inertia_constants
from robot_dynamics_ros.dynamics.recursions.customized import customized_newton_euler
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.recursions.regressor import link_twists, regressor
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame, gravity_vector
from robot_dynamics_ros.dynamics.scalars.pair import (
    LinkWrenches,
    Pair,
    power,
    wrenches_at_joints,
)
from robot_dynamics_ros.dynamics.scalars.samples import Samples, state_arrays
from robot_dynamics_ros.dynamics.scalars.vector import Scalar, total
from robot_dynamics_ros.errors import ParameterError

_Formulation = Callable[[Samples, 'LinkWrenches | None'], list[Scalar]]
_Equations = TypeVar('_Equations')


def inverse_dynamics(chain: Chain, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                     wrench: ArrayLike | None = None,
                     link_wrenches: Wrenches | None = None,
                     formulation: str = 'newton_euler') -> Array:
    """
    Return the torque of the rigid links (n,) or (N, n) [N m, N]: no rotors, no friction.

    :param chain: the robot, with its inertias.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param qd: joint velocities [rad/s, m/s], same shape.
    :param qdd: joint accelerations [rad/s^2, m/s^2], same shape.
    :param wrench: (6,) or (N, 6) force and moment exerted by the environment on the tip link, at
        its origin, in its frame [N, N m]; six more for every further tip; None = nothing.
    :param link_wrenches: the same on any links by name, as for `wrench_torque`; None = nothing.
    :param formulation: one of FORMULATIONS.
    :raises ParameterError: unknown formulation, one of a serial chain for a tree, or a link that
        is not on the chain.
    """
    equations = chosen(FORMULATIONS, formulation, 'the inverse dynamics', chain)
    if chain.followers:
        G, c = chain.coupling
        position, *rates = state_arrays(chain, q=q, qd=qd, qdd=qdd).values()
        return inverse_dynamics(chain.released, position @ G.T + c, *(r @ G.T for r in rates),
                                wrench=wrench, link_wrenches=link_wrenches,
                                formulation=formulation) @ G
    state = Samples.of(chain, q=q, qd=qd, qdd=qdd, wrench=wrench)
    external = None if wrench is None else wrenches_at_joints(chain, state['wrench'])
    tau = state.vector(equations(state, external))
    return tau if link_wrenches is None else tau - wrench_torque(chain, q, link_wrenches)


#: Formulations that hold for trees; the other papers are about serial chains.
FOR_TREES = ('newton_euler', 'khalil', 'regressor', 'composite_bodies', 'inverse_dynamics',
             'mass_matrix', 'linear_recursion', 'velocities', 'recursion')


def chosen(formulations: Mapping[str, _Equations], name: str, quantity: str,
           chain: Chain | None = None) -> _Equations:
    """
    Return one of several formulations of the same quantity.

    :param formulations: the formulations by name.
    :param name: name that the caller asks for.
    :param quantity: what they compute, for the message.
    :param chain: the robot; None = any.
    :raises ParameterError: unknown name, or a formulation of a serial chain for a tree.
    """
    if name in formulations and chain is not None and not (chain.serial or name in FOR_TREES):
        rest = ', '.join(each for each in formulations if each in FOR_TREES)
        raise ParameterError(f"formulation '{name}' of {quantity} is for serial chains, and "
                             f'{chain.robot} is a tree; use {rest}')
    if name not in formulations:
        raise ParameterError(f"unknown formulation '{name}' of {quantity}; "
                             f'known are {", ".join(formulations)}')
    return formulations[name]


def link_parameters(chain: Chain) -> list[list[float]]:
    """Return ten STANDARD_PARAMETERS per link, link 1 first."""
    return [link.standard_parameters.tolist() for link in chain.links]


def lin_constants(chain: Chain) -> tuple[LinConstants, Structure]:
    """Return the values of Lin's minimal set, and the joint groups that they belong to."""
    groups = structure(chain)
    forms = lin_forms(chain, groups)
    values = (forms.matrix @ chain.standard_parameters).tolist()
    return LinConstants.from_names(len(chain), dict(zip(forms.names, values))), groups


def _newton_euler(state: Samples, wrench: LinkWrenches | None) -> list[Scalar]:
    return newton_euler(state.frames, link_parameters(state.chain), state['qd'], state['qdd'],
                        gravity_vector(state.chain), wrench)


def _lin(state: Samples, wrench: LinkWrenches | None) -> list[Scalar]:
    constants, groups = lin_constants(state.chain)
    return lin_newton_euler(state.frames, constants, groups, state['qd'], state['qdd'],
                            gravity_vector(state.chain), _at_last_joint(state, wrench))


def _lin_general(state: Samples, wrench: LinkWrenches | None) -> list[Scalar]:
    frames = state.frames
    constants = LinConstants.of_all_joints(inertia_constants(frames, link_parameters(state.chain)))
    return lin_newton_euler(frames, constants, GENERAL, state['qd'], state['qdd'],
                            gravity_vector(state.chain), _at_last_joint(state, wrench))


def _khalil(state: Samples, wrench: LinkWrenches | None) -> list[Scalar]:
    """Return the torque by base parameters: grouped values, and zeros for all others."""
    chain = state.chain
    forms = khalil_forms(chain, structure(chain))
    x = dict.fromkeys(chain.standard_parameter_names, 0.0)
    x |= dict(zip(forms.names, (forms.matrix @ chain.standard_parameters).tolist()))
    values = list(x.values())
    links = [values[i:i + 10] for i in range(0, len(values), 10)]
    return customized_newton_euler(state.frames, links, state['qd'], state['qdd'],
                                   gravity_vector(chain), wrench)


def _kane(state: Samples, wrench: LinkWrenches | None) -> list[Scalar]:
    return kane(state.frames, bodies(state.chain), state['qd'], state['qdd'],
                gravity_vector(state.chain), _at_last_joint(state, wrench))


def _kane_matrices(state: Samples, wrench: LinkWrenches | None) -> list[Scalar]:
    frames = state.frames
    tau = kane_matrices(frames, bodies(state.chain), state['qd'], state['qdd'],
                        gravity_vector(state.chain))
    return _pushed(tau, frames, wrench)


def _lagrange(state: Samples, wrench: LinkWrenches | None) -> list[Scalar]:
    frames = state.frames
    equations = Lagrange(frames, link_parameters(state.chain), gravity_vector(state.chain))
    return _pushed(equations.torque(state['qd'], state['qdd']), frames, wrench)


def _regressor(state: Samples, wrench: LinkWrenches | None) -> list[Scalar]:
    frames = state.frames
    Y = regressor(frames, state['qd'], state['qdd'], gravity_vector(state.chain))
    return _pushed(_times(Y, state.chain.standard_parameters.tolist()), frames, wrench)


def _lu_meng(form: Callable[..., list[list[Scalar]]]) -> _Formulation:
    def torque(state: Samples, wrench: LinkWrenches | None) -> list[Scalar]:
        frames = state.frames
        Y = form(frames, state['qd'], state['qdd'], gravity_vector(state.chain))
        theta = [x for body in bodies(state.chain) for x in parameters_16(body)]
        return _pushed(_times(Y, theta), frames, wrench)

    return torque


def _times(Y: Sequence[Sequence[Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    return [total([y * value for y, value in zip(row, x)]) for row in Y]


def _pushed(tau: list[Scalar], frames: Sequence[JointFrame],
            wrench: LinkWrenches | None) -> list[Scalar]:
    """Return the torque with what the environment contributes by virtual work taken off."""
    twists = link_twists(frames) if wrench else []
    for link, pair in (wrench or {}).items():
        for i, twist in enumerate(twists[link]):
            tau[i] = tau[i] - power(twist, pair)
    return tau


def _at_last_joint(state: Samples, wrench: LinkWrenches | None) -> Pair | None:
    """Return the wrench on the tip of a serial chain at O_n in E_n; None = nothing."""
    return None if wrench is None else wrench[len(state.chain)]


#: Independent ways to the same torque.
FORMULATIONS: dict[str, _Formulation] = {
    'newton_euler': _newton_euler,
    'lin': _lin,
    'lin_general': _lin_general,
    'khalil': _khalil,
    'kane': _kane,
    'kane_matrices': _kane_matrices,
    'lagrange': _lagrange,
    'regressor': _regressor,
    'lu_meng': _lu_meng(closed_form),
    'lu_meng_recursive': _lu_meng(recursive),
}
