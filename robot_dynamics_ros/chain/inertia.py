# SPDX-License-Identifier: Apache-2.0
"""Inertia of a rigid body in a frame: the ten standard parameters; that of a payload."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.errors import ParameterError

#: The ten standard parameters of a link, in Khalil & Dombre's order; tensor entries, not products.
STANDARD_PARAMETERS = ('XX', 'XY', 'XZ', 'YY', 'YZ', 'ZZ', 'MX', 'MY', 'MZ', 'M')

#: Their units, in the same order.
STANDARD_UNITS = ('kg m^2',) * 6 + ('kg m',) * 3 + ('kg',)


def skew(v: ArrayLike) -> Array:
    """Return the matrix [v]x with ``[v]x @ w == cross(v, w)``."""
    x, y, z = np.asarray(v, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@dataclass(frozen=True, eq=False)
class Inertia:
    """
    Mass, first moment and inertia tensor of a rigid body, in one frame.

    :param mass: mass [kg].
    :param first_moment: (3,) mass times centre of mass [kg m], axes of the frame.
    :param tensor: (3, 3) inertia tensor about the ORIGIN of the frame [kg m^2], axes of the frame.
    """

    mass: float
    first_moment: Array
    tensor: Array

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check their shapes."""
        object.__setattr__(self, 'mass', float(self.mass))
        freeze(self, 'first_moment', 'tensor')
        if self.first_moment.shape != (3,) or self.tensor.shape != (3, 3):
            raise ParameterError(f'inertia: first moment and tensor have shapes '
                                 f'{self.first_moment.shape} and {self.tensor.shape}, expected '
                                 '(3,) and (3, 3)')

    @classmethod
    def zero(cls) -> Inertia:
        """Return the inertia of nothing."""
        return cls(0.0, np.zeros(3), np.zeros((3, 3)))

    @classmethod
    def from_centre_of_mass(cls, mass: float, centre: ArrayLike, tensor: ArrayLike) -> Inertia:
        """Return the inertia of a body given by its centre of mass [m] and the tensor about it."""
        c = np.asarray(centre, dtype=np.float64)
        steiner = mass * (c @ c * np.eye(3) - np.outer(c, c))
        return cls(mass, mass * c, np.asarray(tensor, dtype=np.float64) + steiner)

    @classmethod
    def from_standard_parameters(cls, parameters: ArrayLike) -> Inertia:
        """Return the inertia that has these ten STANDARD_PARAMETERS."""
        xx, xy, xz, yy, yz, zz, mx, my, mz, m = np.asarray(parameters, dtype=np.float64)
        return cls(m, np.array([mx, my, mz]),
                   np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))

    @property
    def standard_parameters(self) -> Array:
        """The ten values (10,) in the order of STANDARD_PARAMETERS."""
        J = self.tensor
        return np.array([J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2],
                         *self.first_moment, self.mass])

    @property
    def centre_of_mass(self) -> Array:
        """Centre of mass (3,) [m]; NaN for a body without mass."""
        with np.errstate(divide='ignore', invalid='ignore'):
            return np.divide(self.first_moment, self.mass)

    @property
    def central_tensor(self) -> Array:
        """Inertia tensor (3, 3) about the centre of mass [kg m^2]; NaN for a body without mass."""
        c = self.centre_of_mass
        return np.asarray(self.tensor - self.mass * (c @ c * np.eye(3) - np.outer(c, c)))

    def __add__(self, other: Inertia) -> Inertia:
        """Return the inertia of both bodies, joined rigidly."""
        return Inertia(self.mass + other.mass, self.first_moment + other.first_moment,
                       self.tensor + other.tensor)

    def seen_from(self, pose: Pose) -> Inertia:
        """
        Return the same body in another frame A.

        :param pose: pose in A of the frame that this inertia is given in.
        """
        R, p = pose.rotation, pose.translation
        turned = R @ self.first_moment
        P, S = skew(p), skew(turned)
        tensor = R @ self.tensor @ R.T - P @ S - S @ P - self.mass * P @ P
        return Inertia(self.mass, turned + self.mass * p, 0.5 * (tensor + tensor.T))


def parameters_seen_from(pose: Pose) -> Array:
    """
    Return lambda (10, 10) of Khalil & Dombre's Table 9.1, with ``x_A = lambda x``.

    x are the STANDARD_PARAMETERS of a body in one frame, x_A those in another frame A.

    :param pose: pose in A of the frame of x.
    """
    units = (Inertia.from_standard_parameters(unit) for unit in np.eye(len(STANDARD_PARAMETERS)))
    return np.column_stack([unit.seen_from(pose).standard_parameters for unit in units])


def payload_inertia(mass: float, centre: ArrayLike, tensor: ArrayLike) -> Inertia:
    """
    Return the inertia of a payload in the tip frame.

    :param mass: mass [kg]; 0 = no payload at all.
    :param centre: (3,) centre of mass in the tip frame [m].
    :param tensor: (3, 3) inertia tensor about the centre of mass, axes of the tip frame [kg m^2].
    :raises ParameterError: a body with these numbers cannot exist.
    """
    c, J = np.asarray(centre, dtype=np.float64), np.asarray(tensor, dtype=np.float64)
    if c.shape != (3,) or J.shape != (3, 3) or not np.all(np.isfinite([mass, *c, *J.flat])):
        raise ParameterError('payload: mass, three coordinates of the centre of mass and a 3 x 3 '
                             'inertia must be finite numbers')
    if mass < 0.0:
        raise ParameterError(f'payload: mass is {mass:g} kg; it cannot be negative')
    if mass == 0.0:
        return Inertia.zero()
    if not np.allclose(J, J.T, rtol=0.0, atol=1e-9 * float(np.abs(J).max())):
        raise ParameterError('payload: the inertia matrix must be symmetric')
    smallest, middle, largest = np.linalg.eigvalsh(J)
    # rounding of a tensor that was moved between the centre of mass and the tip frame
    dust = 1e-9 * (abs(largest) + mass * float(c @ c))
    if smallest < -dust or largest > smallest + middle + dust:
        raise ParameterError('payload: no body has the principal inertias '
                             f'{smallest:g}, {middle:g}, {largest:g} kg m^2: none may be negative '
                             'or larger than the sum of the two others')
    return Inertia.from_centre_of_mass(float(mass), c, J)
