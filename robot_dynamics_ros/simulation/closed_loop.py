# SPDX-License-Identifier: Apache-2.0
"""A sampled controller on the simulated arm, without ROS: what it tracks, needs and learns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.control.adaptive.controller import AdaptiveController
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.motion.playing.tracked_motion import TrackedMotion
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.simulation.compared_controllers import Controller
from robot_dynamics_ros.simulation.controlled_robot import SensorNoise
from robot_dynamics_ros.simulation.robot import SimulatedRobot


class LoadChange(NamedTuple):
    """
    A payload appears at the tip, instead of the one before.

    :param time: time from the start of the trajectory [s].
    :param load: payload in the tip frame; Inertia.zero() = nothing.
    """

    time: float
    load: Inertia


@dataclass(frozen=True, eq=False)
class ClosedLoopRun:
    """
    A motion under a controller.

    :param tracked: times, positions and efforts of every sample.
    :param clamped: (n,) number of efforts of each joint that were clipped at the limit.
    :param recording: joint states as the controller saw them, with the efforts it commanded.
    :param names: m names of what is learned; none for a controller that does not learn.
    :param theta: (N, m) the values.
    """

    tracked: TrackedMotion
    clamped: Array
    recording: Recording
    names: tuple[str, ...]
    theta: Array

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        freeze(self, 'clamped', 'theta')

    def value_of(self, name: str) -> Array | None:
        """Return the values (N,) of something that is learned; None where it is not."""
        return self.theta[:, self.names.index(name)] if name in self.names else None

    def error_between(self, begin: float, end: float) -> float:
        """Return the root mean square error over all joints in a span of time [rad, m]."""
        return self.tracked.tracking.rms_between(begin, end)


def run_closed_loop(controller: Controller, robot: SimulatedRobot, trajectory: Trajectory, *,
                    rate: float = 500.0, loads: Sequence[LoadChange] = (),
                    noise: SensorNoise | None = None, seed: int = 0,
                    name: str = '') -> ClosedLoopRun:
    """
    Let a controller move the arm along a trajectory.

    :param controller: called `rate` times per second; its effort is kept in between.
    :param robot: the arm as it is, at its first position; its step divides the control period.
    :param trajectory: any joint order.
    :param rate: rate of the controller [1/s].
    :param loads: payloads that appear on the way.
    :param noise: noise of the sensors.
    :param seed: seed of the noise.
    :param name: name of the motion.
    :raises ParameterError: the control period is no multiple of the step of the simulation.
    :raises StateError: the loop is unstable.
    """
    steps = round(1.0 / (rate * robot.step))
    if steps < 1 or abs(steps * robot.step * rate - 1.0) > 1e-6:
        raise ParameterError(f'the control period {1.0 / rate:g} s must be a multiple of the '
                             f'simulation step {robot.step:g} s')
    wanted = trajectory.in_order(robot.chain.joint_names)
    period, count = steps * robot.step, int(wanted.duration * rate) + 1
    times = np.arange(count, dtype=np.float64) * period
    motion = wanted.sample(times)
    noise, rng = noise or SensorNoise(), np.random.default_rng(seed)
    waiting = sorted(loads, key=lambda change: change.time)
    clamped = np.zeros(len(robot.chain))
    adaptive = controller if isinstance(controller, AdaptiveController) else None
    names = adaptive.adaptation.unknowns.names if adaptive else ()
    positions, states, efforts, learned = [], [], [], []
    for k in range(count):
        while waiting and waiting[0].time <= times[k]:
            robot.carry(waiting.pop(0).load)
        q = robot.q + rng.normal(scale=noise.position, size=robot.q.size)
        qd = robot.qd + rng.normal(scale=noise.velocity, size=robot.q.size)
        desired = type(motion)(*(values[k] for values in motion))
        command = controller.command(desired, q, qd, period)
        positions.append(robot.q)
        states.append((q, qd))
        efforts.append(command.effort)
        clamped += command.clamped
        learned.append(adaptive.theta if adaptive else np.zeros(0))
        for _ in range(steps):
            robot.advance(command.effort)
    tracked = TrackedMotion(name, wanted, times, np.array(positions), np.array(efforts))
    measured = np.array(states)
    recording = Recording(times, measured[:, 0], measured[:, 1], tracked.efforts,
                          wanted.joint_names, source=name or 'simulation')
    return ClosedLoopRun(tracked, clamped, recording, names, np.array(learned))
