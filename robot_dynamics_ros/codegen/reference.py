# SPDX-License-Identifier: Apache-2.0
"""
The reference backend: the recursions of dynamics/ on floats, or on numpy rows for a batch.

Every function takes the grouped parameters x (10 n,): values of a minimal set at the places of
the standard parameters that it keeps, zeros elsewhere.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.pose import Array
from robot_dynamics_ros.dynamics.forward_dynamics import (
    by_mass_matrix,
    linear_recursion,
    solve_from_tip,
)
from robot_dynamics_ros.dynamics.frames import gravity_vector
from robot_dynamics_ros.dynamics.mass_matrix import composite_bodies
from robot_dynamics_ros.dynamics.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.pair import Pair
from robot_dynamics_ros.dynamics.reference_motion import standard_reference_regressor
from robot_dynamics_ros.dynamics.regressor import standard_regressor
from robot_dynamics_ros.dynamics.samples import Samples
from robot_dynamics_ros.dynamics.vector import Scalar, Vector
from robot_dynamics_ros.dynamics.wrench import wrench_at_last_joint

#: From this number of joints on the recursion with linear cost is the quicker forward dynamics.
LINEAR_RECURSION_FROM = 11


class ReferenceBackend:
    """Recursions on floats (one state) or numpy rows (a batch); the judge of all others."""

    name = 'python'

    def __init__(self, chain: Chain) -> None:
        """Take the geometry and gravity of `chain`; inertias come with every call."""
        self.chain = chain
        self._gravity = gravity_vector(chain)

    def inverse_dynamics(self, x: Array, q: Array, qd: Array, qdd: Array,
                         wrench: Array | None = None) -> Array:
        """Return the rigid-body torque; `wrench` is on the tip link, in its frame."""
        state = Samples.of(self.chain, q=q, qd=qd, qdd=qdd, wrench=wrench)
        external = self._external(state)
        return state.vector(newton_euler(state.frames, _by_link(x), state['qd'], state['qdd'],
                                         self._gravity, external))

    def _external(self, state: Samples) -> Pair | None:
        wrench = state.scalars.get('wrench')
        return None if wrench is None else wrench_at_last_joint(self.chain, wrench)

    def coriolis_torque(self, x: Array, q: Array, qd: Array) -> Array:
        """Return C(q, qd) qd: the torque at qdd = 0 without gravity."""
        state = Samples.of(self.chain, q=q, qd=qd)
        return self._at_rest(x, state, state['qd'], (0.0, 0.0, 0.0))

    def gravity_torque(self, x: Array, q: Array) -> Array:
        """Return Q(q): the torque that carries the weight."""
        state = Samples.of(self.chain, q=q)
        return self._at_rest(x, state, [0.0] * len(self.chain), self._gravity)

    def _at_rest(self, x: Array, state: Samples, qd: list[Scalar], gravity: Vector) -> Array:
        rest = [0.0] * len(self.chain)
        return state.vector(newton_euler(state.frames, _by_link(x), qd, rest, gravity))

    def mass_matrix(self, x: Array, q: Array) -> Array:
        """Return A(q) of the rigid links."""
        state = Samples.of(self.chain, q=q)
        return state.matrix(composite_bodies(state.frames, _by_link(x)))

    def forward_dynamics(self, x: Array, rotor: Array, q: Array, qd: Array, tau: Array,
                         wrench: Array | None = None) -> Array:
        """
        Return qdd for the torque on the rigid links and rotors (friction taken off).

        :param rotor: inertia matrix (n, n) of the rotors; diagonal without coupling.
        """
        state = Samples.of(self.chain, q=q, qd=qd, tau=tau, wrench=wrench)
        external = self._external(state)
        frames, links = state.frames, _by_link(x)
        if np.count_nonzero(rotor - np.diag(np.diag(rotor))) == 0:
            solve = linear_recursion if len(links) >= LINEAR_RECURSION_FROM else by_mass_matrix
            return state.vector(solve(frames, links, state['qd'], state['tau'], self._gravity,
                                      external, np.diag(rotor).tolist()))
        rest = [0.0] * len(links)
        A = [[a + r for a, r in zip(*rows)]
             for rows in zip(composite_bodies(frames, links), rotor.tolist())]
        bias = newton_euler(frames, links, state['qd'], rest, self._gravity, external)
        return state.vector(solve_from_tip(A, [t - b for t, b in zip(state['tau'], bias)]))

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the regressor of the 10 n standard parameters."""
        return standard_regressor(self.chain, q, qd, qdd)

    def reference_regressor(self, q: Array, qd: Array, qd_r: Array, qdd_r: Array) -> Array:
        """Return Y(q, qd, qd_r, qdd_r) of the 10 n standard parameters."""
        return standard_reference_regressor(self.chain, q, qd, qd_r, qdd_r)


def _by_link(x: Array) -> list[list[float]]:
    """Return ten floats per link."""
    rows: list[list[float]] = x.reshape(-1, 10).tolist()
    return rows
