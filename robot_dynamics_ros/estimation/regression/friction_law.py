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
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.joints.joint_terms import EXACT_SIGN, dry_friction_level
from robot_dynamics_ros.dynamics.joints.presliding import directed


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
    def names(self) -> tuple[str, ...]:
        """Names of the unknowns beside Fc and Fv, e.g. ``Fs1``, ``Fl3``, ``Fa2``."""
        return tuple(f'{term}{j + 1}' for term, has in self._terms.items()
                     for j in np.flatnonzero(has))

    @property
    def _terms(self) -> dict[str, Mask]:
        return {'Fs': self.stribeck_velocity > 0.0, 'Fl': self.loaded, 'Fa': self.asymmetric}

    def direction(self, z: Array, velocity: Array) -> Array:
        """
        Return the direction of the dry friction of every motor (N, n).

        :param z: (N, n) state of the friction; see `presliding_state`.
        :param velocity: (N, n) motor velocities [rad/s, m/s].
        """
        sharpness = 1.0 / self.coulomb_velocity if self.coulomb_velocity else EXACT_SIGN
        return directed(z, velocity, self.presliding, sharpness)

    def excess(self, direction: Array, velocity: Array) -> Array:
        """Return the part of the direction near standstill (N, n); 0 without Stribeck velocity."""
        has = self.stribeck_velocity > 0.0
        near = dry_friction_level(velocity, 0.0, 1.0, np.where(has, self.stribeck_velocity, 1.0),
                                  np.exp)
        return np.where(has, near * direction, 0.0)

    def columns(self, direction: Array, excess: Array, loaded: Array, speed: Array) -> Array:
        """
        Return the signals of `names` (N, extra), each of its motor.

        :param direction: (N, n) direction of the dry friction.
        :param excess: (N, n) part of it near standstill.
        :param loaded: (N, n) direction times size of the load [N m, N].
        :param speed: (N, n) size of the velocity [rad/s, m/s].
        """
        signals = {'Fs': excess, 'Fl': loaded, 'Fa': speed}
        return np.concatenate([signals[term][:, has] for term, has in self._terms.items()], axis=1)

    @property
    def motors(self) -> NDArray[np.int64]:
        """Motors (extra,) that the unknowns of `names` belong to."""
        return np.concatenate([np.flatnonzero(has) for has in self._terms.values()])

    @property
    def numbers(self) -> Array:
        """All of it as numbers (1 + 4 n,), to compare and to store."""
        return np.concatenate([[self.coulomb_velocity], self.presliding, self.stribeck_velocity,
                               self.loaded, self.asymmetric])
