# SPDX-License-Identifier: Apache-2.0
"""
A simulated arm in MuJoCo: physics that this package has not written.

The bodies and joints are those of the chain, written as MJCF. Rotor inertia is MuJoCo's armature,
viscous friction its damping, Coulomb friction its friction loss: a constraint that really holds a
joint, where the own engine has a smoothed sign. There are no contacts and no joint stops.

Joints that follow others are joints of MuJoCo's model, held by equality constraints. These are
never quite stiff, so the accelerations of the others come from MuJoCo's mass matrix and forces in
reduced coordinates: ``G^T M G qdd = G^T f``, in which the forces of the constraints vanish.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joint import Joint
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.dynamics.recursions.body import Body, bodies
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.simulation.arm import checked_effort, checked_step, first_position

#: MuJoCo refuses massless bodies; they get this much [kg, kg m^2], which no result shows.
_DUST = 1e-10
#: No arm accelerates like this [rad/s^2, m/s^2].
_RUNAWAY = 1e8
#: Stiffness of the dry friction: it stops a joint within this many steps.
_FRICTION_STEPS = 2.0
#: Part of a constraint that holds, the largest of MuJoCo; the rest lets a joint creep.
_HARDNESS = 0.9999


class MujocoRobot:
    """The state of an arm in MuJoCo; same use as `SimulatedRobot`."""

    def __init__(self, chain: Chain, *, q: ArrayLike | None = None, step: float = 0.001) -> None:
        """
        Put an arm at rest somewhere.

        :param chain: the robot with its true inertias and joint physics.
        :param q: (n,) first positions [rad, m]; None = zero, moved inside the position limits.
        :param step: step of the integrator [s].
        :raises ParameterError: MuJoCo is not installed, or has no such robot (coupled
            transmissions, Stribeck friction, bodies that cannot exist).
        """
        self._mujoco = _import_mujoco()
        self.chain, self.step = chain, checked_step(step)
        self.effort = np.zeros(len(chain))
        self._offset = _checked_physics(chain)
        self.model, self._data = self._compiled(chain)
        #: Places of the moving joints in MuJoCo's vectors: it numbers them depth first.
        places = np.array([self.model.joint(joint.name).id for joint in chain.moving])
        order = np.argsort(places)
        self._G, self._c = (part[order] for part in chain.coupling)
        self._leading = places[np.array(chain.numbers) - 1]
        self._payloads: dict[str, Inertia] = {}  # by tip link
        self.q = first_position(chain, q)

    @property
    def time(self) -> float:
        """Simulated so far [s]."""
        return float(self._data.time)

    @property
    def q(self) -> Array:
        """Positions (n,) [rad, m]."""
        return np.array(self._data.qpos[self._leading])

    @q.setter
    def q(self, positions: ArrayLike) -> None:
        self._data.qpos[:] = self._G @ np.asarray(positions, dtype=np.float64) + self._c

    @property
    def qd(self) -> Array:
        """Velocities (n,) [rad/s, m/s]."""
        return np.array(self._data.qvel[self._leading])

    @qd.setter
    def qd(self, velocities: ArrayLike) -> None:
        self._data.qvel[:] = self._G @ np.asarray(velocities, dtype=np.float64)

    @property
    def q_motor(self) -> Array:
        """Positions of the motors (n,): the joints are rigid."""
        return self.q

    @property
    def qd_motor(self) -> Array:
        """Velocities of the motors (n,): the joints are rigid."""
        return self.qd

    def advance(self, effort: ArrayLike) -> None:
        """
        Move one step ahead.

        :param effort: (n,) torque of the motors during the step [N m, N].
        :raises StateError: an effort that is not finite, or the simulation diverged; the state
            then stays what it was.
        """
        tau = checked_effort(effort, len(self.chain))
        # the two halves of mj_step; that would put zeros, and a log file, where we refuse
        if not np.all(np.abs(self.acceleration(tau)) < _RUNAWAY):
            raise StateError('simulation diverged; use a smaller step or torque')
        if self.chain.followers:
            self._integrate()
        else:
            self._mujoco.mj_implicit(self.model, self._data)
        self.effort = tau

    def _integrate(self) -> None:
        """Do with followers what MuJoCo's implicitfast does: damping counts at the end."""
        damping = np.asarray(self.model.dof_damping)[self._leading]
        qd = self.qd + self.step * self._reduced(self.step * damping)
        self.q, self.qd = self.q + self.step * qd, qd
        self._data.time += self.step

    def _reduced(self, more: ArrayLike = 0.0) -> Array:
        """
        Return the accelerations (n,) [rad/s^2, m/s^2] where joints follow others.

        :param more: (n,) added to the diagonal of the mass matrix.
        """
        data, G = self._data, self._G
        MG = np.zeros(G.T.shape)  # transposed
        for row, column in zip(MG, np.ascontiguousarray(G.T)):
            self._mujoco.mj_mulM(self.model, data, row, column)
        A = MG @ G + np.diag(np.broadcast_to(more, len(self.chain)))
        return np.asarray(np.linalg.solve(A, G.T @ (data.qfrc_smooth + data.qfrc_constraint)))

    def acceleration(self, effort: ArrayLike) -> Array:
        """Return the accelerations (n,) [rad/s^2, m/s^2] that efforts [N m, N] cause now."""
        tau = checked_effort(effort, len(self.chain))
        self._data.qfrc_applied[self._leading] = tau - self._offset
        self._mujoco.mj_forward(self.model, self._data)
        return self._reduced() if self.chain.followers else np.array(
            self._data.qacc[self._leading])

    @property
    def energy(self) -> float:
        """Potential and kinetic energy [J], up to a constant."""
        self._mujoco.mj_forward(self.model, self._data)
        return float(self._data.energy.sum())

    def carry(self, payload: Inertia, tip: str | None = None) -> None:
        """Carry another payload on a tip from now on; None = the first one."""
        before, loaded = self._data, self.chain
        payloads = self._payloads | {tip or self.chain.tip: payload}
        for where, each in payloads.items():
            loaded = loaded.with_payload(each, tip=where)
        self.model, self._data = self._compiled(loaded)
        self._payloads = payloads
        self._data.time, self._data.qpos[:], self._data.qvel[:] = (before.time, before.qpos,
                                                                   before.qvel)

    def _compiled(self, chain: Chain) -> tuple[Any, Any]:
        try:
            model = self._mujoco.MjModel.from_xml_string(mjcf(chain, self.step))
        except ValueError as error:
            raise ParameterError(f'robot {chain.robot}: MuJoCo refuses it: {error}') from error
        return model, self._mujoco.MjData(model)


def mjcf(chain: Chain, step: float) -> str:
    """
    Return the robot as MJCF text.

    :param chain: its frames become bodies, its joint physics armature, damping and friction loss.
    :param step: step of the integrator [s].
    """
    top = ElementTree.Element('mujoco', model=chain.robot)
    ElementTree.SubElement(top, 'compiler', angle='radian', boundmass=_text(_DUST),
                           boundinertia=_text(_DUST))
    option = ElementTree.SubElement(top, 'option', timestep=_text(step), tolerance='1e-12',
                                    gravity=_text(*chain.gravity), integrator='implicitfast')
    ElementTree.SubElement(option, 'flag', contact='disable', energy='enable')
    placed = [ElementTree.SubElement(top, 'worldbody')]
    physics = {number - 1: row for number, row in zip(chain.numbers, zip(
        chain.joint_physics.rotor_inertia, chain.joint_physics.viscous,
        chain.joint_physics.coulomb))}
    for i, (joint, parent, link) in enumerate(zip(chain.moving, chain.parents, bodies(chain))):
        pose = joint.pose() if parent else chain.base_pose @ joint.pose()
        body = ElementTree.SubElement(placed[parent], 'body', _place(pose),
                                      name=chain.link_names[i])
        placed.append(body)
        rotor_inertia, viscous, coulomb = physics.get(i, (0.0, 0.0, 0.0))
        ElementTree.SubElement(
            body, 'joint', name=joint.name, type=_type(joint), axis='0 0 1',
            armature=_text(rotor_inertia), damping=_text(viscous), frictionloss=_text(coulomb),
            solreffriction=_text(_FRICTION_STEPS * step, 1.0),
            solimpfriction=_text(_HARDNESS, _HARDNESS, 0.001, 0.5, 2.0))
        _add_inertia(body, link)
    equality = ElementTree.SubElement(top, 'equality')
    for each in chain.followers:
        ElementTree.SubElement(
            equality, 'joint', joint1=each.joint.name, joint2=chain.joints[each.leader - 1].name,
            polycoef=_text(each.offset, each.multiplier, 0.0, 0.0, 0.0),
            solimp=_text(_HARDNESS, _HARDNESS, 0.001, 0.5, 2.0))
    return ElementTree.tostring(top, encoding='unicode')


def _add_inertia(body: ElementTree.Element, link: Body) -> None:
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.tensor
    ElementTree.SubElement(body, 'inertial', mass=_text(link.mass), pos=_text(*link.centre),
                           fullinertia=_text(xx, yy, zz, xy, xz, yz))


def _type(joint: Joint) -> str:
    return 'hinge' if joint.revolute else 'slide'


def _place(pose: Pose) -> dict[str, str]:
    """Return position and orientation (first two columns of the rotation) as attributes."""
    return {'pos': _text(*pose.translation),
            'xyaxes': _text(*pose.rotation[:, 0], *pose.rotation[:, 1])}


def _text(*numbers: float) -> str:
    """Return numbers with all their digits."""
    return ' '.join(repr(float(number)) for number in numbers)


def _checked_physics(chain: Chain) -> Array:
    """Return the offsets (n,) [N m, N]; refuse joint physics that MuJoCo has not."""
    physics = chain.joint_physics
    if physics.coupling is not None or physics.static is not None:
        raise ParameterError('MuJoCo has no coupled transmissions and no Stribeck friction; '
                             "simulate this robot with engine 'own'")
    if not np.all(np.isfinite(physics.rotor_inertia)):
        raise ParameterError('simulation: every rotor inertia must be known (0 = none)')
    if np.any(physics.rotor_inertia < 0.0):
        raise ParameterError('simulation: MuJoCo has no negative rotor inertia; these parameters '
                             'are those of torque sensors on the link side')
    return physics.offset


def _import_mujoco() -> ModuleType:
    try:
        import mujoco
    except ImportError as error:
        raise ParameterError("engine 'mujoco' needs the package mujoco: pip install mujoco, or "
                             "use engine 'own'") from error
    module: ModuleType = mujoco
    return module
