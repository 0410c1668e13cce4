# SPDX-License-Identifier: Apache-2.0
"""
Where a node gets its robot's parameters: the URDF, a file, or live from ``mlc``.

Live parameters pass a gate, replace the present ones gradually, and are taken back if the motion
that follows speaks against them; each of these events is a line in the log. Those whose weight is
far from that of the URDF or file, or that have none to compare with, wait for a person to call
``~/accept_parameters``.
"""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.clock import Clock, ClockType
from std_srvs.srv import Trigger

from robot_dynamics_interfaces.msg import MlcSet as MlcSetMessage
from robot_dynamics_ros.control.learned.gate import (
    DynamicParameters,
    GateSettings,
    ParameterGate,
)
from robot_dynamics_ros.control.learned.live_parameters import LiveParameters
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.nodes.support.conversion import estimate_from_message
from robot_dynamics_ros.nodes.support.robot_node import LATCHED, RobotNode
from robot_dynamics_ros.nodes.support.settings import RobotNodeSettings, setting
from robot_dynamics_ros.robot import Robot

#: Time between two steps of a gradual change [s].
STEP = 0.01
#: Time between two comparisons of the parameters in use with the previous ones [s].
RECONSIDER = 1.0


@dataclass(frozen=True)
class SourceSettings(RobotNodeSettings):
    """Settings of every node that computes torques."""

    parameters_file: str = setting(
        '', 'parameters.yaml written by robot-dynamics identify; empty = parameters of the URDF')
    follow_mlc: bool = setting(
        False, 'take learned parameters from the topic mlc, through a gate')
    swap_duration: float = setting(0.5, 'duration of the transition to learned parameters [s]',
                                   minimum=0.0, maximum=60.0)
    judged_motion: float = setting(
        4.0, 'duration of the motion that learned parameters are judged by [s]', minimum=0.5,
        maximum=60.0)
    largest_change: float = setting(
        3.0, 'factor, up or down, by which the gravity torque of learned parameters may differ '
        'from that of the URDF or file; beyond it they wait for ~/accept_parameters',
        minimum=1.0, maximum=1e6)
    largest_lag: float = setting(
        0.006, 'time by which measured efforts may seem late or early if parameters are learned '
        'from them [s]; the observed lag is about a third of the true one; .inf = any',
        minimum=0.0, maximum=float('inf'))


class ParameterSource:
    """Gives the robot of one node its parameters."""

    def __init__(self, node: RobotNode) -> None:
        """
        Wait for a robot.

        :param node: node whose settings are SourceSettings.
        """
        self._node = node
        self._live: LiveParameters | None = None
        self._asked: MlcSetMessage | None = None  # waits for a person

    def make_interfaces(self) -> None:
        """Subscribe to learned parameters, if the settings say so."""
        if self._node.settings.follow_mlc:
            self._node.create_subscription(MlcSetMessage, 'mlc', self._on_mlc, LATCHED)
            # real time: also while a simulation is paused
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self._ramp = self._node.create_timer(STEP, self._on_step, clock=steady)
            self._ramp.cancel()
            self._node.create_timer(RECONSIDER, self._on_reconsider, clock=steady)
            self._node.create_service(Trigger, '~/accept_parameters', self._on_accept)

    def use_robot(self, robot: Robot) -> None:
        """
        Give a new robot its first parameters, before it is taken over.

        :raises ParameterError: the file cannot be used for this robot.
        """
        p = self._node.settings
        if not p.parameters_file:
            self._check_masses(robot)
        gate = (ParameterGate(robot.chain, GateSettings(
            largest_change=p.largest_change, largest_lag=p.largest_lag))
                if p.follow_mlc or p.parameters_file else None)
        if p.parameters_file and gate is not None:
            robot.use(DynamicParameters.of(read_parameters(p.parameters_file, robot.chain)))
            if reason := gate.objection(robot.parameters):
                raise ParameterError(f'{p.parameters_file}: {reason}')
        self._live, self._asked = None, None
        if p.follow_mlc and gate is not None:
            self._live = LiveParameters(gate, robot.parameters, window=p.judged_motion,
                                        ramp=p.swap_duration)
        self._node.diagnostics.value('parameters', robot.estimate.state.name)

    def _check_masses(self, robot: Robot) -> None:
        """Refuse a robot whose torques would all be zero, and name links without mass."""
        massless, p = robot.chain.massless_links, self._node.settings
        learning = p.follow_mlc and getattr(p, 'mode', '') != 'float'  # floating, it would fall
        if len(massless) == len(robot.chain) and not learning:
            raise ParameterError('no moving link has mass or inertia, so every torque would be '
                                 'zero: add <inertial> to the links, or give parameters_file')
        if massless:
            self._node.get_logger().error(
                f'{", ".join(massless)} moves but has no mass and no inertia in the URDF: torques '
                'are too small' + (' until parameters are learned' if p.follow_mlc else ''))

    def restart(self) -> None:
        """Forget the motion so far: the clock was set back."""
        if self._live is not None and self._node.robot is not None:
            self._live.restart()
            self._take(self._node.robot, self._live.present)

    def observe(self, sample: JointSample) -> None:
        """Remember a joint state, with efforts in the unit of the robot."""
        if self._live is not None and self._node.robot is not None:
            self._live.observe(self._node.robot.in_torques(sample))

    def _on_mlc(self, message: MlcSetMessage) -> None:
        robot, live, diagnostics = self._node.robot, self._live, self._node.diagnostics
        if robot is None or live is None:
            return
        try:
            estimate = estimate_from_message(message, robot.model.mlc)
        except RobotDynamicsError as error:
            diagnostics.warn('refused parameters', str(error))
            return
        judgement = live.offer(DynamicParameters.of(estimate), robot.load, self._node.now,
                               samples=estimate.samples,
                               converged=estimate.state == EstimateState.CONVERGED)
        diagnostics.value('learned parameters', judgement.reason)
        if judgement.asks:
            self._ask(message, judgement.reason)
        if judgement.accepted:
            self._node.get_logger().info(f'learned parameters of {estimate.samples} samples are '
                                         f'taken over: {judgement.reason}')
            diagnostics.count('parameter changes')
            self._asked = None
            diagnostics.value('parameters to accept', 'none')
            self._ramp.reset()

    def _ask(self, message: MlcSetMessage, reason: str) -> None:
        """Ask for a person, with one line in the log however often the parameters come."""
        what = (f'{reason}; if they are right all the same, call '
                f'{self._node.get_fully_qualified_name()}/accept_parameters')
        self._node.diagnostics.value('parameters to accept', what)
        if self._asked is None:
            self._node.diagnostics.warn('refused parameters', f'learned parameters wait: {what}')
        self._asked = message

    def _on_accept(self, request: Trigger.Request,
                   response: Trigger.Response) -> Trigger.Response:
        message = self._asked
        if self._live is None or message is None or not self._live.accept():
            response.message = 'no learned parameters wait for it'
            return response
        self._node.get_logger().info('the weight of the learned parameters is accepted')
        self._on_mlc(message)
        response.success = True
        return response

    def _on_reconsider(self) -> None:
        robot, live = self._node.robot, self._live
        if robot is None or live is None:
            return
        judgement = live.reconsider(robot.load, self._node.now)
        if judgement.accepted:
            self._node.diagnostics.warn(
                'parameter rollbacks',
                f'the learned parameters are taken back: {judgement.reason}')
            self._ramp.reset()

    def _on_step(self) -> None:
        robot, live = self._node.robot, self._live
        if robot is None or live is None or not live.advance(self._node.now):
            self._ramp.cancel()
        else:
            self._take(robot, live.present)

    def _take(self, robot: Robot, parameters: DynamicParameters) -> None:
        robot.use(parameters)
        self._node.diagnostics.value('parameters', robot.estimate.state.name)
