# SPDX-License-Identifier: Apache-2.0
"""A robot in MuJoCo, read by MuJoCo's URDF reader."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from proof.description import with_element
from proof.engine import GRAVITY, Refused
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.joint_physics import JointPhysics

#: MuJoCo refuses moving bodies without mass or inertia (point masses, frames between two axes);
#: they get this much [kg, kg m^2], just above its smallest number.
_DUST = 1e-14
#: Dry friction is a soft constraint in MuJoCo; this makes it as hard as the step allows: time
#: constant in steps, and share of the constraint in a joint that is held.
_FRICTION_STEPS, _HARDNESS = 2.0, 0.9999


class Mujoco:
    """A robot with MuJoCo's armature, damping and friction loss."""

    def __init__(self, urdf: str, joint_names: Sequence[str], physics: JointPhysics,
                 step: float) -> None:
        """Read the URDF; its limits are no stops."""
        text = with_element(urdf, ('mujoco', {}), ('compiler', {
            'boundmass': repr(_DUST), 'boundinertia': repr(_DUST)}))
        try:
            self._model = model = mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            raise Refused(' '.join(str(error).split())) from error
        self._data = mujoco.MjData(model)
        self._order = order = [int(model.joint(name).dofadr[0]) for name in joint_names]
        model.opt.timestep, model.opt.gravity[:] = step, GRAVITY
        model.opt.tolerance = 1e-12
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        model.opt.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONTACT
                                   | mujoco.mjtDisableBit.mjDSBL_LIMIT)
        model.dof_armature[order] = physics.rotor_inertia
        model.dof_damping[order] = physics.viscous
        model.dof_frictionloss[order] = physics.coulomb
        model.dof_solref[:] = _FRICTION_STEPS * step, 1.0
        model.dof_solimp[:, :2] = _HARDNESS

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque (n,) of the rigid links [N m, N]."""
        data, order = self._data, self._order
        data.qpos[order], data.qvel[order], data.qacc[order] = q, qd, qdd
        mujoco.mj_inverse(self._model, data)
        return np.array(data.qfrc_inverse[order])

    def place(self, q: Array) -> None:
        """Put the robot at rest somewhere."""
        self._data.qpos[self._order], self._data.qvel[:] = q, 0.0

    def state(self) -> tuple[Array, Array]:
        """Return positions and velocities (n,)."""
        return np.array(self._data.qpos[self._order]), np.array(self._data.qvel[self._order])

    def advance(self, tau: Array) -> None:
        """Move one step."""
        self._data.qfrc_applied[self._order] = tau
        mujoco.mj_step(self._model, self._data)


load = Mujoco
