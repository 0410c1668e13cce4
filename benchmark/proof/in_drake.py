# SPDX-License-Identifier: Apache-2.0
"""A robot in Drake, read by Drake's URDF reader."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces
from pydrake.systems.analysis import Simulator

from proof.description import impossible_link, root_link
from proof.engine import GRAVITY, Refused
from proof.joint_forces import joint_step
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics


class Drake:
    """
    A robot with Drake's reflected inertia and damping.

    Drake's joints have no dry friction: it is a generalized force, computed from Drake's own mass
    matrix and bias.
    """

    def __init__(self, urdf: str, joint_names: Sequence[str], physics: JointPhysics,
                 step: float) -> None:
        """Read the URDF and fix its root to the world."""
        if link := impossible_link(urdf):  # Drake would take another inertia for it
            raise Refused(f'no body has the inertia of {link}')
        self._plant = plant = MultibodyPlant(step)
        plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
        try:
            Parser(plant).AddModelsFromString(urdf, 'urdf')
        except RuntimeError as error:
            raise Refused(' '.join(str(error).split())) from error
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root_link(urdf)))
        joints = [plant.GetJointByName(name) for name in joint_names]
        for joint, rotor, viscous in zip(joints, physics.rotor_inertia, physics.viscous):
            actuator = plant.AddJointActuator(f'motor of {joint.name()}', joint)
            actuator.set_default_rotor_inertia(rotor)
            actuator.set_default_gear_ratio(1.0)
            joint.set_default_damping(viscous)
            joint.set_position_limits([-np.inf], [np.inf])
        plant.Finalize()
        self._order = [joint.velocity_start() for joint in joints]
        self._physics, self._step, self._steps = physics, step, 0
        self._simulator = Simulator(plant)
        self._context = self._simulator.get_mutable_context()

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque (n,) of the links [N m, N]: without rotors and friction."""
        self._set(q, qd)
        plant, context = self._plant, self._context
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        return np.array(plant.CalcInverseDynamics(context, self._in_plant(qdd),
                                                  forces)[self._order])

    def place(self, q: Array) -> None:
        """Put the robot at rest somewhere."""
        self._set(q, np.zeros_like(q))

    def state(self) -> tuple[Array, Array]:
        """Return positions and velocities (n,)."""
        plant, order = self._plant, self._order
        return (np.array(plant.GetPositions(self._context)[order]),
                np.array(plant.GetVelocities(self._context)[order]))

    def advance(self, tau: Array) -> None:
        """Move one step."""
        plant, context, order = self._plant, self._context, self._order
        # reflected inertia is part of Drake's mass matrix
        links = plant.CalcMassMatrix(context)[np.ix_(order, order)] - np.diag(
            self._physics.rotor_inertia)
        bias = (plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context))[order]
        joints = joint_step(links, bias, self.state()[1], tau, self._physics, self._step)
        plant.get_applied_generalized_force_input_port().FixValue(
            context, self._in_plant(tau - joints.dry))
        self._steps += 1
        self._simulator.AdvanceTo(self._steps * self._step)

    def _set(self, q: Array, qd: Array) -> None:
        self._plant.SetPositions(self._context, self._in_plant(q))
        self._plant.SetVelocities(self._context, self._in_plant(qd))

    def _in_plant(self, values: Array) -> Array:
        result = np.zeros(len(self._order))
        result[self._order] = values
        return result


load = Drake
