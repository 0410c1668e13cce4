# SPDX-License-Identifier: Apache-2.0
"""A simulated robot with its controllers, kept in step with a clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.urdf.reader import sample_positions
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.control.pid import PidGains
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.simulation.arm import Arm
from robot_dynamics_ros.simulation.trajectory_controller import TrajectoryController

#: Longest period of our controllers [s].
PERIOD = 0.002
#: Part of a velocity that damping may take in one period; from 2 on the motion grows.
LARGEST_CHANGE = 1.5
#: Postures that are looked at, and steps to find smaller gains.
POSTURES, ROUNDS = 64, 60


@dataclass(frozen=True)
class SensorNoise:
    """
    Standard deviations of the noise of the sensors.

    :param position: noise of positions [rad, m].
    :param velocity: noise of velocities [rad/s, m/s].
    :param effort: noise of efforts [N m, N].
    """

    position: float = 0.0
    velocity: float = 0.0
    effort: float = 0.0


def pid_gains(model: Model, q: ArrayLike, frequency: float, integral_time: float,
              limits: EffortLimits) -> PidGains:
    """
    Return gains that place the poles of every joint, alone, at one frequency.

    Where other joints move as well, a joint may feel much less inertia than the mass matrix says
    (first and third axis of an outstretched arm): the gains are as small as needed for that.

    :param model: model of the robot; its mass matrix at `q` scales the gains.
    :param q: (n,) [rad, m].
    :param frequency: bandwidth of the critically damped joint [rad/s], positive.
    :param integral_time: time constant of the integral part [s]; 0 = no integral.
    :param limits: half of them bounds the integral part.
    """
    if not (frequency > 0.0 and integral_time >= 0.0):
        raise ParameterError(f'PID: frequency must be positive and integral time not negative, '
                             f'got {frequency} and {integral_time}')
    inertia = _damped_inertia(model, np.diag(model.mass_matrix(q)), 2.0 * frequency * PERIOD)
    p = inertia * frequency**2
    i = p / integral_time if integral_time > 0.0 else np.zeros_like(p)
    return PidGains(p, i, 2.0 * frequency * inertia, 0.5 * limits.values)


def _damped_inertia(model: Model, inertia: Array, part: float) -> Array:
    """
    Return the inertias (n,), smaller where damping in proportion would be unstable in steps.

    Damping d lets the velocities change by the part M^-1 d * step in one step: above 2 they grow.

    :param inertia: (n,) inertias that the gains are to suit [kg m^2, kg].
    :param part: damping over inertia, times the step.
    """
    reach = np.max(np.abs(sample_positions(model.chain, 1000)), axis=0)
    lower, upper = (np.clip(np.nan_to_num(limit, posinf=np.inf, neginf=-np.inf), -reach, reach)
                    for limit in model.chain.position_limits)
    q = np.random.default_rng(0).uniform(lower, upper, (POSTURES, len(inertia)))
    inverses = np.linalg.inv(model.mass_matrix(q))
    inertia = inertia.copy()
    for _ in range(ROUNDS):
        root = np.sqrt(part * inertia)
        values, vectors = np.linalg.eigh(root[:, None] * inverses * root)
        k = int(np.argmax(values[:, -1]))
        if not values[k, -1] > LARGEST_CHANGE:
            break
        shape = vectors[k, :, -1]**2  # which joints move in the fastest way
        inertia *= 1.0 - 0.5 * shape / np.max(shape)
    return inertia


class ControlledRobot:
    """
    The arm, a trajectory controller and an effort interface.

    It follows trajectories until efforts are commanded directly, and the other way round.
    """

    def __init__(self, robot: Arm, gains: PidGains, limits: EffortLimits, *,
                 noise: SensorNoise | None = None, seed: int = 0, now: float = 0.0) -> None:
        """
        Hold the first position of the arm.

        :param robot: the arm.
        :param gains: gains of the trajectory controller.
        :param limits: effort limits of the motors.
        :param noise: noise of the sensors; None = none.
        :param seed: seed of the noise.
        :param now: time of the clock [s].
        """
        self.robot = robot
        self.controller = TrajectoryController(gains, limits, robot.q, robot.chain.continuous)
        self._limits = limits
        self._noise = noise or SensorNoise()
        self._rng = np.random.default_rng(seed)
        self._offset = now - robot.time
        self._command: Array | None = None

    @property
    def time(self) -> float:
        """Clock time up to which the arm has moved [s]."""
        return self.robot.time + self._offset

    def follow(self, trajectory: Trajectory, start: float) -> None:
        """
        Execute a trajectory.

        :param trajectory: any joint order; with efforts or without.
        :param start: clock time of its time zero [s].
        :raises TrajectoryError: missing or unknown joints.
        """
        ordered = trajectory.in_order(self._limits.joint_names)
        self.controller.follow(ordered, start, self.time, self.robot.q, self.robot.qd)
        self._command = None

    def command(self, effort: ArrayLike) -> None:
        """
        Apply efforts (n,) [N m, N] from now on, as forward_command_controller does.

        :raises StateError: wrong length, or not finite.
        """
        values = np.array(effort, dtype=np.float64)
        n = len(self._limits.joint_names)
        if values.shape != (n,):
            raise StateError(f'{values.size} efforts commanded, expected {n}: '
                             f'{", ".join(self._limits.joint_names)}')
        self._command = self._limits.limit(values).effort

    def hold(self) -> None:
        """Stop and hold the present position."""
        self.controller.hold(self.robot.q)
        self._command = None

    def advance_to(self, now: float, *, at_most: int) -> bool:
        """
        Let the arm move until a clock time.

        :param now: clock time [s]; an earlier one than the last sets the clock back, and a motion
            that was planned for the old clock ends.
        :param at_most: so many steps; what is missing then is skipped, in slow motion.
        :returns: False where time was skipped or set back.
        """
        step = self.robot.step
        behind = now - self.time
        on_time = behind + step >= 0.0 and behind <= at_most * step
        if behind + step < 0.0:
            self._offset = now - self.robot.time
            self.hold()
        elif not on_time:
            self._offset += behind - at_most * step
        while now - self.time >= 0.5 * step:
            self.robot.advance(self._effort())
        return on_time

    def measure(self) -> tuple[Array, Array, Array]:
        """Return noisy positions, velocities and efforts (n,) each."""
        robot, noise = self.robot, self._noise
        return (self._noisy(robot.q_motor, noise.position),
                self._noisy(robot.qd_motor, noise.velocity),
                self._noisy(robot.effort, noise.effort))

    def _noisy(self, values: Array, deviation: float) -> Array:
        return values + self._rng.normal(scale=deviation, size=values.size)

    def _effort(self) -> Array:
        if self._command is not None:
            return self._command
        robot = self.robot
        return self.controller.effort(self.time, robot.q_motor, robot.qd_motor,
                                      robot.step).effort
