# SPDX-License-Identifier: Apache-2.0
"""Drake from Python, one state at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from proof.description import root_link
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

from robot_dynamics_ros.arrays import Array
from speed.contender import Contender, PeerRobot, looped

NAME = 'Drake'


def contenders(robot: PeerRobot) -> Iterator[Contender]:
    """Yield what is timed."""
    chain = robot.chain
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(chain.gravity)
    Parser(plant).AddModelsFromString(robot.urdf, 'urdf')
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root_link(robot.urdf)))
    for name in chain.joint_names:
        plant.GetJointByName(name).set_position_limits([-np.inf], [np.inf])
    plant.Finalize()
    order = [plant.GetJointByName(name).velocity_start() for name in chain.joint_names]
    if order != list(range(len(chain))):
        raise RuntimeError('Drake has another order of the joints')
    context = plant.CreateDefaultContext()
    forces = MultibodyForces(plant)
    tip, world = plant.GetFrameByName(chain.tip), plant.world_frame()
    port = plant.get_applied_generalized_force_input_port()
    applied = port.FixValue(context, np.zeros(len(chain)))

    def inverse_dynamics(q: Array, qd: Array, qdd: Array) -> Array:
        plant.SetPositionsAndVelocities(context, np.concatenate([q, qd]))
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, qdd, forces)

    def forward_dynamics(q: Array, qd: Array, tau: Array) -> Array:
        plant.SetPositionsAndVelocities(context, np.concatenate([q, qd]))
        applied.GetMutableData().get_mutable_value().SetFromVector(tau)
        return plant.EvalTimeDerivatives(context).CopyToVector()[len(tau):]

    def mass_matrix(q: Array) -> Array:
        plant.SetPositions(context, q)
        return plant.CalcMassMatrix(context)

    def jacobian(q: Array) -> Array:
        plant.SetPositions(context, q)
        return plant.CalcJacobianSpatialVelocity(
            context, JacobianWrtVariable.kV, tip, np.zeros(3), world, world)

    for call in (inverse_dynamics, forward_dynamics, mass_matrix, jacobian):
        yield from looped(NAME, call.__name__, call, robot,
                          (lambda J: np.vstack([J[3:], J[:3]])) if call is jacobian
                          else lambda value: value)
