# SPDX-License-Identifier: Apache-2.0
"""
Wrenches that act on any link, and those that the joints carry (Khalil & Dombre 9.91-9.94, 9.123).

A wrench is exerted by the environment: the opposite of the book's f_ej. It is given at the origin
of its link, in its frame, as the URDF has them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.recursions.forward_dynamics import linear_recursion
from robot_dynamics_ros.dynamics.recursions.motion import link_motion
from robot_dynamics_ros.dynamics.recursions.newton_euler import link_wrench
from robot_dynamics_ros.dynamics.recursions.regressor import link_twists
from robot_dynamics_ros.dynamics.scalars.frames import FixedFrame, JointFrame, gravity_vector
from robot_dynamics_ros.dynamics.scalars.pair import (
    ZERO_PAIR,
    Pair,
    difference,
    moved_wrench,
    power,
    summed,
)
from robot_dynamics_ros.dynamics.scalars.samples import Samples, real_array
from robot_dynamics_ros.dynamics.scalars.vector import Scalar
from robot_dynamics_ros.errors import ParameterError, StateError

#: Wrenches (6,) or (N, 6) exerted by the environment, by the name of the link [N, N m].
Wrenches: TypeAlias = Mapping[str, ArrayLike]


def wrench_torque(chain: Chain, q: ArrayLike, wrenches: Wrenches) -> Array:
    """
    Return what wrenches contribute to the torque, J^T w, (n,) or (N, n) [N m, N].

    The torque that the motors need is ``inverse_dynamics(...) - wrench_torque(...)``.

    :param chain: the robot; its inertias are not used.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param wrenches: force and moment on each link, at its origin, in its frame.
    :raises ParameterError: a link that is not on the chain.
    :raises StateError: a wrong size.
    """
    state = Samples.of(chain, q=q)
    return state.vector(chain.joint_sums(_torque(state.frames, by_link(state, wrenches))))


def joint_wrenches(chain: Chain, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                   wrenches: Wrenches | None = None, formulation: str = 'newton_euler') -> Array:
    """
    Return force and moment that every link feels from the one before it, (n, 6) or (N, n, 6).

    Row j is at O_j, in E_j [N, N m]; a joint that follows another has a row, too. Its z-component
    (moment of a revolute, force of a prismatic joint) is the torque of the joint; the other five
    are what its bearings carry.

    :param chain: the robot, with its inertias.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param qd: joint velocities [rad/s, m/s], same shape.
    :param qdd: joint accelerations [rad/s^2, m/s^2], same shape.
    :param wrenches: wrenches on the links, as for `wrench_torque`; None = nothing.
    :param formulation: 'newton_euler' (9.91)-(9.93), or 'linear_recursion': the wrench (9.123),
        by (9.113) from the forward dynamics with the torque of this motion; NaN where a joint
        moves nothing that has inertia.
    :raises ParameterError: a link that is not on the chain, or an unknown formulation.
    """
    if formulation not in ('newton_euler', 'linear_recursion'):
        raise ParameterError(f"unknown formulation '{formulation}' of the joint wrenches; known "
                             'are newton_euler, linear_recursion')
    state = Samples.of(chain, q=q, qd=qd, qdd=qdd)
    outer = by_link(state, wrenches or {})
    reactions = _reactions(state, outer)
    if formulation == 'linear_recursion':
        tau = [moment[2] if frame.revolute else force[2]
               for frame, (force, moment) in zip(state.frames[1:], reactions)]
        reactions = []
        links = [link.standard_parameters.tolist() for link in chain.links]
        try:
            with np.errstate(all='ignore'):
                linear_recursion(state.frames, links, chain.moving_rates(state['qd']), tau,
                                 gravity_vector(chain), link_wrenches=outer, reactions=reactions)
        except ZeroDivisionError:  # a joint that moves nothing that has inertia
            reactions = [((math.nan,) * 3, (math.nan,) * 3)] * len(links)
    return state.matrix([[*force, *moment] for force, moment in reactions])


def by_link(state: Samples, wrenches: Wrenches) -> list[Pair]:
    """
    Return wrenches at O_i in E_i of the links 0..n; entry 0 is the base.

    :param state: the state they act in.
    :param wrenches: wrenches as for `wrench_torque`.
    """
    chain = state.chain
    result = [ZERO_PAIR] * (len(chain.links) + 1)
    tips = {tip.link: tip for tip in chain.tips}
    for name, values in wrenches.items():
        fx, fy, fz, tx, ty, tz = _scalars(state, name, values)
        pair: Pair = ((fx, fy, fz), (tx, ty, tz))
        if name in tips:
            place, pair = tips[name].joint, moved_wrench(FixedFrame.at(tips[name].pose), pair)
        elif name in chain.link_names:
            place = chain.link_names.index(name) + 1
            pair = moved_wrench(FixedFrame.at(chain.link_frames[place - 1]), pair)
        else:
            raise ParameterError(f"no link '{name}' on the chain; its links are "
                                 f'{", ".join(dict.fromkeys((*chain.link_names, *tips)))}')
        result[place] = summed(pair, result[place])
    return result


def _scalars(state: Samples, name: str, values: ArrayLike) -> list[Scalar]:
    array = real_array(f'the wrench on {name}', values)
    expected = (6,) if state.count is None else (state.count, 6)
    if array.shape != expected:
        raise StateError(f'the wrench on {name} has shape {array.shape}, expected {expected}: '
                         'fx, fy, fz, tx, ty, tz')
    return list(array.T) if state.count is not None else list(map(float, array))


def _torque(frames: Sequence[JointFrame], wrenches: Sequence[Pair]) -> list[Scalar]:
    """Return the virtual work of the wrenches along every joint."""
    twists = link_twists(frames)
    tau: list[Scalar] = [0.0] * (len(frames) - 1)
    for seen, wrench in zip(twists, wrenches):
        if wrench is not ZERO_PAIR:
            tau[:len(seen)] = [t + power(S, wrench) for t, S in zip(tau, seen)]
    return tau


def _reactions(state: Samples, wrenches: Sequence[Pair]) -> list[Pair]:
    """Return what the parent exerts on link i, for i = 1..m."""
    frames, chain = state.frames, state.chain
    motion = link_motion(frames, chain.moving_rates(state['qd']),
                         chain.moving_rates(state['qdd']), gravity_vector(chain))
    carried = [ZERO_PAIR] * len(frames)
    reactions = []
    for i in range(len(frames) - 1, 0, -1):
        own = link_wrench(motion[i], chain.links[i - 1].standard_parameters.tolist())
        reaction = difference(summed(own, carried[i]), wrenches[i])  # (9.91), (9.93)
        reactions.append(reaction)
        parent = frames[i].parent
        carried[parent] = summed(moved_wrench(frames[i], reaction), carried[parent])
    reactions.reverse()
    return reactions
