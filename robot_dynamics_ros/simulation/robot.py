# SPDX-License-Identifier: Apache-2.0
"""
A simulated arm: own forward dynamics with friction, rotors, elastic joints and a payload.

Integrator: semi-implicit Euler with fixed step. One mass matrix and one inverse dynamics per
step, the fewest that any method needs; energy does not drift. Dry friction and joint springs are
far stiffer than a step of 1 ms, so they are taken implicitly: friction by its secant
``f(qd) / qd``, which can stop a joint but never turn it around; springs by their force at the end
of the step. With that every step size is stable, and a joint at rest stays at rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.dynamics.joints.elastic import ElasticJoints
from robot_dynamics_ros.dynamics.joints.joint_terms import (
    JointTerms,
    Transmission,
    sharpness_of,
)
from robot_dynamics_ros.dynamics.joints.presliding import directed, turned
from robot_dynamics_ros.dynamics.minimal.mlc import payload_parameters
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.simulation.arm import checked_effort, checked_step, first_position

#: Below this velocity the secant of the friction is taken at this velocity [rad/s, m/s].
_CREEP = 1e-6

#: Damping of the springs of elastic joints relative to their stiffness [s], where none is given.
SPRING_DAMPING = 0.001


class SimulatedRobot:
    """
    The state of an arm and what a step does to it.

    Elastic joints follow Khalil & Dombre (9.35): the rotor with its friction turns with the motor
    position, a spring connects it to the link. A joint with infinite stiffness is rigid.
    """

    def __init__(self, chain: Chain, model: Model, *, q: ArrayLike | None = None,
                 step: float = 0.001, stiffness: ArrayLike | None = None,
                 spring_damping: float = 0.0) -> None:
        """
        Put an arm at rest somewhere.

        :param chain: the robot.
        :param model: its compiled model; its parameters are those without load.
        :param q: (n,) first positions [rad, m]; None = zero, moved inside the position limits.
        :param step: step of the integrator [s].
        :param stiffness: (n,) of the joints [N m/rad, N/m]; infinite = rigid; None = all rigid.
        :param spring_damping: damping of the springs relative to their stiffness [s].
        :raises ParameterError: a step that is not positive, a stiffness that is not positive, an
            elastic joint without rotor inertia.
        """
        n = len(chain)
        self.chain, self.model, self.step = chain, model, checked_step(step)
        self._unloaded = model.parameters
        self._loads: dict[str, Array] = {}
        start = first_position(chain, q)
        self.time = 0.0
        self.q, self.qd = start.copy(), np.zeros(n)
        self.q_motor, self.qd_motor = start.copy(), np.zeros(n)
        self.effort = np.zeros(n)
        self._load = model.gravity_torque(start)  # that the gears carried in the last step
        self._turned = np.zeros(n)  # state of the presliding friction

        rotor = JointTerms.of(model.joint_physics, np).rotor_matrix()
        self._joints = ElasticJoints(
            chain.joint_names, np.full(n, np.inf) if stiffness is None else np.asarray(stiffness),
            np.array(rotor))
        self._damping = float(spring_damping)

    def advance(self, effort: ArrayLike) -> None:
        """
        Move one step ahead.

        :param effort: (n,) torque of the motors during the step [N m, N].
        :raises StateError: an effort that is not finite, or the simulation diverged; the state
            then stays what it was.
        """
        n, h = len(self.chain), self.step
        tau = checked_effort(effort, n)
        joints, drive = self._joints, self._joints.drive
        x = joints.joined(self.q, self.q_motor)
        v = joints.joined(self.qd, self.qd_motor)
        mass = joints.mass_matrix(self.model.mass_matrix(self.q) - joints.rotor)
        force = joints.force(self.model.inverse_dynamics(self.q, self.qd, np.zeros(n)),
                             tau - self.model.friction_torque(np.zeros(n))) - joints.spring @ x
        implicit = h * (self._damping + h) * joints.spring
        push, secant = self._friction(v[drive])
        force[drive] -= push
        implicit[drive, drive] += h * secant
        try:
            v = np.asarray(np.linalg.solve(mass + implicit, mass @ v + h * force), np.float64)
        except np.linalg.LinAlgError as error:
            raise StateError('simulation: a joint moves nothing that has inertia; give it a '
                             'rotor_inertia in the joints file') from error
        x = x + h * v
        if not np.all(np.isfinite(x)):
            raise StateError('simulation diverged; use a smaller step or torque')
        physics = self.model.joint_physics
        if physics.presliding is not None:
            self._turned = turned(self._turned, Transmission.of(physics).motor_motion(
                h * v[drive]), physics.presliding)
        self._load = tau - self.model.friction_torque(np.zeros(n)) - push - secant * v[drive]
        self.q, self.qd = x[:n], v[:n]
        self.q_motor, self.qd_motor = x[drive], v[drive]
        self.effort = tau
        self.time += h

    def carry(self, payload: Inertia, tip: str | None = None) -> None:
        """Carry another payload on a tip from now on; None = the first one."""
        self._loads[tip or self.chain.tip] = payload_parameters(self.model.mlc, self.chain,
                                                                payload, tip)
        self.model.parameters = self._unloaded + np.sum(list(self._loads.values()), axis=0)

    def _friction(self, qd: Array) -> tuple[Array, Array]:
        """
        Return the friction beside the offset (n,) that pushes, and friction over velocity (n,).

        Friction resists: it is taken as friction over velocity [N m s/rad, N s/m]. Where the
        presliding of the motion before still pushes the joint along, it is a torque [N m, N].
        """
        velocity = np.where(np.abs(qd) < _CREEP, np.where(qd < 0.0, -_CREEP, _CREEP), qd)
        still = self.model.friction_torque(np.zeros_like(qd))
        physics = self.model.joint_physics
        if physics.presliding is None:
            friction = self.model.friction_under_load(velocity, self._load)
        else:
            transmission = Transmission.of(physics)
            z = turned(self._turned, transmission.motor_motion(self.step * velocity),
                       physics.presliding)
            direction = directed(z, transmission.motor_motion(velocity), physics.presliding,
                                 sharpness_of(physics))
            friction = np.array(JointTerms.of(physics, np).friction_torque(
                list(velocity), list(self._load), list(direction)))
        resisting = (friction - still) / velocity
        return np.where(resisting < 0.0, friction - still, 0.0), np.maximum(resisting, 0.0)
