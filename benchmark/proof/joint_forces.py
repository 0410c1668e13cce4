# SPDX-License-Identifier: Apache-2.0
"""Rotors and dry friction for engines that have none: one step of the joints, solved exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics

#: Sweeps end when no friction impulse changes by more than this share of its limit.
_EXACT = 1e-12
_MOST_SWEEPS = 1000


class JointStep(NamedTuple):
    """
    What the joints do in one step.

    :param acceleration: (n,) mean acceleration [rad/s^2, m/s^2].
    :param velocity: (n,) velocity at the end [rad/s, m/s].
    :param dry: (n,) dry friction, against the motion or holding [N m, N].
    """

    acceleration: Array
    velocity: Array
    dry: Array


def joint_step(mass: Array, bias: Array, qd: Array, tau: Array, physics: JointPhysics,
               step: float) -> JointStep:
    """
    Return the step of a robot with rotors and friction.

    ``(M + Ia) (v - qd) / h = tau - bias - D v - f``, where f is at its limit against v, or
    anything below that holds a joint at v = 0: projected Gauss-Seidel finds the only solution.

    :param mass: (n, n) mass matrix of the links [kg m^2, kg].
    :param bias: (n,) torque of the links without acceleration [N m, N].
    :param qd: (n,) velocities [rad/s, m/s].
    :param tau: (n,) torque of the motors [N m, N].
    :param physics: rotor inertia Ia, viscous friction D, limits of the dry friction.
    :param step: step h [s].
    """
    inertia = mass + np.diag(physics.rotor_inertia)
    inverse = np.linalg.inv(inertia + step * np.diag(physics.viscous))
    limit = step * physics.coulomb
    impulse = np.zeros_like(limit)
    velocity = inverse @ (inertia @ qd + step * (tau - bias))
    for _ in range(_MOST_SWEEPS):
        before = impulse.copy()
        for i in range(limit.size):
            wanted = impulse[i] + velocity[i] / inverse[i, i]
            change = min(max(wanted, -limit[i]), limit[i]) - impulse[i]
            impulse[i] += change
            velocity = velocity - change * inverse[:, i]
        if np.all(np.abs(impulse - before) <= _EXACT * limit):
            break
    return JointStep((velocity - qd) / step, velocity, impulse / step)
