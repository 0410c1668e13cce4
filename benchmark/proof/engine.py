# SPDX-License-Identifier: Apache-2.0
"""What the proof asks of a physics engine, and an arm in it for our closed loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.simulation.arm import checked_effort

#: Gravity in all engines [m/s^2], that of `chain_from_urdf`.
GRAVITY = (0.0, 0.0, -9.81)


class Refused(Exception):
    """An engine does not take a robot; the text says why."""


class Library(Protocol):
    """A robot in other people's software; joint vectors are (n,) in the order it was given."""

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque (n,) of the rigid links [N m, N]."""


class Engine(Library, Protocol):
    """One that also moves the robot."""

    def place(self, q: Array) -> None:
        """Put the robot at rest somewhere (n,) [rad, m]."""

    def state(self) -> tuple[Array, Array]:
        """Return positions (n,) [rad, m] and velocities (n,) [rad/s, m/s]."""

    def advance(self, tau: Array) -> None:
        """Move one step under torques of the motors (n,) [N m, N]."""


#: Makes a robot from URDF text without <dynamics>, joint names, joint physics and step [s].
Loader = Callable[[str, Sequence[str], JointPhysics, float], Library]


@dataclass(frozen=True)
class Judge:
    """
    Somebody else's software.

    :param title: name for people.
    :param distribution: name on PyPI.
    :param module: our adapter in this folder; its function `load` is a `Loader`.
    :param joints: text for people: what it has of its own for rotors and friction; empty = it does
        not simulate.
    """

    title: str
    distribution: str
    module: str
    joints: str = ''

    @property
    def version(self) -> str:
        """The installed version."""
        return version(self.distribution)

    def loader(self) -> Loader:
        """
        Return what makes robots.

        :raises ImportError: it is not installed.
        """
        load: Loader = import_module(f'proof.{self.module}').load
        return load


JUDGES = {
    'mujoco': Judge('MuJoCo', 'mujoco', 'in_mujoco',
                    'rotor, viscous and Coulomb friction its own'),
    'dart': Judge('DART', 'dartpy', 'in_dart',
                  'Coulomb friction its own, rotor and viscous friction as generalized force'),
    'pybullet': Judge('PyBullet', 'pybullet', 'in_pybullet',
                      'rotor and friction as generalized force'),
    'drake': Judge('Drake', 'drake', 'in_drake',
                   'rotor and viscous friction its own, Coulomb friction as generalized force'),
    'pinocchio': Judge('Pinocchio', 'pin', 'in_pinocchio'),
}


class EngineArm:
    """An `Arm` of our simulation whose physics are an engine's; its joints are rigid."""

    def __init__(self, chain: Chain, engine: Engine, step: float, q: Array) -> None:
        """
        Put the arm at rest somewhere.

        :param chain: the robot.
        :param engine: the robot in an engine with the same joint order.
        :param step: step of the engine [s].
        :param q: (n,) first positions [rad, m].
        """
        self.chain, self.step, self.time = chain, step, 0.0
        self.effort = np.zeros(len(chain))
        self._engine = engine
        engine.place(q)
        self.q, self.qd = engine.state()

    @property
    def q_motor(self) -> Array:
        """Positions of the motors (n,) [rad, m]."""
        return self.q

    @property
    def qd_motor(self) -> Array:
        """Velocities of the motors (n,) [rad/s, m/s]."""
        return self.qd

    def advance(self, effort: ArrayLike) -> None:
        """
        Move one step ahead.

        :param effort: (n,) torque of the motors during the step [N m, N].
        :raises StateError: an effort that is not finite, or the simulation diverged.
        """
        tau = checked_effort(effort, len(self.chain))
        self._engine.advance(tau)
        q, qd = self._engine.state()
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(qd))):
            raise StateError('simulation diverged')
        self.q, self.qd, self.effort = q, qd, tau
        self.time += self.step

    def carry(self, payload: Inertia, tip: str | None = None) -> None:
        """Refuse: nothing is carried here."""
        raise NotImplementedError
