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
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.joints.joint_terms import JointTerms
from robot_dynamics_ros.dynamics.recursions.mass_matrix import composite_bodies
from robot_dynamics_ros.dynamics.recursions.newton_euler import newton_euler
from robot_dynamics_ros.dynamics.recursions.regressor import reduced_matrix
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
class ElasticJoints:
    """
    Equations (9.35a) and (9.35b) as one system: ``mass_matrix rate = force - spring x``.

    Its n + m coordinates x are the positions of the links, then those of the motors of the m
    elastic joints.

    :param joint_names: names of the n joints.
    :param stiffness: (n,) stiffness of the joints [N m/rad, N/m], positive; infinite = rigid.
    :param rotor: (n, n) inertia of the rotors on the joint side [kg m^2, kg].
    """

    joint_names: tuple[str, ...]
    stiffness: Array
    rotor: Array

    def __post_init__(self) -> None:
        """Freeze the arrays and refuse springs that cannot be."""
        freeze(self, 'stiffness', 'rotor')
        names = self.joint_names
        if self.stiffness.shape != (len(names),):
            raise ParameterError(f'stiffness has shape {self.stiffness.shape}, expected '
                                 f'({len(names)},): {", ".join(names)}')
        for name, stiffness, rotor in zip(names, self.stiffness, np.diag(self.rotor)):
            if not stiffness > 0.0:
                raise ParameterError(f'joint {name}: stiffness is {stiffness:g}; it must be '
                                     'positive, or infinite for a rigid joint')
            if np.isfinite(stiffness) and not rotor > 0.0:
                raise ParameterError(f'joint {name}: an elastic joint needs a rotor_inertia in '
                                     f'the joints file, known and positive; it is {rotor:g}')

    @cached_property
    def elastic(self) -> NDArray[np.int64]:
        """Places (m,) of the elastic joints."""
        return np.flatnonzero(np.isfinite(self.stiffness)).astype(np.int64)

    @cached_property
    def drive(self) -> NDArray[np.int64]:
        """Place (n,) of every motor among the coordinates; of a rigid joint that of its link."""
        place = np.arange(self.stiffness.size)
        place[self.elastic] = place.size + np.arange(self.elastic.size)
        return place

    @cached_property
    def spring(self) -> Array:
        """Stiffness matrix (n + m, n + m) of the springs between links and motors."""
        between = np.zeros((self.elastic.size, self.stiffness.size + self.elastic.size))
        rows = np.arange(self.elastic.size)
        between[rows, self.elastic], between[rows, self.drive[self.elastic]] = 1.0, -1.0
        return np.asarray((between.T * self.stiffness[self.elastic]) @ between)

    def joined(self, links: Array, motors: Array) -> Array:
        """Return coordinates or velocities (..., n + m) of those (..., n) of links and motors."""
        return np.concatenate([links, motors[..., self.elastic]], axis=-1)

    def mass_matrix(self, A: Array) -> Array:
        """
        Return the inertia (..., n + m, n + m) of links and rotors.

        :param A: (..., n, n) mass matrix of the links alone.
        """
        n, size = self.stiffness.size, len(self.spring)
        mass = np.zeros((*A.shape[:-2], size, size))
        mass[..., :n, :n] = A  # (9.35a)
        mass[..., self.drive[:, None], self.drive] += self.rotor  # (9.35b)
        return mass

    def force(self, bias: Array, torque: Array) -> Array:
        """
        Return the force (..., n + m) on the coordinates, without that of the springs.

        :param bias: (..., n) torque C qd + Q of the links [N m, N].
        :param torque: (..., n) motor torque less friction and offset [N m, N].
        """
        force = np.zeros((*bias.shape[:-1], len(self.spring)))
        force[..., :self.stiffness.size] -= bias  # (9.35a)
        force[..., self.drive] += torque  # (9.35b)
        return force


@dataclass(frozen=True, eq=False)
class ElasticModel:
    """
    Dynamics of a chain with elastic joints.

    :param chain: the robot, with its link inertias and joint physics.
    :param stiffness: (n,) stiffness of the joints [N m/rad, N/m], positive; infinite = rigid.
    """

    chain: Chain
    stiffness: Array

    def __post_init__(self) -> None:
        """Freeze the stiffness and refuse springs that cannot be."""
        freeze(self, 'stiffness')
        _ = self._joints

    @cached_property
    def _joints(self) -> ElasticJoints:
        rotor = JointTerms.of(self.chain.joint_physics, np).rotor_matrix()
        return ElasticJoints(self.chain.joint_names, self.stiffness, np.array(rotor))

    def inverse(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, jerk: ArrayLike,
                snap: ArrayLike) -> MotorMotion:
        """
        Return what the motors must do so that the links move as given.

        The motor's acceleration holds the second time derivative of the torque on the links;
        it is exact, since the recursion is run with power series in time.

        :param q: (n,) or (N, n) joint positions [rad, m].
        :param qd: velocities [rad/s, m/s].
        :param qdd: accelerations [rad/s^2, m/s^2].
        :param jerk: third time derivatives of q [rad/s^3, m/s^3].
        :param snap: fourth time derivatives of q [rad/s^4, m/s^4].
        """
        state = Samples.of(self.chain, q=q, qd=qd, qdd=qdd, jerk=jerk, snap=snap)
        functions = state.functions
        motion = list(zip(*(state[name] for name in ('q', 'qd', 'qdd', 'jerk', 'snap'))))
        position, velocity, rate = ([Series.of_derivatives(each[k:k + 3]) for each in motion]
                                    for k in range(3))
        frames = joint_frames(self.chain, position,
                              lambda u: series_cos_sin(u, functions.cos, functions.sin)[0],
                              lambda u: series_cos_sin(u, functions.cos, functions.sin)[1])
        tau = self.chain.joint_sums(newton_euler(
            frames, self._links, self.chain.moving_rates(velocity), self.chain.moving_rates(rate),
            gravity_vector(self.chain)))
        torques = [state.vector([each.derivative(k) for each in tau]) for k in range(3)]
        # (9.35a): the spring carries the torque of the links
        q_motor, qd_motor, qdd_motor = (
            state.vector(state[name]) + carried / self.stiffness
            for name, carried in zip(('q', 'qd', 'qdd'), torques))
        load = torques[0] + qdd_motor @ self._joints.rotor
        torque = load + self._friction(qd_motor, load)  # (9.35b)
        return MotorMotion(torque, q_motor, qd_motor, qdd_motor)

    def forward(self, q: ArrayLike, qd: ArrayLike, q_motor: ArrayLike, qd_motor: ArrayLike,
                torque: ArrayLike) -> tuple[Array, Array]:
        """
        Return the accelerations of links and motors [rad/s^2, m/s^2], each (n,) or (N, n).

        :param q: (n,) or (N, n) joint positions [rad, m].
        :param qd: joint velocities [rad/s, m/s].
        :param q_motor: motor positions [rad, m]; of a rigid joint not used.
        :param qd_motor: motor velocities [rad/s, m/s]; of a rigid joint not used.
        :param torque: motor torque [N m, N].
        :raises ParameterError: a joint moves nothing that has inertia.
        """
        state = Samples.of(self.chain, q=q, qd=qd, q_motor=q_motor, qd_motor=qd_motor, tau=torque)
        values = {name: state.vector(scalars) for name, scalars in state.scalars.items()}
        joints = self._joints
        A = state.matrix(reduced_matrix(self.chain, composite_bodies(state.frames, self._links)))
        bias = state.vector(self.chain.joint_sums(newton_euler(
            state.frames, self._links, self.chain.moving_rates(state['qd']),
            [0.0] * len(self._links), gravity_vector(self.chain))))
        x = joints.joined(values['q'], values['q_motor'])
        velocity = joints.joined(values['qd'], values['qd_motor'])[..., joints.drive]
        force = joints.force(bias, self._carried(values['tau'], velocity)) - x @ joints.spring
        try:
            solution = np.linalg.solve(joints.mass_matrix(A), force[..., None])
        except np.linalg.LinAlgError:
            raise ParameterError(f'robot {self.chain.robot}: a joint moves nothing that has '
                                 'inertia; lock it, or give its link an inertia') from None
        rates = np.asarray(solution[..., 0], np.float64)
        return rates[..., :len(self.chain)], rates[..., joints.drive]

    def _friction(self, velocity: Array, load: Array) -> Array:
        """Return friction and offset of motors (..., n) that carry a load, on the joint side."""
        return np.stack(self._terms.friction_torque(_scalars(velocity), _scalars(load)), axis=-1)

    def _carried(self, torque: Array, velocity: Array) -> Array:
        """Return what a motor torque (..., n) leaves after friction and offset."""
        return np.stack(self._terms.carried_load(_scalars(torque), _scalars(velocity)), axis=-1)

    @cached_property
    def _terms(self) -> JointTerms:
        return JointTerms.of(self.chain.joint_physics, np)

    @cached_property
    def _links(self) -> list[list[float]]:
        return [link.standard_parameters.tolist() for link in self.chain.links]


def _scalars(values: Array) -> list[Array]:
    """Return the last axis as scalars."""
    return list(np.moveaxis(values, -1, 0))
