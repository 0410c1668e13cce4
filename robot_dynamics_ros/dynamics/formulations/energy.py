# SPDX-License-Identifier: Apache-2.0
"""
Energies of the rigid links, linear in their standard parameters (Khalil & Dombre 9.41-9.47).

The energy functions h of a link are what its ten parameters are multiplied with: H = E + U = h K.
Directly from the velocities they are (9.44); by recursion from link j-1, (9.45)-(9.47), they show
which parameters move together, which is where the grouping rules of the book come from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import parameters_seen_from
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import chosen
from robot_dynamics_ros.dynamics.recursions.kinematics import link_velocities
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.dynamics.scalars.vector import Scalar, Vector, cross, dot


def kinetic_energy(chain: Chain, q: ArrayLike, qd: ArrayLike) -> Array:
    """
    Return the kinetic energy of the rigid links [J]: a scalar array, or (N,).

    :param chain: the robot, with its inertias.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param qd: joint velocities [rad/s, m/s], same shape.
    """
    state = Samples.of(chain, q=q, qd=qd)
    h = state.vector(_kinetic(state))
    return np.asarray(h @ chain.standard_parameters)


def potential_energy(chain: Chain, q: ArrayLike) -> Array:
    """
    Return the potential energy of the rigid links [J], zero with all masses at the base's origin.

    :param chain: the robot, with its inertias.
    :param q: (n,) or (N, n) joint positions [rad, m].
    """
    state = Samples.of(chain, q=q)
    h = state.vector(_potential(state))
    return np.asarray(h @ chain.standard_parameters)


def energy_functions(chain: Chain, q: ArrayLike, qd: ArrayLike, *,
                     formulation: str = 'velocities') -> Array:
    """
    Return h (10 n,) or (N, 10 n): kinetic and potential energy are ``h @ standard_parameters``.

    :param chain: the robot; its inertias are not used.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param qd: joint velocities [rad/s, m/s], same shape.
    :param formulation: 'velocities' (9.44) or 'recursion' (9.45)-(9.47).
    :raises ParameterError: unknown formulation.
    """
    functions = chosen(ENERGY_FUNCTIONS, formulation, 'the energy functions')
    state = Samples.of(chain, q=q, qd=qd)
    return functions(state)


def _from_velocities(state: Samples) -> Array:
    """Return the energy functions of all links (9.44)."""
    kinetic = state.vector(_kinetic(state))
    return kinetic + state.vector(_potential(state))


def _by_recursion(state: Samples) -> Array:
    """Return the same link by link: h_j = h_(j-1) lambda_j + qd_j eta_j (9.45)."""
    chain = state.chain
    speeds = chain.moving_rates(state['qd'])
    q = np.atleast_2d(state.vector(chain.moving_positions(state['q'])))
    qd = np.atleast_2d(state.vector(speeds))
    twists = link_velocities(state.frames, speeds)[1:]
    h = np.zeros((len(q), 10))
    h[:, 6:9] = -chain.gravity_in_frame_0  # of the base, at rest
    h[:, 9] = -_lift_of_frame_0(chain)
    parts = [h]
    for j, (joint, (V, w)) in enumerate(zip(chain.moving, twists)):
        speed, h = speeds[j], parts[chain.parents[j]]
        eta = ([0.0, 0.0, w[0], 0.0, w[1], w[2] - 0.5 * speed, V[1], -V[0], 0.0, 0.0]
               if joint.revolute else
               [0.0] * 6 + [-w[1], w[0], 0.0, V[2] - 0.5 * speed])  # (9.47)
        carried = np.array([row @ parameters_seen_from(joint.pose(float(position)))
                            for row, position in zip(h, q[:, j])])  # (9.46), table 9.1
        parts.append(carried + qd[:, j:j + 1] * np.atleast_2d(state.vector(eta)))
    result = np.concatenate(parts[1:], axis=1)
    return result[0] if state.count is None else result


def _kinetic(state: Samples) -> list[Scalar]:
    h: list[Scalar] = []
    for V, w in link_velocities(state.frames, state.chain.moving_rates(state['qd']))[1:]:
        x, y, z = w
        h += [0.5 * x * x, x * y, x * z, 0.5 * y * y, y * z, 0.5 * z * z,
              *cross(V, w), 0.5 * dot(V, V)]  # (9.44): 2 MS . (V x omega) of (9.16)
    return h


def _potential(state: Samples) -> list[Scalar]:
    h: list[Scalar] = []
    seen: list[tuple[Vector, Scalar]] = [  # g and g . P_j
        (gravity_vector(state.chain), _lift_of_frame_0(state.chain))]
    for frame in state.frames[1:]:
        gravity, lift = seen[frame.parent]
        lift = lift + dot(gravity, frame.origin)
        gravity = frame.to_link(gravity)
        seen.append((gravity, lift))
        h += [0.0] * 6 + [-gravity[0], -gravity[1], -gravity[2], -lift]  # (9.25b)
    return h


def _lift_of_frame_0(chain: Chain) -> float:
    """Return g . P_0, P_0 being O_0 in the frame of the base link."""
    return float(chain.gravity @ chain.base_pose.translation)


#: Independent ways to the same energy functions.
ENERGY_FUNCTIONS: dict[str, Callable[[Samples], Array]] = {
    'velocities': _from_velocities,
    'recursion': _by_recursion,
}
