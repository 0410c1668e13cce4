# SPDX-License-Identifier: Apache-2.0
"""The robot of a node: description and joints file to chain and model, with what it carries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joints_file import JointsFile, read_joints_file
from robot_dynamics_ros.chain.urdf import chain_from_urdf
from robot_dynamics_ros.codegen.model import Model, compile_model
from robot_dynamics_ros.control.joint_state import JointSample
from robot_dynamics_ros.dynamics.payload_parameters import payload_parameters
from robot_dynamics_ros.estimation.effort_torque import torque_from_effort
from robot_dynamics_ros.nodes.parameters import RobotParameters


class Robot:
    """
    Chain, compiled model and payload.

    :param chain: the robot without payload (one of the joints file belongs to the robot).
    :param joints_file: what was read beside the URDF.
    """

    def __init__(self, chain: Chain, joints_file: JointsFile) -> None:
        """Compile the model."""
        self.chain = chain
        self.joints_file = joints_file
        #: What the efforts of the robot mean.
        self.effort_semantics: EffortSemantics = joints_file.effort_semantics(chain)
        self.model: Model = compile_model(chain)
        self.payload = Inertia.zero()
        self._unloaded = self.model.parameters

    def in_torques(self, sample: JointSample) -> JointSample:
        """Return a joint state with its efforts as whole joint torques [N m, N]."""
        semantics = self.effort_semantics
        torque = torque_from_effort(sample.effort, semantics)
        if any(semantics.gravity_removed):
            weight = self.model.gravity_torque(sample.q)
            torque = torque + np.where(semantics.gravity_removed, weight, 0.0)
        return replace(sample, effort=torque)

    def carry(self, payload: Inertia) -> None:
        """Take a payload in the tip frame into account from now on, instead of the last one."""
        self.model.parameters = self._unloaded + payload_parameters(self.model.mlc, self.chain,
                                                                    payload)
        self.payload = payload


def load_robot(description: str, parameters: RobotParameters) -> Robot:
    """
    Build the robot of a node.

    :param description: URDF text.
    :param parameters: which chain of it, gravity, joints file.
    :raises RobotDynamicsError: a description, chain or file that cannot be used.
    """
    chain = chain_from_urdf(description, base=parameters.base or None, tip=parameters.tip or None,
                            gravity=parameters.gravity or None, locked=parameters.locked or None)
    file = (read_joints_file(parameters.joints_file) if parameters.joints_file
            else JointsFile('no joints file'))
    return Robot(file.applied_to(chain), file)
