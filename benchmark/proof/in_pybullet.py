# SPDX-License-Identifier: Apache-2.0
"""A robot in PyBullet, read by Bullet's URDF reader."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pybullet

from proof.description import impossible_link, with_rounder_inertias
from proof.engine import GRAVITY, Refused
from proof.joint_forces import joint_step
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics

#: Bullet refuses thin rods, whose moments of inertia (0.11 = 0.1 + 0.01) are sums up to rounding;
#: all moments become larger by this share of the largest one.
_ROUNDING = 1e-13


class PyBullet:
    """
    A robot in Bullet, with rotors and friction as generalized forces.

    Bullet has no rotor inertia, and its joint friction is a motor whose solver iterates; so both
    are computed from Bullet's own mass matrix and bias.
    """

    def __init__(self, urdf: str, joint_names: Sequence[str], physics: JointPhysics,
                 step: float) -> None:
        """Read the URDF."""
        if link := impossible_link(urdf):  # Bullet would take zero for it
            raise Refused(f'no body has the inertia of {link}')
        self._client = pybullet.connect(pybullet.DIRECT)
        self._here = {'physicsClientId': self._client}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'robot.urdf'  # Bullet reads files only
            path.write_text(with_rounder_inertias(urdf, _ROUNDING))
            # without the flag Bullet computes inertias from collision shapes
            self._robot = pybullet.loadURDF(str(path), useFixedBase=True, **self._here,
                                            flags=pybullet.URDF_USE_INERTIA_FROM_FILE)
        pybullet.setGravity(*GRAVITY, **self._here)
        pybullet.setTimeStep(step, **self._here)
        self._physics, self._step = physics, step
        count = pybullet.getNumJoints(self._robot, **self._here)
        found = [pybullet.getJointInfo(self._robot, i, **self._here) for i in range(count)]
        moving = [info for info in found if info[2] != pybullet.JOINT_FIXED]
        names = [info[1].decode() for info in moving]
        self._order = [names.index(name) for name in joint_names]
        self._joints = [moving[i][0] for i in self._order]
        for i in range(-1, count):  # Bullet damps all links by 4 % per second, unless told not to
            pybullet.changeDynamics(self._robot, i, linearDamping=0.0, angularDamping=0.0,
                                    jointDamping=0.0, **self._here)
        # every joint has a motor at first, which holds it
        pybullet.setJointMotorControlArray(self._robot, self._joints, pybullet.VELOCITY_CONTROL,
                                           forces=[0.0] * len(self._joints), **self._here)

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque (n,) of the rigid links [N m, N]."""
        given = np.zeros((3, len(self._order)))
        given[:, self._order] = q, qd, qdd
        torque = pybullet.calculateInverseDynamics(self._robot, *given.tolist(), **self._here)
        return np.array(torque)[self._order]

    def place(self, q: Array) -> None:
        """Put the robot at rest somewhere."""
        for joint, position in zip(self._joints, q):
            pybullet.resetJointState(self._robot, joint, float(position), 0.0, **self._here)

    def state(self) -> tuple[Array, Array]:
        """Return positions and velocities (n,)."""
        states = pybullet.getJointStates(self._robot, self._joints, **self._here)
        return np.array([state[0] for state in states]), np.array([state[1] for state in states])

    def advance(self, tau: Array) -> None:
        """Move one step."""
        q, qd = self.state()
        order, physics = self._order, self._physics
        given = np.zeros(len(order))
        given[order] = q
        mass = np.array(pybullet.calculateMassMatrix(self._robot, given.tolist(), **self._here))
        joints = joint_step(mass[np.ix_(order, order)],
                            self.inverse_dynamics(q, qd, np.zeros_like(q)), qd, tau, physics,
                            self._step)
        force = (tau - physics.rotor_inertia * joints.acceleration
                 - physics.viscous * joints.velocity - joints.dry)
        pybullet.setJointMotorControlArray(self._robot, self._joints, pybullet.TORQUE_CONTROL,
                                           forces=force.tolist(), **self._here)
        pybullet.stepSimulation(**self._here)


load = PyBullet
