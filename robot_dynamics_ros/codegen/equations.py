# SPDX-License-Identifier: Apache-2.0
"""
The functions of a model, each written once: the recursions of dynamics/ put together.

Run on the nodes of a graph they give a program (`generation`), on floats or rows the loop form.

Parameters are the minimal parameters ``mlc`` and, where a function needs them, those of the
joints: see `joint_parameters`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.derivatives import (
    Matrices,
    acceleration_derivatives,
    torque_derivatives,
)
from robot_dynamics_ros.codegen.functions import KINEMATIC_INPUTS, WITH_WRENCH
from robot_dynamics_ros.codegen.grouping import Grouping
from robot_dynamics_ros.codegen.kinematics import Kinematics
from robot_dynamics_ros.dynamics.formulations.lu_meng import momentum_split
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm, JointTerms
from robot_dynamics_ros.dynamics.recursions.customized import (
    customized_motion,
    customized_newton_euler,
    regrouped,
)
from robot_dynamics_ros.dynamics.recursions.derivatives import (
    TorqueDerivatives,
    rigid_derivatives,
)
from robot_dynamics_ros.dynamics.recursions.forward_dynamics import customized_recursion
from robot_dynamics_ros.dynamics.recursions.kinematics import link_velocities
from robot_dynamics_ros.dynamics.recursions.mass_matrix import composite_bodies
from robot_dynamics_ros.dynamics.recursions.momentum import twice_kinetic_energy, weight_energy
from robot_dynamics_ros.dynamics.recursions.motion import LinkMotion, reference_motion
from robot_dynamics_ros.dynamics.recursions.regressor import (
    link_twists,
    reduced_matrix,
    reduced_rows,
    regressor_array,
    regressor_rows,
)
from robot_dynamics_ros.dynamics.scalars.factored_matrix import FactoredMatrix, solve_from_tip
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame, gravity_vector, joint_frames
from robot_dynamics_ros.dynamics.scalars.pair import LinkWrenches, wrenches_at_joints
from robot_dynamics_ros.dynamics.scalars.vector import ZERO, Functions, Scalar, total

#: Rows of scalars, or numbers (n, p) or (n, p, N) of one or N states.
ModelRows: TypeAlias = list[list[Scalar]] | Array

#: Where so many joints or more are on the way to a joint, on average, the recursion with linear
#: cost needs fewer operations.
LINEAR_RECURSION_FROM = 5.5


@dataclass(frozen=True)
class Arrangement:
    """
    Choices between formulations of the rigid-body torque that differ in operations only.

    :param third_column: n flags for `customized_newton_euler`; None = its own rule.
    :param eliminations: n of ELIMINATIONS for `regrouped`; None = Khalil & Dombre's.
    """

    third_column: tuple[bool, ...] | None = None
    eliminations: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Equations:
    """
    The functions of INPUTS at one state, over scalars: one method each, with the same name.

    :param chain: the robot; its inertias are not used.
    :param grouping: grouping of the minimal parameters.
    :param form: what the joints are modelled with.
    :param inputs: the scalars of the input vectors by name; with 'wrench' where there is one.
    :param parameter: function from the name and size of a vector of parameters to its scalars.
    :param functions: functions of such scalars.
    :param arrangement: which of equal formulations to use.
    :param grouped: what the grouping makes of the minimal parameters, where it is known already.
    """

    chain: Chain
    grouping: Grouping
    form: JointForm
    inputs: Mapping[str, Sequence[Scalar]]
    parameter: Callable[[str, int], Sequence[Scalar]]
    functions: Functions
    arrangement: Arrangement = Arrangement()
    grouped: list[list[Scalar]] | None = None

    def result(self, name: str) -> Sequence[Scalar] | Array:
        """Return the result of one function in row-major order."""
        plain = name.removesuffix(WITH_WRENCH)
        result: Any = getattr(self.kinematics if plain in KINEMATIC_INPUTS else self, plain)()
        if isinstance(result, np.ndarray):
            return result.reshape(-1, *result.shape[2:])
        while isinstance(result[0], list):
            result = [value for row in result for value in row]
        entries: list[Scalar] = result
        return entries

    @cached_property
    def _frames(self) -> list[JointFrame]:
        return joint_frames(self.chain, self.inputs['q'], self.functions.cos, self.functions.sin)

    @cached_property
    def _links(self) -> list[list[Scalar]]:
        """Ten grouped parameters per link."""
        minimal = self.parameter('mlc', self.grouping.matrix.shape[1])
        links = self.grouping.links(minimal) if self.grouped is None else self.grouped
        if self.arrangement.eliminations is None:
            return links
        return regrouped(self._frames, links, self.arrangement.eliminations)

    @property
    def kinematics(self) -> Kinematics:
        """What follows from geometry and inertias of the chain."""
        qd = self.chain.moving_rates(self.inputs['qd']) if 'qd' in self.inputs else ()
        return Kinematics(self.chain, self._frames, qd)

    @property
    def _joints(self) -> JointTerms:
        return JointTerms(len(self.chain), self.form, self.parameter, self.functions)

    @property
    def _wrench(self) -> LinkWrenches | None:
        wrench = self.inputs.get('wrench')
        return None if wrench is None else wrenches_at_joints(self.chain, wrench)

    def _rates(self, name: str) -> Sequence[Scalar]:
        """Return velocities or accelerations of all moving joints, those that follow included."""
        return self.chain.moving_rates(self.inputs[name])

    def _rigid(self, qd: Sequence[Scalar] | None = None, qdd: Sequence[Scalar] | None = None,
               gravity: bool = True) -> list[Scalar]:
        rest = [0.0] * len(self._links)
        return self.chain.joint_sums(customized_newton_euler(
            self._frames, self._links, qd or rest, qdd or rest,
            gravity_vector(self.chain) if gravity else ZERO, self._wrench,
            self.arrangement.third_column))

    def inverse_dynamics(self) -> list[Scalar]:
        """Return the torque of the rigid links."""
        return self._rigid(self._rates('qd'), self._rates('qdd'))

    def gravity_torque(self) -> list[Scalar]:
        """Return the torque that carries the weight."""
        return self._rigid()

    def coriolis_torque(self) -> list[Scalar]:
        """Return C(q, qd) qd: the torque at qdd = 0 without gravity."""
        return self._rigid(self._rates('qd'), gravity=False)

    def friction_torque(self) -> list[Scalar]:
        """Return friction and offset without load."""
        return self._joints.friction_torque(self.inputs['qd'])

    def friction_under_load(self) -> list[Scalar]:
        """Return friction and offset."""
        return self._joints.friction_torque(self.inputs['qd'], self.inputs['load'])

    def load(self) -> list[Scalar]:
        """Return the torque of rigid links and rotors: what the joints carry."""
        return [link + rotor for link, rotor in zip(
            self.inverse_dynamics(), self._joints.rotor_torque(self.inputs['qdd']))]

    def torque(self) -> list[Scalar]:
        """Return the whole torque: rigid links, rotors, friction and offset."""
        load = self.load()
        friction = self._joints.friction_torque(self.inputs['qd'], load)
        return [carried + lost for carried, lost in zip(load, friction)]

    def carried_load(self) -> list[Scalar]:
        """Return the load for which `torque` is tau: what friction and offset leave of it."""
        return self._joints.carried_load(self.inputs['tau'], self.inputs['qd'])

    def mass_matrix(self) -> list[list[Scalar]]:
        """Return A(q) of links and rotors."""
        links = reduced_matrix(self.chain, composite_bodies(self._frames, self._links))
        return self._joints.with_rotors(links)

    def coriolis_matrix(self) -> list[list[Scalar]]:
        """Return the matrix C(q, qd) of the Christoffel symbols."""
        return [[0.5 * entry for entry in row] for row in self._rigid_derivatives().by_qd]

    def kinetic_energy(self) -> list[Scalar]:
        """Return the kinetic energy of links and rotors."""
        qd = self.inputs['qd']
        links = twice_kinetic_energy(self._links,
                                     link_velocities(self._frames, self._rates('qd')))
        rotors = [speed * p for speed, p in zip(qd, self._joints.rotor_torque(qd))]
        return [0.5 * (links + total(rotors))]

    def potential_energy(self) -> list[Scalar]:
        """Return the potential energy of the links; at q = 0 it is that of the chain."""
        start = joint_frames(self.chain, [0.0] * len(self.chain), math.cos, math.sin)
        gravity = gravity_vector(self.chain)
        lift = (weight_energy(self._frames, self._links, gravity)
                - weight_energy(start, self._links, gravity))
        links = [link.standard_parameters.tolist() for link in self.chain.links]
        mass = sum(link.mass for link in self.chain.links)
        base = -mass * float(self.chain.gravity @ self.chain.base_pose.translation)
        return [lift + (weight_energy(start, links, gravity) + base)]

    def forward_dynamics(self) -> list[Scalar]:
        """Return the accelerations for which `torque` is tau."""
        effort = self.carried_load()
        if self._long and not self.form.coupled and not self.chain.followers:
            return customized_recursion(self._frames, self._links, self.inputs['qd'], effort,
                                        gravity_vector(self.chain), self._wrench,
                                        self.parameter('rotor', len(effort)))
        bias = self._rigid(self._rates('qd'))
        return solve_from_tip(self.mass_matrix(), [t - b for t, b in zip(effort, bias)])

    @property
    def _long(self) -> bool:
        """Whether the recursion with linear cost needs fewer operations than the mass matrix."""
        n = len(self._links)
        ways = sum(len(self.chain.path(i)) for i in range(1, n + 1))
        return ways >= LINEAR_RECURSION_FROM * n

    def regressor(self) -> ModelRows:
        """Return the regressor of the minimal parameters."""
        return self._grouped_regressor(customized_motion(
            self._frames, self._rates('qd'), self._rates('qdd'), gravity_vector(self.chain)))

    def reference_regressor(self) -> ModelRows:
        """Return Slotine and Li's regressor of the minimal parameters."""
        return self._grouped_regressor(reference_motion(
            self._frames, self._rates('qd'), self._rates('qd_r'), self._rates('qdd_r'),
            gravity_vector(self.chain)))

    def _grouped_regressor(self, motion: Sequence[LinkMotion]) -> ModelRows:
        """Return the regressor of the minimal parameters at a motion of the links."""
        if self.functions is math or self.functions is np:  # numbers: quicker as whole arrays
            every = regressor_array(motion, self._frames)
            if self.chain.followers:
                every = np.stack(self.chain.joint_sums(list(every.swapaxes(0, 1))), axis=1)
            return self.grouping.regressor_array(every)
        rows = regressor_rows(motion, link_twists(self._frames))
        return self.grouping.regressor(reduced_rows(self.chain, rows))

    def momentum_split(self) -> list[list[list[Scalar]]]:
        """Return Lu and Meng's W and Z of the minimal parameters."""
        return [self.grouping.regressor(reduced_rows(self.chain, part)) for part in momentum_split(
            self._frames, self._rates('qd'), gravity_vector(self.chain))]

    def regressor_with_joint_terms(self) -> ModelRows:
        """Return the regressor of the minimal parameters and of the joint terms."""
        links = self.regressor()
        joints = self._joints.regressor(self.inputs['qd'], self.inputs['qdd'])
        if isinstance(links, np.ndarray):
            terms = np.zeros((len(joints), len(joints[0]), *links.shape[2:]))
            for i, row in enumerate(joints):
                for k, value in enumerate(row):
                    if isinstance(value, np.ndarray) or value:
                        terms[i, k] = value
            return np.concatenate([links, terms], axis=1)
        return [own + terms for own, terms in zip(links, joints)]

    def _rigid_derivatives(self, qdd: Sequence[Scalar] | None = None) -> TorqueDerivatives:
        """Return the torque of the rigid links and its derivatives; None = at rest."""
        qd, rest = self._rates('qd'), [0.0] * len(self._links)
        rates = rest if qdd is None else self.chain.moving_rates(qdd)
        motion = customized_motion(self._frames, qd, rates, gravity_vector(self.chain))
        found = rigid_derivatives(self._frames, self._links, motion, qd, self._wrench)
        matrices = (reduced_matrix(self.chain, rows)
                    for rows in (found.by_q, found.by_qd, found.by_qdd))
        return TorqueDerivatives(self.chain.joint_sums(found.torque), *matrices)

    def inverse_dynamics_derivatives(self) -> Matrices:
        """Return the derivatives of `inverse_dynamics` by q and by qd."""
        rigid = self._rigid_derivatives(self.inputs['qdd'])
        return [rigid.by_q, rigid.by_qd]

    def torque_derivatives(self) -> Matrices:
        """Return the derivatives of `torque` by q and by qd."""
        rigid, qdd = self._rigid_derivatives(self.inputs['qdd']), self.inputs['qdd']
        load = [link + rotor for link, rotor in zip(rigid.torque, self._joints.rotor_torque(qdd))]
        return torque_derivatives(rigid, self._joints, self.inputs['qd'], load)

    def forward_dynamics_derivatives(self) -> Matrices:
        """Return the derivatives of `forward_dynamics` by q, by qd and by tau."""
        start, qd, tau = self._rigid_derivatives(), self.inputs['qd'], self.inputs['tau']
        A = [[a + r for a, r in zip(*rows)]
             for rows in zip(start.by_qdd, self._joints.rotor_matrix())]
        factored = FactoredMatrix.of(A)
        qdd = factored.solved([left - bias for left, bias in zip(self.carried_load(),
                                                                 start.torque)])
        return acceleration_derivatives(self._rigid_derivatives(qdd), self._joints, qd, tau,
                                        factored)
