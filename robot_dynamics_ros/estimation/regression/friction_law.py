# SPDX-License-Identifier: Apache-2.0
"""
Friction laws of the motors: what of them enters the torque nonlinearly, and which terms they have.

A law is fixed before the least squares; the unknowns that belong to its terms are linear:
``Fc`` Coulomb friction, ``Fv`` viscous friction, ``Fs`` excess of static over Coulomb friction,
``Fl`` Coulomb friction per unit of load, ``Fa`` asymmetry of the viscous friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.joint_physics import JointPhysics


@dataclass(frozen=True, eq=False)
class FrictionLaw:
    """
    The friction laws of n motors.

    :param coulomb_velocity: velocity at which the smooth sign reaches tanh(1) [rad/s, m/s].
    :param presliding: (n,) distances after a reversal over which the friction turns [rad, m];
        0 = at once.
    :param stribeck_velocity: (n,) Stribeck velocities [rad/s, m/s]; 0 = no such term.
    :param loaded: (n,) friction grows with the load.
    :param asymmetric: (n,) viscous friction depends on the direction.
    """

    coulomb_velocity: float
    presliding: Array
    stribeck_velocity: Array
    loaded: Mask
    asymmetric: Mask

    @classmethod
    def plain(cls, n: int, coulomb_velocity: float) -> FrictionLaw:
        """Return Coulomb and viscous friction only."""
        return cls(coulomb_velocity, np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.bool_),
                   np.zeros(n, dtype=np.bool_))

    @classmethod
    def of(cls, physics: JointPhysics) -> FrictionLaw:
        """Return the law of joint physics."""
        n, none = len(physics), np.zeros(len(physics))

        def given(values: Array | None) -> Array:
            return none if values is None else values

        return cls(physics.coulomb_velocity, given(physics.presliding),
                   given(physics.stribeck_velocity), np.full(n, physics.load_friction is not None),
                   np.full(n, physics.viscous_asymmetry is not None))

    @property
    def numbers(self) -> Array:
        """All of it as numbers (1 + 4 n,), to compare and to store."""
        return np.concatenate([[self.coulomb_velocity], self.presliding, self.stribeck_velocity,
                               self.loaded, self.asymmetric])
