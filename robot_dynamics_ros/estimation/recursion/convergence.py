# SPDX-License-Identifier: Apache-2.0
"""
Whether parameters are known well enough: judged at states that the robot may come to.

A small or slow motion, or one of a single joint, is soon predicted well by parameters that are
good for nothing else. So the torque error due to uncertain parameters is judged at random states
inside the limits: postures anywhere, velocities and accelerations as in the motion so far, but not
below those of lively motions.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain

#: Number of states, and the seed they are drawn with.
_STATES, _SEED = 60, 1995

#: Root mean square velocities are at least this part of their limits...
_LIVELY = 0.2
#: ...and accelerations at least this many times the velocities [1/s].
_BRISK = 2.0

#: Velocity limit assumed where none is known [rad/s, m/s].
_VELOCITY_LIMIT = 1.0

#: The error of a joint counts relative to its torque, at least to this part of the largest.
_MATTERS = 0.1


class PossibleStates:
    """
    Random states inside the limits of a robot.

    :param chain: the robot.
    """

    def __init__(self, chain: Chain) -> None:
        n = len(chain)
        rng = np.random.default_rng(_SEED)
        self._turning = np.array([joint.revolute for joint in chain.joints])
        room = np.where(self._turning, np.pi, 1.0)
        lower, upper = (np.where(np.isfinite(limit), limit, side * room)
                        for limit, side in zip(chain.position_limits, (-1.0, 1.0)))
        self._q = rng.uniform(np.minimum(lower, upper), np.maximum(lower, upper), (_STATES, n))
        self._qd, self._qdd = rng.normal(size=(2, _STATES, n))
        limits = np.nan_to_num(chain.velocity_limits, nan=_VELOCITY_LIMIT, posinf=_VELOCITY_LIMIT)
        self._slowest = _LIVELY * limits

    def states(self, velocity: Array, acceleration: Array) -> tuple[Array, Array, Array]:
        """
        Return q, qd, qdd (N, n) of N states.

        :param velocity: (n,) root mean square velocities of the motion so far [rad/s, m/s].
        :param acceleration: (n,) root mean square accelerations so far [rad/s^2, m/s^2].
        """
        largest = np.maximum(velocity, self._slowest)
        pace = np.sum(velocity * acceleration) / max(float(np.sum(velocity ** 2)), 1e-12)
        return (self._q, largest * self._qd,
                np.maximum(acceleration, max(pace, _BRISK) * largest) * self._qdd)

    def relative_spread(self, Y: Array, x: Array, covariance: Array) -> tuple[float, float]:
        """
        Return the torque error due to uncertain parameters over the torque: all, worst joint.

        Torques and forces are not added up: the larger of the two errors is returned.

        :param Y: (N, n, u) regressor at these states.
        :param x: (u,) unknowns.
        :param covariance: (u, u) covariance of the unknowns.
        """
        error = np.mean(np.einsum('tju,uv,tjv->tj', Y, covariance, Y, optimize=True), axis=0)
        torque = np.mean((Y @ x) ** 2, axis=0)
        whole, worst = 0.0, 0.0
        for kind in (self._turning, ~self._turning):
            if np.any(kind):
                size = np.maximum(torque[kind], _MATTERS ** 2 * np.max(torque[kind]) + 1e-300)
                whole = max(whole, float(np.sum(error[kind]) / np.sum(size)))
                worst = max(worst, float(np.max(error[kind] / size)))
        return float(np.sqrt(whole)), float(np.sqrt(worst))
