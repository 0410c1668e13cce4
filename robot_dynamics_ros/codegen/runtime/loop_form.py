# SPDX-License-Identifier: Apache-2.0
"""
The loop form: the recursions of dynamics/ as they stand, on floats or on numpy rows for a batch.

It is the judge of all generated code, and what models run whose generated code would be too long.
"""

from __future__ import annotations

import math

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.equations import LINEAR_RECURSION_FROM
from robot_dynamics_ros.codegen.runtime.snapshot import Snapshot
from robot_dynamics_ros.dynamics.joints.joint_terms import friction_torque, joint_regressor
from robot_dynamics_ros.dynamics.recursions.forward_dynamics import (
    by_mass_matrix,
    linear_recursion,
    solve_from_tip,
)
from robot_dynamics_ros.dynamics.recursions.mass_matrix import composite_bodies
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.recursions.regressor import (
    standard_reference_regressor,
    standard_regressor,
)
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.pair import Pair, wrench_at_last_joint
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.dynamics.scalars.vector import ZERO, Scalar, Vector


class Reference:
    """
    Every function of a model; arrays (n,) or (N, n), results of the same form.

    :param chain: the robot; its inertias are not used.
    :param grouping: (10 n, p) from minimal parameters to grouped standard ones.
    """

    def __init__(self, chain: Chain, grouping: Array) -> None:
        """Take geometry and gravity."""
        self._chain = chain
        self._grouping = grouping
        self._gravity = gravity_vector(chain)

    def inverse_dynamics(self, p: Snapshot, q: Array, qd: Array, qdd: Array,
                         wrench: Array | None = None) -> Array:
        """Return the torque of the rigid links."""
        state = Samples.of(self._chain, q=q, qd=qd, qdd=qdd, wrench=wrench)
        return self._rigid(p, state, state['qd'], state['qdd'], self._gravity)

    def _rigid(self, p: Snapshot, state: Samples, qd: list[Scalar] | None,
               qdd: list[Scalar] | None, gravity: Vector) -> Array:
        rest = [0.0] * len(self._chain)
        tau = newton_euler(state.frames, p.grouped, qd or rest, qdd or rest, gravity,
                           self._external(state))
        return _unless_finite(p, state.vector(tau))

    def _external(self, state: Samples) -> Pair | None:
        wrench = state.scalars.get('wrench')
        return None if wrench is None else wrench_at_last_joint(self._chain, wrench)

    def torque(self, p: Snapshot, q: Array, qd: Array, qdd: Array,
               wrench: Array | None = None) -> Array:
        """Return the whole torque: rigid links, rotors, friction and offset."""
        tau = self.inverse_dynamics(p, q, qd, qdd, wrench)
        return np.asarray(tau + qdd @ p.rotor + self.friction_torque(p, qd))

    def coriolis_torque(self, p: Snapshot, q: Array, qd: Array) -> Array:
        """Return C(q, qd) qd: the torque at qdd = 0 without gravity."""
        state = Samples.of(self._chain, q=q, qd=qd)
        return self._rigid(p, state, state['qd'], None, ZERO)

    def gravity_torque(self, p: Snapshot, q: Array) -> Array:
        """Return the torque that carries the weight."""
        return self._rigid(p, Samples.of(self._chain, q=q), None, None, self._gravity)

    def friction_torque(self, p: Snapshot, qd: Array) -> Array:
        """Return friction and offset."""
        return friction_torque(p.physics, qd)

    def mass_matrix(self, p: Snapshot, q: Array) -> Array:
        """Return A(q) of links and rotors."""
        state = Samples.of(self._chain, q=q)
        A = state.matrix(composite_bodies(state.frames, p.grouped))
        return _unless_finite(p, A + p.rotor)

    def forward_dynamics(self, p: Snapshot, q: Array, qd: Array, tau: Array,
                         wrench: Array | None = None) -> Array:
        """Return the accelerations for which `torque` is tau."""
        state = Samples.of(self._chain, q=q, qd=qd, tau=tau - self.friction_torque(p, qd),
                           wrench=wrench)
        try:
            return _unless_finite(p, state.vector(self._accelerations(p, state)))
        except ZeroDivisionError:  # a joint that moves no mass at all
            return np.full(tau.shape, math.nan)

    def _accelerations(self, p: Snapshot, state: Samples) -> list[Scalar]:
        frames, links, external = state.frames, p.grouped, self._external(state)
        qd, tau = state['qd'], state['tau']
        if not p.form.coupled:
            solve = (linear_recursion if len(links) >= LINEAR_RECURSION_FROM
                     else by_mass_matrix)
            return solve(frames, links, qd, tau, self._gravity, external,
                         np.diag(p.rotor).tolist())
        A = [[a + r for a, r in zip(*rows)]
             for rows in zip(composite_bodies(frames, links), p.rotor.tolist())]
        bias = newton_euler(frames, links, qd, [0.0] * len(links), self._gravity, external)
        return solve_from_tip(A, [t - b for t, b in zip(tau, bias)])

    def regressor(self, p: Snapshot, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the regressor of the minimal parameters."""
        return np.asarray(standard_regressor(self._chain, q, qd, qdd) @ self._grouping)

    def regressor_with_joint_terms(self, p: Snapshot, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the regressor of the minimal parameters and of the joint terms."""
        terms = joint_regressor(p.physics, qd, qdd)
        terms[~np.all(np.isfinite(q), axis=-1)] = np.nan
        return np.concatenate([self.regressor(p, q, qd, qdd), terms], axis=-1)

    def reference_regressor(self, p: Snapshot, q: Array, qd: Array, qd_r: Array,
                            qdd_r: Array) -> Array:
        """Return Slotine and Li's regressor of the minimal parameters."""
        Y = standard_reference_regressor(self._chain, q, qd, qd_r, qdd_r)
        return np.asarray(Y @ self._grouping)


def _unless_finite(p: Snapshot, result: Array) -> Array:
    """Return the result, or NaN if a parameter is not finite."""
    return result if p.finite else np.full_like(result, np.nan)
