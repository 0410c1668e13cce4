# SPDX-License-Identifier: Apache-2.0
"""
The payload identification node: finds the payload of a robot while the robot moves it.

It receives ``joint_states``. Once mass and centre of mass are known, it publishes ``~/payload``
(latched), in the form that ``set_payload`` of the dynamics server takes. ``~/reset`` prepares for
the next payload. The arm itself must be known: its parameters come from a file or from the URDF.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from geometry_msgs.msg import InertiaStamped
from rclpy.clock import Clock, ClockType
from std_srvs.srv import Trigger

from robot_dynamics_ros.chain.joints_file import carrier_of
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters
from robot_dynamics_ros.estimation.payload.estimate import PayloadEstimate
from robot_dynamics_ros.estimation.payload.stream import PayloadEstimator
from robot_dynamics_ros.estimation.smoothing.stream_sampler import StreamSampler
from robot_dynamics_ros.motion.joint_state import JointSamples, JointStateReader
from robot_dynamics_ros.nodes.support.conversion import payload_to_message
from robot_dynamics_ros.nodes.support.learning_node import LearningNode, LearningNodeSettings
from robot_dynamics_ros.nodes.support.robot_node import LATCHED
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.settings import setting
from robot_dynamics_ros.robot import Robot

#: Joints slower than this say little about a payload: friction holds it [rad/s, m/s].
_MOVING = 0.02


@dataclass(frozen=True)
class PayloadIdentificationNodeSettings(LearningNodeSettings):
    """Settings of the payload identification node."""

    parameters_file: str = setting(
        '', 'parameters.yaml of the arm; empty = parameters of the URDF')
    payload_tip: str = setting('', 'tip link that carries the payload; empty = the only one')
    memory: float = setting(30.0, 'time after which the weight of a sample has fallen to 1/e [s]',
                            minimum=0.1, maximum=1e6)
    publish_period: float = setting(1.0, 'time between two messages on ~/payload [s]',
                                    minimum=0.05, maximum=3600.0)


class PayloadIdentificationNode(LearningNode):
    """Learns one payload."""

    settings_type = PayloadIdentificationNodeSettings
    follows_payload = False  # it is to find out the payload itself

    def __init__(self, **options: object) -> None:
        super().__init__('payload_identification', **options)
        self._sampler: StreamSampler | None = None
        self._estimator: PayloadEstimator | None = None

    def make_interfaces(self) -> None:
        """Create topics and services."""
        self._topic = self.create_publisher(InertiaStamped, '~/payload', LATCHED)
        self.create_service(Trigger, '~/reset', self._on_reset)
        self.listen()
        self.create_timer(self.settings.publish_period, self._on_publish,
                          clock=Clock(clock_type=ClockType.STEADY_TIME))

    def use_robot(self, robot: Robot) -> None:
        """Learn the payload of this robot."""
        self._begin(robot)
        self.reader = JointStateReader(robot.chain.joint_names)

    def _begin(self, robot: Robot) -> None:
        p = self.settings
        if any(robot.effort_semantics.gravity_removed):
            raise ParameterError('gravity_removed: efforts without gravity torque do not show '
                                 'that of the payload either; it cannot be identified')
        chain = carrier_of(robot.chain, p.payload_tip or None, 'payload_tip:=NAME')
        arm = (read_parameters(p.parameters_file, chain) if p.parameters_file
               else robot.estimate)
        self._sampler = StreamSampler(chain, robot.effort_semantics, p.cutoff)
        # four samples per period of the cut-off frequency; neighbours share their smoothing
        self._estimator = PayloadEstimator(chain, arm, memory=max(
            1.0, 4.0 * p.cutoff * p.memory), correlation=4.0, effort=robot.effort_semantics)

    def learn(self, samples: JointSamples) -> None:
        """Learn from joint states while the arm moves."""
        if self._sampler is None or self._estimator is None:
            return
        qd = None if np.isnan(samples.qd).any() else samples.qd
        for state in self._sampler.feed_many(samples.times, samples.q, qd, samples.effort):
            moving = np.abs(state.qd) > _MOVING
            if moving.any():
                self._estimator.update(state.q, state.qd, state.qdd,
                                       np.where(moving, state.tau, np.nan))
                self.diagnostics.count('samples')

    def _on_publish(self) -> None:
        if self._estimator is None or self.robot is None or not self.active:
            return
        self.catch_up()
        self.measure_rate()
        estimate = self._estimator.estimate
        self._diagnose(estimate)
        if self._sampler is not None:
            self.show_cut_out(self._sampler.cut_out)
        if estimate.known:
            self._topic.publish(payload_to_message(estimate.inertia, estimate.tip,
                                                   self.get_clock().now().to_msg()))

    def _diagnose(self, estimate: PayloadEstimate) -> None:
        self.diagnostics.value('payload known', estimate.known)
        self.diagnostics.value('payload [kg]',
                               f'{estimate.mass:.3f} +- '
                               f'{estimate.mass_standard_deviation:.3f}')
        self.diagnostics.value('why not', '; '.join(estimate.reasons) or 'all known')
        self.diagnostics.value('assumed', '; '.join(estimate.assumptions) or 'nothing')

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.robot is None or self._estimator is None:
            response.message = 'no robot description yet'
            return response
        self._waiting.clear()
        try:
            self._begin(self.robot)
            response.success = True
        except RobotDynamicsError as error:
            response.message = str(error)
            self.diagnostics.warn('refused requests', f'reset: {error}')
        return response


def main() -> int:
    """Run the node."""
    return run(PayloadIdentificationNode)


if __name__ == '__main__':
    sys.exit(main())
