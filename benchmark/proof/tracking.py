# SPDX-License-Identifier: Apache-2.0
"""
The demo arm in an engine: it moves, the package learns, and another motion is tracked three ways.

Everything but the physics is what the nodes are made of: the stock controller, the player of
motions, the online estimator, the gate and the feedforward. The arm differs from the URDF that the
package is given as in the demo; it is judged by a motion that nothing was learned from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from proof.description import rigid_links
from proof.engine import Engine, EngineArm, Loader
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.urdf.writer import urdf_with_inertias
from robot_dynamics_ros.control.feedforward import FeedforwardSettings, add_feedforward
from robot_dynamics_ros.control.learned.gate import DynamicParameters, ParameterGate
from robot_dynamics_ros.control.learned.live_parameters import LiveParameters
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.estimation.excitation.design import design_excitation
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.motion.playing.player import (
    MotionPlayer,
    Order,
    Phase,
    PlayerSettings,
    repeated,
)
from robot_dynamics_ros.motion.playing.tracking import Tracking
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.robot import Robot, load_robot
from robot_dynamics_ros.simulation.arm import first_position
from robot_dynamics_ros.simulation.controlled_robot import ControlledRobot, SensorNoise, pid_gains
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

ROOT = Path(__file__).resolve().parent.parent.parent
URDF, JOINTS = ROOT / 'urdf' / 'demo_arm.urdf', ROOT / 'config' / 'demo_arm_joints.yaml'

#: The figures of `robot-dynamics demo`: difference of the arm from its URDF, duration [s] of the
#: exciting motion, played twice, and of the motion that is tracked.
PARAMETER_ERROR, EXCITATION, TRACKED = 0.25, 15.0, 6.0
#: Step of the engines, and of the controller [s].
STEP = 0.001
#: Time between two joint states, and between two looks at what was learned [s].
PERIOD, OFFER = 0.005, 1.0
#: Noise of the joint states.
NOISE = SensorNoise(position=1e-5, velocity=1e-3, effort=0.05)
#: Bandwidth [rad/s] and integral time [s] of the PID.
FREQUENCY, INTEGRAL_TIME = 20.0, 0.5
#: The start of the tracked motion is approached from this distance [rad], see the node.
BESIDE = 0.1

#: Fills efforts into a trajectory.
Fill = Callable[[Trajectory], Trajectory]


@dataclass(frozen=True)
class TrackingErrors:
    """
    Root mean square tracking errors over all joints.

    :param pid: error with PID alone [rad].
    :param urdf: error with feedforward of the URDF that the package was given [rad].
    :param learned: error with feedforward of what was learned [rad].
    """

    pid: float
    urdf: float
    learned: float

    @property
    def better(self) -> float:
        """How many times smaller the error is with what was learned than with PID alone."""
        return self.pid / self.learned


def exciting_motion(chain: Chain) -> Trajectory:
    """Return the motion to learn from, made for the robot of the URDF."""
    found = design_excitation(chain, unchecked=True, duration=EXCITATION, share=0.5, iterations=30)
    times = found.trajectory.times(20.0)
    return repeated(Trajectory(chain.joint_names, times, *found.trajectory.sample(times)), 2)


def wrong_robot() -> Robot:
    """Return the robot as the package is told it is."""
    return load_robot(URDF.read_text(encoding='utf-8'), joints_file=JOINTS)


def true_chain(seed: int) -> Chain:
    """Return the robot as it is in the engines."""
    return with_parameter_error(wrong_robot().chain, PARAMETER_ERROR, seed)


def tracking_errors(load: Loader, excitation: Trajectory, seed: int) -> TrackingErrors:
    """
    Return how well the arm in an engine follows.

    :param load: the engine.
    :param excitation: motion to learn from.
    :param seed: seed of the difference between arm and URDF, and of the noise.
    :raises StateError: a motion could not be played.
    """
    truth = true_chain(seed)
    urdf = rigid_links(urdf_with_inertias(URDF, truth))
    robot, urdf_robot = wrong_robot(), wrong_robot()

    def cell() -> ControlledRobot:
        engine = cast(Engine, load(urdf, truth.joint_names, truth.joint_physics, STEP))
        return controlled(EngineArm(truth, engine, STEP, first_position(truth, None)), robot, seed)

    learn(cell(), robot, excitation)
    motion = lively_motion(robot.chain, duration=TRACKED)
    ways: tuple[Fill, ...] = (lambda trajectory: trajectory, with_efforts(urdf_robot),
                              with_efforts(robot))
    return TrackingErrors(*(
        tracked(cell(), robot.chain, motion, fill).total_rms for fill in ways))


def controlled(arm: EngineArm, robot: Robot, seed: int) -> ControlledRobot:
    """Return an arm under the stock controller, whose gains come from what the URDF says."""
    limits = EffortLimits.of_chain(robot.chain)
    told = Robot(robot.chain, robot.joints_file)
    gains = pid_gains(told.model, arm.q, FREQUENCY, INTEGRAL_TIME, limits)
    return ControlledRobot(arm, gains, limits, noise=NOISE, seed=seed)


def with_efforts(robot: Robot) -> Fill:
    """Return what the feedforward node does to a trajectory."""
    settings = FeedforwardSettings(EffortLimits.of_chain(robot.chain))
    return lambda trajectory: add_feedforward(robot.model, trajectory, settings).trajectory


def learn(cell: ControlledRobot, robot: Robot, motion: Trajectory) -> None:
    """Let the arm move under PID and give the robot what the gate lets pass."""
    estimator = OnlineEstimator(robot.chain, effort=robot.effort_semantics)
    live = LiveParameters(ParameterGate(robot.chain), robot.parameters)
    asked = 0.0

    def listen(sample: JointSample) -> None:
        nonlocal asked
        estimator.feed(sample.time, sample.q, sample.qd, sample.effort)
        live.observe(sample)
        live.advance(sample.time)
        if sample.time - asked >= OFFER:
            asked = sample.time
            live.reconsider(robot.load, sample.time)
            estimate = estimator.estimate()
            live.offer(DynamicParameters.of(estimate), robot.load, sample.time,
                       samples=estimate.samples,
                       converged=estimate.state is EstimateState.CONVERGED)

    play(cell, MotionPlayer(motion, robot.chain), lambda trajectory: trajectory, listen)
    robot.use(live.present)


def tracked(cell: ControlledRobot, chain: Chain, motion: Trajectory, fill: Fill) -> Tracking:
    """Return the errors of a motion."""
    samples: list[JointSample] = []
    player = MotionPlayer(motion, chain, PlayerSettings(beside=BESIDE))
    play(cell, player, fill, samples.append)
    times = np.array([sample.time for sample in samples]) - player.start
    return Tracking.of(motion, times, np.array([sample.q for sample in samples]))


def play(cell: ControlledRobot, player: MotionPlayer, fill: Fill,
         listen: Callable[[JointSample], None]) -> None:
    """
    Play a motion to its end.

    :param cell: the arm under its controller.
    :param player: the motion, approached by the player.
    :param fill: fills efforts into every trajectory on its way to the controller.
    :param listen: takes every joint state.
    :raises StateError: the player has stopped the arm.
    """
    order: Order | None = player.begin(cell.time, _measured(cell))
    steps = 0
    while player.running:
        if order is not None:
            cell.follow(fill(order.trajectory), order.start)
        steps += 1
        cell.advance_to(steps * PERIOD, at_most=round(2.0 * PERIOD / cell.robot.step))
        sample = _measured(cell)
        listen(sample)
        order = player.step(cell.time, sample)
    if player.phase is not Phase.DONE:
        raise StateError(f'the motion was stopped: {player.reason}')


def _measured(cell: ControlledRobot) -> JointSample:
    return JointSample(cell.time, cell.time, *cell.measure())
