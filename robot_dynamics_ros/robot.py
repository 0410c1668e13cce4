# SPDX-License-Identifier: Apache-2.0
"""A robot at work: chain and model, the parameters in use, and what it carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joints_file import JointsFile, read_joints_file
from robot_dynamics_ros.chain.urdf.reader import Locked, chain_from_urdf_text
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.control.learned.gate import DynamicParameters
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.dynamics.minimal.mlc import payload_parameters
from robot_dynamics_ros.errors import ChainError
from robot_dynamics_ros.estimation.recordings.effort_torque import (
    removed_weight,
    torque_from_effort,
)
from robot_dynamics_ros.motion.joint_state import JointSample

#: A description with a longer chain is refused: its model would take minutes to compile.
MAXIMUM_JOINTS = 64


class Robot:
    """
    Chain, compiled model, the parameters in use and the payload.

    `model` has parameters and payload together; `parameters` are those of the arm alone, and
    `estimate` says where they come from.
    """

    # an attribute with another name would be stored and never used
    __slots__ = ('__weakref__', '_loads', '_payloads', 'chain', 'effort_semantics', 'estimate',
                 'joints_file', 'load', 'model', 'parameters', 'payload')

    def __init__(self, chain: Chain, joints_file: JointsFile) -> None:
        """
        Compile the model, with the parameters of the URDF.

        :param chain: the robot without payload (one of the joints file belongs to the robot).
        :param joints_file: contents of the file beside the URDF.
        """
        self.chain = chain
        self.joints_file = joints_file
        #: What the efforts of the robot mean.
        self.effort_semantics: EffortSemantics = joints_file.effort_semantics(chain)
        self.model: Model = compile_model(chain)
        self.payload = Inertia.zero()
        #: What the payload adds to the minimal parameters (p,).
        self.load: Array = np.zeros(len(self.model.mlc))
        self._loads: dict[str, Array] = {}  # by tip link
        self._payloads: dict[str, Inertia] = {}
        self.estimate = MlcEstimate.not_estimated(chain, self.model.mlc)
        self.parameters = DynamicParameters.of(self.estimate)

    def in_torques(self, sample: JointSample) -> JointSample:
        """Return a joint state with its efforts as whole joint torques [N m, N]."""
        torque = torque_from_effort(sample.effort, self.effort_semantics)
        weight = removed_weight(self.model.gravity_torque, sample.q, self.effort_semantics)
        return replace(sample, effort=torque + weight)

    def carry(self, payload: Inertia, tip: str | None = None) -> None:
        """
        Take a payload into account from now on, instead of the last one on the same tip.

        :param payload: inertia in the frame of the tip link.
        :param tip: name of the tip link; None = the first one.
        """
        where = self.chain.tip if tip is None else tip
        loads = self._loads | {where: payload_parameters(self.model.mlc, self.chain, payload,
                                                         where)}
        load = np.sum(list(loads.values()), axis=0)
        self.model.parameters = self.parameters.minimal + load
        self.payload, self.load, self._loads = payload, load, loads
        self._payloads[where] = payload

    def carry_as(self, other: Robot) -> None:
        """Carry what another robot carries on tips of the same names."""
        names = {tip.link for tip in self.chain.tips}
        for tip, payload in other._payloads.items():
            if tip in names:
                self.carry(payload, tip)

    def use(self, parameters: DynamicParameters) -> None:
        """
        Compute with other parameters of the arm from now on; the payload stays on.

        :raises ParameterError: a wrong number of them, or joint physics that no joint can have.
        """
        self.model.swap(parameters.minimal + self.load, parameters.joint_physics)
        self.parameters = parameters
        if parameters.estimate is not None:  # not between two sets
            self.estimate = parameters.estimate

    @property
    def in_use(self) -> MlcEstimate:
        """The estimate with the values that the model has now, payload included."""
        return replace(self.estimate, mlc=self.estimate.mlc.with_values(self.model.parameters),
                       joint_physics=self.model.joint_physics)


def load_robot(description: str, *, base: str | None = None, tip: str | None = None,
               tips: Sequence[str] | None = None, gravity: Sequence[float] | None = None,
               locked: Locked = None,
               joints_file: str | Path | None = None) -> Robot:
    """
    Build a robot from its description.

    :param description: URDF text; never the path of a file, because anybody may publish it.
    :param base: base link of the chain; None = root of the URDF.
    :param tip: tip link: only the joints on the way to it move; None = all joints move.
    :param tips: several tip links; None = none.
    :param gravity: (3,) gravity in the frame of the base link [m/s^2]; None = 9.81 along -z of
        the root.
    :param locked: joints to freeze, names or patterns, at zero or at their positions [rad, m].
    :param joints_file: joints.yaml with what the URDF cannot hold; None = nothing.
    :raises RobotDynamicsError: a description, chain or file that cannot be used.
    """
    return Robot(*read_robot(description, base=base, tip=tip, tips=tips, gravity=gravity,
                             locked=locked, joints_file=joints_file))


def read_robot(description: str, *, base: str | None = None, tip: str | None = None,
               tips: Sequence[str] | None = None, gravity: Sequence[float] | None = None,
               locked: Locked = None,
               joints_file: str | Path | None = None) -> tuple[Chain, JointsFile]:
    """
    Return chain and joints file of a robot; parameters and errors are those of `load_robot`.

    This is quick; it is compiling the model of a `Robot` that takes a while.
    """
    chain = chain_from_urdf_text(description, base=base, tip=tip, tips=tips, gravity=gravity,
                                 locked=locked)
    if len(chain) > MAXIMUM_JOINTS:
        raise ChainError(f'robot {chain.robot}: {len(chain)} moving joints from {chain.base} to '
                         f'{chain.tip_names}, more than the limit of {MAXIMUM_JOINTS}; choose '
                         'another base or tip, or lock joints')
    file = read_joints_file(joints_file) if joints_file else JointsFile('no joints file')
    return file.applied_to(chain), file
