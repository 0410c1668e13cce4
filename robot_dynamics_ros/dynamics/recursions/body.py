# SPDX-License-Identifier: Apache-2.0
"""A link by its mass, mass centre and central tensor: what the papers of the 1980s start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import skew
from robot_dynamics_ros.dynamics.scalars.vector import Matrix, Scalar, Vector, vector
from robot_dynamics_ros.errors import ParameterError


@dataclass(frozen=True)
class Body:
    """
    One link, in its frame E_i.

    :param mass: mass [kg].
    :param centre: mass centre from O_i [m].
    :param tensor: inertia about the mass centre [kg m^2], tensor entries.
    """

    mass: Scalar
    centre: Vector
    tensor: Matrix


def bodies(chain: Chain) -> Sequence[Body]:
    """
    Return the links 1..n of a chain as bodies.

    :raises ParameterError: a link has a first moment but no mass, so no mass centre.
    """
    result = []
    for name, link in zip(chain.link_names, chain.links):
        centre = np.zeros(3)
        if link.mass != 0.0:
            centre = link.first_moment / link.mass
        elif np.any(link.first_moment):
            raise ParameterError(f'link {name} has a first moment of mass but no mass: it has no '
                                 'mass centre; use a formulation linear in the parameters')
        a, b, c = (vector(row) for row in link.tensor + link.mass * skew(centre) @ skew(centre))
        result.append(Body(link.mass, vector(centre), (a, b, c)))
    return result
