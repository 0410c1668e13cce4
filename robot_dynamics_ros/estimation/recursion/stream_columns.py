# SPDX-License-Identifier: Apache-2.0
"""
The unknowns of a stream, with a friction law, and their columns at its samples.

The direction of friction with presliding depends on the motion before, and friction under load on
the torque of links and rotors by the parameters known so far: both are carried from sample to
sample, the other terms of a law are functions of the state.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.joints.presliding import turned
from robot_dynamics_ros.estimation.regression.friction_law import FrictionLaw
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms


class StreamColumns:
    """
    Columns of the unknowns, sample by sample.

    :param terms: columns of the torque.
    :param law: friction law of the motors, the smooth sign being that of the terms.
    """

    def __init__(self, terms: TorqueTerms, law: FrictionLaw) -> None:
        self._terms, self.law = terms, law
        plain = terms.choice()
        self.unknowns = plain.with_law(law) if law.names else plain
        self._columns = list(plain.columns)
        self._dry = [k for k, name in enumerate(plain.names) if name.startswith('Fc')]
        self._motors = np.array([int(plain.names[k][2:]) - 1 for k in self._dry], dtype=np.int64)
        self._turning = bool(np.any(law.presliding))
        self._plain = not law.names and not self._turning
        self.reset()

    def reset(self) -> None:
        """Forget the motion so far: every motor comes from afar."""
        self._last: Array | None = None
        self._z = np.zeros(self.law.presliding.size)

    def along(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """
        Return the columns (n, u) at the next sample of a motion.

        :param q: (n,) positions [rad, m].
        :param qd: (n,) velocities [rad/s, m/s].
        :param qdd: (n,) accelerations [rad/s^2, m/s^2].
        :param values: (u,) values of the unknowns so far.
        """
        direction = None
        if self._turning:
            motion = self._terms.transmission.motor_motion
            position, velocity = motion(q), motion(qd)
            self._z = (np.sign(velocity) if self._last is None else
                       turned(self._z, position - self._last, self.law.presliding))
            self._last = position
            direction = self.law.direction(self._z, velocity)[None]
        return np.asarray(self._with_law(q[None], qd[None], qdd[None], values, direction)[0])

    def at(self, q: Array, qd: Array, qdd: Array, values: Array) -> Array:
        """Return the columns (N, n, u) at states (N, n), friction as in steady motion."""
        return self._with_law(q, qd, qdd, values, None)

    def _with_law(self, q: Array, qd: Array, qdd: Array, values: Array,
                  direction: Array | None) -> Array:
        Y = self._terms.regressor(q, qd, qdd)[:, :, self._columns]
        if self._plain:
            return Y
        law, velocity = self.law, self._terms.transmission.motor_motion(qd)
        if direction is None:
            direction = law.direction(np.sign(velocity), velocity)
        Y[:, :, self._dry] = self._terms.of_motors(direction[:, self._motors], self._motors)
        if not law.names:
            return Y
        load = np.zeros_like(velocity)
        if np.any(law.loaded):
            load = np.abs(self._terms.load(values, self.unknowns, q, qd, qdd))
        extra = law.columns(direction, law.excess(direction, velocity), direction * load,
                            np.abs(velocity))
        return np.concatenate([Y, self._terms.of_motors(extra, law.motors)], axis=2)
