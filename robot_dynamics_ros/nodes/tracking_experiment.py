# SPDX-License-Identifier: Apache-2.0
"""
The tracking experiment: one motion, sent in several ways, each recorded.

Sends the motion to one topic after the other (straight to the controller, through a feedforward
node, ...), listens to ``joint_states``, writes the recordings to a file and ends by itself. With
`load_mass` it attaches a payload to the simulated robot in the middle of each motion.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.srv import SetPayload
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.motion.playing.player import MotionPlayer, Order, Phase, PlayerSettings
from robot_dynamics_ros.motion.playing.tracked_motion import TrackedMotion, save_tracked_motions
from robot_dynamics_ros.nodes.support.conversion import (
    payload_to_message,
    stamp,
    trajectory_to_message,
)
from robot_dynamics_ros.nodes.support.joint_states import JointStates
from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.settings import RobotNodeSettings, setting
from robot_dynamics_ros.robot import Robot

#: The start is approached from this distance [rad, m]: once a joint has moved, no old integral of
#: the PID stays hidden behind friction.
BESIDE = 0.1
#: Time between two checks of the motion [s].
PERIOD = 0.05


@dataclass(frozen=True)
class TrackingExperimentNodeSettings(RobotNodeSettings):
    """Settings of the tracking experiment."""

    output: str = setting('', '.npz file for the recordings')
    ways: tuple[str, ...] = setting(
        ('PID', 'PID + feedforward'), 'names of the ways to send the motion')
    topics: tuple[str, ...] = setting(
        ('simulated_robot/joint_trajectory', 'joint_trajectory'),
        'topic of each way; the first one is that of the controller itself', ros_name=True)
    motion_duration: float = setting(6.0, 'duration of the motion [s]', minimum=1.0,
                                     maximum=600.0)
    load_mass: float = setting(0.0, 'mass of a payload that appears in the motion [kg]; 0 = none',
                               minimum=0.0, maximum=1e3)
    load_place: tuple[float, ...] = setting(
        (), 'position of that payload in the tip frame: x, y, z [m]; none = the origin',
        example='[0.0, 0.0, 0.1]')
    load_time: float = setting(
        2.0, 'time at which it appears, from the start of the motion [s]', minimum=0.0,
        maximum=600.0)
    approach_duration: float = setting(2.0, 'duration of each part of the approach [s]',
                                       minimum=0.5, maximum=60.0)


class TrackingExperimentNode(RobotNode):
    """Plays the motion once for each way."""

    settings_type = TrackingExperimentNodeSettings

    def __init__(self, **options: object) -> None:
        super().__init__('tracking_experiment', **options)
        p = self.settings
        if not p.output:
            raise ParameterError('parameter output: name the .npz file for the recordings')
        if not p.ways or len(p.ways) != len(p.topics):
            raise ParameterError(f'parameters ways and topics: {len(p.ways)} names and '
                                 f'{len(p.topics)} topics, expected as many and at least one')
        if len(p.load_place) not in (0, 3):
            raise ParameterError(f'parameter load_place: {len(p.load_place)} numbers, expected 3')
        self._loaded = False
        self._recordings: list[TrackedMotion] = []
        self._samples: list[JointSample] = []
        self._joints = JointStates(self, self._on_sample)
        self._player: MotionPlayer | None = None

    def make_interfaces(self) -> None:
        """Create the topics."""
        topics = self.settings.topics
        self._outputs = [self.create_publisher(JointTrajectory, topic, 10) for topic in topics]
        self._controller_topic = self.resolve_topic_name(topics[0])
        self._joints.subscribe(newest=False)  # all are recorded
        self._load_client = self.create_client(SetPayload, 'simulated_robot/set_payload')
        self.create_timer(PERIOD, self._on_tick)

    def use_robot(self, robot: Robot) -> None:
        """Plan the motion."""
        self._motion = lively_motion(robot.chain, duration=self.settings.motion_duration)
        self._joints.use_robot(robot.chain)

    def come_to_rest(self) -> None:
        """Brake the robot."""
        self._stop('the node ends')

    def stop_commanding(self) -> None:
        """Brake the robot; that ends the experiment."""
        self._stop('an unforeseen error')

    def _stop(self, reason: str) -> None:
        if self._player is not None and self._player.running:
            self._send(self._player.stop(self.now, reason))

    def _on_sample(self, sample: JointSample) -> None:
        if self._player is None or not self.active:  # nothing is recorded
            self._samples.clear()
        self._samples.append(sample)

    def _on_tick(self) -> None:
        if self.robot is None or not self.active or not self._samples:
            return
        player = self._player
        if player is None:
            if self._ready():
                self._player = MotionPlayer(self._motion, self.robot.chain, PlayerSettings(
                    approach=self.settings.approach_duration, beside=BESIDE))
                try:
                    order = self._player.begin(self.now, self._samples[-1])
                    assert order is not None  # straight
                    self._send(order)
                except RobotDynamicsError as error:
                    self.fail(str(error))
            return
        order = player.step(self.now, self._samples[-1])
        if order is not None:
            del self._samples[:-1]
            self._send(order)
        elif (player.phase is Phase.PLAY and self.settings.load_mass > 0.0
                and not self._loaded and self.now - player.start >= self.settings.load_time):
            self._attach(self.settings.load_mass)
        if player.phase is Phase.STOPPED:
            self.fail(f'{self._way}: {player.reason}')
        elif player.phase is Phase.DONE:
            self._record(player)

    @property
    def _way(self) -> str:
        return str(self.settings.ways[len(self._recordings)])

    def _attach(self, mass: float) -> None:
        """Attach a payload to the simulated robot, or remove it (mass 0)."""
        assert self.robot is not None
        place = self.settings.load_place or (0.0, 0.0, 0.0)
        payload = payload_inertia(mass, place, np.zeros((3, 3)))
        message = payload_to_message(payload, self.robot.chain.tip,
                                     self.get_clock().now().to_msg())
        self._load_client.call_async(SetPayload.Request(payload=message))
        self._loaded = mass > 0.0
        self.get_logger().info(f'{self._way}: payload {mass:g} kg')

    def _ready(self) -> bool:
        if self.settings.load_mass > 0.0 and not self._load_client.service_is_ready():
            return False
        connected = all(output.get_subscription_count() > 0 for output in self._outputs)
        return (connected
                and self.count_publishers(self._controller_topic) >= len(self._outputs))

    def _send(self, order: Order) -> None:
        self._outputs[len(self._recordings)].publish(
            trajectory_to_message(order.trajectory, Header(stamp=stamp(order.start))))
        phase = '' if self._player is None else self._player.phase.value
        self.get_logger().info(f'{self._way}: {phase}, {order.trajectory.duration:.1f} s')

    def _record(self, player: MotionPlayer) -> None:
        if self._loaded:
            self._attach(0.0)
        times = np.array([sample.time - player.start for sample in self._samples])
        self._recordings.append(TrackedMotion(
            self._way, self._motion, times, np.array([sample.q for sample in self._samples]),
            np.array([sample.effort for sample in self._samples])))
        self._player = None
        if len(self._recordings) == len(self._outputs):
            try:
                save_tracked_motions(self.settings.output, self._recordings)
            except RobotDynamicsError as error:
                self.fail(str(error))
            self.finished = True
            self.active = False


def main() -> int:
    """Run the node."""
    return run(TrackingExperimentNode)


if __name__ == '__main__':
    sys.exit(main())
