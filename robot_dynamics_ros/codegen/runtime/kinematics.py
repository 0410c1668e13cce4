# SPDX-License-Identifier: Apache-2.0
"""What a Model says about places, velocities, momentum and energy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TypeAlias

from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array

#: (6,) or (N, 6) on the tip link (six entries per tip), or the same by the name of any link.
Wrench: TypeAlias = ArrayLike | Mapping[str, ArrayLike]


class Evaluated:
    """What has functions to evaluate: a Model."""

    @abstractmethod
    def _evaluate(self, name: str, values: tuple[ArrayLike, ...], out: Array | None, threads: int,
                  wrench: Wrench | None = None) -> Array:
        """Check the arrays, generate the function if it is new, and run it."""


class KinematicFunctions(Evaluated):
    """
    Kinematics of a Model: for one state (n,) or a batch (N, n), with ``out=`` and ``threads=``.

    The world is the frame of the base link. Pairs of vectors are linear first, then angular:
    (vx, vy, vz, wx, wy, wz). Centre of mass and momentum are those of ``chain.links``: learned
    minimal parameters do not determine them.
    """

    def link_poses(self, q: ArrayLike, *, out: Array | None = None, threads: int = 1) -> Array:
        """
        Return (n, 4, 4) or (N, n, 4, 4): homogeneous matrices of ``chain.link_names``.

        :param q: positions [rad, m].
        :param out: array for the result.
        :param threads: threads for a batch of machine code; 0 = one for each processor core.
        """
        return self._evaluate('link_poses', (q,), out, threads)

    def tip_pose(self, q: ArrayLike, *, out: Array | None = None, threads: int = 1) -> Array:
        """Return (4, 4) or (N, 4, 4): the homogeneous matrix of the tip link."""
        return self._evaluate('tip_pose', (q,), out, threads)

    def jacobian(self, q: ArrayLike, *, out: Array | None = None, threads: int = 1) -> Array:
        """
        Return J (6, n) or (N, 6, n): velocity of the tip in the axes of the world is ``J @ qd``.

        The linear velocity is that of the tip's origin (Pinocchio's LOCAL_WORLD_ALIGNED).
        """
        return self._evaluate('jacobian', (q,), out, threads)

    def jacobian_local(self, q: ArrayLike, *, out: Array | None = None,
                       threads: int = 1) -> Array:
        """Return `jacobian` in the axes of the tip link (Pinocchio's LOCAL)."""
        return self._evaluate('jacobian_local', (q,), out, threads)

    def jacobian_world(self, q: ArrayLike, *, out: Array | None = None,
                       threads: int = 1) -> Array:
        """Return the Jacobian of the tip link's point at the world's origin (WORLD)."""
        return self._evaluate('jacobian_world', (q,), out, threads)

    def bias_acceleration(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None,
                          threads: int = 1) -> Array:
        """
        Return dJ/dt qd of `jacobian`, (6,) or (N, 6) [m/s^2, rad/s^2].

        The tip accelerates with ``J @ qdd + bias_acceleration``, in the axes of the world.
        """
        return self._evaluate('bias_acceleration', (q, qd), out, threads)

    def bias_acceleration_local(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None,
                                threads: int = 1) -> Array:
        """Return dJ/dt qd of `jacobian_local`."""
        return self._evaluate('bias_acceleration_local', (q, qd), out, threads)

    def bias_acceleration_world(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None,
                                threads: int = 1) -> Array:
        """Return dJ/dt qd of `jacobian_world`."""
        return self._evaluate('bias_acceleration_world', (q, qd), out, threads)

    def centre_of_mass(self, q: ArrayLike, *, out: Array | None = None,
                       threads: int = 1) -> Array:
        """Return (3,) or (N, 3): the centre of mass of all moving links [m]."""
        return self._evaluate('centre_of_mass', (q,), out, threads)

    def centre_of_mass_jacobian(self, q: ArrayLike, *, out: Array | None = None,
                                threads: int = 1) -> Array:
        """Return (3, n) or (N, 3, n): the centre of mass moves with ``J @ qd`` [m, 1]."""
        return self._evaluate('centre_of_mass_jacobian', (q,), out, threads)

    def momentum(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None,
                 threads: int = 1) -> Array:
        """
        Return (6,) or (N, 6): linear momentum and angular momentum about the centre of mass.

        In the axes of the world [kg m/s, kg m^2/s], of the moving links without rotors.
        """
        return self._evaluate('momentum', (q, qd), out, threads)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None,
                       threads: int = 1) -> Array:
        """Return the kinetic energy of links and rotors [J]: () or (N,)."""
        return self._evaluate('kinetic_energy', (q, qd), out, threads)

    def potential_energy(self, q: ArrayLike, *, out: Array | None = None,
                         threads: int = 1) -> Array:
        """
        Return the potential energy of the links [J]: () or (N,).

        It is zero with all masses of the chain at the world's origin. How it changes follows from
        the minimal parameters; at q = 0 it is that of ``chain.links``.
        """
        return self._evaluate('potential_energy', (q,), out, threads)
