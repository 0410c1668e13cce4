# SPDX-License-Identifier: Apache-2.0
"""
The identification node: learns the parameters of a robot while it works.

It receives ``joint_states``, and ``wrench`` from a force sensor if there is one, and publishes
``~/mlc`` (latched). Its services are ``~/get_mlc``, ``~/reset``, ``~/save`` and ``~/enable``.
Checkpoints on disk preserve what was learned; a restarted node continues from the last one.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace

import numpy as np
from rclpy.clock import Clock, ClockType
from std_srvs.srv import SetBool, Trigger

from robot_dynamics_interfaces.msg import MlcSet as MlcSetMessage
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError, StateError
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.parameters.history import load_checkpoint, save_checkpoint
from robot_dynamics_ros.estimation.parameters.parameters_file import write_parameters
from robot_dynamics_ros.files.atomic_file import set_aside
from robot_dynamics_ros.motion.joint_state import JointSamples, JointStateReader
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message
from robot_dynamics_ros.nodes.support.diagnostics import described
from robot_dynamics_ros.nodes.support.learning_node import (
    LearningNode,
    LearningNodeSettings,
    WrenchSource,
)
from robot_dynamics_ros.nodes.support.robot_node import LATCHED
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.services import offer_mlc
from robot_dynamics_ros.nodes.support.settings import setting
from robot_dynamics_ros.robot import Robot


@dataclass(frozen=True)
class IdentificationNodeSettings(LearningNodeSettings):
    """Settings of the identification node."""

    horizon: float = setting(
        60.0, 'time of motion after which the weight of a sample has fallen to 1/e [s]',
        minimum=1.0, maximum=1e6)
    force_sensor: bool = setting(
        False, 'use the force sensor that publishes on wrench what the environment exerts on the '
        'tip link, at its origin and in its frame; without a fresh wrench nothing is learned')
    load_friction: bool = setting(
        False, 'learn friction under load in all joints; the friction law of the joints file is '
        'learned in any case')
    prior_strength: float = setting(1.0, 'confidence in the URDF', minimum=1e-6,
                                    maximum=1e6)
    publish_period: float = setting(1.0, 'time between two messages on ~/mlc [s]', minimum=0.05,
                                    maximum=3600.0)
    enabled: bool = setting(True, 'learn from the start; false = wait for ~/enable')
    parameters_file: str = setting('', 'parameters.yaml that ~/save writes; empty = none')
    save_at_end: bool = setting(False, 'also write parameters_file when the node ends')
    checkpoint_file: str = setting(
        '', 'file that preserves what was learned across a restart; empty = none')
    checkpoint_period: float = setting(5.0, 'time between two checkpoints [s]', minimum=0.1,
                                       maximum=3600.0)


class IdentificationNode(LearningNode):
    """Learns from joint states."""

    settings_type = IdentificationNodeSettings

    def __init__(self, **options: object) -> None:
        super().__init__('identification', **options)
        self._estimator: OnlineEstimator | None = None
        self._wrenches: WrenchSource | None = None
        self._enabled = self.settings.enabled
        self._kept = 0  # samples in the last checkpoint
        self._shown = (0, 0)  # samples used, and implausible ones, in the last diagnostics

    def make_interfaces(self) -> None:
        """Create topics and services."""
        p = self.settings
        self._topic = self.create_publisher(MlcSetMessage, '~/mlc', LATCHED)
        offer_mlc(self, self._estimate_in)
        self.create_service(Trigger, '~/reset', self._on_reset)
        self.create_service(Trigger, '~/save', self._on_save)
        self.create_service(SetBool, '~/enable', self._on_enable)
        self.listen()
        if p.force_sensor:
            self._wrenches = WrenchSource(self)
        # real time: a paused simulation must not hide what was learned
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(p.publish_period, self._on_publish, clock=steady)
        if p.checkpoint_file:
            self.create_timer(p.checkpoint_period, self._keep, clock=steady)

    def use_robot(self, robot: Robot) -> None:
        """Learn this robot from now on; if it is the same one, learning continues."""
        self.catch_up()  # what has come belongs to the previous robot
        p, old = self.settings, self._estimator
        estimator = OnlineEstimator(robot.chain, effort=robot.effort_semantics, cutoff=p.cutoff,
                                    horizon=p.horizon, prior_strength=p.prior_strength,
                                    load_friction=p.load_friction)
        if old is not None and old.continues(estimator):
            estimator.restore(old.state())
            self.get_logger().info('a new description of the same robot: learning continues')
        elif p.checkpoint_file and os.path.isfile(p.checkpoint_file):  # never a device
            self._resume(estimator, p.checkpoint_file)
        estimator.carry(robot.load)
        self._estimator = estimator
        self.reader = JointStateReader(robot.chain.joint_names)

    def _resume(self, estimator: OnlineEstimator, path: str) -> None:
        try:
            estimator.restore(load_checkpoint(path, estimator.unknowns.mlc.model_hash))
            if not np.all(np.isfinite(estimator.estimate().mlc.values)):
                raise ParameterError(f'{path}: gives parameters that are not finite')
            self._kept = estimator.samples
            self.get_logger().info(f'resumed from {path}: {estimator.samples} samples')
        except Exception as error:  # no file may keep the node from starting
            text = str(error) if isinstance(error, RobotDynamicsError) else described(error)
            estimator.reset()
            self.diagnostics.warn('refused checkpoints', f'starting from the URDF: {text}; '
                                  f'{_kept_aside(path)}')

    def come_to_rest(self) -> None:
        """Save what was learned."""
        self.catch_up()
        self._keep()
        if self.settings.save_at_end and self._estimator is not None and self._estimator.samples:
            self._on_save(Trigger.Request(), Trigger.Response())

    def payload_changed(self, robot: Robot) -> None:
        """Continue with the same arm and another payload."""
        self.catch_up()
        if self._estimator is not None:
            self._estimator.carry(robot.load)

    @property
    def learning(self) -> bool:
        """True while it is enabled."""
        return super().learning and self._enabled

    def learn(self, samples: JointSamples) -> None:
        """Learn from joint states."""
        if self._estimator is not None:
            qd = None if np.isnan(samples.qd).any() else samples.qd
            wrench = None if self._wrenches is None else self._wrenches.at(samples.times)
            self._estimator.feed_many(samples.times, samples.q, qd, samples.effort, wrench)

    def clock_set_back(self) -> None:
        """Accept earlier stamps; what was learned is kept."""
        super().clock_set_back()
        if self._wrenches is not None:
            self._wrenches.restart()

    def _on_publish(self) -> None:
        if self._estimator is None or self.robot is None or not self.active:
            return
        estimate = self._estimate(self._estimator)
        self._topic.publish(estimate_to_message(estimate, self.get_clock().now().to_msg()))
        self._diagnose(self._estimator, estimate)

    def _estimate(self, estimator: OnlineEstimator) -> MlcEstimate:
        estimate = estimator.estimate()
        if not self._enabled and estimate.samples > 0:
            return replace(estimate, state=EstimateState.FROZEN)
        return estimate

    def _diagnose(self, estimator: OnlineEstimator, estimate: MlcEstimate) -> None:
        self.measure_rate()
        diagnostics = self.diagnostics
        diagnostics.value('state', estimate.state.name)
        diagnostics.value('samples', estimate.samples)
        diagnostics.value('condition number', f'{estimate.condition_number:.3g}')
        cut = estimator.cut_out
        self.show_cut_out(cut)
        odd = cut.implausible_state + cut.inconsistent_velocity
        samples, before = self._shown
        self._shown = (estimate.samples, odd)
        if estimate.samples == samples and odd > before:
            diagnostics.warn('implausible joint states', 'nothing is learned: positions or '
                             'velocities are far beyond the limits of the URDF, or contradict '
                             'each other; check limits and units')
        for name, part in zip(estimator.chain.joint_names, estimator.excitation.tolist()):
            diagnostics.value(f'excitation of {name}', f'{100.0 * part:.0f} %')

    def _keep(self) -> None:
        estimator, path = self._estimator, self.settings.checkpoint_file
        if estimator is None or not path or estimator.samples == self._kept:
            return
        try:
            save_checkpoint(path, estimator.state(), estimator.unknowns.mlc.model_hash)
            self._kept = estimator.samples
        except RobotDynamicsError as error:
            self.diagnostics.warn('failed checkpoints', str(error))

    def _usable(self) -> tuple[OnlineEstimator, Robot]:
        self.catch_up()
        if self._estimator is None or self.robot is None or not self.active:
            raise StateError('no robot description yet, or the node is not active')
        return self._estimator, self.robot

    def _estimate_in(self, wanted: str) -> MlcEstimate:
        estimator, robot = self._usable()
        return self._estimate(estimator).converted_to(robot.chain, wanted)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            estimator, robot = self._usable()
            estimator.reset()
            estimator.carry(robot.load)
            path = self.settings.checkpoint_file
            if os.path.isfile(path):  # never a device
                os.unlink(path)
            self._kept = 0
            self.get_logger().info('reset: learning starts again from the URDF')
            response.success = True
        except (RobotDynamicsError, OSError) as error:
            response.message = str(error)
        return response

    def _on_save(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            estimator, _ = self._usable()
            path = self.settings.parameters_file
            if not path:
                raise ParameterError('name the file in the parameter parameters_file')
            write_parameters(path, self._estimate(estimator))
            response.success, response.message = True, path
        except RobotDynamicsError as error:
            response.message = str(error)
            self.diagnostics.warn('refused requests', f'save: {error}')
        return response

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self.catch_up()
        self._enabled = request.data
        response.success, response.message = True, 'learning' if request.data else 'frozen'
        return response


def _kept_aside(path: str) -> str:
    """Keep a file from being overwritten, and return what became of it."""
    try:
        return f'it is kept as {set_aside(path)}'
    except ParameterError as error:
        return str(error)


def main() -> int:
    """Run the node."""
    return run(IdentificationNode)


if __name__ == '__main__':
    sys.exit(main())
