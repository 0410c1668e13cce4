# SPDX-License-Identifier: Apache-2.0
"""
The dynamics server: torques and minimal parameters by service, and the payload of the robot.

Its services are ``~/get_dynamics``, ``~/get_mlc`` and ``~/set_payload``. The parameters are those
of the URDF, those of a file, or learned ones from the topic ``mlc``. The payload in use is on the
latched topic ``payload``, which the feedforward node follows. With `publish_shares`, the
contributions to the torque of the measured motion are on ``~/gravity``, ``~/coriolis`` and
``~/friction``, measured minus model torque on ``~/residual``, and the torque that the environment
exerts on ``~/external_torque``. The diagnostics report an event if it passes a threshold.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from geometry_msgs.msg import InertiaStamped
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.srv import GetDynamics, SetPayload
from robot_dynamics_ros.control.observer import TorqueContributions, TorqueMonitor, TorqueThreshold
from robot_dynamics_ros.dynamics.joints.joint_terms import rotor_torque
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import RobotDynamicsError, StateError
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.nodes.support.conversion import (
    doubles,
    joint_state,
    named_tip,
    payload_from_message,
    payload_to_message,
)
from robot_dynamics_ros.nodes.support.joint_states import JointStates
from robot_dynamics_ros.nodes.support.learning_node import EffortSource, effort_source_setting
from robot_dynamics_ros.nodes.support.parameter_source import ParameterSource, SourceSettings
from robot_dynamics_ros.nodes.support.robot_node import LATCHED, RobotNode
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.services import offer_mlc
from robot_dynamics_ros.nodes.support.settings import JointSetting, declare_number, setting
from robot_dynamics_ros.robot import Robot

_THRESHOLDS = JointSetting(
    'external_torque_thresholds', 'external torque of a joint above which the diagnostics tell '
    'of an event [N m, N]; none = never', '{joint_1: 5.0}')


@dataclass(frozen=True)
class DynamicsServerNodeSettings(SourceSettings):
    """Settings of the dynamics server; also ``external_torque_thresholds.<joint>`` [N m, N]."""

    of_joints: ClassVar[tuple[JointSetting, ...]] = (_THRESHOLDS,)

    publish_shares: bool = setting(
        False, 'publish the contributions to the torque of the measured motion: ~/gravity, '
               '~/coriolis, ~/friction, ~/residual, ~/external_torque')
    effort_source: str = effort_source_setting()
    observer_bandwidth: float = setting(
        30.0, 'bandwidth of the momentum observer of the external torque [rad/s]', minimum=0.1,
        maximum=1e4)


class DynamicsServerNode(RobotNode):
    """Answers requests about the dynamics."""

    settings_type = DynamicsServerNodeSettings
    follows_payload = False  # it is the one that publishes it

    def __init__(self, **options: object) -> None:
        super().__init__('dynamics_server', **options)
        self._joints = JointStates(self, self._on_sample, wanted=lambda: self.active)
        self._monitor = TorqueMonitor(self.settings.observer_bandwidth)
        self._threshold: TorqueThreshold | None = None
        self._source = ParameterSource(self)

    def make_interfaces(self) -> None:
        """Create services and topics."""
        self.create_service(GetDynamics, '~/get_dynamics', self._on_get_dynamics)
        offer_mlc(self, self._estimate)
        self.create_service(SetPayload, '~/set_payload', self._on_set_payload)
        self._source.make_interfaces()
        self._payload_topic = self.create_publisher(InertiaStamped, 'payload', LATCHED)
        if self.settings.publish_shares:
            self._contributions = {name: self.create_publisher(JointState, f'~/{name}', 10)
                                   for name in TorqueContributions._fields}
        if self.settings.publish_shares or self.settings.follow_mlc:
            self._joints.subscribe(EffortSource(self, self.settings.effort_source))

    def use_robot(self, robot: Robot) -> None:
        """Read the joint states of this robot from now on."""
        names = robot.chain.joint_names
        thresholds = [declare_number(self, f'{_THRESHOLDS.name}.{name}', _THRESHOLDS.description)
                      for name in names]
        threshold = TorqueThreshold(names, np.array(
            [np.inf if value is None else value for value in thresholds]))
        self._source.use_robot(robot)
        self._threshold = threshold
        self._joints.use_robot(robot.chain)
        self._monitor.restart()

    def clock_set_back(self) -> None:
        """Accept earlier stamps."""
        self._monitor.restart()
        self._source.restart()
        self._joints.restart()

    def _on_get_dynamics(self, request: GetDynamics.Request,
                         response: GetDynamics.Response) -> GetDynamics.Response:
        try:
            with self.diagnostics.timed('get_dynamics'):
                robot = self._usable_robot()
                names = list(request.joint_names) or list(robot.chain.joint_names)
                order = _order(names, robot.chain.joint_names)
                q, qd, qdd = (_column(field, getattr(request, field), order, len(names))
                              for field in ('position', 'velocity', 'acceleration'))
                model = robot.model
                back = np.argsort(order)
                load = model.inverse_dynamics(q, qd, qdd) + rotor_torque(model.joint_physics, qdd)
                results = {'torque': model.torque(q, qd, qdd)[back],
                           'gravity': model.gravity_torque(q)[back],
                           'coriolis': model.coriolis_torque(q, qd)[back],
                           'friction': model.friction_under_load(qd, load)[back],
                           'mass_matrix': model.mass_matrix(q)[np.ix_(back, back)].ravel()}
                for name, values in results.items():
                    if not np.all(np.isfinite(values)):
                        raise StateError(f'{name} is not finite at this state; check its units')
                    setattr(response, name, doubles(values))
                response.joint_names, response.success = names, True
        except RobotDynamicsError as error:
            response = GetDynamics.Response(message=str(error))
            self.diagnostics.warn('refused requests', f'get_dynamics: {error}')
        return response

    def _estimate(self, wanted: str) -> MlcEstimate:
        robot = self._usable_robot()
        return robot.in_use.converted_to(robot.chain, wanted)

    def _on_set_payload(self, request: SetPayload.Request,
                        response: SetPayload.Response) -> SetPayload.Response:
        try:
            robot = self._usable_robot()
            tip = named_tip(request.payload, robot.chain)
            robot.carry(payload_from_message(request.payload, tip), tip)
            self._payload_topic.publish(payload_to_message(
                robot.payload, tip, self.get_clock().now().to_msg()))
            self.diagnostics.value('payload [kg]', robot.payload.mass)
            response.success = True
        except RobotDynamicsError as error:
            response.message = str(error)
            self.diagnostics.warn('refused requests', f'set_payload: {error}')
        return response

    def _usable_robot(self) -> Robot:
        if self.robot is None or not self.active:
            raise StateError('no robot description yet, or the node is not active')
        return self.robot

    def _on_sample(self, sample: JointSample) -> None:
        robot = self.robot
        if robot is None or self._threshold is None:
            return
        self._source.observe(sample)
        if not self.settings.publish_shares:
            return
        contributions = self._monitor.contributions(robot.model, robot.in_torques(sample))
        if contributions is None:
            return
        for name, values in contributions._asdict().items():
            if np.all(np.isfinite(values)):
                self._contributions[name].publish(joint_state(
                    self._joints.stamp, robot.chain.joint_names, values))
        self._watch(self._threshold, contributions.external_torque)

    def _watch(self, threshold: TorqueThreshold, torque: np.ndarray) -> None:
        """Warn about joints whose external torque has passed its threshold."""
        for name in threshold.update(torque):
            i = threshold.joint_names.index(name)
            self.diagnostics.warn('external torque events',
                                  f'joint {name}: external torque {torque[i]:.3g} is above its '
                                  f'threshold {threshold.values[i]:g}')
        self.diagnostics.value('external torque above threshold',
                               ', '.join(threshold.above) or 'none')


def _order(names: list[str], joint_names: tuple[str, ...]) -> list[int]:
    """Return the place of each joint of the chain in the request."""
    if sorted(names) != sorted(joint_names):
        raise StateError(f'joint_names must be the joints {", ".join(joint_names)} in any order, '
                         f'or empty; got {", ".join(names)}')
    return [names.index(name) for name in joint_names]


def _column(field: str, values: object, order: list[int], n: int) -> np.ndarray:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size == 0 and field != 'position':
        return np.zeros(n)
    if numbers.size != n:
        raise StateError(f'{field} has {numbers.size} values, expected {n}, one per joint')
    if not np.all(np.isfinite(numbers)):
        raise StateError(f'{field} has values that are not finite')
    return numbers[order]


def main() -> int:
    """Run the node."""
    return run(DynamicsServerNode)


if __name__ == '__main__':
    sys.exit(main())
