# SPDX-License-Identifier: Apache-2.0
"""The difference between a URDF and the robot it describes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.errors import ParameterError


def with_parameter_error(chain: Chain, relative: float, seed: int) -> Chain:
    """
    Return a robot that could exist and differs from the chain in inertias and joint physics.

    Each link gets another density and is moved a little in its frame, which keeps its inertia that
    of a real body; friction and rotor inertias are scaled, offsets stay.

    :param relative: standard deviation of the scale factors; a link is moved by that part of the
        distance of its centre of mass. 0 = the chain itself.
    :param seed: the same seed gives the same robot.
    :raises ParameterError: `relative` is not between 0 and 0.5.
    """
    if not 0.0 <= relative <= 0.5:
        raise ParameterError(f'parameter error must be between 0 and 0.5, got {relative}')
    if relative == 0.0:
        return chain
    rng = np.random.default_rng(seed)

    def factor(size: int | None = None) -> Any:
        # lognormal: symmetric in the ratio, never zero or negative
        return np.exp(rng.normal(scale=relative, size=size))

    links = []
    for link in chain.links:
        scale, direction = factor(), rng.normal(size=3)
        distance = np.linalg.norm(link.centre_of_mass) if link.mass > 0.0 else 0.0
        shift = Pose(np.eye(3), relative * distance * direction / np.linalg.norm(direction))
        links.append(Inertia.from_standard_parameters(
            scale * link.seen_from(shift).standard_parameters))
    physics = chain.joint_physics
    changes = {name: getattr(physics, name) * factor(len(chain))
               for name in ('rotor_inertia', 'viscous', 'coulomb')}
    return chain.with_links(links).with_joint_physics(replace(physics, **changes))
