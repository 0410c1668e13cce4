# SPDX-License-Identifier: Apache-2.0
"""
The direction of dry friction along a motion (Dahl 1968).

After a reversal, gears and seals first give way elastically: dry friction turns over a distance,

    dz/dt = (qd - z |qd|) / presliding,    direction = z |tanh(qd / coulomb_velocity)|

In steady motion z is the sign of the velocity, and the direction is the smooth sign that functions
of a single state use: only who knows the motion before can know more.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.joints.joint_terms import (
    JointTerms,
    Transmission,
    sharpness_of,
    smooth_sign,
)


def turned(z: Array, travel: Array, presliding: float | Array) -> Array:
    """
    Return the state z of the friction after a motion without a reversal.

    :param z: state before, between -1 and 1.
    :param travel: distance with sign [rad, m].
    :param presliding: distance over which friction turns [rad, m]; 0 = at once.
    """
    sign = np.sign(travel)
    return np.asarray(sign + (z - sign) * _rest(travel, presliding))


def presliding_state(position: Array, presliding: Array, start: Array | None = None) -> Array:
    """
    Return the state z of the friction (N, n) along a motion.

    :param position: (N, n) motor positions in the order of time [rad, m].
    :param presliding: (n,) distances over which friction turns [rad, m]; 0 = at once.
    :param start: (n,) state at the first sample; None = as if every motor had come from afar.
    """
    z = np.empty_like(position)
    for j, distance in enumerate(presliding):
        q = position[:, j]
        signs = np.sign(np.diff(q))
        moving = np.flatnonzero(signs)
        if moving.size == 0:
            z[:, j] = 0.0 if start is None else start[j]
            continue
        signs = signs[moving[np.maximum(np.searchsorted(moving, np.arange(signs.size), 'right')
                                        - 1, 0)]]  # at rest: the direction before
        begins = np.concatenate([[0], np.flatnonzero(np.diff(signs)) + 1])  # of every way
        travel = np.diff(q[np.append(begins, signs.size)])
        values = [float(signs[0]) if start is None else float(start[j])]
        for sign, rest in zip(signs[begins].tolist(), _rest(travel, distance).tolist()):
            values.append(sign + (values[-1] - sign) * rest)
        way = np.repeat(np.arange(begins.size), np.diff(np.append(begins, signs.size)))
        z[0, j] = values[0]
        z[1:, j] = turned(np.array(values)[way], q[1:] - q[begins[way]], distance)
    return z


def _rest(travel: Array, presliding: float | Array) -> Array:
    """Return what is left of the old direction after a distance."""
    with np.errstate(divide='ignore', invalid='ignore'):
        rest = np.exp(-np.abs(travel) / presliding)
    return np.asarray(np.where(travel == 0.0, 1.0, rest))


def direction_along(physics: JointPhysics, q: Array, qd: Array,
                    start: Array | None = None) -> Array:
    """
    Return the direction of the dry friction of every motor (N, n) along a motion.

    :param physics: joint terms.
    :param q: (N, n) joint positions in the order of time [rad, m].
    :param qd: (N, n) joint velocities [rad/s, m/s].
    :param start: (n,) state z at the first sample; None = as if every motor had come from afar.
    """
    transmission = Transmission.of(physics)
    velocity = transmission.motor_motion(qd)
    if physics.presliding is None or not np.any(physics.presliding):
        with np.errstate(over='ignore'):  # of a sign that is exact
            return np.asarray(smooth_sign(velocity, sharpness_of(physics), np.tanh))
    z = presliding_state(transmission.motor_motion(q), physics.presliding, start)
    return directed(z, velocity, physics.presliding, sharpness_of(physics))


def directed(z: Array, velocity: Array, presliding: Array, sharpness: float) -> Array:
    """
    Return the direction of the dry friction of motors (..., n).

    :param z: (..., n) state of the friction.
    :param velocity: (..., n) motor velocities [rad/s, m/s].
    :param presliding: (n,) distances over which friction turns [rad, m]; 0 = at once.
    :param sharpness: see `smooth_sign`.
    """
    with np.errstate(over='ignore'):  # of a sign that is exact
        smooth = smooth_sign(velocity, sharpness, np.tanh)
    return np.asarray(np.where(presliding > 0.0, z * np.abs(smooth), smooth))


def friction_along(physics: JointPhysics, q: Array, qd: Array, load: Array,
                   start: Array | None = None) -> Array:
    """
    Return the torque of friction and offset (N, n) along a motion [N m, N].

    :param physics: joint terms.
    :param q: (N, n) joint positions in the order of time [rad, m].
    :param qd: (N, n) joint velocities [rad/s, m/s].
    :param load: (N, n) torque of links and rotors [N m, N].
    :param start: (n,) state z at the first sample; None = as if every motor had come from afar.
    """
    rows = JointTerms.of(physics, np).friction_torque(
        list(qd.T), list(load.T), list(direction_along(physics, q, qd, start).T))
    return np.stack(rows, axis=-1)
