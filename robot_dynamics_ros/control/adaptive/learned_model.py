# SPDX-License-Identifier: Apache-2.0
"""
A robot model some of whose parameters are being learned: ``tau = tau_known + Y_u theta``.

The links enter by the regressor of their minimal parameters, the joints term by term, so that one
control step costs one regressor and a few products. With a coupled transmission the joint terms
belong to the axes of the motors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.control.adaptive.unknown_parameters import (
    UnknownParameters,
    joint_term_values,
)
from robot_dynamics_ros.dynamics.joints.joint_terms import (
    JOINT_TERMS,
    Transmission,
    dry_friction,
    sharpness_of,
    term_factors,
)


class TorqueColumns(NamedTuple):
    """
    What the parameters are multiplied with at one state.

    :param links: (n, p) regressor of the minimal parameters.
    :param joints: (4, n) factors of the JOINT_TERMS, on the side of the motors.
    """

    links: Array
    joints: Array


class LearnedModel:
    """
    Torque, gradient and mass matrix for any values of the unknowns.

    What is known is taken from the model at every call: a load that is announced while the
    controller runs counts at once.
    """

    def __init__(self, model: Model, unknowns: UnknownParameters) -> None:
        """
        Join a model and what is unknown of it.

        :param model: the robot as it is known.
        :param unknowns: made for this model.
        """
        self.model = model
        self.unknowns = unknowns
        # all parameters in one vector, links first: a step costs few calls of numpy
        self._p, n = len(model.mlc), len(model.chain)
        self._effect = np.vstack([unknowns.matrix, np.zeros((len(JOINT_TERMS) * n,
                                                             len(unknowns)))])
        for column, place in enumerate(unknowns.terms):
            if place >= 0:
                self._effect[self._p + place, column] = 1.0
        self._accelerations = np.vstack([np.zeros(n), np.eye(n)])
        self._rest = np.zeros_like(self._accelerations)
        self._known = np.zeros(0)
        self._parameters: Array | None = None
        self._physics: JointPhysics | None = None
        self._to_motors: Array | None = None
        self._sharpness = 0.0

    def links(self, theta: Array) -> Array:
        """Return the minimal parameters (p,) for values (m,) of the unknowns."""
        return self._all(theta)[:self._p]

    def joints(self, theta: Array) -> Array:
        """Return the joint terms (4, n) for values (m,) of the unknowns."""
        return self._all(theta)[self._p:].reshape(len(JOINT_TERMS), -1)

    def _all(self, theta: Array) -> Array:
        """Return minimal parameters and joint terms (p + 4 n,)."""
        self._look_at_model()
        return np.asarray(self._known + self._effect @ (theta - self.unknowns.start))

    def joint_physics(self, theta: Array) -> JointPhysics:
        """Return the joint physics for values (m,) of the unknowns."""
        physics = self.model.joint_physics
        Ia, Fv, Fc, offset = self.joints(theta)
        rotor = np.where(np.isnan(physics.rotor_inertia), np.nan, Ia)
        return replace(physics, rotor_inertia=rotor, viscous=Fv, coulomb=Fc, offset=offset)

    def columns(self, Y: Array, velocity: Array, acceleration: Array) -> TorqueColumns:
        """
        Return what the parameters are multiplied with.

        :param Y: (n, p) regressor of the links.
        :param velocity: (n,) velocity at which friction is taken [rad/s, m/s].
        :param acceleration: (n,) acceleration of the rotors [rad/s^2, m/s^2].
        """
        self._look_at_model()
        if self._to_motors is not None:
            velocity, acceleration = self._to_motors @ velocity, self._to_motors @ acceleration
        columns = np.empty((len(JOINT_TERMS), velocity.size))
        factors = term_factors(velocity, acceleration, self._sharpness, np.tanh)
        columns[0], columns[1], columns[2], columns[3] = factors
        return TorqueColumns(Y, columns)

    def torque(self, theta: Array, columns: TorqueColumns) -> Array:
        """Return the torque (n,) [N m, N] for values (m,) of the unknowns."""
        torque = self.linear_torque(theta, columns)
        load = None
        if self.model.joint_physics.load_friction is not None:
            # what the motors carry: links and rotors
            links = columns.links @ self.links(theta)
            if self._to_motors is not None:
                links = np.asarray(np.linalg.solve(self._to_motors.T, links))
            load = np.asarray(links + self.joints(theta)[0] * columns.joints[0])
        rise = self.friction_rise(columns, load)
        return torque if rise is None else torque + rise

    def carried(self, theta: Array, columns: TorqueColumns, torque: Array) -> Array:
        """
        Return what links and rotors take of a torque at every motor (n,) [N m, N].

        :param theta: (m,) values of the unknowns.
        :param columns: what the parameters are multiplied with, rotors left out.
        :param torque: (n,) torque of the joints [N m, N].
        """
        motors = torque if self._to_motors is None else np.linalg.solve(self._to_motors.T, torque)
        return np.asarray(motors - np.add.reduce(self.joints(theta) * columns.joints))

    def linear_torque(self, theta: Array, columns: TorqueColumns) -> Array:
        """Return the torque (n,) that is linear in the parameters [N m, N]."""
        values = self._all(theta)
        own: Array = np.add.reduce(values[self._p:].reshape(columns.joints.shape)
                                   * columns.joints)
        if self._to_motors is not None:
            own = self._to_motors.T @ own
        return np.asarray(columns.links @ values[:self._p] + own)

    def friction_rise(self, columns: TorqueColumns, load: Array | None = None) -> Array | None:
        """
        Return what a friction law adds to Coulomb and viscous friction (n,), known [N m, N].

        Static friction, friction under load, asymmetry; None where the law has none of them.

        :param columns: what the parameters are multiplied with.
        :param load: (n,) torque of links and rotors at the motors [N m, N]; None = not known.
        """
        physics = self.model.joint_physics
        velocity, direction = columns.joints[1], columns.joints[2]
        parts: list[Array] = []
        if physics.static is not None:
            parts.append(dry_friction(physics, velocity) - physics.coulomb * direction)
        if physics.load_friction is not None and load is not None:
            parts.append(physics.load_friction * np.abs(load) * direction)
        if physics.viscous_asymmetry is not None:
            parts.append(physics.viscous_asymmetry * np.abs(velocity))
        if not parts:
            return None
        own = np.add.reduce(parts)
        return np.asarray(own if self._to_motors is None else self._to_motors.T @ own)

    def unknown_columns(self, columns: TorqueColumns) -> Array:
        """Return Y_u (n, m)."""
        terms = self._effect[self._p:].reshape(*columns.joints.shape, -1)
        own = np.add.reduce(columns.joints[:, :, None] * terms)
        if self._to_motors is not None:
            own = self._to_motors.T @ own
        return np.asarray(columns.links @ self._effect[:self._p] + own)

    def gradient(self, columns: TorqueColumns, x: Array) -> Array:
        """Return Y_u^T x (m,) for a joint vector x (n,)."""
        motors = x if self._to_motors is None else self._to_motors @ x
        every = np.concatenate([x @ columns.links, (columns.joints * motors).ravel()])
        return np.asarray(every @ self._effect)

    def mass_matrix(self, theta: Array, q: Array) -> Array:
        """
        Return H (n, n) of links and rotors for values (m,) of the unknowns.

        By columns from the regressor at rest, as Lu & Meng do (section V-B, steps 1 to 3): torque
        at each unit acceleration less that without any, all in one call.
        """
        values = self._all(theta)
        rows = np.empty_like(self._accelerations)
        rows[:] = q
        Y = self.model.regressor(rows, self._rest, self._accelerations)
        torques = Y @ values[:self._p]
        H = torques[1:] - torques[0]
        rotors = values[self._p:self._p + q.size]
        if self._to_motors is None:
            H.flat[::q.size + 1] += rotors
        else:
            H += (self._to_motors.T * rotors) @ self._to_motors
        return np.asarray(0.5 * (H + H.T))

    def _look_at_model(self) -> None:
        """Take over what is known where the model was changed."""
        parameters, physics = self.model.parameters, self.model.joint_physics
        if parameters is self._parameters and physics is self._physics:
            return
        self._known = np.concatenate([parameters, joint_term_values(physics).ravel()])
        coupled = physics.coupling is not None
        self._to_motors = Transmission.of(physics).inverse if coupled else None
        self._sharpness = sharpness_of(physics)
        self._parameters, self._physics = parameters, physics
