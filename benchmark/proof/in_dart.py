# SPDX-License-Identifier: Apache-2.0
"""A robot in DART, read by DART's URDF reader."""

from __future__ import annotations

from collections.abc import Sequence

import dartpy
import numpy as np

from proof.engine import GRAVITY, Refused
from proof.joint_forces import joint_step
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics


class Dart:
    """
    A robot with DART's Coulomb friction.

    DART has no rotor inertia: its reaction ``-Ia qdd`` is a generalized force, with the
    acceleration that DART's own mass matrix and bias give. So is viscous friction: DART's damping
    is left out of the matrix that its Coulomb friction is solved with, which the light links
    behind heavy rotors turn into jumps.
    """

    def __init__(self, urdf: str, joint_names: Sequence[str], physics: JointPhysics,
                 step: float) -> None:
        """Read the URDF; the root would be free to fly without the option."""
        options = dartpy.utils.DartLoaderOptions()
        options.mDefaultRootJointType = dartpy.utils.DartLoaderRootJointType.FIXED
        loader = dartpy.utils.DartLoader()
        loader.setOptions(options)
        robot = loader.parseSkeletonString(urdf, '')
        if robot is None:
            raise Refused('the URDF reader returns no robot')
        self._world = dartpy.simulation.World()
        self._world.addSkeleton(robot)
        self._world.setGravity(list(GRAVITY))
        self._world.setTimeStep(step)
        self._robot, self._physics, self._step = robot, physics, step
        joints = [robot.getDof(name) for name in joint_names]
        self._order = [joint.getIndexInSkeleton() for joint in joints]
        for joint, coulomb in zip(joints, physics.coulomb):
            joint.setCoulombFriction(coulomb)
            joint.setPositionLimits(-np.inf, np.inf)
            joint.setVelocityLimits(-np.inf, np.inf)
            joint.setForceLimits(-np.inf, np.inf)

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque (n,) of the rigid links [N m, N]."""
        robot = self._robot
        robot.setPositions(self._in_robot(q))
        robot.setVelocities(self._in_robot(qd))
        robot.setAccelerations(self._in_robot(qdd))
        robot.computeInverseDynamics(False, False, False)  # no external, damping, spring forces
        return np.array(robot.getForces()[self._order])

    def place(self, q: Array) -> None:
        """Put the robot at rest somewhere."""
        self._robot.setPositions(self._in_robot(q))
        self._robot.setVelocities(np.zeros(len(self._order)))

    def state(self) -> tuple[Array, Array]:
        """Return positions and velocities (n,)."""
        order = self._order
        return self._robot.getPositions()[order], self._robot.getVelocities()[order]

    def advance(self, tau: Array) -> None:
        """Move one step."""
        order, robot = self._order, self._robot
        mass = robot.getMassMatrix()[np.ix_(order, order)]
        bias = robot.getCoriolisAndGravityForces()[order]
        joints = joint_step(mass, bias, self.state()[1], tau, self._physics, self._step)
        force = (tau - self._physics.rotor_inertia * joints.acceleration
                 - self._physics.viscous * joints.velocity)
        robot.setForces(self._in_robot(force))
        self._world.step()

    def _in_robot(self, values: Array) -> Array:
        result = np.zeros(len(self._order))
        result[self._order] = values
        return result


load = Dart
