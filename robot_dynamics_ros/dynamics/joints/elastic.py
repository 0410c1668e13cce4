# SPDX-License-Identifier: Apache-2.0
"""
Robots with elastic joints: a spring between every rotor and its link (Khalil & Dombre 9.3.8).

    A qdd + C qd + Q + k (q - q_motor) = 0                           (9.35a)
    Ia qdd_motor + friction(qd_motor) - k (q - q_motor) = torque     (9.35b)

Rotors, friction and offset act at the motor position, given on the joint side of the gears. A
joint with infinite stiffness is rigid: its motor position is its joint position.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.joints.joint_terms import friction_torque, rotor_inertia_matrix
from robot_dynamics_ros.dynamics.recursions.mass_matrix import composite_bodies
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector, joint_frames
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.dynamics.scalars.series import Series, series_cos_sin
from robot_dynamics_ros.errors import ParameterError


@dataclass(frozen=True, eq=False)
class MotorMotion:
    """
    What the motors of elastic joints do, on the joint side; arrays (n,) or (N, n).

    :param torque: [N m, N].
    :param position: [rad, m].
    :param velocity: [rad/s, m/s].
    :param acceleration: [rad/s^2, m/s^2].
    """

    torque: Array
    position: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True, eq=False)
class ElasticModel:
    """
    Dynamics of a chain with elastic joints.

    :param chain: the robot, with its link inertias and joint physics.
    :param stiffness: (n,) of the joints [N m/rad, N/m], positive; infinite = rigid.
    """

    chain: Chain
    stiffness: Array

    def __post_init__(self) -> None:
        """Freeze the stiffness and refuse springs that cannot be."""
        freeze(self, 'stiffness')
        names = self.chain.joint_names
        if self.stiffness.shape != (len(names),):
            raise ParameterError(f'stiffness has shape {self.stiffness.shape}, expected '
                                 f'({len(names)},): {", ".join(names)}')
        rotors = self.chain.joint_physics.rotor_inertia
        for name, stiffness, rotor in zip(names, self.stiffness, rotors):
            if not stiffness > 0.0:
                raise ParameterError(f'joint {name}: stiffness is {stiffness:g}; it must be '
                                     'positive, or infinite for a rigid joint')
            if np.isfinite(stiffness) and not rotor > 0.0:
                raise ParameterError(f'joint {name}: rotor_inertia is {rotor:g}; a rotor behind '
                                     'a spring must have a known, positive inertia')

    def inverse(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, jerk: ArrayLike,
                snap: ArrayLike) -> MotorMotion:
        """
        Return what the motors must do so that the links move as given.

        The motor's acceleration holds the second time derivative of the torque on the links;
        it is exact, since the recursion is run with power series in time.

        :param q: (n,) or (N, n) joint positions [rad, m].
        :param qd: speeds [rad/s, m/s].
        :param qdd: accelerations [rad/s^2, m/s^2].
        :param jerk: third time derivatives of q [rad/s^3, m/s^3].
        :param snap: fourth time derivatives of q [rad/s^4, m/s^4].
        """
        state = Samples.of(self.chain, q=q, qd=qd, qdd=qdd, jerk=jerk, snap=snap)
        motion = list(zip(*(state[name] for name in ('q', 'qd', 'qdd', 'jerk', 'snap'))))
        position, velocity, rate = ([Series.of_derivatives(each[k:k + 3]) for each in motion]
                                    for k in range(3))
        frames = joint_frames(self.chain, position,
                              lambda u: series_cos_sin(u, state.cos, state.sin)[0],
                              lambda u: series_cos_sin(u, state.cos, state.sin)[1])
        tau = newton_euler(frames, self._links, velocity, rate, gravity_vector(self.chain))
        torques = [state.vector([each.derivative(k) for each in tau]) for k in range(3)]
        # (9.35a): the spring carries the torque of the links
        q_motor, qd_motor, qdd_motor = (
            state.vector(state[name]) + carried / self.stiffness
            for name, carried in zip(('q', 'qd', 'qdd'), torques))
        torque = (torques[0] + qdd_motor @ self._rotor
                  + friction_torque(self.chain.joint_physics, qd_motor))  # (9.35b)
        return MotorMotion(torque, q_motor, qd_motor, qdd_motor)

    def forward(self, q: ArrayLike, qd: ArrayLike, q_motor: ArrayLike, qd_motor: ArrayLike,
                torque: ArrayLike) -> tuple[Array, Array]:
        """
        Return the accelerations of links and motors [rad/s^2, m/s^2], each (n,) or (N, n).

        :param q: (n,) or (N, n) joint positions [rad, m].
        :param qd: joint speeds [rad/s, m/s].
        :param q_motor: motor positions [rad, m]; of a rigid joint not used.
        :param qd_motor: motor speeds [rad/s, m/s]; of a rigid joint not used.
        :param torque: of the motors [N m, N].
        """
        state = Samples.of(self.chain, q=q, qd=qd, q_motor=q_motor, qd_motor=qd_motor, tau=torque)
        values = {name: state.vector(scalars) for name, scalars in state.scalars.items()}
        n, elastic = len(self.chain), np.isfinite(self.stiffness)
        # unknown are the accelerations of the links, then those of the motors behind springs
        place = np.where(elastic, n + np.cumsum(elastic) - 1, np.arange(n))
        size = n + int(np.sum(elastic))
        A = state.matrix(composite_bodies(state.frames, self._links))
        bias = state.vector(newton_euler(state.frames, self._links, state['qd'], [0.0] * n,
                                         gravity_vector(self.chain)))
        mass = np.zeros((*bias.shape[:-1], size, size))
        mass[..., :n, :n] = A
        mass[..., place[:, None], place] += self._rotor
        spring = np.where(elastic, self.stiffness, 0.0) * (values['q'] - values['q_motor'])
        speed = np.where(elastic, values['qd_motor'], values['qd'])
        force = np.zeros((*bias.shape[:-1], size))
        force[..., :n] -= bias + spring  # (9.35a)
        force[..., place] += (values['tau'] + spring
                              - friction_torque(self.chain.joint_physics, speed))  # (9.35b)
        solution = np.linalg.solve(mass, force[..., None])[..., 0]
        return solution[..., :n], solution[..., place]

    @cached_property
    def _links(self) -> list[list[float]]:
        return [link.standard_parameters.tolist() for link in self.chain.links]

    @cached_property
    def _rotor(self) -> Array:
        return rotor_inertia_matrix(self.chain.joint_physics)
