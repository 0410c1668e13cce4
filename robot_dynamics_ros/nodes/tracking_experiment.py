# SPDX-License-Identifier: Apache-2.0
"""
The tracking experiment: one motion with PID alone, once more with feedforward, both recorded.

Sends trajectories straight to the controller (``simulated_robot/joint_trajectory``) and through
the feedforward node (``joint_trajectory``), listens to ``joint_states``, writes the recordings to
a file and ends by itself.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.demonstration import approach, demonstration_motion
from robot_dynamics_ros.control.joint_state import JointSample, JointStateReader
from robot_dynamics_ros.control.recording import MotionRecording, save_recordings
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError
from robot_dynamics_ros.nodes.conversion import sample_from_message, stamp, trajectory_to_message
from robot_dynamics_ros.nodes.parameters import RobotParameters, parameter
from robot_dynamics_ros.nodes.robot import Robot
from robot_dynamics_ros.nodes.robot_node import SENSOR, RobotNode
from robot_dynamics_ros.nodes.runner import run

#: Names of the two motions.
PID, FEEDFORWARD = 'PID', 'PID + feedforward'
#: Time between sending a trajectory and its start [s].
LEAD = 0.3
#: Time to come to rest after an approach [s].
SETTLE = 1.0
#: The start is reached from here [rad, m]: a joint that has moved has no old integral of the PID
#: that friction hides.
BESIDE = 0.1
#: The approach has worked where the arm is this close to the start [rad, m].
ARRIVED = 0.2


@dataclass(frozen=True)
class TrackingExperimentParameters(RobotParameters):
    """Parameters of the tracking experiment."""

    output: str = parameter('', 'file for the recordings (.npz)')
    motion_duration: float = parameter(6.0, 'duration of the motion [s]', minimum=1.0,
                                       maximum=600.0)
    approach_duration: float = parameter(2.0, 'duration of each part of the approach [s]',
                                         minimum=0.5, maximum=60.0)


class TrackingExperimentNode(RobotNode):
    """Goes through its phases on a timer: approach and motion, for each of the two ways."""

    parameter_type = TrackingExperimentParameters

    def __init__(self, **settings: object) -> None:
        """Check that there is a file to write."""
        super().__init__('tracking_experiment', **settings)
        if not self.parameters.output:
            raise ParameterError('parameter output: name the .npz file for the recordings')
        self._recordings: list[MotionRecording] = []
        self._samples: list[JointSample] = []
        self._phase, self._until, self._start = 'wait', 0.0, 0.0
        self._reader: JointStateReader | None = None

    def make_interfaces(self) -> None:
        """Create the topics."""
        controller = 'simulated_robot/joint_trajectory'
        self._topics: dict[str, Publisher] = {
            PID: self.create_publisher(JointTrajectory, controller, 10),
            FEEDFORWARD: self.create_publisher(JointTrajectory, 'joint_trajectory', 10)}
        self._controller_topic = self.resolve_topic_name(controller)
        self.create_subscription(JointState, 'joint_states', self._on_joint_state, SENSOR)
        self.create_timer(0.05, self._on_tick)

    def use_robot(self, robot: Robot) -> None:
        """Plan the motion."""
        self._motion = demonstration_motion(robot.chain, duration=self.parameters.motion_duration)
        self._reader = JointStateReader(robot.chain.joint_names)

    def _on_joint_state(self, message: JointState) -> None:
        if self._reader is None:
            return
        try:
            self._samples.append(sample_from_message(self._reader, message, self.now))
        except RobotDynamicsError as error:
            self.report.warn('dropped joint states', str(error))

    def _on_tick(self) -> None:
        if self._reader is None or not self.active or self.now < self._until:
            return
        way = (PID, FEEDFORWARD)[len(self._recordings)]
        if self._phase == 'wait':
            if self._ready():
                self._phase = 'approach'
        elif self._phase == 'approach':
            goal = self._motion.positions[0]
            self._samples = self._samples[-1:]
            stops = [self._samples[-1].q, goal + BESIDE, goal]
            self._send(way, approach(self._motion.joint_names, stops,
                                     self.parameters.approach_duration), SETTLE)
            self._phase = 'move'
        elif self._phase == 'move':
            if np.abs(self._samples[-1].q - self._motion.positions[0]).max() > ARRIVED:
                self.report.warn('approaches', f'{way}: the start was not reached, once more')
                self._phase = 'approach'
                return
            self._samples = []
            self._send(way, self._motion, LEAD)
            self._phase = 'record'
        else:
            self._record(way)

    def _ready(self) -> bool:
        connected = all(topic.get_subscription_count() > 0 for topic in self._topics.values())
        return (connected and bool(self._samples)
                and self.count_publishers(self._controller_topic) >= len(self._topics))

    def _send(self, way: str, trajectory: Trajectory, afterwards: float) -> None:
        self._start = self.now + LEAD
        header = Header(stamp=stamp(self._start))
        self._topics[way].publish(trajectory_to_message(trajectory, header))
        self._until = self._start + trajectory.duration + afterwards
        self.get_logger().info(f'{way}: {self._phase}, {trajectory.duration:g} s')

    def _record(self, way: str) -> None:
        times = np.array([sample.time - self._start for sample in self._samples])
        self._recordings.append(MotionRecording(
            way, self._motion, times, np.array([sample.q for sample in self._samples]),
            np.array([sample.effort for sample in self._samples])))
        self._phase = 'approach'
        if len(self._recordings) == len(self._topics):
            save_recordings(self.parameters.output, self._recordings)
            self.finished = True
            self.active = False


def main() -> int:
    """Run the node."""
    return run(TrackingExperimentNode)


if __name__ == '__main__':
    sys.exit(main())
