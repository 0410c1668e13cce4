# SPDX-License-Identifier: Apache-2.0
"""How the dynamics of a Model change with its state and its torques."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.kinematics import Evaluated


class DerivativeFunctions(Evaluated):
    """Derivatives of the dynamics of a Model, for one state (n,) or a batch (N, n)."""

    def inverse_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                                     wrench: ArrayLike | None = None, out: Array | None = None,
                                     threads: int = 1) -> Array:
        """
        Return (2, n, n) or (N, 2, n, n): the derivatives of `inverse_dynamics` by q and by qd.

        Entry (i, k) of each matrix is that of torque i by position or velocity k; the derivatives
        by qdd are the mass matrix. For one state, ``dq, dqd = model.torque_derivatives(...)``.
        """
        return self._evaluate('inverse_dynamics_derivatives', (q, qd, qdd), out, threads, wrench)

    def torque_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                           wrench: ArrayLike | None = None, out: Array | None = None,
                           threads: int = 1) -> Array:
        """
        Return (2, n, n) or (N, 2, n, n): the derivatives of `torque` by q and by qd.

        Friction has a slope at rest only where it is smooth: with ``coulomb_velocity = 0`` the
        derivative there is a huge number.
        """
        return self._evaluate('torque_derivatives', (q, qd, qdd), out, threads, wrench)

    def forward_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
                                     wrench: ArrayLike | None = None, out: Array | None = None,
                                     threads: int = 1) -> Array:
        """Return (3, n, n) or (N, 3, n, n): those of `forward_dynamics` by q, qd and tau."""
        return self._evaluate('forward_dynamics_derivatives', (q, qd, tau), out, threads, wrench)

    def linearise(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
                  wrench: ArrayLike | None = None, threads: int = 1) -> tuple[Array, Array]:
        """
        Return A (2n, 2n) and B (2n, n), or (N, ...): d(qd, qdd) = A d(q, qd) + B dtau.

        :param q: positions [rad, m].
        :param qd: velocities [rad/s, m/s].
        :param tau: torques [N m, N].
        :param wrench: constant wrench on the tip link, as for `inverse_dynamics`.
        :param threads: threads for a batch; 0 = one for each processor core.
        """
        by = self.forward_dynamics_derivatives(q, qd, tau, wrench=wrench, threads=threads)
        n = by.shape[-1]
        A, B = (np.zeros((*by.shape[:-3], 2 * n, columns)) for columns in (2 * n, n))
        A[..., :n, n:] = np.eye(n)
        A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = (by[..., k, :, :] for k in range(3))
        return A, B
