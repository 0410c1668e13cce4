# SPDX-License-Identifier: Apache-2.0
"""
Regressors of Lu & Meng (1993): closed form from the link Lagrangians, and recursive.

Both have 16 parameters per link, linear in mass, mass centre p and central tensor. The payload is
link n+1, fixed to link n. The closed form also splits Y = dW/dt + Z, where W and Z need no
acceleration (section III).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.dynamics.recursions.body import Body, bodies
from robot_dynamics_ros.dynamics.recursions.motion import (
    LinkMotion,
    link_motion,
    motion_of_fixed_frame,
)
from robot_dynamics_ros.dynamics.recursions.regressor import link_twists
from robot_dynamics_ros.dynamics.scalars.frames import FixedFrame, JointFrame, gravity_vector
from robot_dynamics_ros.dynamics.scalars.pair import (
    ZERO_PAIR,
    Pair,
    carried_twist,
    difference,
    moved_wrench,
    scaled,
    summed,
)
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    negate,
    scale,
    transpose,
)
from robot_dynamics_ros.errors import ParameterError

#: The 16 parameters of a link (76): p is the mass centre; Ixy = + integral x y dm about it, which
#: is MINUS the entry of the inertia tensor (105).
PARAMETERS_16 = ('m', 'mpx', 'mpy', 'mpz', 'mpx2', 'mpy2', 'mpz2', 'mpxpy', 'mpxpz', 'mpypz',
                 'Ixx', 'Iyy', 'Izz', 'Ixy', 'Ixz', 'Iyz')

#: Columns that are left where more is known about a link (section III-B).
LINK_CASES: dict[str, tuple[int, ...]] = {
    'general': tuple(range(16)),
    'principal_axes': tuple(range(13)),
    'point_mass': tuple(range(10)),
    'centre_on_x': (0, 1, 4, 10, 11, 12),
    'centre_on_z': (0, 3, 6, 10, 11, 12),
}

_AXES: tuple[Vector, Vector, Vector] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_PRODUCTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def lu_meng_regressor(chain: Chain, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                      link_case: str = 'general', payload: Pose | None = None) -> Array:
    """
    Return Y (n, c n) or (N, n, c n) with tau = Y theta, theta = ``lu_meng_parameters(chain)``.

    With a payload there are c more columns: its parameters in its own frame.

    :param chain: the robot; its inertias are not used.
    :param q: (n,) or (N, n) joint positions [rad, m].
    :param qd: joint velocities [rad/s, m/s], same shape.
    :param qdd: joint accelerations [rad/s^2, m/s^2], same shape.
    :param link_case: what is known about every link, one of LINK_CASES: c columns are left.
    :param payload: frame of a payload, in the frame of the tip link; None = no payload.
    :raises ParameterError: unknown case.
    """
    kept = _kept(link_case)
    if not chain.serial:
        raise ParameterError("Lu and Meng's regressor is for serial chains, and "
                             f'{chain.robot} is a tree; use standard_regressor')
    state = Samples.of(chain, q=q, qd=qd, qdd=qdd)
    frame = None if payload is None else FixedFrame.at(chain.tip_pose @ payload)
    Y = state.matrix(closed_form(state.frames, state['qd'], state['qdd'], gravity_vector(chain),
                                 frame))
    return Y.reshape((*Y.shape[:-1], -1, 16))[..., kept].reshape((*Y.shape[:-1], -1))


def lu_meng_parameters(chain: Chain, *, link_case: str = 'general') -> Array:
    """
    Return theta (c n,): the PARAMETERS_16 of every link, or those that are left, link 1 first.

    :param chain: the robot, with its inertias.
    :param link_case: case as for `lu_meng_regressor`.
    :raises ParameterError: unknown case, or a link with a first moment but no mass.
    """
    kept = _kept(link_case)
    theta = np.array([parameters_16(body) for body in bodies(chain)], dtype=np.float64)
    return np.asarray(theta[:, kept].ravel())


def _kept(link_case: str) -> list[int]:
    if link_case not in LINK_CASES:
        raise ParameterError(f"unknown link case '{link_case}'; known are "
                             f'{", ".join(LINK_CASES)}')
    return list(LINK_CASES[link_case])


def parameters_16(body: Body) -> list[Scalar]:
    """Return the 16 parameters of a link."""
    m, p, J = body.mass, body.centre, body.tensor
    products = [m * p[a] * p[b] for a, b in _PRODUCTS]
    return [m, *scale(m, p), *products, J[0][0], J[1][1], J[2][2], -J[0][1], -J[0][2], -J[1][2]]


def from_standard_columns(row: Sequence[Scalar]) -> list[Scalar]:
    """
    Return 16 columns from the ten of the standard parameters (tensor about O_i).

    The six products m p p act exactly like moments of inertia: of the 16 parameters only ten
    can ever be told apart.
    """
    XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = row
    return [M, MX, MY, MZ, YY + ZZ, XX + ZZ, XX + YY, -XY, -XZ, -YZ,
            XX, YY, ZZ, -XY, -XZ, -YZ]


def momentum_row(a: Pair, b: Pair) -> list[Scalar]:
    """
    Return the coefficients of the ten standard parameters in a . I b, for twists a and b.

    :param a: twist of the link (velocity of O_i, angular velocity) in E_i.
    :param b: another one, or its rate.
    """
    (av, aw), (bv, bw) = a, b
    first = add(cross(av, bw), cross(bv, aw))
    return [aw[0] * bw[0], aw[0] * bw[1] + aw[1] * bw[0], aw[0] * bw[2] + aw[2] * bw[0],
            aw[1] * bw[1], aw[1] * bw[2] + aw[2] * bw[1], aw[2] * bw[2],
            *first, dot(av, bv)]


def momentum_split(frames: Sequence[JointFrame], qd: Sequence[Scalar], gravity: Vector,
                   payload: FixedFrame | None = None,
                   ) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """
    Return W and Z with Y = dW/dt + Z: generalised momentum and the rest, no acceleration.

    ``W x`` is dT/dqd = A qd and ``Z x`` is -dT/dq + dU/dq. Columns are the ten standard
    parameters of every link, then those of the payload.

    :param frames: E_0..E_n from `joint_frames`.
    :param qd: n joint velocities [rad/s, m/s].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    :param payload: frame of the payload in E_n; None = no payload.
    """
    W: list[list[Scalar]] = [[] for _ in qd]
    Z: list[list[Scalar]] = [[] for _ in qd]
    for twists, g in _links(frames, gravity, payload):
        inside = _inside(twists, qd)
        V = inside[-1]
        for j in range(len(qd)):
            if j >= len(twists):
                W[j] += [0.0] * 10
                Z[j] += [0.0] * 10
                continue
            W[j] += momentum_row(twists[j], V)
            Z[j] += _position_row(twists[j], inside[j], V, g)
    return W, Z


def closed_form(frames: Sequence[JointFrame], qd: Sequence[Scalar], qdd: Sequence[Scalar],
                gravity: Vector, payload: FixedFrame | None = None) -> list[list[Scalar]]:
    """
    Return Y in closed form: n rows of 16 columns per link, those of the payload last (22)-(48).

    The paper takes its products in E_0; here they are taken in E_i, where the rotation matrix of
    the link and its derivative do not appear. Y13 of (33) multiplies m p.p and so belongs to
    the columns of theta_4, as `from_standard_columns` has it.

    :param frames: E_0..E_n from `joint_frames`.
    :param qd: n joint velocities [rad/s, m/s].
    :param qdd: n joint accelerations [rad/s^2, m/s^2].
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    :param payload: frame of the payload in E_n; None = no payload.
    """
    rows: list[list[Scalar]] = [[] for _ in qd]
    for twists, g in _links(frames, gravity, payload):
        inside = _inside(twists, qd)
        V, V_dot = inside[-1], ZERO_PAIR
        rates: list[Pair] = []
        for j, S in enumerate(twists):
            # in E_i the twist of joint j changes with the joints between j and i
            rates.append(carried_twist(S, difference(V, inside[j + 1])))
            V_dot = summed(V_dot, summed(scaled(qdd[j], S), scaled(qd[j], rates[j])))
        for j in range(len(qd)):
            if j >= len(twists):
                rows[j] += [0.0] * 16
                continue
            W_dot = zip(momentum_row(rates[j], V), momentum_row(twists[j], V_dot))
            Z = _position_row(twists[j], inside[j], V, g)
            rows[j] += from_standard_columns([a + b + z for (a, b), z in zip(W_dot, Z)])
    return rows


def recursive(frames: Sequence[JointFrame], qd: Sequence[Scalar], qdd: Sequence[Scalar],
              gravity: Vector, payload: FixedFrame | None = None) -> list[list[Scalar]]:
    """
    Return Y by recursion (66)-(85), for revolute and prismatic joints; columns as `closed_form`.

    The paper prints the row of a prismatic joint but not its motion, which `link_motion` has.
    """
    n = len(qd)
    motion = link_motion(frames, qd, qdd, gravity)
    columns: list[Pair] = []
    width = 16 * (n if payload is None else n + 1)
    if payload is not None:
        columns = [moved_wrench(payload, column)
                   for column in unit_wrenches(motion_of_fixed_frame(motion[n], payload))]
    rows: list[list[Scalar]] = []
    for i in range(n, 0, -1):
        columns = unit_wrenches(motion[i]) + columns  # (82), (84)
        part = 1 if frames[i].revolute else 0
        row = [column[part][2] for column in columns]  # (85)
        rows.append([0.0] * (width - len(row)) + row)
        columns = [moved_wrench(frames[i], column) for column in columns]
    rows.reverse()
    return rows


def unit_wrenches(motion: LinkMotion) -> list[Pair]:
    """
    Return the wrenches (force, moment about O_i) of one unit of each of the 16 parameters.

    :param motion: motion of the link, in its frame.
    """
    H = transpose(motion.U)  # columns of H = [omega_dot]x + omega omega^T - |omega|^2 (68)
    a, w, w_dot = motion.acceleration, motion.omega, motion.omega_dot
    mass: list[Pair] = [(a, ZERO)]
    moments = [(H[k], cross(_AXES[k], a)) for k in range(3)]
    # p x (H p): (111), whose third row must read h2(mpx p) - h1(mpy p)
    products = [(ZERO, cross(_AXES[i], H[i]) if i == j else
                 add(cross(_AXES[i], H[j]), cross(_AXES[j], H[i]))) for i, j in _PRODUCTS]
    tensor = [(ZERO, add(_tensor_column(i, j, w_dot), cross(w, _tensor_column(i, j, w))))
              for i, j in _PRODUCTS]  # E = B(omega_dot) + [omega]x B(omega) (70)
    return mass + moments + products + tensor


def _tensor_column(i: int, j: int, w: Vector) -> Vector:
    """Return the column of B(w) (108) for the moment I_ij: B(w) theta_3 = I w."""
    if i == j:
        return scale(w[i], _AXES[i])
    return negate(add(scale(w[j], _AXES[i]), scale(w[i], _AXES[j])))


def _links(frames: Sequence[JointFrame], gravity: Vector,
           payload: FixedFrame | None) -> list[tuple[list[Pair], Vector]]:
    """Return for links 1..n and the payload the joint twists and gravity in their frames."""
    twists = link_twists(frames, payload)[1:]
    gravities = [gravity]
    for frame in frames[1:]:
        gravities.append(frame.to_link(gravities[frame.parent]))
    if payload is not None:
        gravities.append(payload.to_link(gravities[-1]))
    return list(zip(twists, gravities[1:]))


def _inside(twists: Sequence[Pair], qd: Sequence[Scalar]) -> list[Pair]:
    """Return the twist of the link by joints 1..j, for j = 0..i."""
    sums = [ZERO_PAIR]
    for S, speed in zip(twists, qd):
        sums.append(summed(sums[-1], scaled(speed, S)))
    return sums


def _position_row(S: Pair, inside: Pair, V: Pair, gravity: Vector) -> list[Scalar]:
    """Return -dT/dq + dU/dq of one link for one joint, by the ten standard parameters."""
    v, w = S
    kinetic = momentum_row(carried_twist(inside, S), V)
    potential = [0.0] * 6 + [*cross(w, gravity), -dot(v, gravity)]  # (45), (46), plus as printed
    return [u - t for u, t in zip(potential, kinetic)]
