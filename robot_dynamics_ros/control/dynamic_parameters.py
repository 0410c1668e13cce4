# SPDX-License-Identifier: Apache-2.0
"""All numbers that make the torque of a robot, as one thing that can be swapped and blended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate


@dataclass(frozen=True, eq=False)
class DynamicParameters:
    """
    Minimal parameters of the links and the physics of the joints.

    :param minimal: (p,) in the order of the minimal set, without payload.
    :param joint_physics: rotor inertia (NaN = inside a minimal parameter), friction, offset.
    :param estimate: where they come from; None = from several places.
    """

    minimal: Array
    joint_physics: JointPhysics
    estimate: MlcEstimate | None = None

    def __post_init__(self) -> None:
        """Copy the parameters and make them read-only."""
        freeze(self, 'minimal')

    @classmethod
    def of(cls, estimate: MlcEstimate) -> DynamicParameters:
        """Return the parameters of an estimate."""
        return cls(estimate.mlc.values, estimate.joint_physics, estimate)

    def blended(self, other: DynamicParameters, share: float) -> DynamicParameters:
        """
        Return parameters between these and others.

        The torque is linear in them, so it moves evenly from the one to the other, and a mass
        matrix between two positive definite ones is positive definite.

        :param other: of the same robot; its `coulomb_velocity` holds for every share.
        :param share: 0 = these, 1 = exactly the others.
        """
        if share >= 1.0:
            return other
        here, there = self.joint_physics, other.joint_physics

        def between(a: Array, b: Array) -> Array:
            # a rotor inside a minimal parameter (NaN) adds nothing of its own
            return (1.0 - share) * np.nan_to_num(a) + share * np.nan_to_num(b)

        changes: dict[str, Any] = {
            name: between(getattr(here, name), getattr(there, name))
            for name in ('rotor_inertia', 'viscous', 'coulomb', 'offset')}
        if here.static is not None or there.static is not None:
            # without Stribeck the static friction is the Coulomb friction
            changes['static'] = between(*(physics.coulomb if physics.static is None
                                          else physics.static for physics in (here, there)))
            speeds = there.stribeck_velocity
            changes['stribeck_velocity'] = here.stribeck_velocity if speeds is None else speeds
        return DynamicParameters(between(self.minimal, other.minimal), replace(there, **changes))
