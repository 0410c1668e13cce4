# SPDX-License-Identifier: Apache-2.0
"""A load at the tip: the inertia of a body that can exist."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.errors import ParameterError


def payload_inertia(mass: float, centre: ArrayLike, tensor: ArrayLike) -> Inertia:
    """
    Return the inertia of a load in the tip frame.

    :param mass: [kg]; 0 = no load at all.
    :param centre: (3,) centre of mass in the tip frame [m].
    :param tensor: (3, 3) about the centre of mass, axes of the tip frame [kg m^2].
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
