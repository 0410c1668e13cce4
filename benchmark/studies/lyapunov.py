# SPDX-License-Identifier: Apache-2.0
"""
The Lyapunov function of the laws of Slotine & Li and of Lu & Meng, along a simulated motion.

``V = (s^T H s + theta~^T Gamma^-1 theta~) / 2`` (90). For the original law it never grows. For
the modified one ``V' = -s^T (K - C_bar) s`` (91), ``C_bar = (C + C^T) / 2 = H' / 2``: sure to fall
only where the smallest eigenvalue of ``K - C_bar`` is positive, the margin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.control.adaptive.adaptation import Adaptation
from robot_dynamics_ros.control.adaptive.laws import SlotineLi
from studies.continuous_loop import ContinuousRun


def lyapunov_function(plant: Model, adaptation: Adaptation, run: ContinuousRun,
                      true_values: ArrayLike) -> Array:
    """
    Return V (N,) [J].

    :param plant: the robot as it is.
    :param adaptation: Gamma; unknowns with gain 0 do not count.
    :param run: the motion.
    :param true_values: (m,) true values of the unknowns.
    """
    kinetic = np.einsum('ti,tij,tj->t', run.s, plant.mass_matrix(run.q), run.s)
    learned = adaptation.gains > 0.0
    wrong = (run.theta - np.asarray(true_values))[:, learned]
    return np.asarray(0.5 * (kinetic + wrong**2 @ (1.0 / adaptation.gains[learned])))


def damping_margin(plant: Model, law: SlotineLi, run: ContinuousRun) -> Array:
    """
    Return the smallest eigenvalue (N,) of K - C_bar [N m s/rad]; V falls where it is positive.

    :param plant: the robot as it is.
    :param law: its K; without one, lambda times the mass matrix.
    :param run: the motion.
    """
    K = (np.diag(law.damping) if law.damping is not None
         else law.bandwidth[0] * plant.mass_matrix(run.q))
    C = coriolis_matrix(plant, run.q, run.qd)
    return np.asarray(np.linalg.eigvalsh(K - 0.5 * (C + C.transpose(0, 2, 1)))[:, 0])


def coriolis_matrix(model: Model, q: Array, qd: Array) -> Array:
    """
    Return C (N, n, n) of the Christoffel symbols, from the torque C(q, qd) qd alone.

    That torque is quadratic in qd, and C(q, a) b the symmetric bilinear form that belongs to it:
    ``C(q, a) b = h((a + b) / 2) - h((a - b) / 2)``.

    :param q: (N, n) positions [rad, m].
    :param qd: (N, n) velocities [rad/s, m/s].
    """
    C = np.empty((*q.shape, q.shape[1]))
    for j, unit in enumerate(np.eye(q.shape[1])):
        C[:, :, j] = (model.coriolis_torque(q, 0.5 * (qd + unit))
                      - model.coriolis_torque(q, 0.5 * (qd - unit)))
    return C
