# SPDX-License-Identifier: Apache-2.0
"""
The kinematic functions of a model, over scalars.

Poses and Jacobians depend on the geometry alone. Centre of mass and momentum do not follow from
minimal parameters, as torques do: they are those of the inertias of the chain, as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.recursions.customized import customized_motion
from robot_dynamics_ros.dynamics.recursions.kinematics import (
    Place,
    jacobian,
    link_velocities,
    places,
    places_from_tip,
)
from robot_dynamics_ros.dynamics.recursions.mass_matrix import ScalarRows
from robot_dynamics_ros.dynamics.recursions.momentum import FirstMoments, first_moments, momentum
from robot_dynamics_ros.dynamics.recursions.motion import carried_motion
from robot_dynamics_ros.dynamics.scalars.frames import FixedFrame, JointFrame
from robot_dynamics_ros.dynamics.scalars.pair import Pair, moved_twist
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Scalar,
    Vector,
    add,
    cross,
    scale,
    subtract,
)


@dataclass(frozen=True, eq=False)
class Kinematics:
    """
    The functions of KINEMATIC_INPUTS at one state: one method each, with the same name.

    The world is the frame of the base link.

    :param chain: the robot, with its inertias.
    :param frames: E_0..E_m at that state.
    :param qd: m velocities of the moving joints [rad/s, m/s]; empty where a function has none.
    """

    chain: Chain
    frames: Sequence[JointFrame]
    qd: Sequence[Scalar]

    @cached_property
    def _places(self) -> list[Place]:
        return places(self.frames, FixedFrame.at(self.chain.base_pose))

    @cached_property
    def _tip_frame(self) -> FixedFrame:
        return FixedFrame.at(self.chain.tip_pose)

    @cached_property
    def _tip(self) -> Place:
        return self._places[self._tip_joint].fixed(self._tip_frame)

    @property
    def _tip_joint(self) -> int:
        return self.chain.tips[0].joint

    def _jacobian(self, seen: Sequence[Place], point: Vector) -> ScalarRows:
        rows = jacobian(self.frames, seen, point, self._tip_joint)
        return [self.chain.joint_sums(row) for row in rows]

    def link_poses(self) -> list[ScalarRows]:
        """Return the pose of every moving link in the frame of the base link."""
        return [place.fixed(FixedFrame.at(pose)).matrix
                for place, pose in zip(self._places[1:], self.chain.link_frames)]

    def tip_pose(self) -> ScalarRows:
        """Return the pose of the tip link in the frame of the base link."""
        return self._tip.matrix

    def jacobian(self) -> ScalarRows:
        """Return the Jacobian of the tip's origin in the axes of the base link."""
        return self._jacobian(self._places, self._tip.origin)

    def jacobian_local(self) -> ScalarRows:
        """Return the Jacobian of the tip's origin in the axes of the tip link."""
        seen = places_from_tip(self.frames, self._tip_frame, self._tip_joint)
        return self._jacobian(seen, ZERO)

    def jacobian_world(self) -> ScalarRows:
        """Return the Jacobian of the tip link's point at the base link's origin."""
        return self._jacobian(self._places, ZERO)

    @cached_property
    def _tip_rates(self) -> tuple[Pair, Pair]:
        """Acceleration of the tip's origin without qdd, and its velocity, in its axes."""
        rest = [0.0] * len(self.chain.links)
        motion = customized_motion(self.frames, self.qd, rest, ZERO)[self._tip_joint]
        _, omega_dot, acceleration = carried_motion(motion, self._tip_frame)
        return ((acceleration, omega_dot),
                moved_twist(self._tip_frame,
                            link_velocities(self.frames, self.qd)[self._tip_joint]))

    def bias_acceleration(self) -> list[Scalar]:
        """Return dJ/dt qd of `jacobian`: how the tip accelerates without accelerations qdd."""
        acceleration, omega_dot = self._tip_rates[0]
        return [*self._tip.turned(acceleration), *self._tip.turned(omega_dot)]

    def bias_acceleration_local(self) -> list[Scalar]:
        """Return dJ/dt qd of `jacobian_local`."""
        (acceleration, omega_dot), (v, omega) = self._tip_rates
        return [*subtract(acceleration, cross(omega, v)), *omega_dot]

    def bias_acceleration_world(self) -> list[Scalar]:
        """Return dJ/dt qd of `jacobian_world`."""
        local = self.bias_acceleration_local()
        linear, angular = (self._tip.turned((x, y, z)) for x, y, z in (local[:3], local[3:]))
        return [*add(linear, cross(self._tip.origin, angular)), *angular]

    @cached_property
    def _links(self) -> list[list[float]]:
        """Ten standard parameters per link."""
        return [link.standard_parameters.tolist() for link in self.chain.links]

    @cached_property
    def _moments(self) -> FirstMoments:
        return first_moments(self.frames, self._links)

    def centre_of_mass(self) -> list[Scalar]:
        """Return the centre of mass of all moving links in the frame of the base link."""
        base = self._places[0]
        moment = base.turned(self._moments.moment[0])
        return list(add(base.origin, scale(1.0 / self._moments.mass[0], moment)))

    def centre_of_mass_jacobian(self) -> ScalarRows:
        """Return the velocity of the centre of mass per joint velocity, in the base's axes."""
        moments, columns = self._moments, []
        inverse = 1.0 / moments.mass[0]
        for frame, place, mass, (x, y, _) in zip(self.frames[1:], self._places[1:],
                                                 moments.mass[1:], moments.moment[1:]):
            columns.append(subtract(scale(inverse * x, place.y), scale(inverse * y, place.x))
                           if frame.revolute else scale(inverse * mass, place.z))
        return [self.chain.joint_sums(row) for row in zip(*columns)]

    def momentum(self) -> list[Scalar]:
        """Return linear momentum and angular momentum about the centre of mass, base's axes."""
        linear, angular = momentum(self.frames, self._links,
                                   link_velocities(self.frames, self.qd))
        arm = scale(1.0 / self._moments.mass[0], self._moments.moment[0])
        base = self._places[0]
        return [*base.turned(linear), *base.turned(subtract(angular, cross(arm, linear)))]
